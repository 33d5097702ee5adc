"""The tables and service hours of the demo, so that reservations are confirmed at once."""

from pathlib import Path
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef

from accounts.demo.rows import IS_DEMO, demo_id
from accounts.models import Venue
from framework.data_files import read_toml
from reservations.models import Area, Combination, Seating, ServicePeriod, Table

FLOOR = read_toml(Path(__file__).with_name("floor.toml"))


def add_floor(venue: Venue) -> int:
    """Create tables and hours, and switch the booking page on, unless the venue has any; return how many tables."""
    with transaction.atomic():
        # Concurrent calls wait here.
        Venue.objects.select_for_update(no_key=True).get(pk=venue.pk)
        if any(model.objects.filter(venue=venue).exists() for model in (Area, Table, Combination, ServicePeriod)):
            return 0
        tables: dict[str, Table] = {}
        for position, (area_name, seats) in enumerate(FLOOR["areas"].items()):
            area = Area.objects.create(
                pk=id_of(venue, "area", area_name), venue=venue, name=area_name, position=position
            )
            for name, (seats_min, seats_max) in seats.items():
                tables[name] = Table(
                    pk=id_of(venue, "table", name),
                    venue=venue,
                    area=area,
                    name=name,
                    seats_min=seats_min,
                    seats_max=seats_max,
                )
        Table.objects.bulk_create(tables.values())
        for name, row in FLOOR["combinations"].items():
            seats_min, seats_max = row["seats"]
            combination = Combination.objects.create(
                pk=id_of(venue, "combination", name), venue=venue, name=name, seats_min=seats_min, seats_max=seats_max
            )
            combination.tables.set([tables[part] for part in row["tables"]])
        ServicePeriod.objects.bulk_create(
            ServicePeriod(
                pk=id_of(venue, "period", name),
                venue=venue,
                name=name,
                weekdays=list(range(7)),
                first_seating=first,
                last_seating=last,
            )
            for name, (first, last) in FLOOR["periods"].items()
        )
        Venue.objects.filter(pk=venue.pk).update(is_bookable_online=True)
    return len(tables)


def remove_floor(venue: Venue) -> int:
    """Remove the demo's hours, and its tables that nobody else has reserved or combined; return how many tables.

    Call it when the demo's reservations are removed. Without tables, the booking page is switched off.
    """
    ServicePeriod.objects.filter(IS_DEMO, venue=venue).delete()
    Combination.objects.filter(IS_DEMO, venue=venue).delete()
    unused = Table.objects.filter(IS_DEMO, venue=venue, combinations=None).exclude(
        Exists(Seating.objects.filter(table=OuterRef("pk")))
    )
    removed = Table.objects.filter(pk__in=list(unused.values_list("pk", flat=True))).delete()[0]
    Area.objects.filter(IS_DEMO, venue=venue, tables=None).delete()
    if removed and not Table.objects.filter(venue=venue).exists():
        Venue.objects.filter(pk=venue.pk).update(is_bookable_online=False)
    return removed


def id_of(venue: Venue, *name: object) -> UUID:
    return demo_id(venue.pk, *name, at=venue.created_at)
