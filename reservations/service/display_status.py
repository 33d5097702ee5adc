"""The stage of a reservation as staff see it, and the next steps."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from reservations.booking import waitlist
from reservations.models import Reservation
from reservations.service.check_in import EARLY

Arrival, Status, PendingReason = Reservation.Arrival, Reservation.Status, Reservation.PendingReason
# A party that has not arrived so long after its time is late.
LATE_AFTER = timedelta(minutes=15)


class Stage(StrEnum):
    """The stage of a reservation."""

    REQUESTED = "requested"
    UNPROVEN = "unproven"
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
class Look:
    """How a stage is displayed: label and icon, not only colour."""

    word: str
    icon: str
    badge: str


LOOKS = {
    Stage.REQUESTED: Look("Request", "bell", "warn"),
    Stage.UNPROVEN: Look("Awaiting email confirmation", "clock", "warn"),
    Stage.WAITING: Look("Waiting", "clock", "warn"),
    Stage.OFFERED: Look("Offered", "clock", "info"),
    Stage.CONFIRMED: Look("Confirmed", "check", "soft"),
    Stage.LATE: Look("Late", "warning", "bad"),
    Stage.ARRIVED: Look("Arrived", "people", "info"),
    Stage.SEATED: Look("Seated", "table", "good"),
    Stage.FINISHED: Look("Finished", "home", "soft"),
    Stage.NO_SHOW: Look("No-show", "cross", "bad"),
    Stage.CANCELLED: Look("Cancelled", "cross", "soft"),
}
SEEN = {
    Arrival.ARRIVED: Stage.ARRIVED,
    Arrival.SEATED: Stage.SEATED,
    Arrival.FINISHED: Stage.FINISHED,
    Arrival.NO_SHOW: Stage.NO_SHOW,
}
UNDECIDED = {Stage.REQUESTED, Stage.UNPROVEN}
ON_THE_LIST = {Stage.WAITING, Stage.OFFERED}
AWAITED = {Stage.CONFIRMED, Stage.LATE}
# Nobody is seated any more, or ever was.
OVER = {Stage.FINISHED, Stage.NO_SHOW, Stage.CANCELLED}


def stage_of(reservation: Reservation, *, now: datetime) -> Stage:
    """Where it stands at this moment. No query."""
    if reservation.status == Status.CANCELLED:
        return Stage.CANCELLED
    if reservation.status == Status.CONFIRMED:
        if reservation.arrival:
            return SEEN[Arrival(reservation.arrival)]
        return Stage.LATE if reservation.starts_at + LATE_AFTER <= now else Stage.CONFIRMED
    if waitlist.is_waiting(reservation):
        return Stage.OFFERED if waitlist.is_held(reservation, now=now) else Stage.WAITING
    return Stage.UNPROVEN if reservation.pending_reason == PendingReason.PROOF else Stage.REQUESTED


@dataclass(frozen=True, slots=True)
class Step:
    """A next step; `needs_confirmation` if it has a confirmation page."""

    name: str
    label: str
    needs_confirmation: bool = False


ARRIVE, SEAT, FINISH = Step("arrived", "Arrived"), Step("seated", "Seat"), Step("finished", "Finish")
CAME_AFTER_ALL = Step("arrived", "Arrived after all")
NO_SHOW, CANCEL = (
    Step("no-show", "No-show", needs_confirmation=True),
    Step("cancel", "Cancel", needs_confirmation=True),
)
CONFIRM, OFFER = Step("confirm", "Confirm"), Step("offer", "Offer a table")
ACCEPT, DECLINE = Step("accept", "Guest accepts"), Step("decline", "Guest declines", needs_confirmation=True)
STEPS: dict[Stage, tuple[Step, ...]] = {
    Stage.REQUESTED: (CONFIRM, CANCEL),
    Stage.UNPROVEN: (CONFIRM, CANCEL),
    Stage.WAITING: (OFFER, CANCEL),
    Stage.OFFERED: (ACCEPT, DECLINE),
    Stage.CONFIRMED: (ARRIVE, SEAT, CANCEL),
    Stage.LATE: (ARRIVE, SEAT, NO_SHOW, CANCEL),
    Stage.ARRIVED: (SEAT, CANCEL),
    Stage.SEATED: (FINISH, CANCEL),
    Stage.FINISHED: (),
    Stage.NO_SHOW: (CAME_AFTER_ALL,),
    Stage.CANCELLED: (),
}


def steps_of(reservation: Reservation, *, now: datetime) -> list[Step]:
    """Return the next steps, the most likely first. Arrivals can be recorded from 12 hours before the time."""
    stage = stage_of(reservation, now=now)
    steps = list(STEPS[stage])
    if stage == Stage.CONFIRMED and reservation.starts_at <= now:
        steps.insert(2, NO_SHOW)
    if stage == Stage.CONFIRMED and reservation.starts_at > now + EARLY:
        steps = [CANCEL]
    if stage == Stage.WAITING and reservation.starts_at <= now:
        steps = [CANCEL]
    return steps
