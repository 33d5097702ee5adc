"""Row-level access in the back office: limits members of accounts to the rows of their own venues."""

from typing import Any, ClassVar, cast
from uuid import UUID

from django.contrib.auth import get_permission_codename
from django.core.exceptions import FieldDoesNotExist
from django.db.models import ForeignKey, ManyToManyField, Model, QuerySet
from django.http import HttpRequest, HttpResponse

from accounts.admin.row_history import WithChanges
from accounts.models import User
from accounts.tenancy.auth_backends import PERMISSIONS_OF_ROLE, venues_where
from accounts.tenancy.staff_permissions import holds

VERBS = ("view", "add", "change", "delete")


class OfVenues(WithChanges):
    """Admin of rows that belong to a venue: our staff see all, members the rows of venues that their role allows.

    `venue_path` is the lookup from the row to its venue. Must be the first base class. `get_queryset` limits lists,
    searches, detail pages, history and autocompletes. Form choices are limited to the venues where the member may
    write such rows, and actions to the rows on which their role may act.
    """

    venue_path: ClassVar[str] = "venue"

    def venues(self, request: HttpRequest, verb: str) -> frozenset[UUID] | None:
        """Return the venues where the user has this permission; None means all venues."""
        user = cast("User", request.user)
        if verb not in VERBS and holds(user, f"{self.opts.app_label}.change_{self.opts.model_name}"):
            return None
        named = verb if verb in VERBS or self.takes(verb) else "change"
        return venues_where(user, f"{self.opts.app_label}.{get_permission_codename(named, self.opts)}")

    def takes(self, verb: str) -> bool:
        """Whether a member role has this custom permission for such rows."""
        name = f"{self.opts.app_label}.{verb}_{self.opts.model_name}"
        return any(name in permissions for permissions in PERMISSIONS_OF_ROLE.values())

    def is_ours(self, request: HttpRequest) -> bool:
        """Whether the user is our own staff, who may also edit fields reserved to us."""
        return self.venues(request, "change") is None

    def within(self, request: HttpRequest, rows: QuerySet[Any], *verbs: str, path: str = "") -> QuerySet[Any]:
        """Filter to the rows for which the user has one of these permissions; `path` is the lookup to the venue."""
        theirs: frozenset[UUID] = frozenset()
        for verb in verbs:
            found = self.venues(request, verb)
            if found is None:
                return rows
            theirs |= found
        return rows.filter(**{f"{path or self.venue_path}__in": theirs})

    def is_theirs(self, request: HttpRequest, verb: str, row: Model | None) -> bool:
        """Whether the user has this permission at the row's venue."""
        if row is None or row._state.adding:
            return True
        theirs = self.venues(request, verb)
        return theirs is None or venue_of(row, self.venue_path) in theirs

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """The rows that the user may view."""
        return self.within(request, super().get_queryset(request), "view", "change")

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Check the permission at the row's venue."""
        return super().has_view_permission(request, obj) and (
            self.is_theirs(request, "view", obj) or self.is_theirs(request, "change", obj)
        )

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Check the permission at the row's venue."""
        return super().has_change_permission(request, obj) and self.is_theirs(request, "change", obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Check the permission at the row's venue."""
        return super().has_delete_permission(request, obj) and self.is_theirs(request, "delete", obj)

    def response_action(
        self, request: HttpRequest, queryset: QuerySet[Any], *more: Any, **options: Any
    ) -> HttpResponse | None:
        """Limit an action to the rows on which the user may act; they may see more rows."""
        actions: dict[str, Any] = self.get_actions(request)
        for name in set(request.POST.getlist("action")) & actions.keys():
            for verb in getattr(actions[name][0], "allowed_permissions", None) or ("change",):
                queryset = self.within(request, queryset, verb)
        return super().response_action(request, queryset, *more, **options)

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """Disable inline editing if the user may only view some of the rows."""
        shown = super().get_changelist_instance(request)
        theirs = self.venues(request, "change")
        if theirs is not None and theirs != self.venues(request, "view"):
            shown.list_editable = ()
        return shown

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Reject lookups through reverse relations: viewers of these rows may not see those columns."""
        if not super().lookup_allowed(lookup, value, request):
            return False
        if self.venues(request, "view") is None:
            return True
        try:
            field = self.opts.get_field(lookup.partition("__")[0])
        except FieldDoesNotExist:
            return True
        return not (field.is_relation and field.auto_created and not field.concrete)

    def formfield_for_foreignkey(self, db_field: ForeignKey[Any, Any], request: HttpRequest, **options: Any) -> Any:
        """Limit the choices to those that the user may select."""
        return super().formfield_for_foreignkey(db_field, request, **self.choices(db_field, request, options))

    def formfield_for_manytomany(
        self, db_field: ManyToManyField[Any, Any], request: HttpRequest, **options: Any
    ) -> Any:
        """Limit the choices to those that the user may select."""
        return super().formfield_for_manytomany(db_field, request, **self.choices(db_field, request, options))

    def choices(self, db_field: Any, request: HttpRequest, options: dict[str, Any]) -> dict[str, Any]:
        """Return the field options with the choices limited to venues where the user may write such rows."""
        writable = [self.venues(request, "add"), self.venues(request, "change")]
        theirs = frozenset[UUID]().union(*(found for found in writable if found is not None))
        if any(found is None for found in writable):
            return options
        related = db_field.remote_field.model
        site = self.admin_site
        its_admin = site.get_model_admin(related) if site.is_registered(related) else None
        if isinstance(its_admin, OfVenues):
            rows = options.get("queryset")
            rows = related._default_manager.all() if rows is None else rows
            return options | {"queryset": rows.filter(**{f"{its_admin.venue_path}__in": theirs})}
        # Members cannot select rows that belong to no venue, unless a subclass set a queryset.
        return {"queryset": related._default_manager.none()} | options


def venue_of(row: Any, path: str) -> UUID | None:
    """Return the venue id at the end of the lookup path."""
    *steps, last = path.split("__")
    for step in steps:
        row = getattr(row, step)
    return getattr(row, "pk" if last == "pk" else f"{last}_id")  # type: ignore[no-any-return]
