"""Forms of venue settings, for the back office and the dashboard."""

from django import forms
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.models import Venue
from framework.forms.optimistic_concurrency import ChangedFieldsForm, ConflictCheckForm

TIMEZONE_LOCKED = "The time zone cannot change while there are upcoming reservations."
# The constraints of triggers, which hold in a race, with the field and the message of each.
TRIGGER_ERRORS = {
    "venue_timezone_unused_by_reservations": ("timezone", TIMEZONE_LOCKED),
    "venue_keeps_its_currency_while_its_menu_has_dishes": (
        "currency",
        "A dish was just added in the old currency. Remove the dishes first.",
    ),
}


class VenueForm(ChangedFieldsForm):
    """A venue. Upcoming reservations fix the time zone, priced dishes the currency."""

    def clean_timezone(self) -> str:
        zone: str = self.cleaned_data["timezone"]
        if self.instance._state.adding or "timezone" not in self.changed_data:
            return zone
        upcoming = self.instance.reservations.filter(status__in=["confirmed", "pending"], ends_at__gt=timezone.now())
        if upcoming.exists():
            raise forms.ValidationError(TIMEZONE_LOCKED)
        return zone

    def clean_currency(self) -> str:
        currency: str = self.cleaned_data["currency"]
        if "currency" in self.changed_data and Venue.objects.filter(pk=self.instance.pk, menu__items__isnull=False):
            raise forms.ValidationError(
                f"The menu prices are in {self.instance.currency}. Remove the dishes before you change the currency."
            )
        return currency


class SettingsForm(VenueForm, ConflictCheckForm):
    """A section of the settings page."""

    def try_save(self) -> bool:
        """Save the changes; return False, with an error on the field, if a trigger rejects them."""
        try:
            with transaction.atomic():
                self.save()
        except IntegrityError as error:
            name = getattr(getattr(error.__cause__, "diag", None), "constraint_name", None)
            if name not in TRIGGER_ERRORS:
                raise
            self.add_error(*TRIGGER_ERRORS[name])
            return False
        return True
