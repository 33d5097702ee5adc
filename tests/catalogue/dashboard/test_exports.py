"""The dashboard's pages of exports: followed while they are written, fetched by fresh links, priced, ordered."""

import json
import re
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from accounts.models import Venue
from catalogue.exports.jobs import worker
from catalogue.models import Export
from payments.models import Plan, Wallet
from payments.pricing import default_products
from tests.catalogue import builders as catalogue_builders
from tests.catalogue.exports import export_builders
from tests.support import builders, users

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path) -> Path:
    return export_builders.keep_in(settings, tmp_path / "exports")


@pytest.fixture
def owner(venue: Venue) -> Client:
    """The owner of an account with one wallet, the one that exporting.queued orders for."""
    export_builders.wallet_without_key()
    Wallet.objects.filter(pk=export_builders.WALLET).update(account=venue.account)
    return users.member(venue)


def at(venue: Venue, rest: str = "") -> str:
    return f"/dashboard/{venue.public_id}/exports{rest}"


def page_text(answer: Any) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())).split())


def seen(answer: Any) -> str:
    found = re.search(r'name="seen" value="([^"]+)"', answer.content.decode())
    assert found is not None
    return found[1]


def finished() -> Export:
    export = export_builders.create_running(rows_per_part=1)
    while export.status == Export.Status.RUNNING:
        export_builders.run_step(export)
    return export


def given(venue: Venue) -> None:
    """The account's plan gives exports away."""
    default_products.create_missing()
    Plan.objects.create(name="All in", account=venue.account, price_factor=0, valid_from=timezone.now())


def test_list_takes_three_queries_besides_authentication(
    venue: Venue, owner: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for market in ("a", "b", "c"):
        export_builders.create_queued(status=("open", "moved", "unverified")["abc".index(market)])
    with django_assert_num_queries(3 + 5):
        assert owner.get(at(venue)).status_code == 200


@pytest.mark.exhaustive
def test_an_export_moves_on_the_page_from_queued_to_its_files(venue: Venue, owner: Client) -> None:
    for _ in range(3):
        catalogue_builders.restaurant()
    export = export_builders.create_queued()
    row = at(venue, f"/{export.public_id}/progress")
    first = owner.get(row)
    assert (first.status_code, "Queued 0 %" in page_text(first)) == (200, True)
    assert owner.get(row, {"seen": seen(first)}).status_code == 204
    export_builders.start_export(export, rows_per_part=1)
    worker.run_step(export, max_step_s=0)
    running = owner.get(row, {"seen": seen(first)})
    assert "Running 33 % 33 %, 1 of 3 rows" in page_text(running)
    assert 'value="33" aria-label="Progress of the export: ' in running.content.decode()
    while export.status == Export.Status.RUNNING:
        export_builders.run_step(export)
    ended = owner.get(row, {"seen": seen(running)})
    # htmx asks no more after a 286.
    assert ended.status_code == 286
    assert "Done 3 rows Export Restaurants, jsonl.gz: Done. View files" in page_text(ended)
    # The page of the export also replaces "Cancel".
    ended = owner.get(at(venue, f"/{export.public_id}/state"), {"seen": seen(running)})
    assert page_text(ended).endswith("Delete files")
    assert 'hx-swap-oob="innerHTML:#cancel-export"' in ended.content.decode()


def test_a_file_is_fetched_by_a_link_that_the_click_makes(venue: Venue, owner: Client) -> None:
    catalogue_builders.restaurant(name="Noma")
    export = finished()
    page = owner.get(at(venue, f"/{export.public_id}"))
    assert "signature=" not in page.content.decode()
    link = re.search(r'href="([^"]+/files/[^"]+\.jsonl\.gz)"', page.content.decode())
    assert link is not None
    answer = owner.get(link[1])
    assert (answer.status_code, "signature=" in answer["Location"]) == (302, True)
    path = answer["Location"].removeprefix("http://127.0.0.1:8000")
    assert Client().get(path).status_code == 200
    gone = owner.get(at(venue, f"/{export.public_id}/files/nothing.parquet"))
    assert builders.messages_of(gone) == ["This export has no such file."]


def test_cancelling_asks_and_says_what_it_did(venue: Venue, owner: Client) -> None:
    export = export_builders.create_queued()
    address = at(venue, f"/{export.public_id}/cancel")
    assert "Cancel this export? Restaurants, jsonl.gz: Queued" in page_text(owner.get(address))
    export.refresh_from_db()
    assert export.status == "queued"
    assert builders.messages_of(owner.post(address)) == ["The export was cancelled, and its files were deleted."]
    assert builders.messages_of(owner.post(address))[-1] == "The export had already finished."
    export.refresh_from_db()
    assert export.status == "cancelled"


def test_what_has_failed_says_why_and_not_as_markup(venue: Venue, owner: Client) -> None:
    export = export_builders.create_queued()
    Export.objects.filter(pk=export.pk).update(status="failed", error="<script>alert(1)</script>")
    page = owner.get(at(venue, f"/{export.public_id}"))
    assert "Failed <script>alert(1)</script>" in page_text(page)
    assert "<script>alert(1)" not in page.content.decode()


# A new one
def test_the_form_shows_the_price_the_rows_and_the_request(venue: Venue, owner: Client) -> None:
    default_products.create_missing()
    Wallet.objects.filter(pk=export_builders.WALLET).update(tier="enterprise")
    response = {"dataset": "restaurants", "format": "parquet", "status": "open", "groups": ["reviews"]}
    answer = owner.get(at(venue, "/new"), response)
    page = page_text(answer)
    assert "Price 0.5 USDC at the wallet's rate Rows (estimate)" in page
    assert "curl -i -X POST http://127.0.0.1:8000/v1/exports" in page
    wanted = {"dataset": "restaurants", "format": "parquet", "filter": {"status": "open"}, "fields": ["reviews"]}
    body = re.search(r'<pre id="body"[^>]*><code>(.*?)</code>', answer.content.decode(), re.DOTALL)
    assert body is not None
    assert json.loads(unescape(body[1])) == wanted
    assert Export.objects.count() == 0


def test_times_of_an_order_are_of_the_restaurants_time_zone(venue: Venue, owner: Client) -> None:
    default_products.create_missing()
    Wallet.objects.filter(pk=export_builders.WALLET).update(tier="enterprise")
    Venue.objects.filter(pk=venue.pk).update(timezone="Asia/Tokyo")
    wanted = {"dataset": "restaurants", "updated_since": "2026-11-02T08:30"}
    text = unescape(owner.get(at(venue, "/new"), wanted).content.decode())
    assert '"updated_since": "2026-11-01T23:30:00Z"' in text
    export = export_builders.create_queued(updated_since="2026-11-01T23:30:00Z")
    assert "updated_since=2026-11-02T08%3A30" in owner.get(at(venue, f"/{export.public_id}")).content.decode()


def test_a_wallet_below_the_tier_is_reported_which_one_exports_need(venue: Venue, owner: Client) -> None:
    default_products.create_missing()
    answer = owner.get(at(venue, "/new"), {"dataset": "reviews"})
    assert answer.status_code == 200
    assert "Exports are for the enterprise tier, and this wallet is free. Nothing was charged." in page_text(answer)


def test_what_a_plan_gives_is_ordered_here_once(venue: Venue, owner: Client) -> None:
    given(venue)
    response = {"dataset": "landmarks", "format": "csv.gz"}
    assert "Price Free included in your plan" in page_text(owner.get(at(venue, "/new"), response))
    first, second = (owner.post(at(venue, "/new"), response) for _ in range(2))
    export = Export.objects.get()
    assert (first.status_code, first["Location"]) == (302, at(venue, f"/{export.public_id}"))
    assert second["Location"] == first["Location"]
    assert (export.wallet_id, export.dataset, export.queue) == (export_builders.WALLET, "landmarks", "dedicated")


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"dataset": "dishes"}, "dataset"),
        ({"dataset": "\x00"}, "dataset"),
        ({"dataset": "restaurants", "wallet": "0x" + "1" * 40}, "wallet"),
        ({"dataset": "restaurants", "updated_since": "1e400"}, "updated_since"),
        ({"dataset": "landmarks", "status": "open"}, "status"),
        ({"dataset": "reviews", "groups": ["context"]}, "groups"),
        ({"dataset": "restaurants", "since_export": "ex_1"}, "since_export"),
    ],
    ids=["dataset", "nul", "wallet", "moment", "filter", "groups", "since"],
)
def test_what_cannot_be_exported_is_refused_at_its_field(
    venue: Venue, owner: Client, query: dict[str, Any], field: str
) -> None:
    default_products.create_missing()
    answer = owner.get(at(venue, "/new"), query)
    assert answer.status_code == 400
    assert list(answer.context["form"].errors) == [field]


def test_a_place_in_the_list_that_there_is_not_is_reported(venue: Venue, owner: Client) -> None:
    assert owner.get(at(venue), {"before": "\x00"}).status_code == 400


# Whose it is
@pytest.mark.exhaustive
def test_another_accounts_exports_are_not_there(venue: Venue, other_venue: Venue, owner: Client) -> None:
    export = export_builders.create_queued()
    stranger = users.member(other_venue)
    for rest in ("", "/progress", "/state", "/cancel", "/files/manifest.json"):
        assert stranger.get(at(other_venue, f"/{export.public_id}{rest}")).status_code == 404
    assert stranger.post(at(other_venue, f"/{export.public_id}/cancel")).status_code == 404
    assert owner.get(at(venue, "/ex_1")).status_code == 404
    export.refresh_from_db()
    assert export.status == "queued"


@pytest.mark.parametrize(("role", "status"), [("manager", 200), ("host", 403), ("kitchen", 403)])
def test_only_who_has_to_do_with_data_sees_exports(venue: Venue, role: str, status: int) -> None:
    assert users.member(venue, role).get(at(venue)).status_code == status


def test_without_a_wallet_the_page_says_what_to_do(venue: Venue) -> None:
    default_products.create_missing()
    for _ in range(3):
        catalogue_builders.restaurant()
    for path in ("", "/new"):
        page = page_text(users.member(venue).get(at(venue, path)))
        assert "Reviews Ratings, texts and the owners' replies" in page
        # What every wallet can order comes first, and is chosen.
        assert page.index("Dishes with their prices") < page.index("Enterprise only") < page.index("0.5 USDC")
        assert page.count("Enterprise only") == 1
        assert "Link a wallet" in page
    assert "New export" not in page_text(users.member(venue).get(at(venue)))
    form = users.member(venue).get(at(venue, "/new")).content.decode()
    assert 'value="menus" required checked' in form
    # The others are of a higher tier.
    assert 'value="reviews" required disabled' in form
    listed = users.member(venue).get(at(venue)).content.decode()
    assert ("?dataset=menus" in listed, "?dataset=reviews" in listed) == (True, False)


def test_without_a_wallet_an_export_is_quoted_and_not_ordered(venue: Venue) -> None:
    default_products.create_missing()
    catalogue_builders.restaurant()
    client = users.member(venue)
    page = page_text(client.get(at(venue, "/new"), {"dataset": "reviews"}))
    assert "Quote Price 0.8 USDC Enterprise only Rows (estimate)" in page
    assert "Order this export" not in page
    assert "Price Free for every wallet" in page_text(client.get(at(venue, "/new"), {"dataset": "menus"}))
    answer = client.post(at(venue, "/new"), {"dataset": "menus", "format": "jsonl.gz"})
    assert answer.headers["Location"] == f"/dashboard/{venue.public_id}/data/wallets/new"
    assert client.get(at(venue, "/new"), {"dataset": "wrong"}).status_code == 400


def test_datasets_have_their_price_for_the_wallet(venue: Venue, owner: Client) -> None:
    default_products.create_missing()
    assert "Enterprise only" in page_text(owner.get(at(venue, "/new")))
    Plan.objects.create(name="Half", account=venue.account, price_factor="0.5", valid_from=timezone.now())
    answer = owner.get(at(venue, "/new"))
    assert "0.25 USDC" in page_text(answer)
    assert "Enterprise only" not in page_text(answer)
    assert "/exports/new?dataset=reviews" in owner.get(at(venue)).content.decode()


def test_files_that_were_removed_are_not_offered(venue: Venue, owner: Client) -> None:
    catalogue_builders.restaurant()
    export = finished()
    Export.objects.filter(pk=export.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    page = owner.get(at(venue, f"/{export.public_id}"))
    assert ("Files deleted" in page_text(page), "/files/" in page.content.decode()) == (True, False)
