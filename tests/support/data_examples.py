"""Records the examples of the data API's document: what it answers about one made-up restaurant on a fixed day."""

import base64
import hashlib
import itertools
import json
import random
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import time_machine
from django.db.models import F
from django.test import Client
from pytest_django import Settings

from accounts.models import Account
from catalogue.hours import open_intervals
from catalogue.models import Export, Restaurant, Review, SourceRecord, Version
from framework.api.openapi.schema import EXAMPLE_ADDRESS, EXAMPLE_DAY
from framework.public_ids import encode
from orders.models import Menu
from payments.chain.evm import to_checksum_address
from payments.devchain import wallets as devchain
from payments.models import Payment, Plan, Wallet
from payments.pricing import default_products
from tests.catalogue import builders
from tests.catalogue.exports import export_builders
from tests.payments.ledger_builders import payment
from tests.payments.signing import client_of, signed_challenge
from tests.support import builders as base

# Its clock has no summer time, so that moments remain right when the day is replaced in the served document.
ZONE = "Asia/Singapore"
# Four in the afternoon there.
NOW = datetime.fromisoformat(f"{EXAMPLE_DAY}T08:00:00Z")
LISTED_AT = datetime(2026, 10, 1, 8, tzinfo=UTC)
CHANGED_AT = datetime(2026, 11, 2, 8, tzinfo=UTC)
SLUG = "lantern-and-lime"
PATH = f"/v1/restaurants/{SLUG}"
# Their texts and stars.
REVIEWS = (
    ("The grilled prawns were excellent and the staff were kind.", 5),
    ("Great grilled prawns, and a quiet terrace.", 5),
    ("The grilled prawns are worth the walk. We waited a while.", 4),
    ("A fine lime tart and friendly service.", 5),
    ("Good food, but we waited long for the bill.", 3),
)


class Recorder:
    """Calls the API and keeps what was sent and answered, by operation."""

    def __init__(self) -> None:
        self.examples: dict[str, Any] = {}

    def __call__(
        self,
        operation: str,
        name: str,
        method: str,
        path: str,
        body: Any = None,
        *,
        client: Client,
        status: int = 200,
        sends: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Send a request; keep its answer under `name`, and with `sends` its body under that name.

        The first request of an operation is that of its samples of code.
        """
        raw, content_type = ("", "") if body is None else (json.dumps(body), "application/json")
        response = client.generic(method, path, raw, content_type=content_type, headers=dict(headers or {}))
        assert response.status_code == status, (operation, response.content)
        first = {
            "path": path,
            "headers": dict(headers or {}),
            "is_signed_in": "HTTP_AUTHORIZATION" in client.defaults,
        }
        kept = self.examples.setdefault(operation, first)
        if status == 204:
            return None
        answer = response.json()
        if sends:
            kept["request"] = {sends: body}
        kept.setdefault("responses", {}).setdefault(str(status), {})[name] = answer
        return answer


def record(settings: Settings, folder: Path) -> dict[str, Any]:
    """The examples of all operations, as the code answers today."""
    call = Recorder()
    with fixed_surroundings(settings, folder):
        make_restaurant()
        caller = record_identity(call)
        record_catalogue(call, caller)
        record_bookings(call, caller)
        record_exports(call, caller)
        record_ends(call, caller)
    return stable(call.examples)


@contextmanager
def fixed_surroundings(settings: Settings, folder: Path) -> Iterator[None]:
    """The clock stands, ids are numbered, wallets are not read from the chain, and the host is that of the docs."""
    settings.PUBLIC_BASE_URL = EXAMPLE_ADDRESS
    settings.TIER_CACHE_S = 60
    export_builders.keep_in(settings, folder)
    numbers = itertools.count(1)

    def numbered_id() -> UUID:
        number = next(numbers)
        digits = int.from_bytes(hashlib.sha256(b"%d" % number).digest()[:8]) >> 2
        return UUID(int=time.time_ns() // 1_000_000 << 80 | 7 << 76 | number << 64 | 2 << 62 | digits)

    with pytest.MonkeyPatch.context() as patch, time_machine.travel(NOW, tick=False):
        patch.setattr("framework.public_ids.uuid7", numbered_id)
        # The codes of reservations.
        patch.setattr("secrets.choice", random.Random(31).choice)
        yield


def make_restaurant() -> None:
    """Lantern and Lime, a made-up restaurant, of which the catalogue knows all that it can know."""
    source = builders.source("demo", name="Demo data", license="CC0-1.0", attribution="Demo data of Tablewire")
    builders.attribute("outdoor_seating")
    builders.attribute("diet_vegetarian", label="Vegetarian")
    latitude, longitude = 1.2903, 103.852
    market = builders.market(
        "singapore",
        country="SG",
        timezone=ZONE,
        currency="SGD",
        calling_code="65",
        latitude=latitude,
        longitude=longitude,
        radius_m=30_000,
    )
    builders.holiday(market, NOW.date(), "Founders' Day")
    for name, kind, north in (
        ("Lantern Park", "park", 0.003),
        ("Tide Museum", "museum", 0.006),
        ("Harbour Quarter", "neighborhood", 0.001),
    ):
        builders.landmark(name, kind=kind, market=market, at=(latitude + north, longitude), source=source)
    place = builders.restaurant(
        slug=SLUG,
        name="Lantern and Lime",
        market=market,
        country="SG",
        neighborhood="Harbour Quarter",
        line1="12 Example Street",
        locality="Singapore",
        postal_code="000012",
        latitude=latitude,
        longitude=longitude,
        website="https://lantern-and-lime.example",
        rating=Decimal("4.4"),
        review_count=len(REVIEWS),
        star_counts=[0, 0, 1, 1, 3],
        review_facets={"by_lang": {"en": len(REVIEWS)}, "with_photos": 1, "with_reply": 0},
        price_level=2,
        hours=builders.week("17:00", "23:00", timezone=ZONE, days=(4, 5, 6)),
        attributes={"outdoor_seating": True, "diet_vegetarian": True},
        created_at=LISTED_AT,
        updated_at=LISTED_AT,
        verified_at=LISTED_AT,
    )
    SourceRecord.objects.create(
        restaurant=place, source=source, record=SLUG, digest="0" * 64, fields=["name", "hours"], updated_at=LISTED_AT
    )
    reviews = Review.objects.bulk_create(
        Review(
            restaurant=place,
            text=text,
            stars=stars,
            lang="en",
            author="A guest",
            source=source,
            photo_count=number == 0,
            created_at=LISTED_AT + timedelta(days=number),
        )
        for number, (text, stars) in enumerate(REVIEWS)
    )
    builders.photo(
        place,
        caption="Grilled prawns",
        alt="Prawns on a plate",
        card_seed=12,
        review=reviews[0],
        source=source,
        created_at=LISTED_AT,
    )
    ids = [encode("rev", review.pk) for review in reviews]
    builders.insight(
        place,
        "Guests praise the grilled prawns; some waited.",
        detail={
            "best_time": None,
            "dishes": [
                {
                    "name": "grilled prawns",
                    "mentions": 3,
                    "positive_share": 1.0,
                    "citations": [ids[2], ids[1], ids[0]],
                }
            ],
            "aspects": [],
            "watch_outs": [{"text": "Two guests waited.", "mentions": 2, "citations": [ids[4], ids[2]]}],
            "disclosure": "Counted from the reviews by rules.",
        },
        reviews_through=reviews[-1].created_at,
        generated_at=CHANGED_AT,
    )
    # After the insight, which is not outdated by it.
    Restaurant.objects.filter(pk=place.pk).update(
        phone="+6510000012", phone_verified_at=CHANGED_AT, updated_at=CHANGED_AT
    )
    # Else a sequence numbers them, which goes on from test to test.
    Version.objects.update(seq=F("version"))
    venue = base.venue(place.name, timezone=ZONE, currency="SGD")
    for number in (1, 2, 3):
        base.table(venue, f"T{number}")
    base.period(venue, first="18:30", last="19:30")
    builders.listing(place, venue)
    menu = Menu.objects.create(venue=venue, is_published=True)
    menu.categories.create(name="From the grill")
    base.dish(
        menu,
        "grilled-prawns",
        "18.00",
        name="Grilled prawns",
        description="With lime and rice",
        allergens=["crustaceans"],
    )
    builders.slot(place, starts_at=NOW + timedelta(hours=3), terms="Not on drinks", party_max=4)
    open_intervals.refresh_open_intervals(now=NOW)


def record_identity(call: Recorder) -> Client:
    """Sign in, wallets and payments; a caller to whom a plan gives all that is sold, so that nothing is paid for."""
    default_products.create_missing()
    small, large = (devchain.from_key("example", bytes([number]) * 32) for number in (1, 2))
    account = Account.objects.create(name="Example Guide Ltd")
    Wallet.objects.create(address=small.address, tier="pro", holdings_usd=150, read_at=NOW)
    holder = Wallet.objects.create(address=large.address, account=account, holdings_usd=5_000, read_at=NOW)
    Plan.objects.create(name="Contract 12", wallet=holder, price_factor=0, valid_from=NOW)

    anybody = Client()
    asked = f"/v1/auth/challenge?address={to_checksum_address(small.address)}"
    call("get_challenge", "A challenge for a wallet", "GET", asked, client=anybody)
    session = call(
        *("open_session", "A session", "POST", "/v1/auth/session", signed_challenge(anybody, small)),
        client=anybody,
        status=201,
        sends="A signed challenge",
    )
    visitor = Client(headers={"authorization": f"Bearer {session['token']}"})
    call("get_me", "A wallet on the Pro tier", "GET", "/v1/me", client=visitor)
    row = payment(
        payer=small.address,
        state=Payment.State.DELIVERED,
        form=Payment.Form.V2,
        tier="pro",
        resource=f"{EXAMPLE_ADDRESS}{PATH}/reviews",
        products=["reviews"],
        amount_usdc=Decimal("0.003"),
        tx_hash="0x" + hashlib.sha256(b"transaction").hexdigest(),
        created_at=NOW,
        claimed_at=NOW,
        settled_at=NOW,
        delivered_at=NOW,
    )
    call("list_tiers", "The tiers of a fresh installation", "GET", "/v1/tiers", client=anybody)
    call("list_payments", "The only one", "GET", "/v1/payments", client=visitor)
    call("get_payment", "A delivered payment", "GET", f"/v1/payments/{row.public_id}", client=visitor)
    asked = f"/v1/payments/{row.public_id}/refund-request"
    reason = {"reason": "The reviews were of another restaurant."}
    call("request_refund", "A refund is asked for", "POST", asked, reason, client=visitor, sends="A reason")

    key = base.client(account.venues.create(name=account.name, timezone=ZONE, currency="SGD"))
    for name, status in (("A linked wallet", 201), ("It was linked already", 200)):
        signed = signed_challenge(anybody, small)
        call(
            *("link_wallet", name, "POST", "/v1/me/wallets", signed),
            client=key,
            status=status,
            sends="A signed challenge" if status == 201 else "",
        )
    call("list_wallets", "Both wallets of an account", "GET", "/v1/me/wallets", client=key)
    return client_of(large)


def record_catalogue(call: Recorder, caller: Client) -> None:
    """The restaurant as everybody and as a buyer sees it."""

    # Each address has a rate limit of its own.
    anybody = Client(REMOTE_ADDR="192.0.2.1")

    def get(operation: str, name: str, path: str, client: Client = anybody) -> Any:
        return call(operation, name, "GET", path, client=client)

    get("list_markets", "One market", "/v1/markets")
    get("list_cuisines", "One cuisine", "/v1/cuisines")
    get("list_attributes", "A diet and an amenity", "/v1/attributes")
    get("search_landmarks", "By its name", "/v1/landmarks?q=lantern+park")
    get("autocomplete", "A park and a restaurant", "/v1/autocomplete?q=lantern&market=singapore")
    get("match_restaurant", "A match", "/v1/match?name=Lantern+%26+Lime&address=12+Example+Street&market=singapore")
    get("search_restaurants", "Open at seven, near a park", "/v1/restaurants?near=Lantern+Park&open=19:00")
    get("search_restaurants", "By `slugs`", f"/v1/restaurants?slugs={SLUG}", caller)
    get("search_restaurants", "By `slugs`, with `fields`", f"/v1/restaurants?slugs={SLUG}&fields=context", caller)
    get("get_restaurant", "The free fields", PATH)
    get("get_restaurant", "The menu and the photos", f"{PATH}?fields=menu,photos", caller)
    get("get_restaurant_hours", "One day", f"{PATH}/hours?from={EXAMPLE_DAY}&to={EXAMPLE_DAY}")
    review = get("list_reviews", "With three stars", f"{PATH}/reviews?stars=3", caller)["data"][0]["id"]
    get("get_review", "A review", f"/v1/reviews/{review}", caller)
    get("list_photos", "The only one", f"{PATH}/photos", caller)
    get("get_restaurant_context", "A park and a museum", f"{PATH}/context", caller)
    get("get_restaurant_insight", "An insight", f"{PATH}/insight", caller)
    get("get_restaurant_history", "A change, and the first version", f"{PATH}/history", caller)
    get("list_changes", "The first changes", "/v1/changes", caller)


def record_bookings(call: Recorder, caller: Client) -> None:
    """An offer, the free tables, and two bookings from their creation to their cancellation."""
    guest = {"customer_name": "Robin Example", "customer_email": "robin@example.com"}
    anybody = Client(REMOTE_ADDR="192.0.2.2")
    offer = call("list_restaurant_offers", "The only one", "GET", f"{PATH}/flow", client=anybody)["data"][0]["id"]
    path = f"/v1/flow/offers/{offer}"
    call("get_offer", "An offer", "GET", path, client=anybody)
    call("search_offers", "Near a park", "GET", "/v1/flow/offers?near=Lantern+Park", client=anybody)
    call(
        *("get_restaurant_availability", "One evening", "GET"),
        f"{PATH}/availability?date={EXAMPLE_DAY}&party_size=2",
        client=anybody,
    )
    booking = call(
        *("book_offer", "A booked table", "POST", f"{path}/bookings", {"party_size": 2, **guest}),
        client=caller,
        status=201,
        sends="A table for two",
        headers={"Idempotency-Key": "offer"},
    )
    path, token = f"/v1/flow/bookings/{booking['id']}", {"X-Manage-Token": booking["manage_token"]}
    call("get_booking", "A booked table", "GET", path, client=caller, headers=token)
    call("cancel_booking", "A cancelled booking", "DELETE", path, client=caller, headers=token)

    wishes = {"date": EXAMPLE_DAY, "time": "19:00", "party_size": 2, "special_requests": "By the window, please"}
    booking = call(
        *("book_table", "A booked table", "POST", f"{PATH}/bookings", {**wishes, **guest}),
        client=caller,
        status=201,
        sends="A table for two",
        headers={"Idempotency-Key": "table"},
    )
    path = f"/v1/bookings/{booking['id']}"
    call("list_bookings", "A booked table, and a cancelled one", "GET", "/v1/bookings", client=caller)
    call("get_table_booking", "A booked table", "GET", path, client=caller)
    call(
        *("change_booking", "The changed booking", "PATCH", path, {"time": "19:30", "party_size": 3}),
        client=caller,
        sends="Later, and one guest more",
    )
    call("cancel_table_booking", "A cancelled booking", "DELETE", path, client=caller)

    report = {"kind": "phone_wrong", "text": "The number has changed."}
    for name, status in (("A new report", 201), ("It was reported already", 200)):
        call(
            *("create_report", name, "POST", f"{PATH}/reports", report),
            client=caller,
            status=status,
            sends="A wrong phone number" if status == 201 else "",
        )


def record_exports(call: Recorder, caller: Client) -> None:
    wanted = {"dataset": "landmarks", "format": "jsonl.gz", "filter": {"market": "singapore"}}
    queued = call(
        *("create_export", "A queued export", "POST", "/v1/exports", wanted),
        client=caller,
        status=202,
        sends="All landmarks of a market",
    )
    export_builders.run_to_end(Export.objects.known_as(queued["id"]).get())
    call("list_exports", "The only one", "GET", "/v1/exports", client=caller)
    done = call("get_export", "A finished export", "GET", f"/v1/exports/{queued['id']}", client=caller)
    call("get_export_file", "The manifest", "GET", done["manifest_url"].removeprefix(EXAMPLE_ADDRESS), client=caller)


def record_ends(call: Recorder, caller: Client) -> None:
    """The calls after which there is nothing left to show."""
    export = Export.objects.get().public_id
    call("cancel_export", "", "DELETE", f"/v1/exports/{export}", client=caller, status=204)
    wallet = caller.get("/v1/me/wallets").json()["data"][0]["address"]
    call("unlink_wallet", "", "DELETE", f"/v1/me/wallets/{wallet}", client=caller, status=204)
    call("close_session", "", "DELETE", "/v1/auth/session", client=caller, status=204)


# Values that differ from run to run: nonces, signatures, checksums and tokens.
RANDOM = re.compile("[0-9a-f]{64,}|(?:(?<=ws_)|(?<=~)|(?<=signature=))[A-Za-z0-9_-]{43}")
# Counted by the database, written by its clock, or by the compression.
FIXED = {
    "bytes": 268,
    "changes_from": f"{EXAMPLE_DAY}T08:00:00Z",
    "resets_at": int(NOW.timestamp()) + 60,
    "snapshot_at": f"{EXAMPLE_DAY}T08:00:00Z",
}


def stable(examples: dict[str, Any]) -> dict[str, Any]:
    """The examples with a fixed value of the same form for each that differs from run to run."""
    numbers: dict[str, int] = {}

    def replace(match: re.Match[str]) -> str:
        original = match[0]
        digest = hashlib.sha512(b"%d" % numbers.setdefault(original, len(numbers))).digest()
        is_hexadecimal = re.fullmatch("[0-9a-f]{64,}", original)
        replacement = (digest + digest).hex() if is_hexadecimal else base64.urlsafe_b64encode(digest).decode()
        return replacement[: len(original)]

    text = RANDOM.sub(replace, json.dumps(examples))
    result: dict[str, Any] = json.loads(
        text, object_hook=lambda row: row | {name: FIXED[name] for name in FIXED if row.get(name) is not None}
    )
    return result


def render(examples: dict[str, Any]) -> str:
    """The text of the committed file."""
    return json.dumps(examples, indent=1, ensure_ascii=False) + "\n"
