"""Reservations in the back office."""

from datetime import datetime, timedelta
from typing import Any

from django.contrib import admin
from django.db.models import DateField, F, Func, Min, QuerySet, Sum, Value
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from accounts.api_keys.authentication import get_staff_actor
from accounts.models import Event, RecordCount
from framework.admin.action_confirmation import confirmed_action, run_on_each
from framework.admin.badges import COLOURS, badge
from framework.admin.domain_error_forms import DomainErrorAdmin
from framework.admin.large_tables import LargeTableAdmin
from framework.admin.pending_counts import PendingCount
from framework.languages import format_moment
from reservations.booking import commands, waitlist
from reservations.forms.reservation import NewReservationForm, ReservationForm
from reservations.models import GuestMail, Reservation, Table
from reservations.models.reservations import printable_name
from reservations.notifications import can_email
from reservations.service import check_in

Arrival, Status = Reservation.Arrival, Reservation.Status
# The newest lines of the history and of the emails that the page shows.
MAX_LINES = 50
TABLE_RELEASED = "Its table was released when it was marked as no-show: choose a new one on its page."


GUEST_FIELDS: list[Any] = [
    ("date", "time", "party_size"),
    "customer_name",
    ("customer_email", "customer_phone"),
    "special_requests",
    "tables",
]


class DayFilter(admin.SimpleListFilter):
    """Shortcuts for the next days; the date hierarchy has the others."""

    title = "day"
    parameter_name = "day"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("today", "Today"), ("tomorrow", "Tomorrow"), ("week", "Next 7 days")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Reservation]) -> QuerySet[Reservation]:
        now = timezone.now()
        first, days = {"today": (0, 1), "tomorrow": (1, 1), "week": (0, 7)}.get(self.value() or "", (0, 0))
        return queryset.filter(date__gte=day_at(now, first), date__lt=day_at(now, first + days)) if days else queryset


def day_at(now: datetime, ahead: int) -> Func:
    """SQL expression: the local date of the reservation's venue, `ahead` days after today."""
    template = "timezone(%(expressions)s)::date + %(ahead)s"
    return Func(F("venue__timezone"), Value(now), template=template, ahead=ahead, output_field=DateField())


@admin.register(Reservation)
class ReservationAdmin(DomainErrorAdmin, LargeTableAdmin):
    """Reservations: latest first; with a day filter, earliest first."""

    form = ReservationForm
    list_display = ["name", "status_label", "when", "guests", "table_names", "venue", "code"]
    list_select_related = ["venue"]
    shows_first_filter = True
    list_filter = ["status", "pending_reason", "arrival", DayFilter]
    search_fields = ["code", "customer_name__unaccent", "customer_email", "customer_phone"]
    search_help_text = "Name, code, email, phone or id (res_…)"
    is_in_site_search = True
    ordering = ["-starts_at", "-id"]
    date_hierarchy = "date"
    autocomplete_fields = ["venue"]
    actions = ["confirm", "cancel", "offer_table", "arrived", "seated", "finished", "no_show"]
    fieldsets = [
        (None, {"fields": ["status_label", "code", "venue", "starts_at", "ends_at"]}),
        ("Guest and table", {"fields": GUEST_FIELDS}),
        ("History", {"fields": ["history", "mail"]}),
        (
            "Record",
            {
                "classes": ["collapse"],
                "fields": ["status", "arrival", "pending_because", "created_at", "updated_at", "cancelled_at"],
            },
        ),
    ]
    readonly_fields = [
        "code", "status", "status_label", "pending_because", "arrival", "starts_at", "ends_at", "created_at",
        "updated_at", "cancelled_at", "history", "mail",
    ]  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet[Reservation]:
        rows: QuerySet[Reservation] = super().get_queryset(request)
        return rows.annotate(is_unreached=waitlist.has_undelivered_mail(now=timezone.now()))

    def get_ordering(self, request: HttpRequest) -> Any:
        return ["starts_at", "id"] if request.GET.get(DayFilter.parameter_name) else self.ordering

    @admin.display(description="when", ordering="starts_at")
    def when(self, reservation: Reservation) -> str:
        return f"{reservation.date} {reservation.time:%H:%M}"

    @admin.display(description="name", ordering="customer_name")
    def name(self, reservation: Reservation) -> str:
        return printable_name(reservation.customer_name)

    @admin.display(description="guests", ordering="party_size")
    def guests(self, reservation: Reservation) -> int:
        return reservation.party_size

    @admin.display(description="tables", ordering="tables")
    def table_names(self, reservation: Reservation) -> str:
        return ", ".join(reservation.tables) or "-"

    @admin.display(description="status", ordering="status")
    def status_label(self, reservation: Reservation) -> SafeString:
        more = reservation.get_arrival_display() or self.pending_because(reservation)
        text = f"{reservation.get_status_display()}{'' if more == '-' else f': {more}'}"
        return badge(text, COLOURS.get(reservation.arrival or "", COLOURS.get(reservation.status, "")))

    @admin.display(description="pending because", ordering="pending_reason")
    def pending_because(self, reservation: Any) -> str:
        if until := waitlist.offer_expires_at(reservation):
            return f"offered a table until {format_moment(until, reservation.venue.timezone)}"
        if waitlist.is_waitlisted(reservation):
            is_reachable = waitlist.can_mail_offers(reservation) and not reservation.is_unreached
            return "waiting" if is_reachable else "waiting, call the guest"
        return reservation.get_pending_reason_display() or "-"

    @admin.display(description="history")
    def history(self, reservation: Reservation) -> str:
        events = Event.objects.filter(subject=reservation.pk).order_by("-created_at", "-id")[:MAX_LINES]
        lines = ((f"{event.created_at:%Y-%m-%d %H:%M:%S} UTC", event.type, event.actor) for event in events)
        return format_html_join("", "<div>{} {} by {}</div>", lines) or "-"

    @admin.display(description="emails to the guest")
    def mail(self, reservation: Reservation) -> str:
        mails = reservation.guest_mails.order_by("-created_at", "-id")[:MAX_LINES]
        lines = ((f"{mail.created_at:%Y-%m-%d %H:%M:%S} UTC", mail.kind, delivery_state(mail)) for mail in mails)
        return format_html_join("", "<div>{} {}: {}</div>", lines) or "-"

    def get_fieldsets(self, request: HttpRequest, obj: Reservation | None = None) -> Any:
        return self.fieldsets if obj else [(None, {"fields": ["venue", "is_confirmed", *GUEST_FIELDS]})]

    def get_readonly_fields(self, request: HttpRequest, obj: Reservation | None = None) -> list[str]:
        return [*self.readonly_fields, "venue"] if obj else []

    def get_form(
        self, request: HttpRequest, obj: Reservation | None = None, change: bool = False, **kwargs: Any
    ) -> Any:
        form: Any = super().get_form(
            request, obj, change, form=ReservationForm if obj else NewReservationForm, **kwargs
        )
        tables = form.base_fields.get("tables")
        if tables:
            rows = Table.objects.filter(venue=obj.venue_id, is_active=True).order_by("name") if obj else []
            names = ", ".join(table.name for table in rows)
            available = f" Tables of this venue: {names}." if names else ""
            tables.help_text = f"Table names, separated by commas: T1, T2.{available} Leave empty for no table."
        return form

    def save_model(self, request: HttpRequest, obj: Reservation, form: Any, change: bool) -> None:
        now, actor = obj.venue.now(), get_staff_actor(request)
        if not change:
            status = Status.CONFIRMED if form.cleaned_data["is_confirmed"] else Status.PENDING
            commands.create_by_staff(obj, status=status, now=now, actor=actor)
            return
        commands.update(obj, **form.changes(), now=now, actor=actor)

    def has_delete_permission(self, request: HttpRequest, obj: Reservation | None = None) -> bool:
        return False

    @confirmed_action(
        "Confirm the selected reservations",
        message="These reservations are confirmed, and guests with an email address are notified. Those that find no"
        " table do not change.",
        confirm_label="Confirm reservations",
        applies_to=lambda reservations: reservations.exclude(status=Status.CONFIRMED),
    )
    def confirm(self, request: HttpRequest, queryset: QuerySet[Reservation]) -> None:
        self.set_status(request, queryset, Status.CONFIRMED)

    @confirmed_action(
        "Cancel the selected reservations",
        message="These reservations are cancelled permanently. Their tables become available, and guests with an email"
        " address are notified.",
        confirm_label="Cancel reservations",
        applies_to=lambda reservations: reservations.exclude(status=Status.CANCELLED),
    )
    def cancel(self, request: HttpRequest, queryset: QuerySet[Reservation]) -> None:
        self.set_status(request, queryset, Status.CANCELLED)

    @confirmed_action(
        "Offer a table to the selected waiting parties",
        message="A free table is held for each of these parties for some minutes, and guests with an email address are"
        " notified.",
        confirm_label="Offer tables",
        applies_to=lambda reservations: reservations.filter(status=Status.PENDING),
    )
    def offer_table(self, request: HttpRequest, queryset: QuerySet[Reservation]) -> None:
        def offer(reservation: Reservation) -> str:
            now = reservation.venue.now()
            expires_at = waitlist.offer_table(reservation, actor=get_staff_actor(request), now=now)
            until = format_moment(expires_at, reservation.venue.timezone)
            is_emailed = can_email(reservation, GuestMail.Kind.OFFERED, now=now)
            notice = "The guest is emailed." if is_emailed else "Call the guest."
            return f"{reservation}: {', '.join(reservation.tables)} is held until {until}. {notice}"

        run_on_each(self, request, queryset, offer)

    @confirmed_action(
        "Mark as arrived", message="These guests are recorded as arrived.", confirm_label="Mark as arrived"
    )
    def arrived(self, request: HttpRequest, queryset: QuerySet[Reservation]) -> None:
        self.record_arrival(request, queryset, Arrival.ARRIVED)

    @confirmed_action("Mark as seated", message="These guests are recorded as seated.", confirm_label="Mark as seated")
    def seated(self, request: HttpRequest, queryset: QuerySet[Reservation]) -> None:
        self.record_arrival(request, queryset, Arrival.SEATED)

    @confirmed_action(
        "Mark as finished",
        message="These guests are recorded as gone. Their tables become available immediately.",
        confirm_label="Mark as finished",
    )
    def finished(self, request: HttpRequest, queryset: QuerySet[Reservation]) -> None:
        self.record_arrival(request, queryset, Arrival.FINISHED)

    @confirmed_action(
        "Mark as no-show", message="The tables become available immediately.", confirm_label="Mark as no-show"
    )
    def no_show(self, request: HttpRequest, queryset: QuerySet[Reservation]) -> None:
        self.record_arrival(request, queryset, Arrival.NO_SHOW)

    def pending_counts(self, request: HttpRequest) -> list[PendingCount]:
        page = reverse("admin:reservations_reservation_changelist")
        pending = RecordCount.objects.filter(record_type=RecordCount.RecordType.RESERVATION, status=Status.PENDING)
        number = pending.aggregate(sum=Sum("total", default=0))["sum"]
        # By the index of days: those of former days wait for nothing.
        today = timezone.now().date() - timedelta(days=1)
        reservations = Reservation.objects.filter(
            status=Status.PENDING, date__gte=today, venue__in=pending.filter(total__gt=0).values("venue")
        )
        since = reservations.aggregate(first=Min("created_at"))["first"]
        address = f"{page}?status__exact={Status.PENDING}"
        return [PendingCount("pending reservations", int(number), address, since=since)]

    def set_status(self, request: HttpRequest, queryset: QuerySet[Reservation], status: Reservation.Status) -> None:
        def set_status(reservation: Reservation) -> str:
            commands.set_status(reservation, status, now=reservation.venue.now(), actor=get_staff_actor(request))
            return f"{reservation} was {status.value}."

        run_on_each(self, request, queryset, set_status)

    def record_arrival(
        self, request: HttpRequest, queryset: QuerySet[Reservation], arrival: Reservation.Arrival
    ) -> None:
        def record(reservation: Reservation) -> str:
            was_no_show = reservation.arrival == Arrival.NO_SHOW and arrival == Arrival.ARRIVED
            check_in.record_arrival(reservation, arrival, actor=get_staff_actor(request), now=reservation.venue.now())
            return f"{reservation} was marked as {arrival.label.lower()}.{f' {TABLE_RELEASED}' if was_no_show else ''}"

        run_on_each(self, request, queryset, record)


def delivery_state(mail: GuestMail) -> str:
    """Return the delivery state of an email: sent, next attempt, or why it failed."""
    if mail.state == GuestMail.State.SENT:
        return f"sent {mail.sent_at:%Y-%m-%d %H:%M:%S} UTC"
    if mail.state == GuestMail.State.PENDING and mail.last_error:
        return f"{mail.attempts} attempts, next {mail.next_attempt_at:%Y-%m-%d %H:%M:%S} UTC: {mail.last_error}"
    return f"{mail.get_state_display().lower()} {mail.last_error}".strip()
