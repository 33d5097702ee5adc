"""Exports in tests: asked for, written by steps, and read as a caller reads them."""

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from catalogue.exports.jobs import partitioning, worker
from catalogue.exports.requests import commands
from catalogue.exports.storage import files
from catalogue.models import Export
from catalogue.models.exports import UNFINISHED
from payments.devchain.wallets import Wallet as Key
from payments.models import Plan, Wallet
from payments.pricing import default_products
from payments.tiers.definitions import ENTERPRISE
from tests.catalogue import builders
from tests.payments.signing import CHALLENGE, SESSION, signature_of
from tests.support.live_stack import Up

EXPORTS = "/v1/exports"
UNKNOWN = "ex_" + "0" * 26
RESTAURANTS = {"dataset": "restaurants"}
WALLET = "0x" + "e" * 40


def keep_in(settings: Settings, folder: Path) -> Path:
    """Keep the files of exports there."""
    settings.EXPORTS_DIR = folder
    mine = settings.STORAGES["exports"]
    settings.STORAGES = {**settings.STORAGES, "exports": {**mine, "OPTIONS": {**mine["OPTIONS"], "location": folder}}}
    return folder


def wallet_without_key() -> Wallet:
    """A wallet that nobody of the tests signs in with."""
    return Wallet.objects.get_or_create(address=WALLET)[0]


def grant_free_plan(wallet: Key) -> None:
    """From now on what is sold is given to this wallet, on the Enterprise tier: a plan says so."""
    default_products.create_missing()
    holder, _ = Wallet.objects.get_or_create(address=wallet.address)
    Plan.objects.create(name="All in", wallet=holder, price_factor=0, valid_from=timezone.now())


def start_export(export: Export, *, rows_per_part: int = partitioning.ROWS_PER_PART) -> None:
    """Split it by the restaurants of make.NOW."""
    partitioning.start_export(export, now=builders.NOW, rows_per_part=rows_per_part)
    export.refresh_from_db()


def run_step(export: Export, *, max_step_s: float = worker.MAX_STEP_S) -> int:
    """What one task does with it, and how many more it would enqueue."""
    enqueued = worker.run_step(export, max_step_s=max_step_s)
    export.refresh_from_db()
    return enqueued


def create_running(*, rows_per_part: int = partitioning.ROWS_PER_PART, **wanted: str) -> Export:
    """A running export of all restaurants of make.NOW, or of those that a filter leaves."""
    export = create_queued(**wanted)
    start_export(export, rows_per_part=rows_per_part)
    return export


def create_queued(**wanted: str) -> Export:
    """An export that no worker has begun."""
    return commands.create_export(
        wallet_without_key().address,
        tier=ENTERPRISE,
        dataset="restaurants",
        format="jsonl.gz",
        filter=wanted,
        now=timezone.now(),
    )


def create_finished(**wanted: Any) -> Export:
    """An export with its files."""
    export = create_running(**wanted)
    run_to_end(export)
    assert export.status == "succeeded", export.error
    return export


def run_to_end(export: Export) -> None:
    """Do its steps until it has ended; the one that rests is not waited for."""
    start_export(export)
    while export.status in UNFINISHED:
        export.parts.update(lease_until=None)
        run_step(export)


def read_manifest(export: Export) -> dict[str, Any]:
    """Its manifest, as it is kept."""
    with files.storage().open(files.path_of_manifest(export, export.manifest_sha256)) as stored:
        content: dict[str, Any] = json.loads(stored.read())
    return content


def comparable(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """What two exports of the same rows have in common."""
    return {name: value for name, value in manifest.items() if name not in {"id", "snapshot_at", "changes_from"}}


def read_rows(export: Export) -> list[dict[str, Any]]:
    """All its rows, in their order."""
    found = []
    for part in export.parts.order_by("seq"):
        with files.storage().open(files.path_of(export, part)) as stored:
            found += parse_lines(stored.read())
    return found


def parse_lines(content: bytes) -> list[dict[str, Any]]:
    """The rows of a file."""
    return [json.loads(line) for line in gzip.decompress(content).splitlines()]


def list_stored(folder: Path) -> set[str]:
    """The files that are there."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def post(client: Client, **wanted: Any) -> Any:
    """The answer to a POST."""
    return client.post(EXPORTS, {**RESTAURANTS, **wanted}, content_type="application/json")


def get(client: Client, url: str, **headers: str) -> Any:
    """The answer to a GET of a link."""
    return client.get(url, headers=headers)


def body(response: Any) -> bytes:
    """What an answer holds."""
    content: bytes = response.content
    return content


def create_session(up: Up) -> str:
    """A fresh session of the Enterprise wallet of a running product."""
    (wallet,) = (wallet for wallet in up.record["wallets"] if wallet["name"] == "enterprise")
    with httpx.Client(base_url=up.record["base_url"], timeout=30) as caller:
        text = caller.get(CHALLENGE, params={"address": wallet["address"]}).json()["message"]
        signature = signature_of(Key(**{name: wallet[name] for name in ("name", "address", "private_key")}), text)
        opened: str = caller.post(SESSION, json={"message": text, "signature": signature}).json()["token"]
    return opened


def post_accepted(client: Client, **wanted: Any) -> Export:
    """The export of a POST that is accepted."""
    answer = post(client, **wanted)
    assert answer.status_code == 202, answer.content
    return Export.objects.known_as(answer.json()["id"]).get()


def create_three_files(client: Client) -> dict[str, Any]:
    """The record of a finished export of seven restaurants in three files."""
    for _ in range(7):
        builders.listed(builders.restaurant())
    export = post_accepted(client)
    start_export(export, rows_per_part=3)
    run_to_end(export)
    return get_record(client, export)


def get_record(client: Client, export: Export) -> dict[str, Any]:
    """What a GET answers."""
    found: dict[str, Any] = client.get(f"{EXPORTS}/{export.public_id}").json()
    return found


def error_of(response: Any) -> tuple[int, str, str | None]:
    """Status, code and parameter."""
    error = response.json()["error"]
    return response.status_code, error["code"], error["param"]
