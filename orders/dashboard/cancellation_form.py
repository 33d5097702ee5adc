"""The form for the reason of a cancellation."""

from typing import Any

from django import forms

OTHER = "Other"
REASONS = ("Customer request", "Sold out", "Too busy", "Not picked up", "Mistake or test", OTHER)
MAX_DETAILS_LENGTH = 200


class CancellationForm(forms.Form):
    """A reason, with optional details; for `Other` the details are required."""

    reason = forms.ChoiceField(
        choices=[(reason, reason) for reason in REASONS],
        widget=forms.RadioSelect,
        label="Reason",
        error_messages={"required": "Select a reason."},
    )
    details = forms.CharField(
        max_length=MAX_DETAILS_LENGTH,
        required=False,
        label="Details",
        help_text="Required for “Other”. Visible to your team only.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def clean(self) -> dict[str, Any]:
        values = self.cleaned_data
        if values.get("reason") == OTHER and not values.get("details") and "details" not in self.errors:
            self.add_error("details", "Enter the reason.")
        return values

    @property
    def because(self) -> str:
        """The text that is stored on the order. Requires a valid form."""
        reason, details = self.cleaned_data["reason"], self.cleaned_data["details"]
        if reason == OTHER:
            return str(details)
        return f"{reason}: {details}" if details else str(reason)
