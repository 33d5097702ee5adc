"""The read model as a whole: made anew, compared with the restaurants, mended."""

import logging
import threading
from collections.abc import Callable
from io import StringIO
from typing import Any
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from catalogue.models import Kitchen, Record, Restaurant, SearchRow, Source
from catalogue.read_model import rebuild
from catalogue.read_model.rebuild import Difference
from tests.catalogue import builders

pytestmark = pytest.mark.django_db

ALL = (Record, SearchRow, Kitchen)
# Serial numbers say nothing, and a place in the order of lists is kept or not.
UNLIKE = {"id", "ranked_at", "updated_at"}


def held() -> list[list[tuple[Any, ...]]]:
    """All rows of the read model, but for what differs without a meaning."""
    found = []
    for model in ALL:
        names = [field.attname for field in model._meta.concrete_fields if field.name not in UNLIKE]
        found.append(sorted(model.objects.values_list(*names), key=repr))
    return found


def some() -> list[Restaurant]:
    """Restaurants of every kind that the read model tells apart."""
    places = [
        builders.restaurant(name="Bæst", cuisines=["pizza", "italian"], rating="4.5", review_count=7, price_level=2),
        builders.restaurant(name="Nowhere", latitude=None, longitude=None, hours=builders.week("12:00", "22:00")),
        builders.restaurant(name="Shut", status="temporarily_closed", attributes={"dog": True, "smoking": "no"}),
        builders.restaurant(name="Gone", status="permanently_closed"),
        builders.restaurant(name="Moved", status="moved"),
        builders.restaurant(name="Plain", cuisines=[]),
    ]
    builders.listed(places[0], "osm", "node/1")
    builders.insight(places[0], detail={"dishes": [{"name": "Tarte Tatin"}]})
    twin = builders.restaurant(name="Twin")
    Restaurant.objects.filter(pk=twin.pk).update(merged_into=places[0])
    erased = builders.restaurant(name="Erased")
    Restaurant.objects.filter(pk=erased.pk).update(erased_at=builders.NOW)
    return places


def tamper(statement: str, *values: Any) -> None:
    """Change what the triggers keep, past them."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


def without_triggers(change: Callable[[], object]) -> None:
    """Change restaurants while the triggers are off, as somebody does who restores a table."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("ALTER TABLE catalogue_restaurant DISABLE TRIGGER USER")
        change()
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("ALTER TABLE catalogue_restaurant ENABLE TRIGGER USER")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")


def definitions() -> list[tuple[str, str]]:
    """Indexes and constraints of the read model, as the database writes them."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = ANY(%(tables)s) UNION ALL"
            " SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint"
            " WHERE conrelid = ANY(%(tables)s::regclass[]) ORDER BY 1, 2",
            {"tables": list(rebuild.TABLES)},
        )
        found: list[tuple[str, str]] = cursor.fetchall()
    return found


@pytest.mark.exhaustive
def test_rebuild_gives_the_same_rows_as_the_triggers() -> None:
    some()
    before, stored = held(), definitions()
    assert [len(rows) for rows in before] == [6, 4, 4]
    assert rebuild.rebuild_read_model() == 4
    assert held() == before
    assert definitions() == stored
    assert list(rebuild.find_differences()) == []


@pytest.mark.exhaustive
def test_rebuild_without_stored_values_makes_intervals_due_and_computes_ranks() -> None:
    place = some()[0]
    spans = [(builders.NOW, builders.NOW.replace(hour=22))]
    SearchRow.objects.filter(pk=place.pk).update(
        open_intervals=spans,
        intervals_until=builders.NOW,
        rank_stars=30,
        rank_reviews=1,
        former_stars=20,
        ranked_at=builders.NOW,
    )
    rebuild.rebuild_read_model()
    row = SearchRow.objects.get(pk=place.pk)
    assert (row.open_intervals, row.intervals_until, row.ranked_at) == (spans, builders.NOW, builders.NOW)
    assert (row.rank_stars, row.rank_reviews, row.former_stars, row.former_reviews) == (30, 1, 20, 7)
    rebuild.rebuild_read_model(keeps=False)
    row.refresh_from_db()
    assert (row.open_intervals, row.intervals_until) == (None, None)
    assert (row.rank_stars, row.rank_reviews, row.former_stars, row.former_reviews) == (45, 7, 45, 7)


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("table", "statement", "what"),
    [
        ("catalogue_record", "DELETE FROM catalogue_record WHERE restaurant_id = %s", "missing"),
        *(
            ("catalogue_record", f"UPDATE catalogue_record SET {change} WHERE restaurant_id = %s", "different")  # noqa: S608
            for change in (
                "slug = 'another'",
                "status = 'moved'",
                "timezone = 'Asia/Tokyo'",
                "hours_known = NOT hours_known",
                "before = '\"slug\":1'",
                "hours = ''",
                "after = ''",
                "sources = '{x}'",
            )
        ),
        *(
            ("catalogue_searchrow", f"UPDATE catalogue_searchrow SET {change} WHERE restaurant_id = %s", "different")  # noqa: S608
            for change in (
                "market = 'tokyo'",
                "position = NULL",
                "position = point(1, 2)",
                "latitude = 1",
                "longitude = NULL",
                "timezone = 'Asia/Tokyo'",
                "is_shut = true",
                "cuisines = '{pizza}'",
                "price_level = NULL",
                "rating = 1",
                "review_count = 8",
                "tags = '{dog}'",
                "neighborhood = 'vesterbro'",
                "name = 'x'",
                "line1 = 'x'",
                "document = ''",
                "sources = '{}'",
                "card = ''",
            )
        ),
        ("catalogue_kitchen", "DELETE FROM catalogue_kitchen WHERE restaurant_id = %s", "missing"),
        ("catalogue_kitchen", "UPDATE catalogue_kitchen SET position = NULL WHERE restaurant_id = %s", "different"),
        ("catalogue_kitchen", "UPDATE catalogue_kitchen SET price_level = 4 WHERE restaurant_id = %s", "different"),
        ("catalogue_kitchen", "UPDATE catalogue_kitchen SET rating = NULL WHERE restaurant_id = %s", "different"),
        (
            "catalogue_kitchen",
            "INSERT INTO catalogue_kitchen (restaurant_id, cuisine) VALUES (%s, 'korean')",
            "left over",
        ),
    ],
)
def test_whatever_differs_is_found_and_mended(table: str, statement: str, what: str) -> None:
    place = some()[0]
    before = held()
    tamper(statement, place.pk)
    assert list(rebuild.find_differences()) == [Difference(place.pk, table, what)]
    assert rebuild.repair_read_model() == 1
    assert held() == before
    assert rebuild.repair_read_model() == 0


def test_who_should_have_left_the_lists_or_come_back_is_found() -> None:
    places = some()
    first, gone = places[0], places[3]
    without_triggers(lambda: Restaurant.objects.filter(pk=first.pk).update(status="moved"))
    without_triggers(lambda: Restaurant.objects.filter(pk=gone.pk).update(status="open", cuisines=[]))
    assert {(each.restaurant_id, each.table, each.what) for each in rebuild.find_differences()} == {
        (first.pk, "catalogue_record", "different"),
        (first.pk, "catalogue_searchrow", "left over"),
        (first.pk, "catalogue_kitchen", "left over"),
        (gone.pk, "catalogue_record", "different"),
        (gone.pk, "catalogue_searchrow", "missing"),
    }
    assert rebuild.repair_read_model() == 2
    assert list(rebuild.find_differences()) == []
    assert SearchRow.objects.filter(pk=gone.pk).exists()


def test_limit_of_reported_differences_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rebuild, "BATCH_SIZE", 2)
    some()
    tamper("UPDATE catalogue_record SET slug = slug || '-x'")
    assert len(list(rebuild.find_differences())) == 6
    assert len(list(rebuild.find_differences(limit=4))) == 4


def test_mending_says_what_it_mended(caplog: pytest.LogCaptureFixture) -> None:
    place = some()[0]
    tamper("UPDATE catalogue_record SET slug = 'x' WHERE restaurant_id = %s", place.pk)
    with caplog.at_level(logging.WARNING, logger="catalogue.read_model.rebuild"):
        rebuild.repair_read_model()
    assert caplog.messages == [f"catalogue_record of restaurant {place.pk} was different and is rendered again"]


def check(**options: Any) -> str:
    """Run the command; what it says on stdout."""
    output = StringIO()
    call_command("check_read_model", stdout=output, stderr=StringIO(), **options)
    return output.getvalue()


@pytest.mark.parametrize("change", [{"license": "CC0-1.0"}, {"attribution": "By others"}])
def test_another_licence_or_attribution_of_a_source_is_found_and_mended(change: dict[str, str]) -> None:
    place = builders.restaurant()
    builders.listed(place, "osm", "node/1")
    Source.objects.filter(key="osm").update(**change)
    assert set(rebuild.find_differences()) == {Difference(place.pk, "catalogue_record", "different")}
    assert rebuild.repair_read_model() == 1
    assert next(iter(change.values())) in Record.objects.get(pk=place.pk).after
    assert list(rebuild.find_differences()) == []


@pytest.mark.exhaustive
def test_the_command_fails_where_something_differs_until_it_has_mended_it() -> None:
    place = some()[0]
    assert check().startswith("catalogue_check: nothing differs, ")
    tamper("DELETE FROM catalogue_record WHERE restaurant_id = %s", place.pk)
    with pytest.raises(CommandError, match="1 rows differ from their restaurants"):
        check()
    assert not Record.objects.filter(pk=place.pk).exists()
    assert check(mend=True).startswith("catalogue_check: 1 restaurants differed and are mended, ")
    assert check().startswith("catalogue_check: nothing differs, ")
    assert check(rebuild=True).startswith("catalogue_check: 4 restaurants made anew, ")


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_mending_twice_at_once_while_restaurants_are_edited_leaves_nothing_that_differs() -> None:
    places = [builders.restaurant(name=f"Place {number}") for number in range(40)]
    failures: list[BaseException] = []
    stop = threading.Event()

    def edit(ids: list[UUID]) -> None:
        number = 0
        while not stop.is_set():
            number += 1
            for pk in ids:
                Restaurant.objects.filter(pk=pk).update(name=f"Name {number}")
                tamper("UPDATE catalogue_record SET before = '' WHERE restaurant_id = %s", pk)

    def mend() -> None:
        for _ in range(4):
            rebuild.repair_read_model()

    def run(work: Callable[[], object]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001  # told by the test
            failures.append(error)
        finally:
            connection.close()

    editors = [
        threading.Thread(target=run, args=(lambda ids=ids: edit(ids),))
        for ids in ([place.pk for place in places[:20]], [place.pk for place in places[20:]])
    ]
    menders = [threading.Thread(target=run, args=(mend,)) for _ in range(2)]
    for thread in (*editors, *menders):
        thread.start()
    for thread in menders:
        thread.join()
    stop.set()
    for thread in editors:
        thread.join()
    assert failures == []
    rebuild.repair_read_model()
    assert list(rebuild.find_differences()) == []


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_a_rebuild_waits_for_who_edits_and_shows_the_edit() -> None:
    place = builders.restaurant(name="Before")
    edited, done = threading.Event(), threading.Event()

    def edit() -> None:
        with transaction.atomic():
            Restaurant.objects.filter(pk=place.pk).update(name="After")
            edited.set()
            # The rebuild comes to its lock meanwhile; that it is there already is not needed for the outcome.
            done.wait(0.3)
        connection.close()

    editor = threading.Thread(target=edit)
    editor.start()
    edited.wait()
    rebuild.rebuild_read_model()
    done.set()
    editor.join()
    assert SearchRow.objects.get(pk=place.pk).name == "after"
    assert list(rebuild.find_differences()) == []
