"""Where staff find venues and set their rules."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils import timezone

from accounts.models import Account, Venue
from config.stale_forms import StaleForm, StaleFormAdmin


class VenueForm(StaleForm):
    """A venue. Its clock is kept while guests are expected by it, its currency while dishes have prices in it."""

    def clean_timezone(self) -> str:
        """Refuse another zone while a reservation would change its time by that."""
        zone: str = self.cleaned_data["timezone"]
        is_new = self.instance._state.adding  # noqa: SLF001  # Django's documented attribute
        if is_new or "timezone" not in self.changed_data:
            return zone
        expected = self.instance.reservations.filter(status__in=["confirmed", "pending"], ends_at__gt=timezone.now())
        if expected.exists():
            raise forms.ValidationError("Guests are expected by this clock; it can be changed once none are.")
        return zone

    def clean_currency(self) -> str:
        """Refuse another currency while dishes are priced in this one: 9.50 euro are not 9.50 yen."""
        currency: str = self.cleaned_data["currency"]
        if "currency" in self.changed_data and Venue.objects.filter(pk=self.instance.pk, menu__items__isnull=False):
            raise forms.ValidationError(
                f"The prices of the menu are in {self.instance.currency}."
                " Take its dishes off first, and then change the currency."
            )
        return currency


class VenueInline(admin.TabularInline[Venue, Account]):
    """The account's venues."""

    model = Venue
    form = VenueForm
    extra = 0
    fields = ["name", "timezone", "currency", "is_sandbox"]
    show_change_link = True


@admin.register(Venue)
class VenueAdmin(StaleFormAdmin):
    """Restaurants of accounts."""

    form = VenueForm
    list_display = ["name", "account", "timezone", "currency", "is_sandbox"]
    list_select_related = ["account"]
    list_filter = ["is_sandbox"]
    search_fields = ["name", "account__name"]
    ordering = ["name", "id"]
    autocomplete_fields = ["account"]
    readonly_fields = ["id", "created_at"]
    fieldsets = [
        (None, {"fields": ["account", "name", ("timezone", "currency"), "is_sandbox"]}),
        ("Orders", {"fields": ["prices_include_tax", "payment_methods"]}),
        ("Reservations", {"fields": [("max_days_ahead", "auto_confirm_max_party"), "when_full", "mails_guests"]}),
        ("Record", {"fields": ["id", "created_at"]}),
    ]

    def get_form(self, request: HttpRequest, obj: Venue | None = None, change: bool = False, **kwargs: Any) -> Any:
        """The form, which also says what becomes of a sandbox's mail."""
        sandbox = "For trying out: its keys begin with rk_test_, and its mail goes to the worker's log only"
        return super().get_form(request, obj, change, help_texts={"is_sandbox": sandbox}, **kwargs)
