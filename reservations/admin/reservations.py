"""Where staff take, confirm and cancel reservations."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import NON_FIELD_ERRORS
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from rest_framework import serializers

from accounts.authentication import staff
from config.api.fields import Phone
from config.api.refusal import Refusal
from reservations import booking
from reservations.clock import moment_of
from reservations.models import IllegalMove, Reservation

ASKED = ["customer_name", "customer_email", "customer_phone", "date", "time", "party_size", "special_requests"]


class ReservationForm(forms.ModelForm[Reservation]):
    """A reservation as staff write it down: the rules of time are those of the API."""

    customer_phone = forms.CharField(required=False, max_length=40, help_text="International, with a plus")

    class Meta:
        model = Reservation
        fields = ["venue", *ASKED, "tables"]

    def clean_customer_phone(self) -> str | None:
        """The number without what people write between its digits, as the API keeps it."""
        number = self.cleaned_data["customer_phone"]
        try:
            return Phone().to_internal_value(number) if number else None
        except serializers.ValidationError as error:
            raise forms.ValidationError([str(detail) for detail in error.detail]) from error

    def clean(self) -> dict[str, Any]:
        """Ask for a contact, and for a moment that the venue's clock knows."""
        wanted: dict[str, Any] = super().clean() or {}
        wanted["customer_email"] = wanted.get("customer_email") or None
        wanted["customer_phone"] = wanted.get("customer_phone") or None
        if not (wanted["customer_email"] or wanted["customer_phone"]):
            self.add_error("customer_email", "Give an e-mail address or a phone number.")
        # Chosen for a new reservation, unless the choice was wrong; fixed for an old one.
        venue = wanted.get("venue") if self.instance._state.adding else self.instance.venue  # noqa: SLF001  # Django's documented attribute
        if venue and wanted.get("date") and wanted.get("time"):
            try:
                moment_of(venue, day=wanted["date"], at=wanted["time"])
            except Refusal as refusal:
                self.add_error(refusal.param or NON_FIELD_ERRORS, refusal.message)
        return wanted


@admin.register(Reservation)
class ReservationAdmin(admin.ModelAdmin[Reservation]):
    """Reservations, soonest first."""

    form = ReservationForm
    list_display = ["code", "status", "date", "time", "party_size", "customer_name", "tables", "venue"]
    list_select_related = ["venue"]
    list_filter = ["status", "date"]
    search_fields = ["code", "customer_name", "customer_email", "customer_phone"]
    search_help_text = "Code, name, mail address or phone number"
    ordering = ["-starts_at", "-id"]
    date_hierarchy = "date"
    show_full_result_count = False
    list_per_page = 50
    autocomplete_fields = ["venue"]
    actions = ["confirm", "cancel"]
    fields = [
        "venue",
        ("date", "time", "party_size"),
        "customer_name",
        ("customer_email", "customer_phone"),
        "special_requests",
        "tables",
        ("code", "status", "pending_reason"),
        ("starts_at", "ends_at"),
        ("created_at", "updated_at", "cancelled_at"),
    ]
    readonly_fields = [
        "code", "status", "pending_reason", "starts_at", "ends_at", "created_at", "updated_at", "cancelled_at",
    ]  # fmt: skip

    def get_readonly_fields(self, request: HttpRequest, obj: Reservation | None = None) -> list[str]:
        """A reservation stays with its venue."""
        return [*self.readonly_fields, "venue"] if obj else list(self.readonly_fields)

    def save_model(self, request: HttpRequest, obj: Reservation, form: Any, change: bool) -> None:
        """Store what staff wrote; they may write down the past, which the API refuses."""
        if not change:
            booking.write_down(obj, now=timezone.now(), actor=staff(request))
            return
        booking.change(
            obj,
            day=obj.date,
            at=obj.time,
            party_size=obj.party_size,
            tables=obj.tables,
            guest=booking.Guest(obj.customer_name, obj.customer_email, obj.customer_phone, obj.special_requests),
            now=timezone.now(),
            actor=staff(request),
        )

    def has_delete_permission(self, request: HttpRequest, obj: Reservation | None = None) -> bool:
        """A reservation is cancelled, never deleted."""
        return False

    @admin.action(description="Confirm the selected reservations", permissions=["change"])
    def confirm(self, request: HttpRequest, queryset: QuerySet[Reservation]) -> None:
        """Move to confirmed."""
        self.move(request, queryset, Reservation.Status.CONFIRMED)

    @admin.action(description="Cancel the selected reservations", permissions=["change"])
    def cancel(self, request: HttpRequest, queryset: QuerySet[Reservation]) -> None:
        """Move to cancelled."""
        self.move(request, queryset, Reservation.Status.CANCELLED)

    def move(self, request: HttpRequest, queryset: QuerySet[Reservation], status: Reservation.Status) -> None:
        """Move each reservation that may, and say which may not."""
        for reservation in queryset:
            try:
                booking.move(reservation, status, now=timezone.now(), actor=staff(request))
            except IllegalMove as refusal:
                self.message_user(request, f"{reservation}: {refusal.message}", messages.ERROR)
            else:
                self.message_user(request, f"{reservation} is {status.value}.", messages.SUCCESS)
