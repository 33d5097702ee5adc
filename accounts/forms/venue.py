"""The rules by which a venue's settings may be changed, in the back office and on the dashboard."""

from django import forms
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.models import Venue
from framework.forms.optimistic_concurrency import StaleForm, ToldForm

ZONE_STAYS = "The time zone cannot change while there are upcoming reservations."
# Triggers that hold the rule where somebody else is quicker, and the field that they speak of.
KEPT = {
    "venue_timezone_unused_by_reservations": ("timezone", ZONE_STAYS),
    "venue_keeps_its_currency_while_its_menu_has_dishes": (
        "currency",
        "A dish was just added in the old currency. Remove the dishes first.",
    ),
}


class VenueForm(StaleForm):
    """A venue. Its clock is kept while guests are expected by it, its currency while dishes have prices in it."""

    def clean_timezone(self) -> str:
        """Refuse another zone while a reservation would change its time by that."""
        zone: str = self.cleaned_data["timezone"]
        is_new = self.instance._state.adding
        if is_new or "timezone" not in self.changed_data:
            return zone
        expected = self.instance.reservations.filter(status__in=["confirmed", "pending"], ends_at__gt=timezone.now())
        if expected.exists():
            raise forms.ValidationError(ZONE_STAYS)
        return zone

    def clean_currency(self) -> str:
        """Refuse another currency while dishes are priced in this one: 9.50 euro are not 9.50 yen."""
        currency: str = self.cleaned_data["currency"]
        if "currency" in self.changed_data and Venue.objects.filter(pk=self.instance.pk, menu__items__isnull=False):
            raise forms.ValidationError(
                f"The menu prices are in {self.instance.currency}. Remove the dishes before you change the currency."
            )
        return currency


class SettingsForm(VenueForm, ToldForm):
    """A part of the settings, as the people of the venue write it."""

    def stored(self) -> bool:
        """Store what was changed; False where the database refuses it, which is then told at its field."""
        try:
            with transaction.atomic():
                self.save()
        except IntegrityError as error:
            name = getattr(getattr(error.__cause__, "diag", None), "constraint_name", None)
            if name not in KEPT:
                raise
            self.add_error(*KEPT[name])
            return False
        return True
