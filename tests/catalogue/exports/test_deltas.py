"""A delta and the export that it follows say together what a new export of everything says."""

import json
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone
from pytest_django import Settings

from catalogue import places
from catalogue.exports.datasets.base import CLOCK_MARGIN
from catalogue.exports.jobs import cleanup
from catalogue.exports.storage import files
from catalogue.models import (
    Cuisine,
    Export,
    Insight,
    Landmark,
    LandmarkName,
    Photo,
    Removal,
    Restaurant,
    Review,
    Source,
    SourceRecord,
)
from catalogue.reviews import aggregates
from framework.public_ids import encode
from tests.catalogue import builders
from tests.catalogue.exports import export_builders

pytestmark = pytest.mark.django_db(transaction=True)

Ask = dict[str, Any]

KINDS: list[Ask] = [
    {"dataset": "restaurants"},
    {"dataset": "restaurants", "filter": {"market": "oslo"}},
    {"dataset": "restaurants", "filter": {"status": "open"}, "fields": ["reviews", "ai_insight", "context"]},
    {"dataset": "reviews"},
    {"dataset": "reviews", "filter": {"market": "oslo", "status": "open"}},
    {"dataset": "photos"},
    {"dataset": "photos", "filter": {"market": "oslo"}},
    {"dataset": "landmarks"},
    {"dataset": "landmarks", "filter": {"market": "oslo"}},
    {"dataset": "history"},
    {"dataset": "history", "filter": {"status": "open"}},
]
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _files(settings: Settings, tmp_path: Path) -> None:
    export_builders.keep_in(settings, tmp_path / "exports")


def exported(**wanted: Any) -> Export:
    """An export with its files."""
    made = Export.objects.create(
        format="jsonl.gz", fingerprint=uuid4().hex, queue="dedicated", created_at=timezone.now(), **wanted
    )
    export_builders.run_to_end(made)
    assert made.status == "succeeded", made.error
    return made


def lines(export: Export, kind: str = "rows") -> dict[str, str]:
    """The rows of one kind, as they are written, by their ids."""
    found = {}
    for part in export.parts.filter(kind=kind).order_by("seq"):
        with files.storage().open(files.path_of(export, part)) as stored:
            for row in export_builders.parse_lines(stored.read()):
                assert row["id"] not in found
                found[row["id"]] = json.dumps(row)
    return found


def applied(before: dict[str, str], delta: Export) -> dict[str, str]:
    """What is known after a delta."""
    removed = lines(delta, "removed")
    stored = {key: line for key, line in before.items() if key not in removed}
    return {**stored, **lines(delta)}


def exactly(export: Export) -> Export:
    """The export, with deltas that repeat nothing of what was there before it: nobody else is at work."""
    Export.objects.filter(pk=export.pk).update(changes_from=F("snapshot_at") + CLOCK_MARGIN)
    export.refresh_from_db()
    return export


class World:
    """A small catalogue in which anything may happen, by the clock of somebody whose clock is wrong."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.markets = [builders.market("copenhagen"), builders.market("oslo")]
        for slug in ("seafood", "pizza"):
            builders.cuisine(slug)
        for _ in range(6):
            self.open()
        for _ in range(12):
            self.write()
            self.picture()
        for number in range(3):
            builders.landmark(f"Sight {number}", market=self.dice.choice(["copenhagen", "oslo"]))

    def place(self) -> Restaurant:
        """One that is neither merged nor erased."""
        return self.dice.choice(list(Restaurant.objects.filter(merged_into=None, erased_at=None).order_by("pk")))

    def one(self, model: Any) -> Any:
        """Any row there is."""
        return self.dice.choice([*model.objects.order_by("pk")] or [None])

    def key(self, model: Any) -> list[Any]:
        """The key of any row; none where there is none."""
        found = self.one(model)
        return [found.pk] if found else []

    def open(self) -> None:
        made = builders.restaurant(
            market=self.dice.choice(["copenhagen", "oslo"]), created_at=LONG_AGO, updated_at=LONG_AGO
        )
        builders.listed(made)

    def write(self) -> None:
        with transaction.atomic():
            place = self.place()
            Review.objects.create(
                restaurant=place,
                stars=self.dice.randint(1, 5),
                text="Good",
                lang=self.dice.choice(["en", "da"]),
                author="Ada",
                source=builders.source("demo"),
                created_at=LONG_AGO,
            )
            aggregates.update_restaurants([place.pk], now=LONG_AGO)

    def picture(self) -> None:
        review = self.one(Review)
        if review is None:
            return
        with transaction.atomic():
            builders.photo(review.restaurant, review=review if self.dice.random() < 0.5 else None)
            aggregates.update_restaurants([review.restaurant_id], now=LONG_AGO)

    def change(self) -> None:
        field, value = self.dice.choice(
            [
                ("status", self.dice.choice(Restaurant.Status.values)),
                ("market", self.dice.choice(self.markets)),
                ("name", f"Name {self.dice.random()}"),
                ("slug", f"slug-{self.dice.randrange(10**9)}"),
                ("cuisine_id", self.dice.choice(["seafood", "pizza"])),
                ("latitude", 55.6 + self.dice.random() / 100),
            ]
        )
        Restaurant.objects.filter(pk=self.place().pk).update(**{field: value}, updated_at=LONG_AGO)

    def reply(self) -> None:
        Review.objects.filter(pk__in=self.key(Review)).update(owner_reply="Thanks", owner_replied_at=LONG_AGO)

    def restar(self) -> None:
        review = self.one(Review)
        if review is not None:
            with transaction.atomic():
                Review.objects.filter(pk=review.pk).update(stars=self.dice.randint(1, 5), lang="de")
                aggregates.update_restaurants([review.restaurant_id], now=LONG_AGO)

    def unwrite(self) -> None:
        review = self.one(Review)
        if review is not None:
            with transaction.atomic():
                review.delete()
                aggregates.update_restaurants([review.restaurant_id], now=LONG_AGO)

    def hide(self) -> None:
        photo = self.one(Photo)
        if photo is not None:
            with transaction.atomic():
                Photo.objects.filter(pk=photo.pk).update(is_hidden=not photo.is_hidden)
                aggregates.update_restaurants([photo.restaurant_id], now=LONG_AGO)

    def unpicture(self) -> None:
        photo = self.one(Photo)
        if photo is not None:
            with transaction.atomic():
                photo.delete()
                aggregates.update_restaurants([photo.restaurant_id], now=LONG_AGO)

    def merge(self) -> None:
        loser, into = self.place(), self.place()
        if loser.pk != into.pk and Restaurant.objects.filter(merged_into=None, erased_at=None).count() > 3:
            places.merge(loser, into, actor="staff:1", now=LONG_AGO)

    def erase(self) -> None:
        if Restaurant.objects.filter(merged_into=None, erased_at=None).count() > 3:
            places.erase(self.place(), actor="staff:1", now=LONG_AGO)

    def source(self) -> None:
        SourceRecord.objects.filter(pk__in=self.key(SourceRecord)).update(updated_at=builders.NOW)

    def credit(self) -> None:
        Source.objects.filter(pk="demo").update(attribution=f"Line {self.dice.random()}")

    def label(self) -> None:
        Cuisine.objects.filter(pk="pizza").update(label=f"Pizza {self.dice.random()}")

    def land(self) -> None:
        builders.landmark(f"Sight {self.dice.random()}", market=self.dice.choice(["copenhagen", "oslo"]))

    def move(self) -> None:
        Landmark.objects.filter(pk__in=self.key(Landmark)).update(
            market=self.dice.choice(self.markets), latitude=55.67
        )

    def call(self) -> None:
        landmark = self.one(Landmark)
        if landmark is not None:
            LandmarkName.objects.create(landmark=landmark, name=f"Another {self.dice.random()}")

    def raze(self) -> None:
        landmark = self.one(Landmark)
        if landmark is not None:
            landmark.delete()

    def tell(self) -> None:
        place = self.place()
        Insight.objects.filter(pk=place.pk).delete()
        builders.insight(place, f"Text {self.dice.random()}", generated_at=LONG_AGO)

    def withhold(self) -> None:
        insight = self.one(Insight)
        if insight is not None:
            Insight.objects.filter(pk=insight.pk).update(hidden=not insight.hidden)

    def untell(self) -> None:
        Insight.objects.filter(pk__in=self.key(Insight)).delete()

    def something(self) -> None:
        """Anything of it."""
        deeds: list[Callable[[], None]] = [
            *(self.open, self.write, self.picture, self.change, self.change, self.change, self.reply, self.restar),
            *(self.unwrite, self.hide, self.unpicture, self.merge, self.erase, self.source, self.credit, self.label),
            *(self.land, self.move, self.call, self.raze, self.tell, self.withhold, self.untell),
        ]
        self.dice.choice(deeds)()


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.deep) for seed in range(2, 20))], ids="seed-{}".format
)
def test_a_delta_on_top_of_its_export_is_everything_that_there_is(seed: int) -> None:
    world = World(seed)
    before = [(kind, exactly(exported(**kind))) for kind in KINDS]
    known = {first.pk: lines(first) for _, first in before}
    for _ in range(30):
        world.something()
    for kind, first in before:
        delta = exported(**kind, since_export=first)
        assert applied(known[first.pk], delta) == lines(exported(**kind)), kind


@contextmanager
def run_during_export(change: Callable[[], object]) -> Iterator[Callable[[], None]]:
    """Begin a transaction of somebody else now; what is called inside the block does the deed and commits."""
    begun, go, done = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute("SELECT 1")
                begun.set()
                assert go.wait(30)
                change()
        finally:
            connection.close()
            done.set()

    thread = threading.Thread(target=work)
    thread.start()
    assert begun.wait(30)

    def finish() -> None:
        go.set()
        assert done.wait(30)

    try:
        yield finish
    finally:
        finish()
        thread.join(30)


@pytest.mark.exhaustive
def test_what_began_before_the_snapshot_and_was_committed_after_it_is_in_the_delta() -> None:
    place = builders.restaurant(slug="old", updated_at=LONG_AGO)
    stored, gone = builders.review(place, "Kept"), builders.review(place, "Gone")

    def change() -> None:
        # By the clock of somebody whose clock is wrong, in a transaction that was older than the snapshot.
        Restaurant.objects.filter(pk=place.pk).update(slug="new", updated_at=LONG_AGO)
        Review.objects.filter(pk=stored.pk).update(text="Changed")
        Review.objects.filter(pk=gone.pk).delete()

    with run_during_export(change) as finish:
        first = {name: exported(dataset=name) for name in ("restaurants", "reviews", "history")}
        finish()
    known = {name: lines(export) for name, export in first.items()}
    assert '"text": "Gone"' in known["reviews"][encode("rev", gone.pk)]
    for name, export in first.items():
        delta = exported(dataset=name, since_export=export)
        everything = lines(exported(dataset=name))
        assert everything != known[name]
        assert applied(known[name], delta) == everything
        if name == "reviews":
            assert list(lines(delta, "removed")) == [encode("rev", gone.pk)]


@pytest.mark.exhaustive
def test_a_delta_in_which_nothing_has_happened_is_empty() -> None:
    builders.review(builders.restaurant(), "Good")
    first = exported(dataset="reviews")
    delta = exported(dataset="reviews", since_export=exactly(first))
    assert (lines(delta), lines(delta, "removed"), delta.rows) == ({}, {}, 0)


@pytest.mark.exhaustive
def test_removed_rows_come_in_the_order_of_their_ids_with_the_moment() -> None:
    place = builders.restaurant()
    first_review, second = builders.review(place, "One"), builders.review(place, "Two")
    ids = sorted(encode("rev", review.pk) for review in (first_review, second))
    first = exported(dataset="reviews")
    began = timezone.now()
    second.delete()
    first_review.delete()
    rows = [json.loads(line) for line in lines(exported(dataset="reviews", since_export=first), "removed").values()]
    assert [row["id"] for row in rows] == ids
    for row in rows:
        assert began.replace(microsecond=0) <= datetime.fromisoformat(row["removed_at"]) <= timezone.now()


def test_removals_are_forgotten_when_no_delta_tells_of_them_any_more() -> None:
    now = timezone.now()
    for days in (1, 99, 101, 130):
        Removal.objects.create(dataset="reviews", key=f"rev_{days}", at=now - timedelta(days=days))
    since = Export.objects.create(
        dataset="reviews", format="jsonl.gz", fingerprint="a", queue="dedicated", created_at=now, status="expired"
    )
    Export.objects.filter(pk=since.pk).update(changes_from=now - timedelta(days=110))
    delta = Export.objects.create(
        dataset="reviews",
        format="jsonl.gz",
        fingerprint="b",
        queue="dedicated",
        created_at=now,
        since_export=since,
    )
    assert cleanup.delete_expired_removals(now=now) == 1
    assert set(Removal.objects.values_list("key", flat=True)) == {"rev_1", "rev_99", "rev_101"}
    Export.objects.filter(pk=delta.pk).update(status="cancelled")
    assert cleanup.delete_expired_removals(now=now) == 1
    assert set(Removal.objects.values_list("key", flat=True)) == {"rev_1", "rev_99"}
