"""Slugs: what names make them, and which are free."""

import pytest

from catalogue.models import Market, Restaurant
from catalogue.places import slugs
from tests.catalogue.importers.import_runs import NOW


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("Kødbyens Fiskebar", "kodbyens-fiskebar"),
        ("Joe's & the Juice", "joes-the-juice"),
        ("Joe’s", "joes"),  # noqa: RUF001 (the apostrophe of typesetters is the point)
        ("すし", "sushi"),
        ("  --  ", "restaurant"),
        ("", "restaurant"),
        ("a" * 99 + " b", "a" * 99),
    ],
)
def test_a_slug_is_ascii_and_never_empty_or_longer_than_100(text: str, slug: str) -> None:
    assert slugs.slugify(text) == slug


@pytest.fixture
def copenhagen(db: None) -> Market:
    return Market.objects.create(
        slug="copenhagen", name="Copenhagen", country="DK", timezone="Europe/Copenhagen", currency="DKK",
        calling_code="45", latitude=55.6761, longitude=12.5683, radius_m=25_000,
    )  # fmt: skip


def has(market: Market, *names: str) -> None:
    Restaurant.objects.bulk_create(
        Restaurant(slug=slug, name=slug, market=market, country="DK", created_at=NOW, updated_at=NOW) for slug in names
    )


def test_the_name_comes_first_then_the_neighborhood_then_a_number(copenhagen: Market) -> None:
    assert slugs.allocate_slugs([("Noma", "Refshaleøen")]) == ["noma"]
    has(copenhagen, "noma")
    assert slugs.allocate_slugs([("Noma", "Refshaleøen")]) == ["noma-refshaleoen"]
    has(copenhagen, "noma-refshaleoen")
    assert slugs.allocate_slugs([("Noma", "Refshaleøen")]) == ["noma-refshaleoen-2"]
    assert slugs.allocate_slugs([("Noma", None)]) == ["noma-2"]


def test_places_of_one_batch_do_not_get_the_same_slug(copenhagen: Market) -> None:
    wanted = [("Noma", None), ("Noma", None), ("Nomá", "Vesterbro"), ("noma", "Vesterbro")]
    assert slugs.allocate_slugs(wanted) == ["noma", "noma-2", "noma-vesterbro", "noma-vesterbro-2"]


def test_a_crowded_name_gets_the_first_number_that_is_free(copenhagen: Market) -> None:
    has(copenhagen, "noma", *(f"noma-{number}" for number in range(2, 45)))
    assert slugs.allocate_slugs([("Noma", None), ("Noma", None)]) == ["noma-45", "noma-46"]


def test_slug_of_maximum_length_with_a_number_fits_the_column(copenhagen: Market) -> None:
    name = "x" * 200
    has(copenhagen, "x" * 100)
    [slug] = slugs.allocate_slugs([(name, "Vesterbro")])
    has(copenhagen, slug)
    assert slug == "x" * 100 + "-2"
