"""Filters of the lists of the back office."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from django.contrib import admin
from django.http import HttpRequest


class SentenceCaseFilter(admin.ChoicesFieldListFilter):
    """A field whose choices have Django's labels in title case ("Temporarily Closed"), shown in sentence case."""

    def choices(self, changelist: Any) -> Iterator[Any]:
        for choice in super().choices(changelist):
            yield {**choice, "display": str(choice["display"]).capitalize()}


def option_filter(
    label: str, parameter: str, options: Mapping[str, tuple[str, Callable[[Any], Any]]]
) -> type[admin.SimpleListFilter]:
    """Return a filter with fixed options: {value: (label, filter of the queryset)}."""

    class OptionFilter(admin.SimpleListFilter):
        title = label
        parameter_name = parameter

        def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
            return [(value, label) for value, (label, _) in options.items()]

        def queryset(self, request: HttpRequest, queryset: Any) -> Any:
            option = options.get(self.value() or "")
            return option[1](queryset) if option else queryset

    return OptionFilter
