"""Tags of the lists of the back office."""

from collections.abc import Iterator
from typing import Any

from django import template
from django.contrib.admin.views.main import ChangeList
from django.utils.translation import gettext

register = template.Library()


@register.simple_tag
def filters(changelist: ChangeList) -> dict[str, Any]:
    """The filter above the list, if it has one, the folded others, and the chosen titles and choices of these."""
    specs = list(changelist.filter_specs)
    first = specs.pop(0) if specs and getattr(changelist.model_admin, "shows_first_filter", False) else None
    return {"first": first, "folded": specs, "selected": list(_selected(changelist, specs))}


def _selected(changelist: ChangeList, specs: list[Any]) -> Iterator[tuple[str, str]]:
    """The titles and choices of the filters that leave out rows."""
    everything = (gettext("All"), gettext("Any date"))
    for spec in specs:
        for choice in spec.choices(changelist):
            if choice["selected"] and choice["display"] not in everything:
                yield str(spec.title), str(choice["display"])
