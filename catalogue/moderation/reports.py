"""Reports of wrong data: filed by readers, accepted or dismissed by staff."""

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

# From one address.
MAX_PER_DAY = 30
# Open reports about one restaurant, in all and from one address.
MAX_OPEN = 20
MAX_OPEN_PER_REPORTER = 5
DAY = timedelta(days=1)
RETRY_AFTER_S = 3600

REPORTER_LOCK = AdvisoryLock("reports of an address")
RESTAURANT_LOCK = AdvisoryLock("reports of a restaurant")
ADDRESS_HASH = KeyedHash("catalogue.moderation.reports")


class TooManyReports(ApiError):
    """The address or the restaurant has reached a limit of reports."""

    code = ErrorCode.RATE_LIMIT_EXCEEDED


@dataclass(frozen=True, slots=True)
class FiledReport:
    """A report. `is_new` is False if the same report was open already."""

    report: Report
    is_new: bool


def hash_reporter(address: str) -> str:
    """The keyed hash of an address, by which its reports are counted."""
    return ADDRESS_HASH.hexdigest(address)


def file_report(
    slug: str,
    *,
    kind: str,
    text: str = "",
    same_as: str | None = None,
    contact: str = "",
    reporter: str,
    now: datetime,
) -> FiledReport:
    """Store a report, or return the open one of this reporter with the same kind, text and `same_as`.

    Raises what places.find_restaurant raises, InvalidRequest and TooManyReports.
    """
    restaurant = places.find_restaurant(slug)
    duplicate = _find_duplicate(same_as) if same_as else None
    if (kind == Report.Kind.DUPLICATE) != (duplicate is not None):
        raise InvalidRequest(
            "`same_as` is for `duplicate`, which needs it: the slug of the other one.", param="same_as"
        )
    if duplicate == restaurant:
        raise InvalidRequest("`same_as` is this restaurant itself: give the slug of the other one.", param="same_as")
    with transaction.atomic():
        # Serialize the counts of an address and of a restaurant; always in this order, so there is no deadlock.
        REPORTER_LOCK.acquire(reporter)
        own = Report.objects.filter(restaurant=restaurant, reporter=reporter, state=Report.State.OPEN)
        if report := own.filter(kind=kind, text=text, same_as=duplicate).first():
            return FiledReport(report, is_new=False)
        if own.count() >= MAX_OPEN_PER_REPORTER:
            raise TooManyReports(
                f"{MAX_OPEN_PER_REPORTER} reports of yours about this restaurant wait for our staff already.",
                headers={"Retry-After": str(RETRY_AFTER_S)},
            )
        _check_daily_limit(reporter, now=now)
        RESTAURANT_LOCK.acquire(restaurant.pk)
        if Report.objects.filter(restaurant=restaurant, state=Report.State.OPEN).count() >= MAX_OPEN:
            raise TooManyReports(
                f"{MAX_OPEN} reports about this restaurant wait for our staff already; they will look at them.",
                headers={"Retry-After": str(RETRY_AFTER_S)},
            )
        report = Report.objects.create(
            restaurant=restaurant,
            kind=kind,
            text=text,
            same_as=duplicate,
            contact=contact,
            reporter=reporter,
            created_at=now,
        )
    return FiledReport(report, is_new=True)


def accept_report(report: Report, *, staff: User, now: datetime) -> bool:
    """Accept a report and apply it. Returns False if it was decided already.

    `closed` closes the restaurant permanently and locks the status against imports; `duplicate` adds the pair to the
    match candidates; other kinds are corrected by hand.
    """
    with transaction.atomic():
        if not _decide(report, Report.State.APPLIED, staff=staff, now=now):
            return False
        if report.kind == Report.Kind.CLOSED:
            publish.set_actor(f"staff:{staff.pk}")
            Restaurant.objects.filter(pk=report.restaurant_id).set_status(
                Restaurant.Status.PERMANENTLY_CLOSED, now=now
            )
        elif report.kind == Report.Kind.DUPLICATE and report.same_as_id:
            first, second = sorted((report.restaurant_id, report.same_as_id))
            MatchCandidate.objects.update_or_create(
                first_id=first,
                second_id=second,
                defaults={"state": MatchCandidate.State.OPEN, "decided_at": None, "decided_by": None},
                create_defaults={"score": 1.0, "reasons": {"report": str(report.pk)}, "found_at": now},
            )
    return True


def dismiss_report(report: Report, *, staff: User, now: datetime) -> bool:
    """Dismiss a report. Returns False if it was decided already."""
    return _decide(report, Report.State.DISMISSED, staff=staff, now=now)


def _decide(report: Report, state: Report.State, *, staff: User, now: datetime) -> bool:
    open_report = Report.objects.filter(pk=report.pk, state=Report.State.OPEN)
    return open_report.update(state=state, decided_at=now, decided_by=staff) == 1


def _find_duplicate(slug: str) -> Restaurant:
    try:
        try:
            return places.find_restaurant(slug)
        except Renamed as renamed:
            return places.find_restaurant(str(renamed.extra["slug"]))
    except ApiError as refusal:
        raise InvalidRequest(f"`same_as`: {refusal.message}", param="same_as") from refusal


def _check_daily_limit(reporter: str, *, now: datetime) -> None:
    recent = Report.objects.filter(reporter=reporter, created_at__gt=now - DAY).order_by("-created_at")
    latest = list(recent.values_list("created_at", flat=True)[:MAX_PER_DAY])
    if len(latest) == MAX_PER_DAY:
        wait_s = max(1, ceil((latest[-1] + DAY - now).total_seconds()))
        raise TooManyReports(
            f"{MAX_PER_DAY} reports have come from your address in 24 hours, which is all that we take in.",
            headers={"Retry-After": str(wait_s)},
        )
