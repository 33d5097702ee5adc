"""Suppliers: their own ids, licences and ranks, and the safety checks on their files."""

from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from catalogue.models import Report, Restaurant, Source, SourceRecord
from tests.catalogue.importers.import_runs import json_lines

pytestmark = pytest.mark.usefixtures("_markets")


@pytest.fixture
def _markets(stored_reference_data: None, db: None) -> None:
    """Known markets, cuisines and landmarks."""


def line(number: int, **columns: Any) -> dict[str, Any]:
    """A restaurant with a name of its own, 400 m from the one before."""
    name = f"{'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[number % 26] * 4}{number} Kitchen"
    return {"id": str(number), "name": name, "location": {"lat": 55.6 + number * 0.004, "lng": 12.5}} | columns


@pytest.fixture
def supply(tmp_path: Path) -> Callable[..., str]:
    """Import lines of a supplier; what the command prints."""

    def imported(key: str, lines: list[Any], *options: str) -> str:
        file = json_lines(tmp_path / f"{key}.jsonl", lines)
        terms = ("--license", "CC-BY-4.0", "--attribution", f"Data of {key}")
        out = StringIO()
        arguments = ("--supplier", key, *terms, "--rejects", str(tmp_path / f"{key}.rejects"), *options)
        call_command("catalogue_import", "native", str(file), *arguments, stdout=out, stderr=StringIO())
        return out.getvalue()

    return imported


@pytest.mark.exhaustive
def test_a_supplier_is_a_source_with_its_own_licence(supply: Callable[..., str]) -> None:
    supply("supplier-a", [line(1)])
    source = Source.objects.get(key="supplier-a")
    assert (source.name, source.license, source.attribution) == (
        "Data of supplier-a", "CC-BY-4.0", "Data of supplier-a",
    )  # fmt: skip
    assert list(SourceRecord.objects.values_list("source", "record")) == [("supplier-a", "1")]


@pytest.mark.exhaustive
def test_equal_ids_of_two_suppliers_are_two_restaurants(supply: Callable[..., str]) -> None:
    supply("supplier-a", [line(1)])
    supply("supplier-b", [line(2, id="1")])
    assert set(Restaurant.objects.values_list("name", "source_records__source", "source_records__record")) == {
        ("BBBB1 Kitchen", "supplier-a", "1"),
        ("CCCC2 Kitchen", "supplier-b", "1"),
    }


@pytest.mark.exhaustive
def test_a_complete_file_closes_only_the_restaurants_of_its_supplier(supply: Callable[..., str]) -> None:
    supply("supplier-a", [line(number) for number in range(10)])
    supply("supplier-b", [line(number) for number in range(20, 24)])
    supply("supplier-b", [line(number) for number in range(20, 23)], "--complete")
    closed = Restaurant.objects.filter(status="permanently_closed")
    assert list(closed.values_list("name", flat=True)) == [line(23)["name"]]


@pytest.mark.exhaustive
def test_a_complete_file_that_would_close_most_of_few_restaurants_is_stopped(supply: Callable[..., str]) -> None:
    supply("supplier-a", [line(number) for number in range(24)])
    with pytest.raises(CommandError, match="0 of 24 restaurants would change and 23 be closed"):
        supply("supplier-a", [line(0)], "--complete")
    assert not Restaurant.objects.filter(status="permanently_closed").exists()
    supply("supplier-a", [line(0)], "--complete", "--force")
    assert Restaurant.objects.filter(status="permanently_closed").count() == 23


@pytest.mark.exhaustive
def test_a_record_whose_name_and_place_both_changed_goes_to_staff(supply: Callable[..., str]) -> None:
    supply("supplier-a", [line(1), line(2)])
    other = line(1, name="Osteria Francescana", location={"lat": 45.4642, "lng": 9.19})
    for _ in range(2):
        with pytest.raises(CommandError, match="1 of 2 rows were rejected") as failed:
            supply("supplier-a", [other, line(2)])
        assert failed.value.returncode == 3
    place = Restaurant.objects.get(source_records__record="1")
    assert (place.name, place.market_id, place.version) == ("BBBB1 Kitchen", "copenhagen", 1)
    report = Report.objects.get()
    assert (report.restaurant, report.kind, report.state) == (place, "other", "open")
    assert report.text.startswith(
        "supplier-a: '1' was 'BBBB1 Kitchen' and is now 'Osteria Francescana' at another place."
    )
    supply("supplier-a", [other, line(2)], "--force")
    place.refresh_from_db()
    assert (place.name, place.market_id) == ("Osteria Francescana", "milan")


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("columns", "name"),
    [
        ({"name": "Other Name"}, "Other Name"),
        ({"location": {"lat": 55.7, "lng": 12.6}}, "BBBB1 Kitchen"),
    ],
)
def test_a_new_name_or_a_new_place_alone_is_a_change(
    supply: Callable[..., str], columns: dict[str, Any], name: str
) -> None:
    supply("supplier-a", [line(1)])
    supply("supplier-a", [line(1, **columns)])
    assert (Restaurant.objects.get().name, Restaurant.objects.get().version) == (name, 2)


@pytest.mark.exhaustive
def test_a_better_ranked_supplier_overrides_the_values_of_another(supply: Callable[..., str]) -> None:
    supply("supplier-a", [line(1, phone="+4532155656", website="https://a.example.com")])
    supply("supplier-b", [line(1, id="x", phone="+4532155656", website="https://b.example.com", price_level=2)])
    place = Restaurant.objects.get()
    assert (place.website, place.price_level) == ("https://a.example.com", 2)
    Source.objects.filter(key="supplier-b").update(rank=10)
    supply("supplier-b", [line(1, id="x", phone="+4532155656", website="https://b.example.com", price_level=3)])
    place.refresh_from_db()
    assert (place.website, place.price_level) == ("https://b.example.com", 3)
    supply("supplier-a", [line(1, phone="+4532155656", website="https://new.example.com")])
    place.refresh_from_db()
    assert place.website == "https://b.example.com"


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--supplier", "osm"], "`osm` is a source of the product itself."),
        (["--supplier", "Not A Key"], "`Not A Key` is no key of a supplier"),
        (["--supplier", "new"], "There is no source `new`. State its licence and attribution to add it"),
        (["--license", "CC0-1.0"], "--supplier-name, --license and --attribution describe a --supplier."),
    ],
)
def test_an_unusable_supplier_is_refused(tmp_path: Path, options: list[str], message: str) -> None:
    file = json_lines(tmp_path / "a.jsonl", [line(1)])
    with pytest.raises(CommandError) as refused:
        call_command("catalogue_import", "native", str(file), *options)
    assert str(refused.value).startswith(message)
    assert not Restaurant.objects.exists()
