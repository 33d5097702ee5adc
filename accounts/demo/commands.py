"""Fill a sandbox with demo data, move it to the current day, and remove it.

Apps above this one add their part to PARTS in AppConfig.ready.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.db import IntegrityError, connection, transaction
from django.utils.translation import gettext as _

from accounts.demo import api_traffic
from accounts.models import DemoData, Venue
from framework.errors import InvalidRequest

# A person who uses a row that the demo is about to insert, such as a table at that time, makes an attempt fail.
MAX_ATTEMPTS = 3
# The default timeouts are those of a web page: too short on a busy machine, or while another fill runs.
TIMEOUTS = "SELECT set_config('lock_timeout', '30s', true), set_config('statement_timeout', '30s', true)"

# Numbers of rows by what they are, in the plural: {"orders": 612}.
Counts = dict[str, int]


class NotASandbox(InvalidRequest):
    """The venue is live: demo data would be among its real orders and guests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoPart:
    """The demo data of one app. Each function returns how many rows it added or removed.

    `set_up` adds what a restaurant has once, such as a menu, unless the venue has any; it is called outside of
    transactions, and must be safe to repeat. `replace` removes the demo's records that nobody has changed, and adds
    those of the days around `now`. `remove` removes all that the demo made, except what rows of others depend on.
    """

    set_up: Callable[[Venue, datetime], Counts]
    replace: Callable[[Venue, datetime], Counts]
    remove: Callable[[Venue, datetime], Counts]


PARTS: list[DemoPart] = []
# The last one, as it reads the records of the others.
API_TRAFFIC = DemoPart(set_up=api_traffic.set_up, replace=api_traffic.replace, remove=api_traffic.remove)


def fill(venue: Venue, *, now: datetime) -> Counts:
    """Add the demo data, or move it to the current day; return what was added: nothing if it is current.

    What people have added or changed stays as it is. The records change in one transaction, and concurrent calls wait
    for each other. Raises NotASandbox.
    """
    require_sandbox(venue)
    parts = [*PARTS, API_TRAFFIC]
    counts: Counts = {}
    if not is_filled(venue):
        for part in parts:
            counts |= part.set_up(venue, now)
    for attempt in range(1, MAX_ATTEMPTS + 1):
        try:
            with transaction.atomic():
                demo = lock(venue)
                if demo.is_current(now):
                    return {}
                for part in parts:
                    counts |= part.replace(venue, now)
                demo.filled_at = now
                demo.save()
            break
        except IntegrityError:
            if attempt == MAX_ATTEMPTS:
                raise
    return counts


def remove(venue: Venue, *, now: datetime) -> Counts:
    """Remove the demo data, also what people have changed in it; return how much. Raises NotASandbox."""
    with transaction.atomic():
        demo = lock(venue)
        counts: Counts = {}
        for part in (*PARTS, API_TRAFFIC):
            counts |= part.remove(venue, now)
        demo.filled_at = None
        demo.save()
    return counts


def is_filled(venue: Venue) -> bool:
    """Whether the venue has demo data. One query."""
    return DemoData.objects.filter(venue=venue, filled_at__isnull=False).exists()


def was_removed(venue: Venue) -> bool:
    """Whether somebody has removed the demo data. One query."""
    return DemoData.objects.filter(venue=venue, filled_at__isnull=True).exists()


def require_sandbox(venue: Venue) -> None:
    if not venue.is_sandbox:
        raise NotASandbox(_("Only a sandbox can have demo data: this is a live restaurant."))


def lock(venue: Venue) -> DemoData:
    """Lock the venue until the transaction ends, and return its demo data. Raises NotASandbox.

    Orders and reservations are placed meanwhile; only other changes of the venue wait.
    """
    with connection.cursor() as cursor:
        cursor.execute(TIMEOUTS)
    require_sandbox(Venue.objects.select_for_update(no_key=True).get(pk=venue.pk))
    return DemoData.objects.select_related("venue").get_or_create(venue=venue)[0]
