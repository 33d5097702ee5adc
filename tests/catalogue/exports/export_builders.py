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

from catalogue.exports.jobs import worker
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


def somebody() -> Wallet:
    """A wallet that nobody of the tests signs in with."""
    return Wallet.objects.get_or_create(address=WALLET)[0]


def given(wallet: Key) -> None:
    """From now on what is sold is given to this wallet, on the Enterprise tier: a plan says so."""
    default_products.create_missing()
    holder, _ = Wallet.objects.get_or_create(address=wallet.address)
    Plan.objects.create(name="All in", wallet=holder, price_factor=0, valid_from=timezone.now())


def begin(export: Export, *, rows_a_part: int = worker.ROWS_A_PART) -> None:
    """Split it by the restaurants of make.NOW."""
    worker.begin(export, now=builders.NOW, rows_a_part=rows_a_part)
    export.refresh_from_db()


def step(export: Export, *, goes_on_s: float = worker.GOES_ON_S) -> int:
    """What one task does with it, and how many more it would enqueue."""
    enqueued = worker.step(export, goes_on_s=goes_on_s)
    export.refresh_from_db()
    return enqueued


def begun(*, rows_a_part: int = worker.ROWS_A_PART, **wanted: str) -> Export:
    """A running export of all restaurants of make.NOW, or of those that a filter leaves."""
    export = queued(**wanted)
    begin(export, rows_a_part=rows_a_part)
    return export


def queued(**wanted: str) -> Export:
    """An export that no worker has begun."""
    return commands.start(
        somebody().address,
        tier=ENTERPRISE,
        dataset="restaurants",
        format="jsonl.gz",
        filter=wanted,
        now=timezone.now(),
    )


def finished(**wanted: Any) -> Export:
    """An export with its files."""
    export = begun(**wanted)
    work(export)
    assert export.status == "succeeded", export.error
    return export


def work(export: Export) -> None:
    """Do its steps until it has ended; the one that rests is not waited for."""
    begin(export)
    while export.status in UNFINISHED:
        export.parts.update(lease_until=None)
        step(export)


def manifest(export: Export) -> dict[str, Any]:
    """Its manifest, as it is kept."""
    with files.storage().open(files.path_of_manifest(export, export.manifest_sha256)) as kept:
        content: dict[str, Any] = json.loads(kept.read())
    return content


def without_names(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """What two exports of the same rows have in common."""
    return {name: value for name, value in manifest.items() if name not in {"id", "snapshot_at", "changes_from"}}


def rows(export: Export) -> list[dict[str, Any]]:
    """All its rows, in their order."""
    found = []
    for part in export.parts.order_by("seq"):
        with files.storage().open(files.path_of(export, part)) as kept:
            found += lines(kept.read())
    return found


def lines(content: bytes) -> list[dict[str, Any]]:
    """The rows of a file."""
    return [json.loads(line) for line in gzip.decompress(content).splitlines()]


def stored(folder: Path) -> set[str]:
    """The files that are there."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def ask(client: Client, **wanted: Any) -> Any:
    """The answer to a POST."""
    return client.post(EXPORTS, {**RESTAURANTS, **wanted}, content_type="application/json")


def fetch(client: Client, url: str, **headers: str) -> Any:
    """The answer to a GET of a link."""
    return client.get(url, headers=headers)


def body(response: Any) -> bytes:
    """What an answer holds."""
    content: bytes = response.content
    return content


def token(up: Up) -> str:
    """A fresh session of the Enterprise wallet of a running product."""
    (wallet,) = (wallet for wallet in up.record["wallets"] if wallet["name"] == "enterprise")
    with httpx.Client(base_url=up.record["base_url"], timeout=30) as caller:
        text = caller.get(CHALLENGE, params={"address": wallet["address"]}).json()["message"]
        signature = signature_of(Key(**{name: wallet[name] for name in ("name", "address", "private_key")}), text)
        opened: str = caller.post(SESSION, json={"message": text, "signature": signature}).json()["token"]
    return opened


def asked(client: Client, **wanted: Any) -> Export:
    """The export of a POST that is accepted."""
    answer = ask(client, **wanted)
    assert answer.status_code == 202, answer.content
    return Export.objects.known_as(answer.json()["id"]).get()


def seven_in_three_files(client: Client) -> dict[str, Any]:
    """The record of a finished export of seven restaurants in three files."""
    for _ in range(7):
        builders.listed(builders.restaurant())
    export = asked(client)
    begin(export, rows_a_part=3)
    work(export)
    return record(client, export)


def record(client: Client, export: Export) -> dict[str, Any]:
    """What a GET answers."""
    found: dict[str, Any] = client.get(f"{EXPORTS}/{export.public_id}").json()
    return found


def refusal(response: Any) -> tuple[int, str, str | None]:
    """Status, code and parameter."""
    error = response.json()["error"]
    return response.status_code, error["code"], error["param"]
