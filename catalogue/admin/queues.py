"""Filters of lists that staff work off: what waits is shown unless something else is asked for."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone


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
