"""Where staff find venues and set their rules."""

from django.contrib import admin

from accounts.models import Account, Venue


class VenueInline(admin.TabularInline[Venue, Account]):
    """The account's venues."""

    model = Venue
    extra = 0
    fields = ["name", "timezone", "currency", "is_sandbox"]
    show_change_link = True


@admin.register(Venue)
class VenueAdmin(admin.ModelAdmin[Venue]):
    """Restaurants of accounts."""

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
