"""Forms of venue settings, for the back office and the dashboard."""

from django import forms
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.forms.people import CURRENCIES, ZoneField
from accounts.models import SandboxClock, Venue
from framework.forms.optimistic_concurrency import ChangedFieldsForm, ConflictCheckForm

TIMEZONE_LOCKED = gettext_lazy("The time zone cannot change while there are upcoming reservations.")
# The constraints of triggers, which hold in a race, with the field and the message of each.
TRIGGER_ERRORS = {
    "venue_timezone_unused_by_reservations": ("timezone", TIMEZONE_LOCKED),
    "venue_keeps_its_currency_while_its_menu_has_dishes": (
        "currency",
        gettext_lazy("A dish was just added in the old currency. Remove the dishes first."),
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

    def clean_is_sandbox(self) -> bool:
        is_sandbox: bool = self.cleaned_data["is_sandbox"]
        if not is_sandbox and SandboxClock.objects.filter(venue=self.instance.pk).exists():
            raise forms.ValidationError(_("The clock of this sandbox was advanced. It cannot go live."))
        return is_sandbox

    def clean_currency(self) -> str:
        currency: str = self.cleaned_data["currency"]
        if "currency" in self.changed_data and Venue.objects.filter(pk=self.instance.pk, menu__items__isnull=False):
            raise forms.ValidationError(
                _("The menu prices are in %(currency)s. Remove the dishes before you change the currency.")
                % {"currency": self.instance.currency}
            )
        return currency


class SettingsForm(VenueForm, ConflictCheckForm):
    """A section of the settings page, with some of these fields."""

    class Meta:
        model = Venue
        fields = ()
        labels = {
            "name": gettext_lazy("Name"),
            "address": gettext_lazy("Address"),
            "phone": gettext_lazy("Phone"),
            "currency": gettext_lazy("Currency"),
            "timezone": gettext_lazy("Time zone"),
            "language": gettext_lazy("Language"),
            "payment_methods": gettext_lazy("Payment labels"),
            "prices_include_tax": gettext_lazy("Menu prices include tax"),
            "max_days_ahead": gettext_lazy("Booking window in days"),
            "auto_confirm_max_party": gettext_lazy("Largest party confirmed automatically"),
            "when_full": gettext_lazy("When no table is free"),
            "mails_guests": gettext_lazy("Email guests"),
            "forgets_guests_after_days": gettext_lazy("Delete guest data after days"),
            "is_bookable_online": gettext_lazy("Online booking"),
            "proves_guests": gettext_lazy("Ask guests to confirm by email"),
        }
        help_texts = {
            "timezone": "",
            "currency": gettext_lazy("It cannot change while the menu has prices"),
            "prices_include_tax": gettext_lazy("If off, tax is added to each order"),
            "payment_methods": gettext_lazy(
                "Allowed payment labels of orders, separated by commas: card, cash. Empty: any"
            ),
            "forgets_guests_after_days": gettext_lazy(
                "Number of days after a guest's last reservation. Contact data and notes are deleted permanently."
                " Empty: never"
            ),
        }
        field_classes = {"timezone": ZoneField}
        widgets = {
            "timezone": forms.TextInput(attrs={"list": "zones", "autocomplete": "off"}),
            "currency": forms.Select(choices=CURRENCIES),
        }

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
