"""Where staff take, confirm and cancel reservations, offer tables to who waits, and mark who has come."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, ClassVar, cast

from django.contrib import admin, messages
from django.db.models import DateField, F, Func, QuerySet, Sum, Value
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html_join

from accounts.admin.venue_scoping import OfVenues
from accounts.api_keys.authentication import staff
from accounts.models import Event, Tally
from framework.admin.action_confirmation import ask_about
from framework.admin.domain_error_forms import RefusedFormAdmin
from framework.admin.large_tables import LargeTableAdmin
from framework.admin.pending_counts import PendingCount, count_bounded
from framework.errors import Refusal
from reservations.booking import commands, waitlist
from reservations.forms.reservation import NewReservationForm, ReservationForm
from reservations.mail.templates import hour_of
from reservations.models import Notice, Reservation, Table
from reservations.models.reservations import legible
from reservations.notifications import is_mailed
from reservations.service import check_in

Arrival, Status = Reservation.Arrival, Reservation.Status
# The newest lines of the history and of the mail that its page shows.
MOST_LINES = 50
LATE_AGAIN = "The table was given back when they did not come: choose one for them on their page."


class DayFilter(admin.SimpleListFilter):
    """The days that staff look at most; the others are found by the dates above the list."""

    title = "day"
    parameter_name = "day"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """The choices."""
        return [("today", "Today"), ("tomorrow", "Tomorrow"), ("week", "The next 7 days")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Reservation]) -> QuerySet[Reservation]:
        """Keep these days; today is what each venue's own clock says."""
        now = timezone.now()
        first, days = {"today": (0, 1), "tomorrow": (1, 1), "week": (0, 7)}.get(self.value() or "", (0, 0))
        return queryset.filter(date__gte=day_at(now, first), date__lt=day_at(now, first + days)) if days else queryset


def day_at(now: datetime, ahead: int) -> Func:
    """Of reservations: the day that it will be at their venue, so many days after today."""
    there = "timezone(%(expressions)s)::date + %(ahead)s"
    return Func(F("venue__timezone"), Value(now), template=there, ahead=ahead, output_field=DateField())


@admin.register(Reservation)
class ReservationAdmin(OfVenues, RefusedFormAdmin, LargeTableAdmin):
    """Reservations: all latest first, those of chosen days as they come."""

    form = ReservationForm
    list_display = ["when", "name", "guests", "its_tables", "standing", "code", "venue"]
    list_select_related = ["venue"]
    list_filter = ["status", "pending_reason", "arrival", DayFilter]
    search_fields = ["code", "customer_name", "customer_email", "customer_phone"]
    search_help_text = "Code, name, mail address or phone number"
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
        """Those that wait know whether mail reaches them."""
        rows: QuerySet[Reservation] = super().get_queryset(request)
        return rows.annotate(is_unreached=waitlist.unreached(now=timezone.now()))

    def get_ordering(self, request: HttpRequest) -> Any:
        """Of a day or a week the soonest first."""
        return ["starts_at", "id"] if request.GET.get(DayFilter.parameter_name) else self.ordering

    @admin.display(description="when", ordering="starts_at")
    def when(self, reservation: Reservation) -> str:
        """Day and time by the venue's clock."""
        return f"{reservation.date} {reservation.time:%H:%M}"

    @admin.display(description="name", ordering="customer_name")
    def name(self, reservation: Reservation) -> str:
        """Who is coming."""
        return legible(reservation.customer_name)

    @admin.display(description="guests", ordering="party_size")
    def guests(self, reservation: Reservation) -> int:
        """How many are coming."""
        return reservation.party_size

    @admin.display(description="tables", ordering="tables")
    def its_tables(self, reservation: Reservation) -> str:
        """The names of its tables."""
        return ", ".join(reservation.tables) or "-"

    @admin.display(description="status", ordering="status")
    def standing(self, reservation: Reservation) -> str:
        """Whether it is confirmed, and what was seen of the party or what it waits for."""
        more = reservation.get_arrival_display() or self.waits_for(reservation)
        return f"{reservation.get_status_display()}{'' if more == '-' else f': {more}'}"

    @admin.display(description="pending because", ordering="pending_reason")
    def waits_for(self, reservation: Any) -> str:
        """What a pending reservation waits for, and who has to do something about it."""
        if until := waitlist.held_until(reservation):
            return f"offered a table until {hour_of(until, reservation.venue.timezone)}"
        if waitlist.is_waiting(reservation):
            reads = waitlist.is_mailed_offers(reservation) and not reservation.is_unreached
            return "waiting" if reads else "waiting, call them"
        return reservation.get_pending_reason_display() or "-"

    @admin.display(description="history")
    def history(self, reservation: Reservation) -> str:
        """What has happened to it, newest first, and who did it."""
        events = Event.objects.filter(subject=reservation.pk).order_by("-created_at", "-id")[:MOST_LINES]
        lines = ((f"{event.created_at:%Y-%m-%d %H:%M:%S} UTC", event.type, event.actor) for event in events)
        return format_html_join("", "<div>{} {} by {}</div>", lines) or "-"

    @admin.display(description="mail to the guest")
    def mail(self, reservation: Reservation) -> str:
        """What was written to the guest, newest first, and whether it was sent."""
        notices = reservation.notices.order_by("-created_at", "-id")[:MOST_LINES]
        lines = ((f"{one.created_at:%Y-%m-%d %H:%M:%S} UTC", one.kind, state_of(one)) for one in notices)
        return format_html_join("", "<div>{} {}: {}</div>", lines) or "-"

    def get_fields(self, request: HttpRequest, obj: Reservation | None = None) -> Any:
        """A new one has no history, and may be confirmed at once."""
        return self.fields if obj else ["venue", "is_confirmed", *self.fields[1:6]]

    def get_readonly_fields(self, request: HttpRequest, obj: Reservation | None = None) -> list[str]:
        """A reservation stays with its venue."""
        return [*self.readonly_fields, "venue"] if obj else []

    def get_form(
        self, request: HttpRequest, obj: Reservation | None = None, change: bool = False, **kwargs: Any
    ) -> Any:
        """The form, which names the venue's tables."""
        form: Any = super().get_form(
            request, obj, change, form=ReservationForm if obj else NewReservationForm, **kwargs
        )
        tables = form.base_fields.get("tables")
        if tables:
            its = Table.objects.filter(venue=obj.venue_id, is_active=True).order_by("name") if obj else []
            names = ", ".join(table.name for table in its)
            known = f" At this venue: {names}." if names else ""
            tables.help_text = f"Names, separated by commas: T1, T2.{known} Empty: none."
        return form

    def save_model(self, request: HttpRequest, obj: Reservation, form: Any, change: bool) -> None:
        """Store what staff wrote; they may write down the past, which the API refuses."""
        now, actor = timezone.now(), staff(request)
        if not change:
            status = Status.CONFIRMED if form.cleaned_data["is_confirmed"] else Status.PENDING
            commands.write_down(obj, status=status, now=now, actor=actor)
            return
        # What staff did not touch may have changed since they opened the page.
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
        """Move to confirmed."""
        self.move(request, queryset, Status.CONFIRMED)

    @admin.action(description="Cancel the selected reservations", permissions=["change"])
    def cancel(self, request: HttpRequest, queryset: QuerySet[Reservation]) -> HttpResponse | None:
        """Ask; then move to cancelled."""
        if "confirmed" not in request.POST:
            rows = queryset.exclude(status=Status.CANCELLED).select_related("venue")
            words = (
                "These are cancelled for good. Their tables are free for others, and guests with an address are told."
            )
            asked: dict[str, Any] = {"title": "Cancel reservations?", "words": words, "yes": "Yes, cancel them"}
            return ask_about(self, request, rows, action="cancel", **asked)
        self.move(request, queryset, Status.CANCELLED)
        return None

    @admin.action(description="Offer a table to the selected parties that wait", permissions=["change"])
    def offer_table(self, request: HttpRequest, queryset: QuerySet[Reservation]) -> None:
        """Hold a table for a while, whatever the order of the list."""

        def offer(reservation: Reservation, now: datetime) -> str:
            until = hour_of(waitlist.offer(reservation, actor=staff(request), now=now), reservation.venue.timezone)
            told = "They get a mail." if is_mailed(reservation, Notice.Kind.OFFERED, now=now) else "Call them."
            return f"{reservation} is held {', '.join(reservation.tables)} until {until}. {told}"

        self.each(request, queryset, offer)

    @admin.action(description="Mark as arrived", permissions=["change"])
    def arrived(self, request: HttpRequest, queryset: QuerySet[Reservation]) -> None:
        """They are at the door."""
        self.mark(request, queryset, Arrival.ARRIVED)

    @admin.action(description="Mark as seated", permissions=["change"])
    def seated(self, request: HttpRequest, queryset: QuerySet[Reservation]) -> None:
        """They sit at their table."""
        self.mark(request, queryset, Arrival.SEATED)

    @admin.action(description="Mark as finished", permissions=["change"])
    def finished(self, request: HttpRequest, queryset: QuerySet[Reservation]) -> None:
        """They have left, and the table is free."""
        self.mark(request, queryset, Arrival.FINISHED)

    @admin.action(description="Mark as no-show", permissions=["change"])
    def no_show(self, request: HttpRequest, queryset: QuerySet[Reservation]) -> HttpResponse | None:
        """Ask; then: they did not come, and the table is free."""
        if "confirmed" not in request.POST:
            words = "Their tables are free for others at once."
            asked: dict[str, Any] = {"title": "Mark as no-show?", "words": words, "yes": "Yes, they did not come"}
            return ask_about(self, request, queryset.select_related("venue"), action="no_show", **asked)
        self.mark(request, queryset, Arrival.NO_SHOW)
        return None

    def pending_counts(self, request: HttpRequest) -> list[PendingCount]:
        """What waits for a word of the staff; for members also who comes today."""
        page = reverse("admin:reservations_reservation_changelist")
        pending = Tally.objects.filter(noun=Tally.Noun.RESERVATION, status=Status.PENDING)
        number = self.within(request, pending, "view", path="venue").aggregate(sum=Sum("total"))["sum"] or 0
        waits = PendingCount("pending reservations", int(number), f"{page}?status__exact={Status.PENDING}")
        if self.venues(request, "view") is None:
            return [waits]
        now = timezone.now()
        coming = Reservation.objects.filter(
            date__gte=day_at(now, 0), date__lt=day_at(now, 1), status=Status.CONFIRMED, arrival__isnull=True
        )
        today = count_bounded(self.within(request, coming, "view"))
        return [waits, PendingCount("still to come today", today, f"{page}?day=today")]

    def move(self, request: HttpRequest, queryset: QuerySet[Reservation], status: Reservation.Status) -> None:
        """Move each reservation that may, and say which may not."""

        def move(reservation: Reservation, now: datetime) -> str:
            commands.move(reservation, status, now=now, actor=staff(request))
            return f"{reservation} is {status.value}."

        self.each(request, queryset, move)

    def mark(self, request: HttpRequest, queryset: QuerySet[Reservation], arrival: Reservation.Arrival) -> None:
        """Mark each party of which this can be seen, and say of which it cannot."""

        def mark(reservation: Reservation, now: datetime) -> str:
            comes_late = reservation.arrival == Arrival.NO_SHOW and arrival == Arrival.ARRIVED
            check_in.mark(reservation, arrival, actor=staff(request), now=now)
            return f"{reservation} is {arrival.value}.{f' {LATE_AGAIN}' if comes_late else ''}"

        self.each(request, queryset, mark)

    def each(
        self,
        request: HttpRequest,
        queryset: QuerySet[Reservation],
        verb: Callable[[Reservation, datetime], str],
    ) -> None:
        """Do it to each, and say what came of it or why it could not be."""
        for reservation in queryset:
            try:
                said, level = verb(reservation, timezone.now()), messages.SUCCESS
            except Refusal as refusal:
                said, level = f"{reservation}: {refusal.message}", messages.ERROR
            self.message_user(request, said, level)


def state_of(notice: Notice) -> str:
    """What has become of a mail, in a few words: why it was given up, or when it is tried again."""
    if notice.state == Notice.State.SENT:
        return f"sent {notice.sent_at:%Y-%m-%d %H:%M:%S} UTC"
    if notice.state == Notice.State.PENDING and notice.last_error:
        return f"tried {notice.tries} times, again {notice.next_try_at:%Y-%m-%d %H:%M:%S} UTC: {notice.last_error}"
    return f"{notice.get_state_display().lower()} {notice.last_error}".strip()
