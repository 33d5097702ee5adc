"""What readers say is wrong with a record: taken in, and decided by staff."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil

from django.db import transaction

from accounts.models import User
from catalogue import places
from catalogue.history import publish
from catalogue.models import MatchCandidate, Report, Restaurant
from framework.db.locks import AdvisoryLock
from framework.errors import ApiError, ErrorCode, InvalidRequest, Renamed
from framework.signed_tokens import KeyedHash

# From one address in a day; of one restaurant that wait for staff.
MOST_A_DAY = 30
MOST_OPEN = 20
# Of these, from one address.
MOST_OF_ONE = 5
DAY = timedelta(days=1)
# When the queue of a restaurant may be shorter again.
LATER_S = 3600

REPORTER_LOCK = AdvisoryLock("reports of an address")
RESTAURANT_LOCK = AdvisoryLock("reports of a restaurant")
ADDRESS_HASH = KeyedHash("catalogue.moderation.reports")


class TooManyReports(ApiError):
    """This address, or this restaurant, has had enough of them."""

    code = ErrorCode.RATE_LIMIT_EXCEEDED


@dataclass(frozen=True, slots=True)
class Filed:
    """A report; `is_new` unless the same one was open already."""

    report: Report
    is_new: bool


def reporter_of(address: str) -> str:
    """What an address is remembered as: enough to count it, and nothing that leads back to it."""
    return ADDRESS_HASH.hexdigest(address)


def file(
    slug: str,
    *,
    kind: str,
    text: str = "",
    same_as: str | None = None,
    contact: str = "",
    reporter: str,
    now: datetime,
) -> Filed:
    """Take a report in; the one that is open already where this reporter has said the same before.

    The same is what has the same kind, text and `same_as`; whatever else is said is another report.

    Raises what identity.find raises, InvalidRequest and TooManyReports.
    """
    restaurant = places.find(slug)
    twin = _twin(same_as) if same_as else None
    if (kind == Report.Kind.DUPLICATE) != (twin is not None):
        raise InvalidRequest(
            "`same_as` is for `duplicate`, which needs it: the slug of the other one.", param="same_as"
        )
    if twin == restaurant:
        raise InvalidRequest("`same_as` is this restaurant itself: give the slug of the other one.", param="same_as")
    with transaction.atomic():
        # Counting and writing are one step for an address, and for a restaurant, in this order for everybody.
        REPORTER_LOCK.acquire(reporter)
        said = Report.objects.filter(restaurant=restaurant, reporter=reporter, state=Report.State.OPEN)
        if report := said.filter(kind=kind, text=text, same_as=twin).first():
            return Filed(report, is_new=False)
        if said.count() >= MOST_OF_ONE:
            raise TooManyReports(
                f"{MOST_OF_ONE} reports of yours about this restaurant wait for our staff already.",
                headers={"Retry-After": str(LATER_S)},
            )
        _check_day(reporter, now=now)
        RESTAURANT_LOCK.acquire(restaurant.pk)
        if Report.objects.filter(restaurant=restaurant, state=Report.State.OPEN).count() >= MOST_OPEN:
            raise TooManyReports(
                f"{MOST_OPEN} reports about this restaurant wait for our staff already; they will look at them.",
                headers={"Retry-After": str(LATER_S)},
            )
        report = Report.objects.create(
            restaurant=restaurant,
            kind=kind,
            text=text,
            same_as=twin,
            contact=contact,
            reporter=reporter,
            created_at=now,
        )
    return Filed(report, is_new=True)


def accept(report: Report, *, staff: User, now: datetime) -> bool:
    """Decide that a report is right, and do what follows; False where somebody else has decided it by now.

    `closed` closes the restaurant for good and locks that against imports; `duplicate` puts the two into the queue of
    pairs; what else was wrong staff mend by hand.
    """
    with transaction.atomic():
        if not _decide(report, Report.State.APPLIED, staff=staff, now=now):
            return False
        if report.kind == Report.Kind.CLOSED:
            publish.set_actor(f"staff:{staff.pk}")
            chosen = Restaurant.objects.filter(pk=report.restaurant_id)
            chosen.set_status(Restaurant.Status.PERMANENTLY_CLOSED, now=now)
        elif report.kind == Report.Kind.DUPLICATE and report.same_as_id:
            first, second = sorted((report.restaurant_id, report.same_as_id))
            MatchCandidate.objects.update_or_create(
                first_id=first,
                second_id=second,
                defaults={"state": MatchCandidate.State.OPEN, "decided_at": None, "decided_by": None},
                create_defaults={"score": 1.0, "reasons": {"report": str(report.pk)}, "found_at": now},
            )
    return True


def dismiss(report: Report, *, staff: User, now: datetime) -> bool:
    """Decide that a report is wrong or of no use; False where somebody else has decided it by now."""
    return _decide(report, Report.State.DISMISSED, staff=staff, now=now)


def _decide(report: Report, state: Report.State, *, staff: User, now: datetime) -> bool:
    waiting = Report.objects.filter(pk=report.pk, state=Report.State.OPEN)
    return waiting.update(state=state, decided_at=now, decided_by=staff) == 1


def _twin(slug: str) -> Restaurant:
    try:
        try:
            return places.find(slug)
        except Renamed as renamed:
            return places.find(str(renamed.extra["slug"]))
    except ApiError as refusal:
        raise InvalidRequest(f"`same_as`: {refusal.message}", param="same_as") from refusal


def _check_day(reporter: str, *, now: datetime) -> None:
    said = Report.objects.filter(reporter=reporter, created_at__gt=now - DAY).order_by("-created_at")
    latest = list(said.values_list("created_at", flat=True)[:MOST_A_DAY])
    if len(latest) == MOST_A_DAY:
        wait_s = max(1, ceil((latest[-1] + DAY - now).total_seconds()))
        raise TooManyReports(
            f"{MOST_A_DAY} reports have come from your address in 24 hours, which is all that we take in.",
            headers={"Retry-After": str(wait_s)},
        )
