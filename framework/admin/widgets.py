"""How the back office asks for a moment: a day and a time, each with a name of its own."""

from typing import Any

from django.contrib.admin.widgets import AdminDateWidget, AdminSplitDateTime, AdminTimeWidget
from django.forms import MultiWidget


class NamedMoment(AdminSplitDateTime):
    """Django's, whose two inputs are read out as one that has no name."""

    def __init__(self, attrs: dict[str, Any] | None = None) -> None:
        parts = [AdminDateWidget(attrs={"aria-label": "Date"}), AdminTimeWidget(attrs={"aria-label": "Time"})]
        MultiWidget.__init__(self, parts, attrs)
