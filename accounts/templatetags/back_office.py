"""Tags of the lists of the back office."""

from collections.abc import Iterator

from django import template
from django.contrib.admin.views.main import ChangeList
from django.utils.translation import gettext

register = template.Library()


@register.simple_tag
def selected_filters(changelist: ChangeList) -> list[tuple[str, str]]:
    """The titles and choices of the filters that leave out rows."""
    return list(_selected(changelist))


def _selected(changelist: ChangeList) -> Iterator[tuple[str, str]]:
    everything = (gettext("All"), gettext("Any date"))
    for spec in changelist.filter_specs:
        for choice in spec.choices(changelist):
            if choice["selected"] and choice["display"] not in everything:
                yield str(spec.title), str(choice["display"])
