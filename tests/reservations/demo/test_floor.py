"""The tables and hours of the demo: added once, and then as people have made them."""

from django.test import Client

from accounts.models import Venue
from reservations.demo import floor
from reservations.models import Area, Combination, ServicePeriod, Table
from tests.support import builders


def test_seeded_tables_seat_two_to_eight_all_day(venue: Venue) -> None:
    floor.add_floor(venue)
    assert list(Area.objects.order_by("position").values_list("name", flat=True)) == ["Sala", "Terrazza"]
    assert sorted(Table.objects.values_list("seats_max", flat=True)) == [2, 2, 2, 4, 4, 4, 4, 4, 6, 8]
    assert {
        combination.name: sorted(table.name for table in combination.tables.all())
        for combination in Combination.objects.all()
    } == {"T3+T4": ["T3", "T4"], "E2+E3": ["E2", "E3"]}
    periods = ServicePeriod.objects.order_by("first_seating")
    assert [str(period) for period in periods] == [
        "Breakfast, 07:30 to 11:45",
        "Lunch, 12:00 to 14:45",
        "Afternoon, 15:00 to 18:45",
        "Dinner, 19:00 to 22:45",
    ]
    assert [period.weekdays for period in periods] == [[0, 1, 2, 3, 4, 5, 6]] * 4
    for row in (*Table.objects.all(), *Combination.objects.all(), *periods):
        row.full_clean()


def test_seeding_tables_again_leaves_them_as_people_have_made_them(venue: Venue) -> None:
    floor.add_floor(venue)
    Table.objects.filter(name="T7").delete()
    ServicePeriod.objects.all().delete()
    floor.add_floor(venue)
    assert (Table.objects.count(), ServicePeriod.objects.count()) == (9, 0)


def test_a_party_of_four_gets_a_seeded_table_at_once(api: Client, venue: Venue) -> None:
    floor.add_floor(venue)
    record = api.post("/api/v1/reservations", builders.reservation_body(), content_type="application/json").json()
    assert record["status"] == "confirmed"
    assert record["tables"] in (["T3"], ["T4"], ["T5"], ["E2"], ["E3"])
