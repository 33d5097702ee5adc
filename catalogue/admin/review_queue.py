"""Filters of lists that staff work off: what waits is shown unless something else is asked for."""

from typing import Any, ClassVar

from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone

from framework.admin.large_tables import LargeTableAdmin
from framework.admin.pending_counts import PendingCount, count_bounded
from framework.errors import Refusal


class ShownFilter(admin.SimpleListFilter):
    """The first choice, unless another one is asked for; "all" is the last."""

    def choices(self, changelist: Any) -> Any:
        """Without Django's own "All", which would mean the first one."""
        return list(super().choices(changelist))[1:]

    def value(self) -> str:
        """What is shown."""
        return super().value() or str(self.lookup_choices[0][0])

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """The rows that are shown; for an action all, so that it can say what others have done meanwhile."""
        if self.value() == "all" or request.method == "POST":
            return queryset
        return self.shown(queryset)

    def shown(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep what the choice means."""
        raise NotImplementedError


class StateFilter(ShownFilter):
    """Open ones, unless others are asked for."""

    title = "state"
    parameter_name = "state__exact"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """The states, and all of them; the first is the open one."""
        return [*model_admin.model.State.choices, ("all", "All")]

    def shown(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Those of the state."""
        return queryset.filter(state=self.value())


class ComingFilter(ShownFilter):
    """What is still to come, unless what is over is asked for."""

    title = "time"
    parameter_name = "time"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """To come, over, and all."""
        return [("coming", "To come"), ("over", "Over"), ("all", "All")]

    def shown(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Those that begin from now on, or that have begun."""
        now = timezone.now()
        return queryset.filter(starts_at__gte=now) if self.value() == "coming" else queryset.filter(starts_at__lt=now)


class WorkedOffAdmin(LargeTableAdmin):
    """Rows that wait to be decided one by one: each page has the verdicts, and the next row follows.

    `order` is that of the queue, by an index that begins with the state.
    """

    change_form_template = "catalogue/review_queue_item.html"
    order: ClassVar[tuple[str, ...]] = ()
    # How the front page calls those that wait.
    waits_as: ClassVar[str] = ""

    def decided(self, request: HttpRequest, row: Any, verdict: str) -> str | None:
        """Carry a verdict out and say so, None for a word that is none. Raises Refusal."""
        raise NotImplementedError

    def told(self, row: Any) -> dict[str, Any]:
        """What the page shows beside the fields."""
        raise NotImplementedError

    def waiting(self) -> QuerySet[Any]:
        """The rows that nobody has decided, in their order."""
        rows: QuerySet[Any] = self.model._default_manager.filter(state="open")
        return rows.order_by(*self.order)

    def pending_counts(self, request: HttpRequest) -> list[PendingCount]:
        """How many wait: the list shows these first."""
        address = reverse(f"admin:catalogue_{self.opts.model_name}_changelist")
        return [PendingCount(self.waits_as, count_bounded(self.waiting()), address)]

    def following(self, row: Any) -> QuerySet[Any]:
        """Those that wait behind a row."""
        raise NotImplementedError

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show a row with its verdicts; after one go to the next row that waits."""
        row = self.get_object(request, unquote(object_id))
        if row is None or not self.has_view_or_change_permission(request, row):
            return super().change_view(request, object_id, form_url, extra_context)
        if verdict := request.POST.get("verdict"):
            return self.answer(request, row, verdict)
        told = {**self.told(row), "may_decide": row.state == "open" and self.has_change_permission(request, row)}
        following = self.following(row).values_list("pk", flat=True).first() if row.state == "open" else None
        told["skip"] = self.address(following) if following is not None else None
        return super().change_view(request, object_id, form_url, {**told, **(extra_context or {})})

    def answer(self, request: HttpRequest, row: Any, verdict: str) -> HttpResponse:
        """Carry the verdict out, and go on."""
        if not self.has_change_permission(request, row):
            raise PermissionDenied
        following = self.following(row).values_list("pk", flat=True).first()
        try:
            words = self.decided(request, row, verdict)
        except Refusal as refusal:
            self.message_user(request, refusal.message, messages.ERROR)
            return HttpResponseRedirect(self.address(row.pk))
        if words is None:
            self.message_user(request, "There is no such verdict.", messages.ERROR)
            return HttpResponseRedirect(self.address(row.pk))
        self.message_user(request, words, messages.SUCCESS)
        if following is None:
            following = self.waiting().values_list("pk", flat=True).first()
        if following is None:
            self.message_user(request, "Nothing waits any more.", messages.SUCCESS)
            return HttpResponseRedirect(reverse(f"admin:catalogue_{self.opts.model_name}_changelist"))
        return HttpResponseRedirect(self.address(following))

    def address(self, key: Any) -> str:
        """The page of a row."""
        return reverse(f"admin:catalogue_{self.opts.model_name}_change", args=[key])
