"""Tags of the lists of the back office."""

from collections.abc import Iterator
from typing import Any

from django import template
from django.contrib.admin.views.main import ChangeList
from django.utils.translation import gettext

from framework.admin.large_tables import EstimatedPaginator

register = template.Library()


@register.simple_tag
def filters(changelist: ChangeList) -> dict[str, Any]:
    """The filter above the list, if it has one, the folded others, and the chosen titles and choices of these.

    A chosen day or month leaves them folded: its links to the days would push the list out of the screen.
    """
    specs = list(changelist.filter_specs)
    first = specs.pop(0) if specs and getattr(changelist.model_admin, "shows_first_filter", False) else None
    selected = list(_selected(changelist, specs))
    return {
        "first": first,
        "folded": specs,
        "is_open": bool(selected),
        "selected": [*selected, *_selected_date(changelist)],
    }


@register.simple_tag
def row_count(changelist: ChangeList) -> str:
    """How many rows the list has: exact, or bounded or estimated as EstimatedPaginator counts."""
    number = changelist.result_count
    if number == EstimatedPaginator.MAX_COUNTED:
        return f"over {number - 1:,}"
    return f"about {number:,}" if number > EstimatedPaginator.MAX_COUNTED else f"{number:,}"


def _selected(changelist: ChangeList, specs: list[Any]) -> Iterator[tuple[str, str]]:
    """The titles and choices of the filters that leave out rows."""
    everything = (gettext("All"), gettext("Any date"))
    for spec in specs:
        for choice in spec.choices(changelist):
            if choice["selected"] and choice["display"] not in everything:
                yield str(spec.title), str(choice["display"])


def _selected_date(changelist: ChangeList) -> Iterator[tuple[str, str]]:
    """The year, month or day of the date hierarchy."""
    parts = [changelist.params.get(f"{changelist.date_hierarchy}__{part}") for part in ("year", "month", "day")]
    if chosen := [str(part).zfill(2) for part in parts if part]:
        yield "Date", "-".join(chosen)
