"""Our own format: what a full line becomes, what changes on the next import, and how strict it is."""

import codecs
import gzip
import json
from collections.abc import Callable
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from catalogue.exports.datasets.restaurants import DATASET
from catalogue.importers.parsing.parsed_place import COLUMNS
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
def _markets(stored_reference_data: None, db: None) -> None:
    """Known markets, cuisines and landmarks."""


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
    # `new-nordic` is a synonym.
    assert (place.cuisine_id, place.cuisines) == ("seafood", ["seafood", "nordic"])
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


@pytest.mark.exhaustive
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


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"id": None}, "id: this is required."),
        ({"id": 7.5}, "id: a text is expected."),
        ({"name": "  "}, "name: this is required."),
        ({"name": "x" * 201}, "name: the text is longer than 200 characters."),
        ({"location": [55.6, 12.5]}, "location: an object is expected."),
        ({"location": None, "market": None}, "location: this is required, unless the line names its market."),
        ({"location": {"lat": "55", "lng": 12.5}}, "The coordinates are not two numbers."),
        ({"location": {"lat": 10**400, "lng": 12.5}}, "The coordinates are not two numbers."),
        ({"location": {"lat": float("nan"), "lng": 12.5}}, "A number is infinite, or none at all."),
        ({"market": "kopenhagen"}, "market: there is no `kopenhagen`."),
        ({"market": "milan"}, "The place lies 1159.0 km"),
        (
            {"id": None, "name": 5, "location": 3},
            "id: this is required. name: a text is expected. location: an object",
        ),
    ],
)
def test_a_line_without_a_valid_id_name_or_place_is_rejected(
    take: Callable[..., dict[str, int]], tmp_path: Path, change: dict[str, Any], reason: str
) -> None:
    assert take(LINE | change) == {"rejected": 1}
    assert rejected(tmp_path / "a.jsonl")[0]["reason"].startswith(reason)
    assert not Restaurant.objects.exists()


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"location": {"lat": 55.6681, "lng": 12.5594, "alt": 1}}, "Unknown field `location.alt`. Did you mean"),
        ({"status": "shut"}, "status: 'shut' is none of open, temporarily_closed, "),
        ({"address": {"country": "Denmark"}}, "address.country: 'Denmark' is no code of two letters."),
        ({"address": {"street": "x"}}, "Unknown field `address.street`."),
        ({"address": 5}, "address: an object is expected."),
        ({"phone": "12"}, "phone: '12' is not a valid number."),
        ({"website": "no site"}, "website: 'no site' is not an address."),
        ({"price_level": 5}, "price_level: a whole number from 1 to 4 is expected."),
        ({"price_level": True}, "price_level: a whole number from 1 to 4 is expected."),
        ({"cuisines": ["!"]}, "cuisines: '!' is no name."),
        ({"cuisines": "seafood"}, "cuisines: a list is expected."),
        ({"hours": {"osm": "whenever"}}, "hours.osm: 'whenever' cannot be parsed with certainty."),
        ({"hours": {"periods": [{"open": {"day": 9, "time": "10:00"}}]}}, "hours.periods[0].open.day: a number "),
        ({"attributes": {"seats": 40}}, "attributes.seats: a text is expected."),
        ({"external_ids": {"osm": 1.5}}, "external_ids.osm: a text is expected."),
        ({"reviews": {}}, "reviews: a list is expected."),
        ({"reviews": [REVIEW, REVIEW]}, "reviews[1].id: 'r1' is given twice."),
        ({"reviews": [REVIEW | {"stars": 0}]}, "reviews[0].stars: a number from 1 to 5 with at "),
        ({"reviews": [REVIEW | {"stars": 3.25}]}, "reviews[0].stars: a number from 1 to 5 with at most one decimal"),
        ({"reviews": [REVIEW | {"author": None}]}, "reviews[0].author: this is required."),
        ({"reviews": [REVIEW | {"created_at": "2026-11-01"}]}, "reviews[0].created_at: '2026-11-01' has no zone."),
        ({"reviews": [REVIEW | {"created_at": "yesterday"}]}, "reviews[0].created_at: 'yesterday' is not a timestamp"),
        ({"reviews": [REVIEW | {"created_at": "2036-11-01T10:00:00Z"}]}, "reviews[0].created_at: '2036-11-01' is in"),
        ({"reviews": [REVIEW | {"created_at": "0001-01-01T00:00:00+14:00"}]}, "reviews[0].created_at: '0001-01-01T"),
        ({"reviews": [REVIEW | {"visited_on": "2026-02-30"}]}, "reviews[0].visited_on: '2026-02-30' is not a date."),
        ({"reviews": [REVIEW | {"visited_on": "2036-02-20"}]}, "reviews[0].visited_on: '2036-02-20' is in"),
        ({"reviews": [REVIEW | {"owner_reply": {"text": "Hi"}}]}, "reviews[0].owner_reply.created_at: this is "),
        ({"flow_rules": [RULE | {"weekdays": []}]}, "flow_rules[0].weekdays: at least one is required."),
        ({"flow_rules": [RULE | {"weekdays": [7]}]}, "flow_rules[0].weekdays[0]: a whole number from 0 to 6 "),
        ({"flow_rules": [RULE | {"time": "25:00"}]}, "flow_rules[0].time: '25:00' is not a time \"HH:MM\"."),
        ({"flow_rules": [RULE | {"percent": 91}]}, "flow_rules[0].percent: a whole number from 1 to 90 is expected."),
        ({"flow_rules": [RULE | {"active": "yes"}]}, "flow_rules[0].active: true or false is expected."),
        ({"nmae": "x"}, "Unknown field `nmae`. Did you mean `name`?"),
    ],
)  # fmt: skip
def test_a_restaurant_is_imported_without_an_invalid_value_which_is_reported(
    take: Callable[..., dict[str, int]], tmp_path: Path, change: dict[str, Any], reason: str
) -> None:
    assert take(LINE | change) == {"created": 1, "incomplete": 1}
    [left_out] = rejected(tmp_path / "a.jsonl")
    assert left_out["reason"].startswith(reason)
    assert (left_out["outcome"], left_out["number"], left_out["row"]) == ("left out", 1, None)


def test_one_bad_review_does_not_cost_the_others(take: Callable[..., dict[str, int]], tmp_path: Path) -> None:
    reviews = [
        REVIEW,
        REVIEW | {"id": "r2", "stars": 9, "created_at": "2036-01-01T00:00:00Z"},
        REVIEW | {"id": "r3", "lang": "english", "visited_on": "soon", "author": "Cy"},
        REVIEW | {"id": "r4", "text": "", "stars": 5, "author": "Di"},
    ]
    totals = import_restaurants(
        json_lines(tmp_path / "a.jsonl", [LINE | {"reviews": reviews, "phone": "1"}]), reader=native_jsonl.READER
    )
    assert counts(totals) == {"created": 1, "incomplete": 1}
    assert set(Review.objects.values_list("author", "text")) == {
        ("Ada", "Fine oysters."), ("Cy", "Fine oysters."), ("Di", ""),
    }  # fmt: skip
    assert {reason: each.example for reason, each in totals.reasons["left out"].items()} == {
        "phone: … is not a valid number.": "row 1: phone: '1' is not a valid number.",
        "reviews[].stars: a number from 1 to 5 with at most one decimal place is expected.": (
            "row 1: reviews[1].stars: a number from 1 to 5 with at most one decimal place is expected."
        ),
        "reviews[].created_at: … is in the future.": "row 1: reviews[1].created_at: '2036-01-01' is in the future.",
        "reviews[].lang: … is no code of ISO 639-1.": "row 1: reviews[2].lang: 'english' is no code of ISO 639-1.",
        "reviews[].visited_on: … is not a date.": "row 1: reviews[2].visited_on: 'soon' is not a date.",
    }  # fmt: skip


def test_reviews_stay_if_none_of_the_new_ones_is_valid(take: Callable[..., dict[str, int]]) -> None:
    take(LINE)
    assert take(LINE | {"reviews": [REVIEW | {"stars": "four"}]}) == {"unchanged": 1, "incomplete": 1}
    assert Review.objects.count() == 2


def test_half_stars_are_exact(take: Callable[..., dict[str, int]]) -> None:
    assert take(LINE | {"reviews": [REVIEW | {"stars": 3.5}, REVIEW | {"id": "r2", "stars": 4.0}]}) == {"created": 1}
    assert set(Review.objects.values_list("stars", "rating")) == {(4, Decimal("3.5")), (4, None)}
    place = Restaurant.objects.get()
    assert (place.rating, place.star_counts) == (Decimal("3.8"), [0, 0, 0, 2, 0])
    assert take(LINE | {"reviews": [REVIEW | {"stars": 3.5}, REVIEW | {"id": "r2", "stars": 4.0}]}) == {"unchanged": 1}


@pytest.mark.exhaustive
def test_a_stated_rating_counts_until_there_are_reviews(take: Callable[..., dict[str, int]]) -> None:
    rated = {
        "id": "1",
        "name": "Noma",
        "location": {"lat": 55.6828, "lng": 12.6105},
        "rating": 4.3,
        "review_count": 812,
    }
    take(rated)
    assert Restaurant.objects.values_list("rating", "review_count").get() == (Decimal("4.3"), 812)
    assert take(rated | {"rating": 4.4}) == {"changed": 1}
    assert Restaurant.objects.values_list("rating", "review_count").get() == (Decimal("4.4"), 812)
    take(rated | {"reviews": [REVIEW | {"stars": 2}]})
    assert Restaurant.objects.values_list("rating", "review_count").get() == (Decimal("2.0"), 1)
    take(rated | {"rating": 4.5, "reviews": [REVIEW | {"stars": 3}]})
    assert Restaurant.objects.values_list("rating", "review_count").get() == (Decimal("3.0"), 1)


def test_values_that_are_sure_are_normalized(take: Callable[..., dict[str, int]]) -> None:
    change = {
        "id": 7, "website": "fiskebaren.dk", "address": {"country": "dk"}, "cuisines": ["Sea food"], "phone": "",
        "external_ids": {"place": 12}, "reviews": [REVIEW | {"lang": "en-GB"}],
    }  # fmt: skip
    assert take(LINE | change) == {"created": 1}
    place = Restaurant.objects.get()
    assert (place.website, place.country, place.cuisines, place.phone) == (
        "https://fiskebaren.dk", "DK", ["sea-food"], None,
    )  # fmt: skip
    assert (place.external_ids, Review.objects.get().lang) == ({"place": "12"}, "en")


def test_unreadable_hours_are_unknown_and_an_unknown_status_is_not_open(take: Callable[..., dict[str, int]]) -> None:
    take(LINE | {"hours": {"osm": "whenever"}, "status": "shut"})
    place = Restaurant.objects.get()
    assert place.hours is not None
    assert (place.hours["known"], place.hours["osm"], place.status) == (False, "whenever", "unverified")


@pytest.mark.sample(2)
@pytest.mark.usefixtures("_markets")
@pytest.mark.parametrize(
    "encode",
    [
        gzip.compress,
        lambda content: codecs.BOM_UTF16_LE + content.decode().encode("utf-16-le"),
        lambda content: codecs.BOM_UTF16_BE + content.decode().encode("utf-16-be"),
        lambda content: content.decode().encode("utf-16-le"),
        lambda content: gzip.compress(codecs.BOM_UTF8 + content),
    ],
    ids=["gzip", "UTF-16 LE", "UTF-16 BE", "UTF-16 without mark", "gzip and mark"],
)
def test_compressed_files_and_utf_16_are_read(tmp_path: Path, encode: Callable[[bytes], bytes]) -> None:
    file = json_lines(tmp_path / "a.jsonl", [LINE])
    file.write_bytes(encode(json.dumps(LINE, ensure_ascii=False).encode() + b"\n"))
    assert counts(import_restaurants(file, reader=native_jsonl.READER)) == {"created": 1}
    assert Restaurant.objects.get().name == "Kødbyens Fiskebar"


@pytest.mark.usefixtures("_markets")
def test_a_gzip_file_that_is_cut_off_is_unreadable(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl.gz"
    file.write_bytes(gzip.compress(json.dumps(LINE).encode())[:-20])
    with pytest.raises(UnreadableFileError, match=r"^The gzip file is cut off or broken: "):
        import_restaurants(file, reader=native_jsonl.READER)


@pytest.mark.usefixtures("_markets")
def test_our_own_export_is_read_back(tmp_path: Path) -> None:
    import_restaurants(json_lines(tmp_path / "a.jsonl", [LINE]), reader=native_jsonl.READER)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {DATASET.record} FROM {DATASET.rows}")  # noqa: S608  # of constants
        [exported] = [json.loads(row) for (row,) in cursor.fetchall()]
    before = Restaurant.objects.get()
    Restaurant.objects.all().delete()
    totals = import_restaurants(json_lines(tmp_path / "b.jsonl", [exported]), reader=native_jsonl.READER)
    assert counts(totals) == {"created": 1}
    place = Restaurant.objects.get()
    for column in (*COLUMNS, "review_count"):
        if column != "rating":
            assert getattr(place, column) == getattr(before, column), column
    assert place.rating == before.rating


@pytest.mark.usefixtures("_markets")
def test_lines_that_are_no_objects_are_refused_and_the_others_taken(tmp_path: Path) -> None:
    file = json_lines(tmp_path / "a.jsonl", [LINE])
    good = file.read_bytes()
    deep = b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
    file.write_bytes(b'{"id": 1\n\n[1]\n"\xff"\n' + deep + b'{"id": "\\ud800"}\n' + good)
    assert counts(import_restaurants(file, reader=native_jsonl.READER)) == {"created": 1, "rejected": 5}
    assert [line["number"] for line in rejected(file)] == [1, 3, 4, 5, 6]
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
