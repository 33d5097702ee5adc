"""The tables and service hours of the demo venue, so that reservations are confirmed at once."""

from datetime import time

from django.db import transaction

from accounts.models import Venue
from reservations.models import Area, Combination, ServicePeriod, Table

# Name, the smallest and the largest party.
TABLES: dict[str, list[tuple[str, int, int]]] = {
    "Sala": [("T1", 1, 2), ("T2", 1, 2), ("T3", 2, 4), ("T4", 2, 4), ("T5", 2, 4), ("T6", 4, 6), ("T7", 5, 8)],
    "Terrazza": [("E1", 1, 2), ("E2", 2, 4), ("E3", 2, 4)],
}
# Name, its tables, the smallest and the largest party.
COMBINATIONS = [("T3+T4", ["T3", "T4"], 5, 8), ("E2+E3", ["E2", "E3"], 5, 8)]
PERIODS = [("Lunch", time(12, 0), time(14, 30)), ("Dinner", time(19, 0), time(22, 30))]


def load(venue: Venue) -> None:
    """Create the tables and hours of the demo venue, unless it already has any."""
    with transaction.atomic():
        # Concurrent calls wait here.
        Venue.objects.select_for_update().get(pk=venue.pk)
        if any(model.objects.filter(venue=venue).exists() for model in (Area, Table, Combination, ServicePeriod)):
            return
        for position, (area_name, tables) in enumerate(TABLES.items()):
            area = Area.objects.create(venue=venue, name=area_name, position=position)
            Table.objects.bulk_create(
                Table(venue=venue, area=area, name=name, seats_min=seats_min, seats_max=seats_max)
                for name, seats_min, seats_max in tables
            )
        for name, parts, seats_min, seats_max in COMBINATIONS:
            combination = Combination.objects.create(venue=venue, name=name, seats_min=seats_min, seats_max=seats_max)
            combination.tables.set(Table.objects.filter(venue=venue, name__in=parts))
        for name, first, last in PERIODS:
            ServicePeriod.objects.create(
                venue=venue, name=name, weekdays=list(range(7)), first_seating=first, last_seating=last
            )
        Venue.objects.filter(pk=venue.pk).update(is_bookable_online=True)
