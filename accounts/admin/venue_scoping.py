"""Row-level access in the back office: limits members of accounts to the rows of their own venues."""

from operator import attrgetter
from typing import Any, ClassVar, cast
from uuid import UUID

from django.core.exceptions import FieldDoesNotExist
from django.db.models import ForeignKey, ManyToManyField, Model, QuerySet
from django.http import HttpRequest, HttpResponse

from accounts.admin.row_history import RowHistoryAdmin
from accounts.models import User
from accounts.tenancy.auth_backends import ADMIN_PERMISSIONS_BY_ROLE, get_permitted_venues
from accounts.tenancy.permissions import has_staff_permission

VERBS = ("view", "add", "change", "delete")


class VenueScopedAdmin(RowHistoryAdmin):
    """Admin of rows that belong to a venue: our staff see all, members the rows of venues that their role allows.

    `venue_path` is the lookup from the row to its venue. Must be the first base class. `get_queryset` limits lists,
    searches, detail pages, history and autocompletes. Form choices are limited to the venues where the member may
    write such rows, and actions to the rows on which their role may act.
    """

    venue_path: ClassVar[str] = "venue"

    def venues(self, request: HttpRequest, verb: str) -> frozenset[UUID] | None:
        """Return the venues where the user has this permission; None means all venues."""
        user = cast("User", request.user)
        permission, change = (f"{self.opts.app_label}.{name}_{self.opts.model_name}" for name in (verb, "change"))
        if verb not in VERBS and (has_staff_permission(user, permission) or has_staff_permission(user, change)):
            return None
        # A custom permission that no role has needs the permission to change the row.
        if verb not in VERBS and permission not in frozenset().union(*ADMIN_PERMISSIONS_BY_ROLE.values()):
            permission = change
        return get_permitted_venues(user, permission)

    def is_staff_request(self, request: HttpRequest) -> bool:
        """Whether the user is our own staff, who may also edit fields reserved to us."""
        return self.venues(request, "change") is None

    def filter_permitted(
        self, request: HttpRequest, rows: QuerySet[Any], *verbs: str, path: str = ""
    ) -> QuerySet[Any]:
        """Filter to the rows for which the user has one of these permissions; `path` is the lookup to the venue."""
        venues: frozenset[UUID] = frozenset()
        for verb in verbs:
            permitted = self.venues(request, verb)
            if permitted is None:
                return rows
            venues |= permitted
        return rows.filter(**{f"{path or self.venue_path}__in": venues})

    def is_permitted(self, request: HttpRequest, verb: str, row: Model | None) -> bool:
        """Whether the user has this permission at the row's venue."""
        if row is None or row._state.adding:
            return True
        venues = self.venues(request, verb)
        path = "pk" if self.venue_path == "pk" else f"{self.venue_path.replace('__', '.')}_id"
        return venues is None or attrgetter(path)(row) in venues

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return self.filter_permitted(request, super().get_queryset(request), "view", "change")

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_view_permission(request, obj) and (
            self.is_permitted(request, "view", obj) or self.is_permitted(request, "change", obj)
        )

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_change_permission(request, obj) and self.is_permitted(request, "change", obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_delete_permission(request, obj) and self.is_permitted(request, "delete", obj)

    def response_action(
        self, request: HttpRequest, queryset: QuerySet[Any], *more: Any, **options: Any
    ) -> HttpResponse | None:
        actions: dict[str, Any] = self.get_actions(request)
        for name in set(request.POST.getlist("action")) & actions.keys():
            for verb in getattr(actions[name][0], "allowed_permissions", None) or ("change",):
                queryset = self.filter_permitted(request, queryset, verb)
        return super().response_action(request, queryset, *more, **options)

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """Disable inline editing if the user may only view some of the rows."""
        change_list = super().get_changelist_instance(request)
        venues = self.venues(request, "change")
        if venues is not None and venues != self.venues(request, "view"):
            change_list.list_editable = ()
        return change_list

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
        return super().formfield_for_foreignkey(db_field, request, **self.limit_choices(db_field, request, options))

    def formfield_for_manytomany(
        self, db_field: ManyToManyField[Any, Any], request: HttpRequest, **options: Any
    ) -> Any:
        return super().formfield_for_manytomany(db_field, request, **self.limit_choices(db_field, request, options))

    def limit_choices(self, db_field: Any, request: HttpRequest, options: dict[str, Any]) -> dict[str, Any]:
        """Return the field options with the choices limited to venues where the user may write such rows."""
        writable = [self.venues(request, "add"), self.venues(request, "change")]
        venues = frozenset[UUID]().union(*(permitted for permitted in writable if permitted is not None))
        if any(permitted is None for permitted in writable):
            return options
        related = db_field.remote_field.model
        site = self.admin_site
        related_admin = site.get_model_admin(related) if site.is_registered(related) else None
        if isinstance(related_admin, VenueScopedAdmin):
            rows = options.get("queryset")
            rows = related._default_manager.all() if rows is None else rows
            return options | {"queryset": rows.filter(**{f"{related_admin.venue_path}__in": venues})}
        # Members cannot select rows that belong to no venue, unless a subclass set a queryset.
        return {"queryset": related._default_manager.none()} | options
