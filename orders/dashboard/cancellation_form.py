"""Why orders are cancelled: a few reasons to choose from, and words of one's own."""

from typing import Any

from django import forms

OTHER = "Other"
REASONS = ("The customer asked for it", "Sold out", "Too busy", "Nobody came for it", "A mistake or a test", OTHER)
MOST_WORDS = 200


class ReasonForm(forms.Form):
    """One of the reasons, with words that say more; for another reason words alone."""

    reason = forms.ChoiceField(
        choices=[(reason, reason) for reason in REASONS],
        widget=forms.RadioSelect,
        label="Why?",
        error_messages={"required": "Say why it is cancelled."},
    )
    words = forms.CharField(
        max_length=MOST_WORDS,
        required=False,
        label="In your words",
        help_text="Needed for another reason. Only people of the venue see it.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def clean(self) -> dict[str, Any]:
        """Another reason is told in words."""
        told = self.cleaned_data
        if told.get("reason") == OTHER and not told.get("words") and "words" not in self.errors:
            self.add_error("words", "Say it in your words.")
        return told

    @property
    def because(self) -> str:
        """What stands on the order. Ask only a form that is valid."""
        reason, words = self.cleaned_data["reason"], self.cleaned_data["words"]
        if reason == OTHER:
            return str(words)
        return f"{reason}: {words}" if words else str(reason)
