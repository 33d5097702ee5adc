"""Checkout sessions of agents in the back office."""

from django.contrib import admin

from framework.admin.badges import badge_column
from framework.admin.read_only import ReadOnlyAdmin
from orders.models import CheckoutSession


@admin.register(CheckoutSession)
class CheckoutSessionAdmin(ReadOnlyAdmin):
    """Sessions, without the contacts in them."""

    list_display = ["created_at", "venue", "agent", "state_badge", "order", "expires_at"]
    list_select_related = ["venue", "order"]
    list_filter = ["state"]
    search_fields = ["agent", "venue__name__unaccent"]
    search_help_text = "Profile of the agent, or venue"
    ordering = ["-created_at", "pk"]
    fields = [
        *("venue", "agent", "state", "shown_total", "shown_usdc", "order"),
        *("created_at", "updated_at", "expires_at", "completed_at", "canceled_at"),
    ]

    state_badge = badge_column("state", "State", open="info", placed="warn", canceled="soft")
