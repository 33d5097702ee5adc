"""What a new venue has yet to do about its tables, for the overview."""

from accounts.onboarding import Step, build_venue_url
from accounts.tenancy.permissions import Access, Right
from reservations.models import Table


def tables(mine: Access) -> Step | None:
    """A table; what is for trying out needs none. One query."""
    if mine.venue.is_sandbox or not mine.may(Right.VENUE) or Table.objects.filter(venue=mine.venue).exists():
        return None
    return Step(
        "Add your tables",
        "Reservations are then confirmed automatically if a table is free.",
        build_venue_url("setup-tables", mine),
    )
