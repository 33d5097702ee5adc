"""Widgets of admin forms."""

from typing import Any

from django.contrib.admin.widgets import AdminDateWidget, AdminSplitDateTime, AdminTimeWidget
from django.forms import MultiWidget


class LabelledSplitDateTime(AdminSplitDateTime):
    """Django's date and time inputs, each with an accessible name of its own."""

    def __init__(self, attrs: dict[str, Any] | None = None) -> None:
        parts = [AdminDateWidget(attrs={"aria-label": "Date"}), AdminTimeWidget(attrs={"aria-label": "Time"})]
        MultiWidget.__init__(self, parts, attrs)
