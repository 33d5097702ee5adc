"""Where staff join restaurants to venues, write discounts, and see what is on sale and what was booked."""

from functools import partial
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from catalogue.admin.forms import WEEKDAYS
from catalogue.admin.review_queue import ComingFilter
from catalogue.models import FlowBooking, FlowRule, FlowSlot, Listing, Restaurant
from catalogue.offers import slot_materialization
from catalogue.offers.slot_rules import times
from catalogue.tasks import enqueue_slot_layout
from framework.admin.large_tables import LargeTableAdmin
from framework.admin.read_only import ReadOnlyAdmin
from reservations.models.reservations import legible


class FlowRuleForm(forms.ModelForm[FlowRule]):
    """A weekly discount, its days to be ticked."""

    weekdays = forms.TypedMultipleChoiceField(choices=WEEKDAYS, coerce=int, widget=forms.CheckboxSelectMultiple)


class ListingForm(forms.ModelForm[Listing]):
    """A restaurant and the venue that takes its guests, on one clock."""

    def clean(self) -> dict[str, Any]:
        """Refuse a venue of another time zone: an offer at 18:00 would be another moment in its book."""
        wanted: dict[str, Any] = super().clean() or {}
        restaurant, venue = wanted.get("restaurant"), wanted.get("venue")
        if restaurant and venue and venue.timezone != restaurant.market.timezone:
            self.add_error(
                "venue",
                f"The clock of this venue is {venue.timezone}, that of the restaurant's market is"
                f" {restaurant.market.timezone}. Set the venue's time zone right first.",
            )
        return wanted


class LaysOutSlots(admin.ModelAdmin[Any]):
    """Has a worker lay out the slots of the restaurant whose page was saved, with its rules and its hours."""

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Store the rules on the page, then enqueue the layout of the slots."""
        super().save_related(request, form, formsets, change)
        restaurant = form.instance.pk if isinstance(form.instance, Restaurant) else form.instance.restaurant_id
        transaction.on_commit(partial(enqueue_slot_layout, restaurant))

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        """Delete it, then enqueue the layout: its slots are withdrawn."""
        super().delete_model(request, obj)
        transaction.on_commit(partial(enqueue_slot_layout, obj.restaurant_id))


class FlowRuleInline(admin.StackedInline[FlowRule, Restaurant]):
    """The discounts of a restaurant."""

    model = FlowRule
    form = FlowRuleForm
    extra = 0
    fields = [
        "weekdays",
        ("time", "until", "every_minutes"),
        ("percent", "applies_to"),
        ("seats", "party_min", "party_max"),
        ("book_before_minutes", "bookable_days"),
        "terms",
        "active",
    ]


@admin.register(FlowRule)
class FlowRuleAdmin(LaysOutSlots, LargeTableAdmin):
    """Discounts that come back every week."""

    form = FlowRuleForm
    list_display = ["restaurant", "days", "window", "percent", "seats", "active"]
    list_select_related = ["restaurant"]
    list_filter = ["active"]
    search_fields = ["restaurant__slug__exact"]
    search_help_text = "The slug of the restaurant, whole"
    autocomplete_fields = ["restaurant"]
    fields = ["restaurant", *FlowRuleInline.fields]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """The restaurant is chosen once: slots and bookings hang on it."""
        return ["restaurant"] if obj else []

    @admin.display(description="Days")
    def days(self, rule: FlowRule) -> str:
        """The weekdays in words."""
        return " ".join(dict(WEEKDAYS)[day] for day in sorted(rule.weekdays))

    @admin.display(description="Times", ordering="time")
    def window(self, rule: FlowRule) -> str:
        """From the first slot to the last: 17:30-18:30."""
        its = times(rule)
        return f"{its[0]:%H:%M}" if len(its) == 1 else f"{its[0]:%H:%M}-{its[-1]:%H:%M}"

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Say what becomes of the rule."""
        super().save_related(request, form, formsets, change)
        if Listing.objects.filter(restaurant=form.instance.restaurant_id, is_active=True).exists():
            self.message_user(request, "The slots of the next 14 days are laid out by a worker now.", messages.INFO)
        else:
            self.message_user(
                request, "No slots yet: this restaurant is not joined to a venue that is active.", messages.WARNING
            )


@admin.register(Listing)
class ListingAdmin(LaysOutSlots, LargeTableAdmin):
    """Which restaurant of the catalogue is which venue of ours."""

    form = ListingForm
    list_display = ["restaurant", "venue", "is_active", "created_at"]
    list_select_related = ["restaurant", "venue"]
    list_filter = ["is_active"]
    search_fields = ["restaurant__slug__exact", "venue__name"]
    search_help_text = "The slug of the restaurant, whole, or the venue"
    autocomplete_fields = ["restaurant", "venue"]
    fields = ["restaurant", "venue", "is_active", "created_at"]
    readonly_fields = ["created_at"]

    def save_model(self, request: HttpRequest, obj: Listing, form: Any, change: bool) -> None:
        """Store it with its moment."""
        obj.created_at = obj.created_at or timezone.now()
        super().save_model(request, obj, form, change)


@admin.register(FlowSlot)
class FlowSlotAdmin(ReadOnlyAdmin):
    """What is on sale."""

    list_display = ["when", "restaurant", "percent", "sold", "its_status"]
    list_display_links = ["when"]
    list_select_related = ["restaurant"]
    list_filter = [ComingFilter]
    search_fields = ["restaurant__slug__exact"]
    search_help_text = "The slug of the restaurant, whole"
    ordering = ["starts_at", "pk"]
    actions = ["withdraw"]

    @admin.display(description="When", ordering="starts_at")
    def when(self, slot: FlowSlot) -> str:
        """By the restaurant's clock."""
        return f"{slot.date} {slot.time:%H:%M}"

    @admin.display(description="Seats sold")
    def sold(self, slot: FlowSlot) -> SafeString:
        """A bar."""
        sold = slot.seats - slot.seats_left
        return format_html('<progress value="{}" max="{}"></progress> {} of {}', sold, slot.seats, sold, slot.seats)

    @admin.display(description="Status")
    def its_status(self, slot: FlowSlot) -> str:
        """As callers are told, but for what the restaurant and its listing add."""
        if slot.is_barred:
            return "withdrawn by staff"
        return slot.status_at(timezone.now()).replace("_", " ")

    @admin.action(description="Withdraw the selected slots from sale", permissions=["change"])
    def withdraw(self, request: HttpRequest, queryset: QuerySet[FlowSlot]) -> None:
        """For good; what is booked stands."""
        changed = slot_materialization.withdraw(
            list(queryset.order_by().values_list("pk", flat=True)), now=timezone.now()
        )
        self.message_user(
            request, f"Withdrawn: {changed}. Tables that are booked there stay booked.", messages.SUCCESS
        )


@admin.register(FlowBooking)
class FlowBookingAdmin(ReadOnlyAdmin):
    """Tables that were booked at offers; they are moved and cancelled as reservations."""

    nothing_yet = "Guests book offers with POST /v1/flow/offers/{id}/bookings."
    list_display = ["when", "guest", "seats", "percent", "standing", "in_the_book", "created_at"]
    list_display_links = ["when"]
    list_select_related = ["slot__restaurant", "reservation__venue"]
    search_fields = ["reservation__code__exact"]
    search_help_text = "The code of the reservation"

    @admin.display(description="When")
    def when(self, booking: FlowBooking) -> str:
        """The slot, by the restaurant's clock."""
        return f"{booking.slot.restaurant}: {booking.slot.date} {booking.slot.time:%H:%M}"

    @admin.display(description="Guest")
    def guest(self, booking: FlowBooking) -> str:
        """Who is coming."""
        return legible(booking.reservation.customer_name)

    @admin.display(description="Percent")
    def percent(self, booking: FlowBooking) -> int:
        """What was promised."""
        return booking.slot.percent

    @admin.display(description="Status")
    def standing(self, booking: FlowBooking) -> str:
        """That of the reservation."""
        return booking.reservation.get_status_display()

    @admin.display(description="Reservation")
    def in_the_book(self, booking: FlowBooking) -> SafeString:
        """A link to it."""
        address = reverse("admin:reservations_reservation_change", args=[booking.reservation_id])
        return format_html('<a href="{}">{}</a>', address, booking.reservation.code)
