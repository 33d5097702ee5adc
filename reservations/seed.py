"""The tables and the hours of the demo's restaurant, so that a newcomer's reservation is confirmed."""

from datetime import time

from django.db import transaction

from accounts.models import Venue
from reservations.models import Area, Combination, ServicePeriod, Table

# Name, the smallest and the largest party.
TABLES: dict[str, list[tuple[str, int, int]]] = {
    "Sala": [
        ("T1", 1, 2),
        ("T2", 1, 2),
        ("T3", 2, 4),
        ("T4", 2, 4),
        ("T5", 2, 4),
        ("T6", 4, 6),
        ("T7", 5, 8),
    ],
    "Terrazza": [("E1", 1, 2), ("E2", 2, 4), ("E3", 2, 4)],
}
# Name, its tables, the smallest and the largest party.
COMBINATIONS = [("T3+T4", ["T3", "T4"], 5, 8), ("E2+E3", ["E2", "E3"], 5, 8)]
EVERY_DAY = [0, 1, 2, 3, 4, 5, 6]
PERIODS = [("Lunch", time(12, 0), time(14, 30)), ("Dinner", time(19, 0), time(22, 30))]


def load(venue: Venue) -> None:
    """Set the venue up with these, unless it has any such row: what people have made of them stays."""
    with transaction.atomic():
        # Of two that seed at once the second waits here, and then finds what the first has made.
        Venue.objects.select_for_update().get(pk=venue.pk)
        if any(model.objects.filter(venue=venue).exists() for model in (Area, Table, Combination, ServicePeriod)):
            return
        for position, (name, tables) in enumerate(TABLES.items()):
            area = Area.objects.create(venue=venue, name=name, position=position)
            Table.objects.bulk_create(
                Table(venue=venue, area=area, name=called, seats_min=least, seats_max=most)
                for called, least, most in tables
            )
        for called, parts, least, most in COMBINATIONS:
            combination = Combination.objects.create(venue=venue, name=called, seats_min=least, seats_max=most)
            combination.tables.set(Table.objects.filter(venue=venue, name__in=parts))
        for called, first, last in PERIODS:
            ServicePeriod.objects.create(
                venue=venue, name=called, weekdays=EVERY_DAY, first_seating=first, last_seating=last
            )
        Venue.objects.filter(pk=venue.pk).update(is_bookable_online=True)
