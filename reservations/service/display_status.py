"""The stage of a reservation as staff see it, and the next steps."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from django.utils.translation import pgettext_lazy
from django_stubs_ext import StrPromise

from reservations.booking import waitlist
from reservations.models import Reservation
from reservations.service.check_in import MAX_EARLY

Status, PendingReason = Reservation.Status, Reservation.PendingReason
# A party that has not arrived so long after its time is late.
LATE_AFTER = timedelta(minutes=15)


class Stage(StrEnum):
    """The stage of a reservation. Of a party that has come or not, it is the arrival."""

    REQUESTED = "requested"
    UNCONFIRMED = "unconfirmed"
    WAITING = "waiting"
    OFFERED = "offered"
    CONFIRMED = "confirmed"
    LATE = "late"
    ARRIVED = "arrived"
    SEATED = "seated"
    FINISHED = "finished"
    NO_SHOW = "no_show"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Badge:
    """How a stage is displayed: label and icon, not only colour."""

    label: StrPromise
    icon: str
    tone: str


BADGES = {
    Stage.REQUESTED: Badge(pgettext_lazy("reservation", "Request"), "bell", "warn"),
    Stage.UNCONFIRMED: Badge(pgettext_lazy("reservation", "Awaiting email confirmation"), "clock", "warn"),
    Stage.WAITING: Badge(pgettext_lazy("reservation", "Waiting"), "clock", "warn"),
    Stage.OFFERED: Badge(pgettext_lazy("reservation", "Offered"), "clock", "info"),
    Stage.CONFIRMED: Badge(pgettext_lazy("reservation", "Confirmed"), "check", "soft"),
    Stage.LATE: Badge(pgettext_lazy("reservation", "Late"), "warning", "bad"),
    Stage.ARRIVED: Badge(pgettext_lazy("reservation", "Arrived"), "people", "info"),
    Stage.SEATED: Badge(pgettext_lazy("reservation", "Seated"), "table", "good"),
    Stage.FINISHED: Badge(pgettext_lazy("reservation", "Finished"), "home", "soft"),
    Stage.NO_SHOW: Badge(pgettext_lazy("reservation", "No-show"), "cross", "bad"),
    Stage.CANCELLED: Badge(pgettext_lazy("reservation", "Cancelled"), "cross", "soft"),
}
UNDECIDED = {Stage.REQUESTED, Stage.UNCONFIRMED}
WAITLISTED = {Stage.WAITING, Stage.OFFERED}
EXPECTED = {Stage.CONFIRMED, Stage.LATE}
ENDED = {Stage.FINISHED, Stage.NO_SHOW, Stage.CANCELLED}


def stage_of(reservation: Reservation, *, now: datetime) -> Stage:
    """Return its current stage. No query."""
    if reservation.status == Status.CANCELLED:
        return Stage.CANCELLED
    if reservation.status == Status.CONFIRMED:
        if reservation.arrival:
            return Stage(reservation.arrival)
        return Stage.LATE if reservation.starts_at + LATE_AFTER <= now else Stage.CONFIRMED
    if waitlist.is_waitlisted(reservation):
        return Stage.OFFERED if waitlist.has_offer(reservation, now=now) else Stage.WAITING
    return Stage.UNCONFIRMED if reservation.pending_reason == PendingReason.EMAIL_CONFIRMATION else Stage.REQUESTED


@dataclass(frozen=True, slots=True)
class Step:
    """A next step; `needs_confirmation` if it has a confirmation page."""

    name: str
    label: StrPromise
    needs_confirmation: bool = False


ARRIVE, SEAT, FINISH = (
    Step("arrived", pgettext_lazy("reservation", "Arrived")),
    Step("seated", pgettext_lazy("reservation", "Seat")),
    Step("finished", pgettext_lazy("reservation", "Finish")),
)
ARRIVE_AFTER_NO_SHOW = Step("arrived", pgettext_lazy("reservation", "Mark as arrived"))
NO_SHOW = Step("no-show", pgettext_lazy("reservation", "No-show"), needs_confirmation=True)
CANCEL = Step("cancel", pgettext_lazy("reservation", "Cancel"), needs_confirmation=True)
REFUSE = Step("cancel", pgettext_lazy("reservation", "Decline"), needs_confirmation=True)
CONFIRM, OFFER = (
    Step("confirm", pgettext_lazy("reservation", "Confirm")),
    Step("offer", pgettext_lazy("reservation", "Offer a table")),
)
ACCEPT, DECLINE = (
    Step("accept", pgettext_lazy("reservation", "Guest accepts")),
    Step("decline", pgettext_lazy("reservation", "Guest declines"), needs_confirmation=True),
)
# Of a deposit that is kept, whatever the stage.
RETURN_DEPOSIT = Step("return-deposit", pgettext_lazy("reservation", "Return the deposit"), needs_confirmation=True)
STEPS: dict[Stage, tuple[Step, ...]] = {
    Stage.REQUESTED: (CONFIRM, REFUSE),
    Stage.UNCONFIRMED: (CONFIRM, CANCEL),
    Stage.WAITING: (OFFER, CANCEL),
    Stage.OFFERED: (ACCEPT, DECLINE),
    Stage.CONFIRMED: (ARRIVE, SEAT, CANCEL),
    Stage.LATE: (ARRIVE, SEAT, NO_SHOW, CANCEL),
    Stage.ARRIVED: (SEAT, CANCEL),
    Stage.SEATED: (FINISH, CANCEL),
    Stage.FINISHED: (),
    Stage.NO_SHOW: (ARRIVE_AFTER_NO_SHOW,),
    Stage.CANCELLED: (),
}


def next_steps(reservation: Reservation, *, now: datetime) -> list[Step]:
    """Return the next steps, the most likely first. Arrivals can be recorded from 12 hours before the time."""
    stage = stage_of(reservation, now=now)
    steps = list(STEPS[stage])
    if stage == Stage.CONFIRMED and reservation.starts_at <= now:
        steps.insert(2, NO_SHOW)
    if stage == Stage.CONFIRMED and reservation.starts_at > now + MAX_EARLY:
        steps = [CANCEL]
    if stage == Stage.WAITING and reservation.starts_at <= now:
        steps = [CANCEL]
    return steps
