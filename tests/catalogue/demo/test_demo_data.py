"""`manage.py demo_data`: deterministic, plausible and consistent rows."""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, time
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import psutil
import pytest
from django.conf import settings
from django.core.management import CommandError
from django.db import connection
from django.db.models import Avg, Count, F, Max, Q

from catalogue import reference_data
from catalogue.demo import load, vocabulary
from catalogue.hours import Hours
from catalogue.models import (
    Landmark,
    Market,
    Photo,
    Record,
    Restaurant,
    Review,
    SearchRow,
    SourceRecord,
    Version,
)
from catalogue.read_model import rebuild
from tests.catalogue.demo.generated_data import TODAY, demo_data

# Ranges reserved for fiction, or unassigned blocks of zeros; see catalogue/demo/words/cities.toml.
PHONES = {
    "london": r"\+442079460\d{3}",
    "paris": r"\+3319900\d{4}",
    "berlin": r"\+493023125\d{3}",
    "copenhagen": r"\+453300\d{4}",
    "milan": r"\+39020000\d{4}",
    "barcelona": r"\+3493000\d{4}",
    "new-york": r"\+1\d{3}55501\d{2}",
    "san-francisco": r"\+1\d{3}55501\d{2}",
    "tokyo": r"\+8130000\d{4}",
    "singapore": r"\+656000\d{4}",
    "sydney": r"\+612(5550|7010)\d{4}",
    "dubai": r"\+9714000\d{4}",
}


def rows() -> list[list[Any]]:
    """All rows of a run, without serial numbers and open intervals, which depend on the current time."""
    return [
        list(Restaurant.objects.order_by("pk").values_list()),
        values_of(Review),
        values_of(Photo),
        list(SourceRecord.objects.order_by("record").values_list("restaurant", "record", "digest", "updated_at")),
        list(
            Version.objects.order_by("restaurant", "version").values_list(
                "restaurant", "version", "at", "actor", "kind", "patch"
            )
        ),
        values_of(Record),
        list(SearchRow.objects.order_by("pk").values_list("pk", "card", "document", "rank_stars", "rank_reviews")),
    ]


def values_of(model: type[Review | Photo | Record]) -> list[dict[str, Any]]:
    """All rows of a table without `updated_at`, which the database sets."""
    rows = model.objects.order_by("pk").values()
    return [{name: value for name, value in row.items() if name != "updated_at"} for row in rows]


def definitions() -> list[tuple[str, str]]:
    """Definitions of the indexes and constraints of the tables."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = ANY(%(tables)s) UNION ALL"
            " SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint"
            " WHERE conrelid = ANY(%(tables)s::regclass[]) ORDER BY 1, 2",
            {"tables": [*load.TABLES, *rebuild.TABLES]},
        )
        rows: list[tuple[str, str]] = cursor.fetchall()
    return rows


def database_url() -> str:
    """URL of the test database, for a child process."""
    database = connection.settings_dict
    address = f"{database['HOST']}:{database['PORT']}/{database['NAME']}"
    return f"postgresql://{database['USER']}:{database['PASSWORD']}@{address}"


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_a_seed_and_numbers_determine_the_rows() -> None:
    demo_data()
    first = rows()
    Restaurant.objects.all().delete()
    demo_data()
    assert rows() == first
    Restaurant.objects.all().delete()
    demo_data(seed=8)
    assert not {row[0] for row in rows()[0]} & {row[0] for row in first[0]}


@pytest.mark.django_db
@pytest.mark.exhaustive
def test_another_today_changes_the_dates_and_not_the_ids() -> None:
    demo_data()
    ids = set(Review.objects.values_list("pk", flat=True))
    Restaurant.objects.all().delete()
    demo_data(today=date(2027, 3, 1))
    assert set(Review.objects.values_list("pk", flat=True)) == ids
    assert Review.objects.filter(created_at__gte=datetime(2026, 11, 21, tzinfo=UTC)).exists()


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_the_command_adds_the_requested_numbers_and_prints_them() -> None:
    output = demo_data(restaurants=101, reviews=1_234)
    assert Restaurant.objects.count() == SourceRecord.objects.filter(source="demo").count() == 101
    assert Review.objects.count() == 1_234
    photos = Photo.objects.count()
    assert re.fullmatch(
        rf"demo_data: 101 restaurants, 1234 reviews, {photos} photos and \d+ offers in \d+\.\d s\n",
        output.splitlines(keepends=True)[-1],
    )


@pytest.mark.exhaustive
@pytest.mark.django_db
@pytest.mark.parametrize(("restaurants", "reviews"), [(0, 0), (1, 0), (1, 5), (5, 100)])
def test_small_numbers_are_exact(restaurants: int, reviews: int) -> None:
    demo_data(restaurants=restaurants, reviews=reviews)
    assert (Restaurant.objects.count(), Review.objects.count()) == (restaurants, reviews)


@pytest.mark.django_db
def test_reviews_without_restaurants_are_rejected() -> None:
    with pytest.raises(CommandError, match="Reviews need restaurants"):
        demo_data(restaurants=0, reviews=1)
    assert not Review.objects.exists()


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_rating_count_and_distribution_of_a_restaurant_follow_from_its_reviews() -> None:
    demo_data()
    restaurants: Any = Restaurant.objects.annotate(
        expected_count=Count("reviews"),
        mean=Avg("reviews__stars"),
        **{f"expected_{stars}": Count("reviews", filter=Q(reviews__stars=stars)) for stars in range(1, 6)},
    )
    unreviewed = 0
    for restaurant in restaurants:
        assert restaurant.review_count == restaurant.expected_count
        assert restaurant.star_counts == [getattr(restaurant, f"expected_{stars}") for stars in range(1, 6)]
        if not restaurant.review_count:
            unreviewed += 1
            assert restaurant.rating is None
            continue
        total = sum(stars * count for stars, count in enumerate(restaurant.star_counts, start=1))
        exact = Decimal(total) / restaurant.review_count
        assert restaurant.rating == exact.quantize(Decimal("0.1"), ROUND_HALF_UP)
    assert unreviewed > 0


@pytest.mark.django_db
@pytest.mark.exhaustive
def test_ratings_equal_the_mean_in_sql() -> None:
    demo_data()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM catalogue_restaurant r JOIN (SELECT restaurant_id, round(avg(stars), 1) AS mean"
            " FROM catalogue_review GROUP BY 1) v ON v.restaurant_id = r.id WHERE r.rating IS DISTINCT FROM v.mean"
        )
        assert cursor.fetchone() == (0,)


@pytest.mark.django_db
@pytest.mark.exhaustive
def test_some_restaurants_have_very_many_reviews() -> None:
    demo_data(restaurants=500, reviews=10_000)
    counts = sorted(Restaurant.objects.values_list("review_count", flat=True))
    assert counts[250] < 15
    assert counts[-1] > 150


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_every_market_has_restaurants_within_its_radius_and_neighborhoods() -> None:
    demo_data()
    assert set(Restaurant.objects.values_list("market", flat=True)) == set(
        Market.objects.values_list("slug", flat=True)
    )
    for market in Market.objects.all():
        own = set(Landmark.objects.filter(market=market, kind="neighborhood").values_list("name", flat=True))
        labels = set(market.restaurants.exclude(neighborhood=None).values_list("neighborhood", flat=True))
        assert labels
        assert labels <= own
        assert set(market.restaurants.values_list("country", "locality")) == {(market.country, market.name)}
        for restaurant in market.restaurants.all():
            assert restaurant.latitude == pytest.approx(market.latitude, abs=market.radius_m / 100_000)


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_phones_lie_in_unassigned_ranges() -> None:
    demo_data()
    for market, phone in Restaurant.objects.values_list("market", "phone"):
        assert phone is None or re.fullmatch(PHONES[market], phone), (market, phone)
    assert 0 < Restaurant.objects.filter(phone=None).count() < 30
    assert not Restaurant.objects.filter(phone=None, phone_verified_at__isnull=False).exists()


@pytest.mark.django_db
@pytest.mark.exhaustive
def test_names_are_varied_and_in_the_languages_of_the_cities() -> None:
    demo_data(restaurants=1_000, reviews=0)
    names = list(Restaurant.objects.values_list("name", flat=True))
    assert len(set(names)) > 950
    assert sum(not name.isascii() for name in names) > 100
    assert not [name for name in names if not 3 <= len(name) <= 60 or "{" in name or "  " in name]
    assert Restaurant.objects.filter(market="tokyo").exclude(alt_names=[]).exists()


@pytest.mark.django_db
@pytest.mark.exhaustive
def test_slugs_of_another_seed_are_unique() -> None:
    demo_data(restaurants=40, reviews=0)
    slugs = set(Restaurant.objects.values_list("slug", flat=True))
    demo_data(restaurants=40, reviews=0, seed=9)
    assert Restaurant.objects.values("slug").distinct().count() == 80
    assert slugs <= set(Restaurant.objects.values_list("slug", flat=True))


@pytest.mark.django_db
@pytest.mark.exhaustive
def test_hours_round_trip_and_weeks_are_varied() -> None:
    demo_data(restaurants=600, reviews=0)
    stored = list(Restaurant.objects.values_list("hours", flat=True))
    known = [Hours.from_json(hours) for hours in stored if hours]
    assert [hours.to_json() for hours in known] == [hours for hours in stored if hours]
    displays = {tuple(hours.display) for hours in known}
    assert len(displays) > 50
    assert ("Every day open 24 hours",) in displays
    assert any(line == "Mon closed" for lines in displays for line in lines)
    assert any(
        period.closes.minute < period.opens.minute and period.length < 1440
        for hours in known
        for period in hours.periods
    )
    assert 0 < stored.count(None) < 60
    assert any(hours.special_days for hours in known)


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_open_intervals_are_computed_where_hours_are_known() -> None:
    demo_data(restaurants=60, reviews=0)
    assert not SearchRow.objects.filter(intervals_until=None).exists()
    assert not SearchRow.objects.filter(open_intervals=None).exclude(restaurant__hours=None).exists()


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_reviews_are_in_the_languages_of_the_city_and_name_dishes_of_the_cuisine() -> None:
    demo_data()
    paris = Review.objects.filter(restaurant__market="paris")
    assert set(paris.values_list("lang", flat=True)) >= {"fr", "en", ""}
    assert not Review.objects.filter(text="", lang__gt="").exists()
    assert not Review.objects.filter(text__contains="{").exists()
    texts = Review.objects.filter(lang="en", restaurant__cuisine="italian").values_list("text", flat=True)
    dishes = vocabulary.cuisines()["italian"].dishes
    assert sum(any(dish in text for dish in dishes) for text in texts) > len(texts) / 2
    assert Review.objects.values("text").distinct().count() > Review.objects.count() * 0.7


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_reviews_are_of_the_last_three_years_and_replies_follow_their_reviews() -> None:
    demo_data()
    midnight = datetime.combine(TODAY, time(), UTC)
    assert not Review.objects.filter(created_at__gte=midnight).exists()
    assert not Review.objects.filter(created_at__lt=midnight.replace(year=2023)).exists()
    assert not Review.objects.filter(created_at__lt=F("restaurant__created_at")).exists()
    assert not Review.objects.filter(visited_on__gt=F("created_at__date")).exists()
    replied = Review.objects.exclude(owner_reply=None)
    assert replied.count() > 100
    assert not replied.filter(owner_replied_at__lte=F("created_at")).exists()
    latest = replied.aggregate(latest=Max("owner_replied_at"))["latest"]
    assert latest < midnight


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_a_failed_load_leaves_the_triggers_enabled() -> None:
    def fail(what: str, done: int, total: int) -> None:
        raise RuntimeError(what)

    reference_data.load_reference_data()
    for in_bulk in (False, True):
        with pytest.raises(RuntimeError, match="restaurants"):
            load.load_rows(
                restaurants=12, reviews=0, seed=7, today=TODAY, if_empty=False, in_bulk=in_bulk, on_step=fail
            )
        assert not Restaurant.objects.exists()
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_trigger WHERE tgrelid = 'catalogue_restaurant'::regclass AND tgenabled = 'D'"
            )
            assert cursor.fetchone() == (0,)


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_if_empty_adds_nothing_when_generated_restaurants_exist() -> None:
    demo_data(if_empty=True, restaurants=12, reviews=0)
    assert "0 restaurants" in demo_data(if_empty=True, seed=99)
    assert Restaurant.objects.count() == 12


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_a_seed_is_loaded_once() -> None:
    demo_data(restaurants=12, reviews=0)
    with pytest.raises(CommandError, match="The rows of seed 7 already exist"):
        demo_data(restaurants=13, reviews=0)
    assert Restaurant.objects.count() == 12


@pytest.mark.deep
@pytest.mark.django_db(transaction=True)
def test_a_bulk_load_gives_the_same_rows_indexes_and_constraints() -> None:
    demo_data(restaurants=1_300, reviews=4_000)
    first, before = rows(), definitions()
    Restaurant.objects.all().delete()
    loaded = load.load_rows(restaurants=1_300, reviews=4_000, seed=7, today=TODAY, if_empty=False, in_bulk=True)
    assert (loaded.restaurants, loaded.reviews) == (1_300, 4_000)
    assert rows() == first
    assert definitions() == before


@pytest.mark.deep
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("restaurants", [8_000, load.MIN_BULK])
def test_a_killed_run_leaves_nothing_and_the_next_one_adds_all_rows(restaurants: int) -> None:
    reference_data.load_reference_data()
    before = definitions()
    process = subprocess.Popen(
        [sys.executable, "manage.py", "demo_data", "--restaurants", str(restaurants), "--reviews", "0", "--if-empty"],
        cwd=settings.BASE_DIR,
        env=os.environ | {"DATABASE_URL": database_url()},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    # After the first line of progress rows are in the database, but not committed.
    assert re.search(rf"demo_data: \d+ of {restaurants} restaurants", process.stderr.readline())
    children = [child for child in psutil.Process(process.pid).children() if "spawn_main" in " ".join(child.cmdline())]
    assert len(children) == (load.PROCESSES if restaurants >= load.MIN_BULK else 0)
    process.kill()
    process.wait()
    _, alive = psutil.wait_procs(children, timeout=30)
    process.stderr.close()

    assert alive == []
    assert definitions() == before
    assert not Restaurant.objects.exists()
    demo_data(restaurants=20, reviews=50, if_empty=True)
    assert (Restaurant.objects.count(), Review.objects.count()) == (20, 50)


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_one_of_two_concurrent_runs_with_if_empty_adds_rows() -> None:
    def run(seed: int) -> str:
        try:
            return demo_data(restaurants=60, reviews=100, seed=seed, if_empty=True)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        outputs = sorted(threads.map(run, (1, 2)))
    assert outputs[0].startswith("demo_data: 0 restaurants, 0 reviews, 0 photos and 0 offers")
    assert outputs[1].startswith("demo_data: 60 restaurants, 100 reviews, ")
    assert Restaurant.objects.count() == 60
