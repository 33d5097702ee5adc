"""Our own format: what a full line becomes, what changes on the next import, and how strict it is."""

import codecs
from collections.abc import Callable
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from catalogue import reference_data
from catalogue.importers.row_errors import UnreadableFileError
from catalogue.importers.sources import native_jsonl
from catalogue.models import FlowRule, Restaurant, Review
from tests.catalogue.importers.import_runs import counts, import_restaurants, json_lines, rejected

REVIEW = {
    "id": "r1",
    "stars": 4,
    "text": "Fine oysters.",
    "lang": "en",
    "author": "Ada",
    "visited_on": "2026-10-30",
    "created_at": "2026-11-01T10:00:00+01:00",
    "helpful_count": 3,
    "owner_reply": {"text": "Come again.", "created_at": "2026-11-02T10:00:00Z"},
}
RULE = {"weekdays": [3, 0, 1, 2], "time": "17:30", "percent": 30}
LINE = {
    "id": "fiskebar",
    "name": "Kødbyens Fiskebar",
    "location": {"lat": 55.6681, "lng": 12.5594},
    "market": "copenhagen",
    "alt_names": ["Fiskebaren"],
    "status": "open",
    "neighborhood": "Kødbyen",
    "address": {"line1": "Flæsketorvet 100", "locality": "København V", "postal_code": "1711", "country": "DK"},
    "phone": "32 15 56 56",
    "website": "https://fiskebaren.dk",
    "price_level": 3,
    "cuisines": ["seafood", "new-nordic"],
    "hours": {"osm": "Mo-Su 17:30-24:00"},
    "attributes": {"outdoor_seating": True, "internet_access": "wlan"},
    "external_ids": {"osm": "node/123"},
    "reviews": [REVIEW, {"id": "r2", "stars": 5, "author": "Bo", "created_at": "2026-11-03T10:00:00Z"}],
    "flow_rules": [RULE],
}


@pytest.fixture
def _markets(db: None) -> None:
    reference_data.load_reference_data()


@pytest.fixture
def take(tmp_path: Path, _markets: None) -> Callable[..., dict[str, int]]:
    """Import these lines; the counts."""

    def imported(*lines: Any) -> dict[str, int]:
        return counts(import_restaurants(json_lines(tmp_path / "a.jsonl", lines), reader=native_jsonl.READER))

    return imported


def test_a_full_line_becomes_a_restaurant_with_reviews_and_discounts(take: Callable[..., dict[str, int]]) -> None:
    assert take(LINE) == {"created": 1}
    place = Restaurant.objects.get()
    assert (place.name, place.slug, place.alt_names) == ("Kødbyens Fiskebar", "kodbyens-fiskebar", ["Fiskebaren"])
    assert (place.market_id, place.neighborhood, place.line1, place.country) == (
        "copenhagen", "Kødbyen", "Flæsketorvet 100", "DK",
    )  # fmt: skip
    assert (place.phone, place.website, place.price_level) == ("+4532155656", "https://fiskebaren.dk", 3)
    assert (place.cuisine_id, place.cuisines) == ("seafood", ["seafood", "new-nordic"])
    assert place.attributes == {"outdoor_seating": True, "internet_access": "wlan"}
    assert (place.rating, place.review_count, place.star_counts) == (Decimal("4.5"), 2, [0, 0, 0, 1, 1])
    review = Review.objects.get(author="Ada")
    assert (review.stars, review.text, review.lang, review.helpful_count) == (4, "Fine oysters.", "en", 3)
    assert (review.visited_on, review.created_at) == (date(2026, 10, 30), datetime(2026, 11, 1, 9, tzinfo=UTC))
    assert (review.owner_reply, review.owner_replied_at) == ("Come again.", datetime(2026, 11, 2, 10, tzinfo=UTC))
    rule = FlowRule.objects.get()
    assert (rule.weekdays, rule.time, rule.percent, rule.active) == ([0, 1, 2, 3], time(17, 30), 30, True)


def test_three_fields_are_enough(take: Callable[..., dict[str, int]]) -> None:
    assert take({"id": "1", "name": "Noma", "location": {"lat": 55.6828, "lng": 12.6105}}) == {"created": 1}
    place = Restaurant.objects.get()
    assert (place.market_id, place.country, place.rating, place.hours) == ("copenhagen", "DK", None, None)


def test_hours_may_be_written_as_a_record_shows_them(take: Callable[..., dict[str, int]]) -> None:
    periods = [{"open": {"day": 4, "time": "18:00"}, "close": {"day": 5, "time": "02:00"}}]
    special_days: list[dict[str, Any]] = [{"date": "2026-12-24", "periods": []}]
    assert take(LINE | {"hours": {"periods": periods, "special_days": special_days}}) == {"created": 1}
    hours = Restaurant.objects.get().hours
    assert hours is not None
    assert (hours["timezone"], hours["known"], hours["osm"]) == ("Europe/Copenhagen", True, None)
    assert hours["periods"] == [{"kind": "regular", **periods[0]}]
    assert hours["special_days"] == special_days


def test_reviews_keep_their_ids_and_what_is_gone_is_gone(take: Callable[..., dict[str, int]]) -> None:
    take(LINE)
    ids = dict(Review.objects.values_list("author", "pk"))
    before = Restaurant.objects.get().version
    assert take(LINE | {"reviews": [REVIEW | {"stars": 1}]}) == {"changed": 1}
    place = Restaurant.objects.get()
    assert dict(Review.objects.values_list("author", "pk")) == {"Ada": ids["Ada"]}
    assert (place.rating, place.review_count, place.star_counts) == (Decimal("1.0"), 1, [1, 0, 0, 0, 0])
    assert place.version == before + 1


def test_a_line_that_does_not_speak_of_reviews_and_discounts_leaves_them(take: Callable[..., dict[str, int]]) -> None:
    take(LINE)
    short = {name: value for name, value in LINE.items() if name not in {"reviews", "flow_rules", "phone"}}
    assert take(short) == {"changed": 1}
    place = Restaurant.objects.get()
    assert (place.phone, place.review_count, FlowRule.objects.count()) == (None, 2, 1)
    assert take(LINE | {"reviews": [], "flow_rules": []}) == {"changed": 1}
    place.refresh_from_db()
    assert (place.rating, place.review_count, place.star_counts) == (None, 0, [0, 0, 0, 0, 0])
    assert (Review.objects.count(), FlowRule.objects.count()) == (0, 0)


def test_the_order_of_keys_is_no_change(take: Callable[..., dict[str, int]]) -> None:
    take(LINE)
    assert take(dict(reversed(LINE.items()))) == {"unchanged": 1}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"id": None}, "id: this is required."),
        ({"id": 7}, "id: a text is expected."),
        ({"name": "  "}, "name: the text is empty."),
        ({"name": "x" * 201}, "name: the text is longer than 200 characters."),
        ({"location": [55.6, 12.5]}, "location: an object is expected."),
        ({"location": {"lat": "55", "lng": 12.5}}, "The coordinates are not two numbers."),
        ({"location": {"lat": 10**400, "lng": 12.5}}, "The coordinates are not two numbers."),
        ({"location": {"lat": float("nan"), "lng": 12.5}}, "A number is infinite, or none at all."),
        ({"location": {"lat": 55.6, "lng": 12.5, "alt": 1}}, "Unknown field `location.alt`. Did you mean"),
        ({"market": "kopenhagen"}, "market: there is no `kopenhagen`."),
        ({"market": "milan"}, "The place lies 1159.0 km"),
        ({"status": "shut"}, "status: 'shut' is none of open, temporarily_closed, "),
        ({"address": {"country": "dk"}}, "address.country: 'dk' does not match [A-Z]{2}."),
        ({"address": {"street": "x"}}, "Unknown field `address.street`."),
        ({"phone": "12"}, "phone: '12' is not a valid number."),
        ({"website": "fiskebaren.dk"}, r"website: 'fiskebaren.dk' does not match https?://[^\s/?#]+[^\s]*."),
        ({"price_level": 5}, "price_level: a whole number from 1 to 4 is expected."),
        ({"price_level": True}, "price_level: a whole number from 1 to 4 is expected."),
        ({"cuisines": ["Sea food"]}, "cuisines: 'Sea food' is not a slug such as `coffee-shop`."),
        ({"cuisines": "seafood"}, "cuisines: a list is expected."),
        ({"hours": {"osm": "whenever"}}, "hours.osm: 'whenever' cannot be parsed with certainty."),
        ({"hours": {"periods": [{"open": {"day": 9, "time": "10:00"}}]}}, "hours.periods[0].open.day: a number "),
        ({"hours": {"osm": "24/7", "periods": []}}, "Unknown field `hours.periods`."),
        ({"attributes": {"seats": 40}}, "attributes.seats: a text is expected."),
        ({"external_ids": {"osm": 1}}, "external_ids.osm: a text is expected."),
        ({"reviews": {}}, "reviews: a list is expected."),
        ({"reviews": [REVIEW, REVIEW]}, "reviews: an id is given twice."),
        ({"reviews": [REVIEW | {"stars": 0}]}, "reviews[0].stars: a whole number from 1 to 5 is expected."),
        ({"reviews": [REVIEW | {"author": None}]}, "reviews[0].author: this is required."),
        ({"reviews": [REVIEW | {"created_at": "2026-11-01"}]}, "reviews[0].created_at: '2026-11-01' has no zone."),
        ({"reviews": [REVIEW | {"created_at": "yesterday"}]}, "reviews[0].created_at: 'yesterday' is not a timestamp"),
        ({"reviews": [REVIEW | {"created_at": "0001-01-01T00:00:00+14:00"}]}, "reviews[0].created_at: '0001-01-01T"),
        ({"reviews": [REVIEW | {"visited_on": "2026-02-30"}]}, "reviews[0].visited_on: '2026-02-30' is not a date."),
        ({"reviews": [REVIEW | {"owner_reply": {"text": "Hi"}}]}, "reviews[0].owner_reply.created_at: this is "),
        ({"flow_rules": [RULE | {"weekdays": []}]}, "flow_rules[0].weekdays: at least one is required."),
        ({"flow_rules": [RULE | {"weekdays": [7]}]}, "flow_rules[0].weekdays[0]: a whole number from 0 to 6 "),
        ({"flow_rules": [RULE | {"time": "25:00"}]}, "flow_rules[0].time: '25:00' is not a time \"HH:MM\"."),
        ({"flow_rules": [RULE | {"percent": 91}]}, "flow_rules[0].percent: a whole number from 1 to 90 is expected."),
        ({"flow_rules": [RULE | {"active": "yes"}]}, "flow_rules[0].active: true or false is expected."),
        ({"nmae": "x"}, "Unknown field `nmae`. Did you mean `name`?"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_refused_and_named(
    take: Callable[..., dict[str, int]], tmp_path: Path, change: dict[str, Any], reason: str
) -> None:
    assert take(LINE | change) == {"rejected": 1}
    assert rejected(tmp_path / "a.jsonl")[0]["reason"].startswith(reason)
    assert not Restaurant.objects.exists()


@pytest.mark.usefixtures("_markets")
def test_lines_that_are_no_objects_are_refused_and_the_others_taken(tmp_path: Path) -> None:
    file = json_lines(tmp_path / "a.jsonl", [LINE])
    good = file.read_bytes()
    deep = b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
    file.write_bytes(b'{"id": 1\n\n[1]\n"\xff"\n' + deep + b'{"id": "\\ud800"}\n' + good)
    assert counts(import_restaurants(file, reader=native_jsonl.READER)) == {"created": 1, "rejected": 5}
    assert [line["number"] for line in rejected(file)] == [1, 2, 3, 4, 5]
    assert [line["reason"][:22] for line in rejected(file)] == [
        "The line is no JSON: E",
        "The line is no object.",
        "The line is no JSON: '",
        "The line is no JSON: m",
        "A text holds a NUL or ",
    ]


@pytest.mark.usefixtures("_markets")
def test_a_file_of_another_kind_is_unreadable(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text("name,lat,lng\n")
    with pytest.raises(UnreadableFileError, match=r"^This is no JSON lines file: the first line is no object.$"):
        import_restaurants(file, reader=native_jsonl.READER)


@pytest.mark.parametrize("hours", [{}, {"periods": None}, {"periods": None, "special_days": None}])
def test_hours_that_state_nothing_are_unknown(take: Callable[..., dict[str, int]], hours: dict[str, Any]) -> None:
    assert take(LINE | {"hours": hours}) == {"created": 1}
    assert Restaurant.objects.get().hours is None


def test_an_empty_list_of_periods_says_closed(take: Callable[..., dict[str, int]]) -> None:
    take(LINE | {"hours": {"periods": []}})
    hours = Restaurant.objects.get().hours
    assert hours is not None
    assert (hours["known"], hours["periods"]) == (True, [])


def test_a_review_may_have_lines_and_a_name_may_not(take: Callable[..., dict[str, int]], tmp_path: Path) -> None:
    assert take(LINE | {"reviews": [REVIEW | {"text": "Fine.\nCome again."}]}) == {"created": 1}
    assert take(LINE | {"name": "No\nma"}) == {"rejected": 1}
    assert rejected(tmp_path / "a.jsonl")[0]["reason"] == (
        "name: 'No\\nma' holds a line break or another control character."
    )


@pytest.mark.usefixtures("_markets")
def test_a_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    file = json_lines(tmp_path / "b.jsonl", [LINE])
    file.write_bytes(codecs.BOM_UTF8 + file.read_bytes())
    assert counts(import_restaurants(file, reader=native_jsonl.READER)) == {"created": 1}
