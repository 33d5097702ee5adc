"""What a restaurant was: versions as JSON Patch, the record at a moment."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import orjson
import pytest
from django.db import transaction
from django.test import Client
from pytest_django import DjangoAssertNumQueries
from x402.http import x402HTTPClientSync

from catalogue import field_groups, history
from catalogue.history import publish
from catalogue.history.json_patch import changed_paths, to_json_patch
from catalogue.models import Restaurant, Version
from catalogue.serializers.restaurants import render_record
from framework.errors import InvalidRequest, NotFound
from payments.devchain.wallets import Wallet
from payments.models import Payment
from tests.catalogue import builders
from tests.catalogue.builders import NOW
from tests.payments.buyer import client_of, is_quote_of

HISTORY = "/v1/restaurants/noma/history"


def change(place: Restaurant, *, hours: float, actor: str = "import:osm", **fields: Any) -> datetime:
    """Change it so many hours after NOW; when that was."""
    at = NOW + timedelta(hours=hours)
    with transaction.atomic():
        publish.set_actor(actor)
        Restaurant.objects.filter(pk=place.pk).update(**fields, updated_at=at)
    return at


def then(at: datetime, slug: str = "noma") -> Any:
    return orjson.loads(
        render_record(field_groups.read_record(slug, groups=["core"], now=NOW + timedelta(days=9), at=at))
    )


# Patches
@pytest.mark.parametrize(
    ("patch", "expected"),
    [
        ({"phone": [None, "+4532155656"]}, [("replace", "/phone", "+4532155656", None)]),
        ({"line1": ["A", "B"]}, [("replace", "/address/line1", "B", "A")]),
        ({"market_id": ["oslo", "bergen"]}, [("replace", "/market", "bergen", "oslo")]),
        ({"cuisine_id": [None, "seafood"]}, [("replace", "/cuisine", "SEAFOOD", None)]),
        (
            {"latitude": [None, 1.5], "longitude": [None, 2.5]},
            [("replace", "/location", {"lat": 1.5, "lng": 2.5}, None)],
        ),
        ({"longitude": [2.5, 2.6]}, [("replace", "/location/lng", 2.6, 2.5)]),
        (
            {"phone_verified_at": [None, "2026-11-21T18:00:00+00:00"]},
            [
                ("replace", "/phone_verified", True, False),
                ("replace", "/phone_verified_at", "2026-11-21T18:00:00Z", None),
            ],
        ),
        (
            {"attributes": [{"a/b": 1, "gone": True}, {"a/b": 2, "new~": "no"}]},
            [
                ("replace", "/attributes/a~1b", 2, 1),
                ("remove", "/attributes/gone", None, True),
                ("add", "/attributes/new~0", "no", None),
            ],
        ),
        (
            {"hours": [None, {"timezone": "Europe/Oslo", "known": True, "periods": [1], "special_days": []}]},
            [("replace", "/hours/periods", [1], [])],
        ),
        ({"star_counts": [[], [1, 0, 0, 0, 0]], "merged_into_id": [None, "x"]}, []),
    ],
)
def test_a_patch_speaks_of_the_record(patch: Mapping[str, Any], expected: list[tuple[str, str, Any, Any]]) -> None:
    found = to_json_patch(patch, label=str.upper)
    assert [(one["op"], one["path"], one.get("value"), one.get("old")) for one in found] == expected


@pytest.mark.django_db
def test_a_moment_in_a_patch_is_written_as_in_the_record() -> None:
    place = builders.restaurant(slug="noma", verified_at=NOW - timedelta(days=3))
    change(place, hours=1, verified_at=NOW + timedelta(microseconds=700_000))
    change(place, hours=2, verified_at=NOW + timedelta(microseconds=800_000))
    later, first, _ = history.list_versions("noma", limit=9, now=NOW).rows
    assert later.patch == []
    assert [(each["path"], each["value"]) for each in first.patch] == [
        ("/verified_at", then(NOW + timedelta(hours=3))["verified_at"])
    ]


def test_the_feed_says_where_and_not_how() -> None:
    patch = {"latitude": [1, 2], "hours": [None, {"periods": [1]}], "line1": ["A", "B"], "attributes": [{}, {"a": 1}]}
    assert changed_paths(patch) == ["/address/line1", "/attributes/a", "/hours", "/location"]


# Versions
@pytest.mark.django_db
def test_versions_are_listed_newest_first_with_changes_and_actor() -> None:
    place = builders.restaurant(slug="noma", name="Noma")
    first = change(place, hours=1, phone="+4532155656")
    second = change(place, hours=2, actor="staff:7", name="NOMA", status="permanently_closed")
    page = history.list_versions("noma", limit=20, now=NOW)
    assert [(entry.version, entry.actor, entry.change) for entry in page.rows] == [
        (3, "staff", "closed"),
        (2, "import:osm", "updated"),
        (1, "system", "created"),
    ]
    assert [(entry.valid_from, entry.valid_to) for entry in page.rows] == [
        (second, None),
        (first, second),
        (NOW, first),
    ]
    assert page.rows[0].patch == [
        {"op": "replace", "path": "/name", "value": "NOMA", "old": "Noma"},
        {"op": "replace", "path": "/status", "value": "permanently_closed", "old": "open"},
    ]
    assert page.rows[2].patch == []


@pytest.mark.django_db
def test_pages_of_versions_miss_and_repeat_nothing_while_the_restaurant_changes() -> None:
    place = builders.restaurant(slug="noma")
    for number in range(6):
        change(place, hours=number + 1, review_count=number + 1)
    seen: list[int] = []
    cursor = None
    for _ in range(3):
        page = history.list_versions("noma", limit=3, cursor=cursor, now=NOW)
        seen += [entry.version for entry in page.rows]
        cursor = page.next_cursor
        change(place, hours=50 + len(seen), review_count=100 + len(seen))
    assert (seen, cursor) == ([7, 6, 5, 4, 3, 2, 1], None)


@pytest.mark.django_db
def test_the_record_has_the_newest_ten_versions_and_none_to_sell_before_anything_changed() -> None:
    place = builders.restaurant(slug="noma")
    assert field_groups.read_record("noma", groups=["history"], now=NOW) == field_groups.Record(
        {"slug": "noma", "name": place.name, "history": None}
    )
    for number in range(11):
        change(place, hours=number + 1, review_count=number + 1)
    record = field_groups.read_record("noma", groups=["history"], now=NOW)
    assert record.sold == ("history",)
    assert [entry["version"] for entry in orjson.loads(render_record(record))["history"]] == list(range(12, 2, -1))


# Time travel
@pytest.mark.django_db
def test_the_record_at_a_moment_is_the_one_that_was_shown_then(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    place = builders.restaurant(slug="noma", name="Noma", hours=builders.week("17:00", "23:00"), rating="4.5")
    builders.listed(place)
    shown: list[tuple[datetime, Any]] = []

    def show(at: datetime) -> None:
        place.refresh_from_db()
        record = orjson.loads(render_record(field_groups.read_record(place.slug, groups=["core"], now=at)))
        shown.append((at, record | {"updated_at": orjson.loads(orjson.dumps(at, option=orjson.OPT_UTC_Z))}))

    show(NOW)
    show(change(place, hours=1, phone="+4532155656", latitude=55.5, longitude=12.5))
    show(change(place, hours=1.5, name="Noma 2.0", rating=None))
    show(change(place, hours=30, status="temporarily_closed", attributes={"wifi": True}))
    show(change(place, hours=40, slug="noma-2", status="open"))
    with django_assert_num_queries(2):
        then(NOW, "noma-2")
    for at, record in shown:
        assert then(at, "noma-2") == record
        assert then(at + timedelta(microseconds=1), "noma-2")["version"] == record["version"]
    assert then(NOW, "noma-2")["slug"] == "noma"


@pytest.mark.django_db
def test_of_a_moment_before_the_first_version_or_to_come_there_is_nothing() -> None:
    builders.restaurant(slug="noma")
    with pytest.raises(NotFound):
        then(NOW - timedelta(microseconds=1))
    with pytest.raises(InvalidRequest) as caught:
        then(NOW + timedelta(days=10))
    assert caught.value.param == "at"
    with pytest.raises(InvalidRequest):
        field_groups.read_record("noma", groups=["core", "reviews"], now=NOW, at=NOW)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "at", ["yesterday", "2026-11-21", "2026-02-30T10:00:00Z", "2026-11-21T10:00:00", "2999-01-01T00:00:00Z"]
)
def test_a_moment_that_cannot_be_meant_is_refused(client: Client, at: str) -> None:
    builders.restaurant(slug="noma")
    response = client.get("/v1/restaurants/noma", {"at": at})
    assert (response.status_code, response.json()["error"]["param"]) == (400, "at")


# Sold
@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("ledger_matches_chain")
def test_history_is_sold_from_premium_and_what_the_caller_has_already_is_free(
    wallets: Mapping[str, Wallet],
) -> None:
    place = builders.restaurant(slug="noma", created_at=NOW - timedelta(days=9), updated_at=NOW - timedelta(days=9))
    Restaurant.objects.filter(pk=place.pk).update(name="Noma")
    for number, path in enumerate(
        (
            HISTORY,
            "/v1/restaurants/noma?fields=history",
            "/v1/restaurants/noma?at=2026-11-14T00:00:00Z",
            "/v1/changes",
        )
    ):
        client = Client(REMOTE_ADDR=f"192.0.2.{number}")
        asked = client.get(path)
        assert asked.status_code == 402
        assert is_quote_of("0.01", orjson.loads(asked["x402"])["amount"])
        assert "ETag" not in asked
        headers, _ = x402HTTPClientSync(client_of(wallets["premium"])).handle_402_response(
            dict(asked.headers), asked.content, path
        )
        paid = client.get(path, headers=headers)
        assert (paid.status_code, paid["Cache-Control"]) == (200, "private, no-store")
        settled = Payment.objects.count()
        again = client.get(path, headers={"if-none-match": paid["ETag"]})
        assert (again.status_code, again.content, again["ETag"]) == (304, b"", paid["ETag"])
        assert client.get(path, headers={"if-none-match": "*"}).status_code == 402
        assert Payment.objects.count() == settled
        # What has changed since is to be paid again.
        Restaurant.objects.filter(pk=place.pk).update(name=f"Noma {settled}")
        if "at=" not in path:
            assert client.get(path, headers={"if-none-match": paid["ETag"]}).status_code == 402
    assert set(Payment.objects.values_list("state", flat=True)) == {"delivered"}


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("ledger_matches_chain")
def test_reviews_that_were_paid_are_304_until_they_change_whatever_else_is_written(
    wallets: Mapping[str, Wallet],
) -> None:
    place = builders.restaurant(slug="noma")
    for number in range(5):
        builders.review(place, f"Good, {number}.")
    path, client = "/v1/restaurants/noma?fields=reviews", Client(REMOTE_ADDR="192.0.2.77")
    asked = client.get(path)
    headers, _ = x402HTTPClientSync(client_of(wallets["premium"])).handle_402_response(
        dict(asked.headers), asked.content, path
    )
    paid = client.get(path, headers=headers)
    assert (paid.status_code, paid.json()["reviews"]["next"] is None) == (200, False)
    settled = Payment.objects.count()
    builders.review(builders.restaurant(), "Of another place.")
    again = client.get(path, headers={"if-none-match": paid["ETag"]})
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", paid["ETag"])
    assert Payment.objects.count() == settled
    builders.review(place, "A new one.", created_at=NOW)
    assert client.get(path, headers={"if-none-match": paid["ETag"]}).status_code == 402


@pytest.mark.django_db
def test_a_history_without_a_change_and_a_feed_without_a_page_are_free(client: Client) -> None:
    builders.restaurant(slug="noma")
    response = client.get(HISTORY)
    assert response.status_code == 200
    (entry,) = response.json()["data"]
    assert (entry["version"], entry["change"], entry["patch"]) == (1, "created", [])
    assert response.json()["pagination"]["next_cursor"] is None
    history.list_changes()
    end = Version.objects.latest("seq").seq
    feed = client.get(f"/v1/changes?since={end}")
    assert feed.json() == {"data": [], "pagination": {"limit": 100, "next_since": end, "has_more": False}}
