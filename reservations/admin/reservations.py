"""Reservations in the back office."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, ClassVar, cast

from django.contrib import admin, messages
from django.db.models import DateField, F, Func, QuerySet, Sum, Value
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html_join

from accounts.admin.venue_scoping import VenueScopedAdmin
from accounts.api_keys.authentication import get_staff_actor
from accounts.models import Event, RecordCount
from framework.admin.action_confirmation import render_rows_confirmation
from framework.admin.domain_error_forms import DomainErrorAdmin
from framework.admin.large_tables import LargeTableAdmin
from framework.admin.pending_counts import PendingCount, count_bounded
from framework.errors import ApiError
from reservations.booking import commands, waitlist
from reservations.forms.reservation import NewReservationForm, ReservationForm
from reservations.mail.templates import hour_of
from reservations.models import Notice, Reservation, Table
from reservations.models.reservations import legible
from reservations.notifications import is_mailed
from reservations.service import check_in

Arrival, Status = Reservation.Arrival, Reservation.Status
# The newest lines of the history and of the emails that the page shows.
MAX_LINES = 50
TABLE_RELEASED = "Its table was released when it was marked as no-show: choose a new one on its page."


class DayFilter(admin.SimpleListFilter):
    """Shortcuts for the next days; the date hierarchy has the others."""

    title = "day"
    parameter_name = "day"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """The choices."""
        return [("today", "Today"), ("tomorrow", "Tomorrow"), ("week", "Next 7 days")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Reservation]) -> QuerySet[Reservation]:
        """Filter by day; today is the current day in each venue's time zone."""
        now = timezone.now()
        first, days = {"today": (0, 1), "tomorrow": (1, 1), "week": (0, 7)}.get(self.value() or "", (0, 0))
        return queryset.filter(date__gte=day_at(now, first), date__lt=day_at(now, first + days)) if days else queryset


def day_at(now: datetime, ahead: int) -> Func:
    """SQL expression: the local date of the reservation's venue, `ahead` days after today."""
    there = "timezone(%(expressions)s)::date + %(ahead)s"
    return Func(F("venue__timezone"), Value(now), template=there, ahead=ahead, output_field=DateField())


@admin.register(Reservation)
class ReservationAdmin(VenueScopedAdmin, DomainErrorAdmin, LargeTableAdmin):
    """Reservations: latest first; with a day filter, earliest first."""

    form = ReservationForm
    list_display = ["when", "name", "guests", "its_tables", "status_shown", "code", "venue"]
    list_select_related = ["venue"]
    list_filter = ["status", "pending_reason", "arrival", DayFilter]
    search_fields = ["code", "customer_name", "customer_email", "customer_phone"]
    search_help_text = "Code, name, email address or phone number"
    ordering = ["-starts_at", "-id"]
    date_hierarchy = "date"
    autocomplete_fields = ["venue"]
    actions = ["confirm", "cancel", "offer_table", "arrived", "seated", "finished", "no_show"]
    fields = [
        "venue",
        ("date", "time", "party_size"),
        "customer_name",
        ("customer_email", "customer_phone"),
        "special_requests",
        "tables",
        ("code", "status", "waits_for", "arrival"),
        ("starts_at", "ends_at"),
        ("created_at", "updated_at", "cancelled_at"),
        "history",
        "mail",
    ]
    readonly_fields = [
        "code", "status", "waits_for", "arrival", "starts_at", "ends_at", "created_at", "updated_at", "cancelled_at",
        "history", "mail",
    ]  # fmt: skip

    class Media:
        css: ClassVar = {"all": ["reservations/admin.css"]}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Reservation]:
        """Annotate whether emails to a waiting guest have failed."""
        rows: QuerySet[Reservation] = super().get_queryset(request)
        return rows.annotate(is_unreached=waitlist.unreached(now=timezone.now()))

    def get_ordering(self, request: HttpRequest) -> Any:
        """With a day filter, earliest first."""
        return ["starts_at", "id"] if request.GET.get(DayFilter.parameter_name) else self.ordering

    @admin.display(description="when", ordering="starts_at")
    def when(self, reservation: Reservation) -> str:
        """Date and time in the venue's time zone."""
        return f"{reservation.date} {reservation.time:%H:%M}"

    @admin.display(description="name", ordering="customer_name")
    def name(self, reservation: Reservation) -> str:
        """The guest's name."""
        return legible(reservation.customer_name)

    @admin.display(description="guests", ordering="party_size")
    def guests(self, reservation: Reservation) -> int:
        """The party size."""
        return reservation.party_size

    @admin.display(description="tables", ordering="tables")
    def its_tables(self, reservation: Reservation) -> str:
        """The table names."""
        return ", ".join(reservation.tables) or "-"

    @admin.display(description="status", ordering="status")
    def status_shown(self, reservation: Reservation) -> str:
        """The status with the arrival state or the pending reason."""
        more = reservation.get_arrival_display() or self.waits_for(reservation)
        return f"{reservation.get_status_display()}{'' if more == '-' else f': {more}'}"

    @admin.display(description="pending because", ordering="pending_reason")
    def waits_for(self, reservation: Any) -> str:
        """The pending reason, and whether staff have to call."""
        if until := waitlist.held_until(reservation):
            return f"offered a table until {hour_of(until, reservation.venue.timezone)}"
        if waitlist.is_waiting(reservation):
            is_reachable = waitlist.is_mailed_offers(reservation) and not reservation.is_unreached
            return "waiting" if is_reachable else "waiting, call the guest"
        return reservation.get_pending_reason_display() or "-"

    @admin.display(description="history")
    def history(self, reservation: Reservation) -> str:
        """The history with actors, newest first."""
        events = Event.objects.filter(subject=reservation.pk).order_by("-created_at", "-id")[:MAX_LINES]
        lines = ((f"{event.created_at:%Y-%m-%d %H:%M:%S} UTC", event.type, event.actor) for event in events)
        return format_html_join("", "<div>{} {} by {}</div>", lines) or "-"

    @admin.display(description="emails to the guest")
    def mail(self, reservation: Reservation) -> str:
        """The emails with their delivery state, newest first."""
        notices = reservation.notices.order_by("-created_at", "-id")[:MAX_LINES]
        lines = ((f"{one.created_at:%Y-%m-%d %H:%M:%S} UTC", one.kind, state_of(one)) for one in notices)
        return format_html_join("", "<div>{} {}: {}</div>", lines) or "-"

    def get_fields(self, request: HttpRequest, obj: Reservation | None = None) -> Any:
        """A new reservation has no history, but a confirmed checkbox."""
        return self.fields if obj else ["venue", "is_confirmed", *self.fields[1:6]]

    def get_readonly_fields(self, request: HttpRequest, obj: Reservation | None = None) -> list[str]:
        """The venue of an existing reservation is fixed."""
        return [*self.readonly_fields, "venue"] if obj else []

    def get_form(
        self, request: HttpRequest, obj: Reservation | None = None, change: bool = False, **kwargs: Any
    ) -> Any:
        """Add the venue's table names to the help text."""
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
        """Save the reservation; staff may enter past dates, which the API rejects."""
        now, actor = timezone.now(), get_staff_actor(request)
        if not change:
            status = Status.CONFIRMED if form.cleaned_data["is_confirmed"] else Status.PENDING
            commands.write_down(obj, status=status, now=now, actor=actor)
            return
        # Save changed fields only: the others may have changed since the page was opened.
        new = {name: form.cleaned_data[name] for name in form.changed_data}
        commands.change(
            obj,
            day=new.pop("date", None),
            at=new.pop("time", None),
            party_size=new.pop("party_size", None),
            tables=new.pop("tables", None),
            guest=cast("commands.Guest", new),
            now=now,
            actor=actor,
        )

    def has_delete_permission(self, request: HttpRequest, obj: Reservation | None = None) -> bool:
        """A reservation is cancelled, never deleted."""
        return False

    @admin.action(description="Confirm the selected reservations", permissions=["change"])
    def confirm(self, request: HttpRequest, queryset: QuerySet[Reservation]) -> None:
        """Confirm the reservations."""
        self.move(request, queryset, Status.CONFIRMED)

    @admin.action(description="Cancel the selected reservations", permissions=["change"])
    def cancel(self, request: HttpRequest, queryset: QuerySet[Reservation]) -> HttpResponse | None:
        """Ask for confirmation, then cancel the reservations."""
        if "confirmed" not in request.POST:
            rows = queryset.exclude(status=Status.CANCELLED).select_related("venue")
            message = (
                "These reservations are cancelled permanently. Their tables become available, and guests with an email"
                " address are notified."
            )
            question: dict[str, Any] = {
                "title": "Cancel reservations?",
                "message": message,
                "confirm_label": "Cancel reservations",
            }
            return render_rows_confirmation(self, request, rows, action="cancel", **question)
        self.move(request, queryset, Status.CANCELLED)
        return None

    @admin.action(description="Offer a table to the selected waiting parties", permissions=["change"])
    def offer_table(self, request: HttpRequest, queryset: QuerySet[Reservation]) -> None:
        """Hold a table for each party, regardless of the order of the waiting list."""

        def offer(reservation: Reservation, now: datetime) -> str:
            until = hour_of(
                waitlist.offer(reservation, actor=get_staff_actor(request), now=now), reservation.venue.timezone
            )
            notice = (
                "The guest is emailed." if is_mailed(reservation, Notice.Kind.OFFERED, now=now) else "Call the guest."
            )
            return f"{reservation}: {', '.join(reservation.tables)} is held until {until}. {notice}"

        self.each(request, queryset, offer)

    @admin.action(description="Mark as arrived", permissions=["change"])
    def arrived(self, request: HttpRequest, queryset: QuerySet[Reservation]) -> None:
        """Mark the parties as arrived."""
        self.mark(request, queryset, Arrival.ARRIVED)

    @admin.action(description="Mark as seated", permissions=["change"])
    def seated(self, request: HttpRequest, queryset: QuerySet[Reservation]) -> None:
        """Mark the parties as seated."""
        self.mark(request, queryset, Arrival.SEATED)

    @admin.action(description="Mark as finished", permissions=["change"])
    def finished(self, request: HttpRequest, queryset: QuerySet[Reservation]) -> None:
        """Mark the parties as finished; their tables are free."""
        self.mark(request, queryset, Arrival.FINISHED)

    @admin.action(description="Mark as no-show", permissions=["change"])
    def no_show(self, request: HttpRequest, queryset: QuerySet[Reservation]) -> HttpResponse | None:
        """Ask for confirmation, then mark as no-show; the tables are free."""
        if "confirmed" not in request.POST:
            message = "The tables become available immediately."
            question: dict[str, Any] = {
                "title": "Mark as no-show?",
                "message": message,
                "confirm_label": "Mark as no-show",
            }
            return render_rows_confirmation(
                self, request, queryset.select_related("venue"), action="no_show", **question
            )
        self.mark(request, queryset, Arrival.NO_SHOW)
        return None

    def pending_counts(self, request: HttpRequest) -> list[PendingCount]:
        """Pending reservations; for members also the arrivals still expected today."""
        page = reverse("admin:reservations_reservation_changelist")
        pending = RecordCount.objects.filter(record_type=RecordCount.RecordType.RESERVATION, status=Status.PENDING)
        number = self.filter_permitted(request, pending, "view", path="venue").aggregate(sum=Sum("total"))["sum"] or 0
        waits = PendingCount("pending reservations", int(number), f"{page}?status__exact={Status.PENDING}")
        if self.venues(request, "view") is None:
            return [waits]
        now = timezone.now()
        coming = Reservation.objects.filter(
            date__gte=day_at(now, 0), date__lt=day_at(now, 1), status=Status.CONFIRMED, arrival__isnull=True
        )
        today = count_bounded(self.filter_permitted(request, coming, "view"))
        return [waits, PendingCount("arrivals expected today", today, f"{page}?day=today")]

    def move(self, request: HttpRequest, queryset: QuerySet[Reservation], status: Reservation.Status) -> None:
        """Set the status of each reservation, and report errors."""

        def move(reservation: Reservation, now: datetime) -> str:
            commands.move(reservation, status, now=now, actor=get_staff_actor(request))
            return f"{reservation} was {status.value}."

        self.each(request, queryset, move)

    def mark(self, request: HttpRequest, queryset: QuerySet[Reservation], arrival: Reservation.Arrival) -> None:
        """Set the arrival state of each party, and report errors."""

        def mark(reservation: Reservation, now: datetime) -> str:
            comes_late = reservation.arrival == Arrival.NO_SHOW and arrival == Arrival.ARRIVED
            check_in.mark(reservation, arrival, actor=get_staff_actor(request), now=now)
            return f"{reservation} was marked as {arrival.label.lower()}.{f' {TABLE_RELEASED}' if comes_late else ''}"

        self.each(request, queryset, mark)

    def each(
        self,
        request: HttpRequest,
        queryset: QuerySet[Reservation],
        verb: Callable[[Reservation, datetime], str],
    ) -> None:
        """Run `verb` on each reservation, and add its message or its error."""
        for reservation in queryset:
            try:
                message, level = verb(reservation, timezone.now()), messages.SUCCESS
            except ApiError as refusal:
                message, level = f"{reservation}: {refusal.message}", messages.ERROR
            self.message_user(request, message, level)


def state_of(notice: Notice) -> str:
    """Return the delivery state of an email: sent, next attempt, or why it failed."""
    if notice.state == Notice.State.SENT:
        return f"sent {notice.sent_at:%Y-%m-%d %H:%M:%S} UTC"
    if notice.state == Notice.State.PENDING and notice.last_error:
        return f"{notice.tries} attempts, next {notice.next_try_at:%Y-%m-%d %H:%M:%S} UTC: {notice.last_error}"
    return f"{notice.get_state_display().lower()} {notice.last_error}".strip()
