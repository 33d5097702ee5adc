"""What may be asked of an export, and how its record and its manifest tell of fields, formats and deltas."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Venue
from catalogue.exports.jobs import claims, finalize, worker
from catalogue.exports.requests import commands, representation
from catalogue.exports.storage import files, manifest
from catalogue.models import Export
from catalogue.serializers.exports import ExportRecord
from framework.public_ids import encode
from payments.devchain.wallets import Wallet as Key
from payments.models import Wallet
from payments.pricing import default_products
from payments.tiers.definitions import ENTERPRISE
from tests.catalogue import builders
from tests.catalogue.exports import export_builders, paid_orders
from tests.catalogue.exports.export_builders import EXPORTS, UNKNOWN, error_of, post
from tests.mcp.client import call
from tests.payments.signing import client_of
from tests.support import builders as builders_of_keys

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path) -> Path:
    return export_builders.keep_in(settings, tmp_path / "exports")


@pytest.fixture
def enterprise(wallets: Mapping[str, Key]) -> Client:
    """A caller on the Enterprise tier, who has signed in."""
    return client_of(wallets["enterprise"])


def ordered(**wishes: Any) -> Export:
    """An export of a wallet of the tests, of all it wishes, with its files."""
    wishes = {"dataset": "restaurants", "format": "jsonl.gz", **wishes}
    export = commands.create_export(
        export_builders.wallet_without_key().address, tier=ENTERPRISE, now=timezone.now(), **wishes
    )
    export_builders.run_to_end(export)
    assert export.status == "succeeded", export.error
    return export


def shown(export: Export) -> dict[str, Any]:
    """Its record."""
    return dict(ExportRecord(representation.represent_export(export, now=timezone.now())).data)


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("wanted", "param", "words"),
    [
        ({"fields": ["core", "revews"]}, "fields[1]", "Did you mean `reviews`?"),
        ({"fields": ["photos"]}, "fields[0]", "order an export of photos"),
        ({"fields": ["reviews", "reviews"]}, "fields", "each field group once"),
        ({"fields": []}, "fields", "at least 1 element"),
        ({"fields": "core"}, "fields", "This must be an array."),
        ({"fields": [1]}, "fields[0]", "core, reviews"),
        ({"dataset": "reviews", "fields": ["reviews"]}, "fields", "has all its fields"),
        ({"dataset": "landmarks", "filter": {"status": "open"}}, "filter.status", "cannot be filtered by status"),
        ({"since_export": "exp_1"}, "since_export", "ex_ and 26 letters"),
        ({"since_export": 1}, "since_export", "This must be a string."),
        ({"since_export": UNKNOWN}, "since_export", "You have no such export."),
    ],
)
def test_what_a_dataset_does_not_have_is_refused_by_name(
    enterprise: Client, wanted: dict[str, Any], param: str, words: str
) -> None:
    answer = post(enterprise, **wanted)
    assert error_of(answer) == (400, "invalid_request", param)
    assert words in answer.json()["error"]["message"]
    assert not Export.objects.exists()


@pytest.mark.exhaustive
def test_the_export_of_another_is_as_unknown_as_one_that_there_is_not(enterprise: Client) -> None:
    theirs = export_builders.create_finished()
    found, unknown = (post(enterprise, since_export=each) for each in (theirs.public_id, UNKNOWN))
    without_request = [{**answer.json()["error"], "request_id": ""} for answer in (found, unknown)]
    assert without_request[0] == without_request[1]


@pytest.mark.exhaustive
def test_the_progress_never_goes_back_while_parts_are_checked_again_and_begins_again_with_the_export() -> None:
    for _ in range(4):
        builders.listed(builders.restaurant())
    export = export_builders.create_running(rows_per_part=1)
    seen = []
    for _ in range(2):
        worker.run_step(export, max_step_s=0)
        seen.append(shown(export)["progress"])
    # All workers are lost: the next one looks at what is written in a snapshot of its own.
    assert claims.claim_part(export) is not None
    seen.append(shown(export)["progress"])
    assert seen == [0.25, 0.5, 0.5]
    finalize.fail_export(export, "The disk was full.", now=timezone.now())
    assert commands.restart_export(export, now=timezone.now())
    export.refresh_from_db()
    assert (shown(export)["status"], shown(export)["progress"]) == ("queued", 0)


@pytest.mark.exhaustive
def test_a_delta_tells_what_it_is_since_and_which_files_are_of_what_kind() -> None:
    goes = builders.restaurant()
    builders.restaurant()
    full = ordered()
    builders.restaurant()
    gone = encode("rst", goes.pk)
    goes.delete()
    delta = ordered(since_export=full.public_id)
    result, saved = shown(delta), export_builders.read_manifest(delta)
    assert (result["since_export"], saved["since_export"]) == (full.public_id, full.public_id)
    assert [file["kind"] for file in result["files"]] == [file["kind"] for file in saved["files"]]
    assert {file["kind"] for file in saved["files"]} == {"rows", "removed"}
    assert (result["rows"], result["removed"]) == (saved["rows"], saved["removed"])
    assert saved["removed"] == 1
    (name,) = (file["name"] for file in saved["files"] if file["kind"] == "removed")
    assert name.startswith("restaurants-removed-")
    assert [column["name"] for column in saved["schema_of_removed"]] == ["id", "removed_at"]
    part = delta.parts.get(kind="removed")
    with files.storage().open(files.path_of(delta, part)) as stored:
        (line,) = export_builders.parse_lines(stored.read())
    assert line["id"] == gone


@pytest.mark.exhaustive
@pytest.mark.parametrize("format_", ["jsonl.gz", "csv.gz", "parquet"])
def test_the_manifest_has_the_schema_of_the_format_that_is_written(format_: str) -> None:
    builders.listed(builders.restaurant())
    export = ordered(format=format_)
    saved = export_builders.read_manifest(export)
    names = [column["name"] for column in saved["schema"]]
    assert (saved["format"], "lat" in names, "location" in names) == (
        format_,
        format_ != "jsonl.gz",
        format_ == "jsonl.gz",
    )
    assert all(column["type"] for column in saved["schema"])
    assert (saved["removed"], "schema_of_removed" in saved) == (0, False)
    parts = list(export.parts.order_by("seq"))
    assert manifest.render(export, parts) == manifest.render(Export.objects.get(), parts)


# The wallets of an account
def test_a_key_reaches_the_exports_of_all_wallets_of_its_account_whichever_has_the_highest_tier(
    venue: Venue, wallets: Mapping[str, Key]
) -> None:
    default_products.create_missing()
    first, _second = (
        Wallet.objects.create(address=wallets[name].address, account=venue.account) for name in ("pro", "enterprise")
    )
    export = commands.create_export(
        first.address, tier=ENTERPRISE, dataset="restaurants", format="jsonl.gz", now=timezone.now()
    )
    export_builders.run_to_end(export)
    # New orders are of the other wallet, whose tier is higher.
    client = builders_of_keys.client(venue)
    page = client.get(EXPORTS).json()
    assert [row["id"] for row in page["data"]] == [export.public_id]
    record = client.get(f"{EXPORTS}/{export.public_id}").json()
    assert (record["status"], len(record["files"])) == ("succeeded", 1)
    name = record["files"][0]["name"]
    assert client.get(f"{EXPORTS}/{export.public_id}/files/{name}").status_code == 200
    shown = call(client, "get_export", export_id=export.public_id)["structuredContent"]
    assert shown["id"] == export.public_id
    delta = post(client, dataset="restaurants", since_export=export.public_id)
    assert delta.status_code == 402, delta.content
    assert client.delete(f"{EXPORTS}/{export.public_id}").status_code == 204
    # A session is of one wallet.
    session = client_of(wallets["enterprise"])
    assert session.get(EXPORTS).json()["data"] == []
    assert session.get(f"{EXPORTS}/{export.public_id}").status_code == 404


@pytest.mark.exhaustive
def test_a_payment_finds_its_export_after_another_wallet_of_the_account_has_the_highest_tier(
    venue: Venue, wallets: Mapping[str, Key], ledger_matches_chain: None
) -> None:
    key = wallets["enterprise"]
    first = Wallet.objects.create(address=key.address, account=venue.account)
    client = builders_of_keys.client(venue)
    headers = paid_orders.payment(client, key)
    answer = paid_orders.ask(client, headers)
    assert answer.status_code == 202, answer.content
    answer.close()
    # From now on another one orders.
    Wallet.objects.filter(pk=first.pk).update(tier="pro", read_at=timezone.now())
    Wallet.objects.create(
        address=export_builders.WALLET, account=venue.account, tier="enterprise", read_at=timezone.now()
    )
    again = paid_orders.ask(client, headers)
    assert again.status_code == 202, again.content
    assert again.json()["id"] == answer.json()["id"]
    again.close()
