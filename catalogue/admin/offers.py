"""Offers in the back office: listings, weekly discounts, slots and bookings."""

from functools import partial
from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from accounts import sandbox_clock
from catalogue.admin.queues.base import DefaultFilter
from catalogue.admin.restaurant_rows import RestaurantRowsAdmin
from catalogue.admin.restaurants.forms import WEEKDAYS
from catalogue.bookings import deposits
from catalogue.models import Deposit, FlowBooking, FlowRule, FlowSlot, Listing, Restaurant, RestaurantClaim
from catalogue.offers import slot_materialization
from catalogue.offers.slot_rules import list_times
from catalogue.tasks import enqueue_slot_generation
from framework.admin.action_confirmation import confirmed_action
from framework.admin.badges import COLOURS, badge
from framework.admin.read_only import ReadOnlyAdmin
from reservations.booking.terms import format_amount
from reservations.models import AgreedTerms
from reservations.models.reservations import printable_name

DepositState = AgreedTerms.DepositState
# The colours of the statuses of slots; others are past or withdrawn.
SLOT_COLOURS = {"available": "good", "scheduled": "info", "sold_out": "warn"}


class FlowRuleForm(forms.ModelForm[FlowRule]):
    weekdays = forms.TypedMultipleChoiceField(choices=WEEKDAYS, coerce=int, widget=forms.CheckboxSelectMultiple)


class ListingForm(forms.ModelForm[Listing]):
    """A catalogue restaurant and the venue that takes its reservations."""

    def clean(self) -> dict[str, Any]:
        wanted: dict[str, Any] = super().clean() or {}
        restaurant, venue = wanted.get("restaurant"), wanted.get("venue")
        if restaurant and venue and venue.timezone != restaurant.market.timezone:
            self.add_error(
                "venue",
                f"The time zone of this venue is {venue.timezone}, that of the restaurant's market is"
                f" {restaurant.market.timezone}. Correct the venue's time zone first.",
            )
        if restaurant and venue:
            # Claims lock it too.
            Restaurant.objects.select_for_update(no_key=True).get(pk=restaurant.pk)
            if sandbox_clock.has_clock(venue):
                self.add_error("venue", sandbox_clock.NOT_FOLLOWED)
            claims = RestaurantClaim.objects.filter(Q(restaurant=restaurant) | Q(venue=venue), state="verified")
            if claims.exclude(restaurant=restaurant, venue=venue).exists():
                self.add_error("venue", "Another venue has claimed this restaurant, or this venue another one.")
        return wanted


class GeneratesSlots(admin.ModelAdmin[Any]):
    """Generates the offer slots of a restaurant in the background after its page was saved."""

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        restaurant = form.instance.pk if isinstance(form.instance, Restaurant) else form.instance.restaurant_id
        transaction.on_commit(partial(enqueue_slot_generation, restaurant))

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        super().delete_model(request, obj)
        transaction.on_commit(partial(enqueue_slot_generation, obj.restaurant_id))


class FlowRuleInline(admin.StackedInline[FlowRule, Restaurant]):
    model = FlowRule
    form = FlowRuleForm
    extra = 0
    fields = [
        "weekdays",
        ("time", "until", "every_minutes"),
        ("percent", "applies_to"),
        ("seats", "party_min", "party_max"),
        ("book_before_minutes", "bookable_days"),
        "except_dates",
        "terms",
        "active",
    ]


@admin.register(FlowRule)
class FlowRuleAdmin(GeneratesSlots, RestaurantRowsAdmin):
    form = FlowRuleForm
    list_display = ["restaurant", "days", "window", "percent", "seats", "active"]
    list_filter = ["active"]
    autocomplete_fields = ["restaurant"]
    fields = ["restaurant", *FlowRuleInline.fields]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["restaurant"] if obj else []

    @admin.display(description="Days")
    def days(self, rule: FlowRule) -> str:
        return " ".join(dict(WEEKDAYS)[day] for day in sorted(rule.weekdays))

    @admin.display(description="Times", ordering="time")
    def window(self, rule: FlowRule) -> str:
        its = list_times(rule)
        return f"{its[0]:%H:%M}" if len(its) == 1 else f"{its[0]:%H:%M}-{its[-1]:%H:%M}"

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        if Listing.objects.filter(restaurant=form.instance.restaurant_id, is_active=True).exists():
            self.message_user(request, "The slots of the next 14 days are being generated.", messages.INFO)
        else:
            reason = "No slots: this restaurant has no active listing with a venue."
            self.message_user(request, reason, messages.WARNING)


@admin.register(Listing)
class ListingAdmin(GeneratesSlots, RestaurantRowsAdmin):
    form = ListingForm
    list_display = ["restaurant", "state", "venue", "created_at"]
    list_select_related = ["restaurant", "venue"]
    search_help_text = "Part of the name of the restaurant or the venue, or the restaurant's complete slug"
    list_filter = ["is_active"]
    autocomplete_fields = ["restaurant", "venue"]
    fields = ["restaurant", "venue", "is_active", "created_at"]
    readonly_fields = ["created_at"]

    @admin.display(description="State", ordering="is_active")
    def state(self, listing: Listing) -> SafeString:
        return badge("active", "good") if listing.is_active else badge("inactive", "soft")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Listing], search_term: str
    ) -> tuple[QuerySet[Listing], bool]:
        rows, repeats = super().get_search_results(request, queryset, search_term)
        return rows | queryset.filter(venue__name__unaccent__icontains=search_term.strip()), repeats

    def save_model(self, request: HttpRequest, obj: Listing, form: Any, change: bool) -> None:
        obj.created_at = obj.created_at or timezone.now()
        obj.by_staff = True
        super().save_model(request, obj, form, change)


class TimeFilter(DefaultFilter):
    title = "time"
    parameter_name = "time"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("coming", "Future"), ("over", "Past"), ("all", "All")]

    def apply_choice(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        now = timezone.now()
        return queryset.filter(starts_at__gte=now) if self.value() == "coming" else queryset.filter(starts_at__lt=now)


@admin.register(FlowSlot)
class FlowSlotAdmin(RestaurantRowsAdmin, ReadOnlyAdmin):
    list_display = ["when", "status_shown", "restaurant", "percent", "seats_booked"]
    list_display_links = ["when"]
    list_filter = [TimeFilter]
    ordering = ["starts_at", "pk"]
    actions = ["withdraw"]

    @admin.display(description="When", ordering="starts_at")
    def when(self, slot: FlowSlot) -> str:
        return f"{slot.date} {slot.time:%H:%M}"

    @admin.display(description="Seats booked")
    def seats_booked(self, slot: FlowSlot) -> SafeString:
        booked = slot.seats - slot.seats_left
        return format_html(
            '<progress value="{}" max="{}"></progress> {} of {}', booked, slot.seats, booked, slot.seats
        )

    @admin.display(description="Status")
    def status_shown(self, slot: FlowSlot) -> SafeString:
        if slot.is_barred:
            return badge("withdrawn by staff", "bad")
        status = slot.status_at(timezone.now())
        return badge(status.replace("_", " "), SLOT_COLOURS.get(status, "soft"))

    @confirmed_action(
        "Withdraw the selected slots permanently",
        message="These slots can no longer be booked. Existing bookings are kept. This cannot be undone.",
        confirm_label="Withdraw slots",
        applies_to=lambda slots: slots.filter(is_barred=False),
    )
    def withdraw(self, request: HttpRequest, queryset: QuerySet[FlowSlot]) -> None:
        slots = list(queryset.order_by().values_list("pk", flat=True))
        changed = slot_materialization.withdraw_slots(slots, now=timezone.now())
        self.message_user(request, f"{changed} withdrawn. Existing bookings are kept.", messages.SUCCESS)


@admin.register(FlowBooking)
class FlowBookingAdmin(ReadOnlyAdmin):
    """Bookings by the data API; they are changed and cancelled as reservations."""

    empty_hint = "POST /v1/restaurants/{slug}/bookings and POST /v1/flow/offers/{id}/bookings create bookings."
    list_display = ["when", "status_shown", "guest", "seats", "percent", "reservation_link", "created_at"]
    list_display_links = ["when"]
    list_select_related = ["slot__restaurant", "reservation__venue__listing__restaurant"]
    search_fields = ["reservation__code__exact"]
    search_help_text = "Code or id of the reservation (res_…), or id of the booking (fb_…)"
    id_columns: ClassVar = {"res": "reservation"}

    @admin.display(description="When")
    def when(self, booking: FlowBooking) -> str:
        when = booking.slot or booking.reservation
        return f"{booking.restaurant}: {when.date} {when.time:%H:%M}"

    @admin.display(description="Guest")
    def guest(self, booking: FlowBooking) -> str:
        return printable_name(booking.reservation.customer_name)

    @admin.display(description="Percent")
    def percent(self, booking: FlowBooking) -> int | None:
        return booking.slot.percent if booking.slot else None

    @admin.display(description="Status")
    def status_shown(self, booking: FlowBooking) -> SafeString:
        reservation = booking.reservation
        return badge(reservation.get_status_display(), COLOURS.get(reservation.status, ""))

    @admin.display(description="Reservation")
    def reservation_link(self, booking: FlowBooking) -> SafeString:
        address = reverse("admin:reservations_reservation_change", args=[booking.reservation_id])
        return format_html('<a href="{}">{}</a>', address, booking.reservation.code)


class DepositStatusFilter(admin.SimpleListFilter):
    title = "deposit"
    parameter_name = "deposit"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("held", "Held"), ("kept", "Kept: payable to the venue"), ("returned", "Returned to the guest")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Deposit]) -> QuerySet[Deposit]:
        if self.value() in DepositState.values:
            return queryset.filter(booking__reservation__agreed_terms__deposit_state=self.value())
        return queryset


@admin.register(Deposit)
class DepositAdmin(ReadOnlyAdmin):
    """Deposits of bookings. Staff of the venue return a kept one; what is kept is payable to the venue."""

    empty_hint = "A booking by the data API or MCP at a time that asks for a deposit pays one."
    list_display = ["booking_link", "status_shown", "venue", "amount", "payment_link"]
    list_display_links = None
    list_select_related = ["booking__reservation__venue", "booking__reservation__agreed_terms", "payment"]
    list_filter = [DepositStatusFilter]
    search_fields = ["booking__reservation__code__exact"]
    search_help_text = "Code or id of the reservation (res_…), or id of the payment (pay_…)"
    id_columns: ClassVar = {"res": "booking__reservation", "pay": "payment"}

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Show the sums of all deposits above the list. One query more."""
        sums = deposits.sum_deposits()
        held, kept = format_amount(sums["held"]), format_amount(sums["kept"])
        title = f"Deposits: {held} USDC held, {kept} USDC kept and payable to venues"
        return super().changelist_view(request, {"title": title, **(extra_context or {})})

    @admin.display(description="Reservation")
    def booking_link(self, deposit: Deposit) -> SafeString:
        reservation = deposit.booking.reservation
        address = reverse("admin:reservations_reservation_change", args=[reservation.pk])
        when = f"{reservation.date} {reservation.time:%H:%M}"
        return format_html('<a href="{}">{}</a>, {}', address, reservation.code, when)

    @admin.display(description="Venue")
    def venue(self, deposit: Deposit) -> str:
        return deposit.booking.reservation.venue.name

    @admin.display(description="USDC", ordering="payment__amount_usdc")
    def amount(self, deposit: Deposit) -> str:
        return format_amount(deposit.amount_usdc)

    @admin.display(description="Status")
    def status_shown(self, deposit: Deposit) -> SafeString:
        return badge(deposit.status.replace("_", " "), COLOURS.get(deposit.status, ""))

    @admin.display(description="Payment")
    def payment_link(self, deposit: Deposit) -> SafeString:
        address = reverse("admin:payments_payment_change", args=[deposit.payment_id])
        return format_html('<a href="{}">{}</a>', address, deposit.payment.public_id)
