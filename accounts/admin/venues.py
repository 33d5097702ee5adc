"""Venues in the back office."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from accounts.admin.venue_scoping import VenueScopedAdmin
from accounts.forms.venue import VenueForm
from accounts.models import Account, Venue
from framework.forms.optimistic_concurrency import ChangedFieldsAdmin


class VenueInline(admin.TabularInline[Venue, Account]):
    """The account's venues."""

    model = Venue
    form = VenueForm
    extra = 0
    fields = ["name", "timezone", "currency", "is_sandbox"]
    show_change_link = True


@admin.register(Venue)
class VenueAdmin(VenueScopedAdmin, ChangedFieldsAdmin):
    """Restaurants of accounts."""

    venue_path = "pk"
    form = VenueForm
    list_display = ["name", "account", "timezone", "currency", "is_sandbox"]
    list_select_related = ["account"]
    list_filter = ["is_sandbox"]
    search_fields = ["name__unaccent", "account__name__unaccent"]
    search_help_text = "Id (ven_…), or part of the name of the venue or the account"
    is_in_site_search = True
    ordering = ["name", "id"]
    autocomplete_fields = ["account"]
    fieldsets = [
        (None, {"fields": ["account", "name", ("address", "phone"), ("timezone", "currency"), "is_sandbox"]}),
        ("Orders", {"fields": ["prices_include_tax", "payment_methods"]}),
        (
            "Reservations",
            {
                "fields": [
                    ("max_days_ahead", "auto_confirm_max_party"),
                    "when_full",
                    "mails_guests",
                    "forgets_guests_after_days",
                ]
            },
        ),
        ("Booking page", {"fields": ["is_bookable_online", "proves_guests"]}),
        ("Record", {"fields": ["id", "created_at"]}),
    ]

    def get_readonly_fields(self, request: HttpRequest, obj: Venue | None = None) -> list[str]:
        """Only our own staff may change the account and the sandbox flag."""
        return ["id", "created_at", *([] if self.is_staff_request(request) else ["account", "is_sandbox"])]

    def get_form(self, request: HttpRequest, obj: Venue | None = None, change: bool = False, **kwargs: Any) -> Any:
        sandbox = "For testing: its API keys begin with rk_test_, and its email is only written to the worker's log"
        return super().get_form(request, obj, change, help_texts={"is_sandbox": sandbox}, **kwargs)
