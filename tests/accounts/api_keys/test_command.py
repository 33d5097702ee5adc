"""`manage.py apikey`: keys are made, replaced, ended and listed, and what is typed wrongly is told."""

import io
import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.core.management import CommandError, call_command

from accounts.models import ApiKey, Venue
from accounts.models.api_keys import default_scopes
from tests.support import builders

ORDERS = "/api/v1/orders"
NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def apikey(*words: str) -> tuple[str, list[str]]:
    """What the command printed, and what it said beside it."""
    out, beside = io.StringIO(), io.StringIO()
    call_command("apikey", *words, stdout=out, stderr=beside)
    return out.getvalue(), beside.getvalue().splitlines()


def complaint_of(*words: str) -> str:
    before = list(ApiKey.objects.order_by("pk").values())
    with pytest.raises(CommandError) as refused:
        apikey(*words)
    assert list(ApiKey.objects.order_by("pk").values()) == before
    return str(refused.value)


@pytest.fixture
def _noon() -> Any:
    """The clock stands still at noon."""
    with time_machine.travel(NOON, tick=False):
        yield


# create
def test_a_key_is_printed_once_and_works(venue: Venue) -> None:
    printed, beside = apikey("create", "--venue", "Trattoria", "--name", "Till", "--allowance", "5")
    row = ApiKey.objects.get()
    assert re.fullmatch(r"rk_live_[0-9A-Za-z]{46}\n", printed)
    assert beside == [
        f"{row.public_id}, for Trattoria: 5 requests an hour.",
        "It may orders:read, orders:write, menu:write, reservations:read, reservations:write.",
        "Copy the key now: it is not shown again.",
    ]
    assert (row.venue, row.name, row.allowance, row.expires_at) == (venue, "Till", 5, None)
    assert row.scopes == default_scopes()
    assert builders.client_with(printed.strip()).get(ORDERS)["X-RateLimit-Limit"] == "5"


def test_a_key_needs_no_name(venue: Venue) -> None:
    apikey("create", "--venue", venue.name, "--allowance", "7", "--json")
    assert [(key.name, key.allowance) for key in ApiKey.objects.all()] == [("Command line", 7)]


@pytest.mark.usefixtures("_noon")
def test_a_key_is_printed_as_json(venue: Venue) -> None:
    scopes = ("--scope", "reservations:read", "--scope", "orders:read")
    printed, beside = apikey(
        "create", "--venue", str(venue.pk), "--name", "Till", *scopes, "--expires", "90d", "--json"
    )
    row = ApiKey.objects.get()
    made = json.loads(printed)
    assert ApiKey.objects.with_text(made.pop("text")).get() == row
    assert made == {
        "id": row.public_id,
        "key": row.masked,
        "state": "active",
        "venue": "Trattoria",
        "venue_id": venue.public_id,
        "name": "Till",
        "allowance": 1000,
        "scopes": ["orders:read", "reservations:read"],
        "created_at": "2026-11-21T12:00:00Z",
        "expires_at": "2027-02-19T12:00:00Z",
        "revoked_at": None,
        "last_used_at": None,
        "last_used_ip": None,
        "family": str(row.family),
    }
    assert beside == ["Copy the key now: it is not shown again."]


@pytest.mark.usefixtures("_noon")
@pytest.mark.parametrize(
    ("words", "end"),
    [
        ("90d", NOON + timedelta(days=90)),
        ("12h", NOON + timedelta(hours=12)),
        ("2026-11-22", datetime(2026, 11, 22, tzinfo=UTC)),
    ],
)
def test_a_key_may_be_made_to_end(venue: Venue, words: str, end: datetime) -> None:
    _, beside = apikey("create", "--venue", "Trattoria", "--name", "Till", "--expires", words)
    assert ApiKey.objects.get().expires_at == end
    assert beside[0].endswith(f"1000 requests an hour, until {end:%Y-%m-%dT%H:%M:%SZ}.")


@pytest.mark.usefixtures("_noon", "venue")
@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        (["--venue", "trattoria"], "There is no venue `trattoria`."),
        (
            ["--venue", "0190a0a0-0000-7000-8000-000000000000"],
            "There is no venue `0190a0a0-0000-7000-8000-000000000000`.",
        ),
        (["--allowance", "0"], "--allowance must be 1 to 2147483647."),
        (["--allowance", "2147483648"], "--allowance must be 1 to 2147483647."),
        (["--allowance", "4294967297"], "--allowance must be 1 to 2147483647."),
        (["--name", "   "], "--name must have 1 to 100 letters."),
        (["--expires", ""], "--expires must read like 90d, 12h or 2027-01-31."),
        (["--name", ""], "--name must have 1 to 100 letters."),
        (["--name", "x" * 101], "--name must have 1 to 100 letters."),
        (["--expires", "0d"], "--expires must read like 90d, 12h or 2027-01-31."),
        (["--expires", "2026-02-30"], "--expires must read like 90d, 12h or 2027-01-31."),
        (["--expires", "tomorrow"], "--expires must read like 90d, 12h or 2027-01-31."),
        (["--expires", "2026-11-21"], "--expires: 2026-11-21 is in the past."),
    ],
)
def test_exports_that_cannot_be_made_are_reported(changes: list[str], complaint: str) -> None:
    assert complaint_of("create", "--venue", "Trattoria", "--name", "Till", *changes) == complaint


def test_unknown_scope_is_reported(venue: Venue) -> None:
    assert "invalid choice: 'orders:all'" in complaint_of(
        "create", "--venue", "Trattoria", "--name", "Till", "--scope", "orders:all"
    )


def test_venues_with_equal_names_are_listed_with_their_ids(venue: Venue) -> None:
    other = builders.venue("Trattoria")
    assert complaint_of("create", "--venue", "Trattoria", "--name", "Till") == (
        f"Several venues are called `Trattoria`. Give one of: {venue.public_id}, {other.public_id}."
    )
    apikey("create", "--venue", other.public_id, "--name", "Till")
    # As the database writes the id, too.
    apikey("create", "--venue", str(other.pk), "--name", "Till")
    assert {key.venue for key in ApiKey.objects.all()} == {other}


@pytest.mark.parametrize("text", ["ven_nothing", "ven_01m7yd8gjcewj91za4mb7qh8b6", "key_01m7yd8gjcewj91za4mb7qh8b6"])
def test_an_id_of_no_venue_is_reported(venue: Venue, text: str) -> None:
    assert complaint_of("create", "--venue", text) == f"There is no venue `{text}`."


# rotate
@pytest.mark.parametrize(
    ("words", "overlap"),
    [
        ([], timedelta(hours=24)),
        (["--overlap", "0"], timedelta(0)),
        (["--overlap", "1h"], timedelta(hours=1)),
        (["--overlap", "7d"], timedelta(days=7)),
    ],
)
@pytest.mark.usefixtures("_noon")
def test_a_key_is_replaced_and_ends_after_the_overlap(venue: Venue, words: list[str], overlap: timedelta) -> None:
    old = ApiKey.create(venue, name="Till", allowance=5, scopes=["orders:read"]).row
    printed, beside = apikey("rotate", old.public_id, *words)
    new = ApiKey.objects.with_text(printed.strip()).get()
    old.refresh_from_db()
    assert (old.expires_at, old.revoked_at) == (NOON + overlap, None)
    assert (new.family, new.scopes, new.allowance, new.name) == (old.family, ["orders:read"], 5, "Till")
    assert beside == [
        f"{new.public_id}, for Trattoria: 5 requests an hour.",
        "It may orders:read.",
        f"It replaces {old.masked}, which ends at {NOON + overlap:%Y-%m-%dT%H:%M:%SZ}.",
        "Copy the key now: it is not shown again.",
    ]


def test_a_key_that_was_replaced_is_not_replaced_again(venue: Venue) -> None:
    old = ApiKey.create(venue, name="Till").row
    new = ApiKey.objects.with_text(apikey("rotate", old.public_id)[0].strip()).get()
    assert complaint_of("rotate", old.public_id) == (
        f"The key {old.masked} was already replaced by {new.masked}; rotate that one."
    )


# revoke
def test_a_key_is_revoked_once(venue: Venue) -> None:
    key = ApiKey.create(venue, name="Till")
    assert apikey("revoke", key.row.public_id)[0] == f"{key.row.masked} revoked.\n"
    assert builders.client_with(key.text).get(ORDERS).json()["error"]["code"] == "revoked_api_key"
    assert apikey("revoke", key.row.public_id)[0] == f"{key.row.masked} was already revoked.\n"
    assert json.loads(apikey("revoke", key.row.public_id, "--json")[0]) == {"revoked": 0}


def test_a_family_is_revoked_whole_and_no_other(venue: Venue) -> None:
    old, other = (ApiKey.create(venue, name="Till").row for _ in range(2))
    apikey("rotate", old.public_id)
    assert apikey("revoke", old.public_id, "--family")[0] == f"{old.masked} and its family: 2 revoked.\n"
    assert list(ApiKey.objects.filter(revoked_at=None)) == [other]


@pytest.mark.parametrize("form", ["{row.public_id}", "{row.start}", "{row.masked}", "{text}"])
def test_a_key_is_named_by_its_id_by_what_is_displayed_or_by_its_text(venue: Venue, form: str) -> None:
    key = ApiKey.create(venue, name="Till")
    ApiKey.create(builders.venue(), name="another")
    apikey("revoke", form.format(row=key.row, text=key.text))
    assert ApiKey.objects.get(revoked_at=None).name == "another"


def test_unknown_key_is_reported(venue: Venue) -> None:
    ApiKey.create(venue, name="Till")
    values = {
        complaint_of("revoke", words) for words in ("", "key_", "rk_live_", "rk_live_0000…", "Till", "key_" + "0" * 26)
    }
    assert values == {"There is no such key. Give its id (key_…) or its letters as `apikey list` shows them."}


def test_ambiguous_key_prefix_is_reported(venue: Venue) -> None:
    first, second = (ApiKey.create(venue, name="Till").row for _ in range(2))
    ApiKey.objects.update(start="rk_live_same")
    assert complaint_of("revoke", "rk_live_same") == (
        f"Several keys begin so. Give one of: {first.public_id}, {second.public_id}."
    )
    apikey("revoke", f"rk_live_same…{second.end}")
    assert list(ApiKey.objects.filter(revoked_at=None)) == [first]


# list
@pytest.mark.usefixtures("_noon")
def test_keys_are_listed_without_their_text(venue: Venue, other_venue: Venue) -> None:
    first = ApiKey.create(venue, name="Till", scopes=["orders:read"], expires_at=NOON)
    second = ApiKey.create(other_venue, name="Web", allowance=7)
    second.row.record_use(now=NOON, address="203.0.113.7")
    printed, _ = apikey("list")
    lines = [re.split(r"  +", line) for line in printed.splitlines()]
    assert lines == [
        ["id", "key", "state", "venue", "name", "allowance", "scopes", "expires_at", "last_used_at"],
        [
            second.row.public_id,
            second.row.masked,
            "active",
            "Bistro",
            "Web",
            "7",
            "all except webhooks",
            "-",
            "2026-11-21T12:00:00Z",
        ],
        [
            *(first.row.public_id, first.row.masked, "expired", "Trattoria", "Till", "1000", "orders:read"),
            *("2026-11-21T12:00:00Z", "-"),
        ],
    ]
    for key in (first, second):
        assert key.text not in printed


def test_the_keys_of_one_venue_are_listed_as_json(venue: Venue, other_venue: Venue) -> None:
    keys = [ApiKey.create(owner, name="Till").row for owner in (venue, other_venue)]
    listed = json.loads(apikey("list", "--venue", "Bistro", "--json")[0])
    assert [key["id"] for key in listed["data"]] == [keys[1].public_id]
    assert "text" not in listed["data"][0]
