"""Bulk exports by tools."""

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Venue
from catalogue.exports.jobs import partitioning
from catalogue.models import Export
from payments.devchain.wallets import Wallet as Key
from tests.catalogue import builders
from tests.catalogue.exports import export_builders
from tests.catalogue.exports.export_builders import EXPORTS, UNKNOWN
from tests.mcp.client import call, refusal_of, rpc, words_of
from tests.payments.signing import client_of
from tests.support import builders as keys
from tests.support.query_counts import costing

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path) -> Path:
    return export_builders.keep_in(settings, tmp_path / "exports")


@pytest.fixture
def enterprise(wallets: Mapping[str, Key]) -> Client:
    """A caller on the Enterprise tier, who has signed in."""
    export_builders.grant_free_plan(wallets["enterprise"])
    return client_of(wallets["enterprise"])


def start(client: Client, **arguments: Any) -> Any:
    return call(client, "start_export", **{"dataset": "restaurants", **arguments})


def record(result: Any) -> dict[str, Any]:
    """The record of an export."""
    assert "isError" not in result, result
    found: dict[str, Any] = result["structuredContent"]
    return found


def refused(result: Any, code: str, param: str | None = None) -> str:
    """The words of a refusal; no export was begun."""
    error = refusal_of(result)
    assert (error["code"], error["param"]) == (code, param)
    assert not Export.objects.exists()
    return words_of(result)


@pytest.mark.exhaustive
def test_an_export_is_started_followed_and_fetched_by_its_links(enterprise: Client, client: Client) -> None:
    for _ in range(3):
        builders.listed(builders.restaurant())
    started = record(start(enterprise))
    assert (started["status"], started["progress"], started["files"]) == ("queued", 0, [])
    (export,) = Export.objects.all()
    partitioning.start_export(export, now=timezone.now(), rows_per_part=2)
    assert record(call(enterprise, "get_export", export_id=started["id"]))["status"] == "running"
    export_builders.run_to_end(export)

    done = record(call(enterprise, "get_export", export_id=started["id"]))
    assert (done["status"], done["progress"], done["rows"], len(done["files"])) == ("succeeded", 1, 3, 2)
    rows = [
        json.loads(line)
        for file in done["files"]
        for line in gzip.decompress(client.get(file["url"]).content).splitlines()
    ]
    assert len(rows) == 3
    there = enterprise.get(f"{EXPORTS}/{started['id']}").json()
    assert {**done, "files": len(done["files"]), "manifest_url": ""} == {
        **there,
        "files": len(there["files"]),
        "manifest_url": "",
    }
    assert client.get(done["manifest_url"]).json()["id"] == started["id"]


@pytest.mark.exhaustive
def test_the_conditions_are_those_of_the_filter_and_the_same_call_gives_the_same_export(enterprise: Client) -> None:
    builders.market("copenhagen")
    asked = {"market": "copenhagen", "since": "2026-11-21T20:30:00+01:00", "status": "open", "format": "jsonl.gz"}
    first = record(start(enterprise, **asked))
    assert first["filter"] == {"market": "copenhagen", "updated_since": "2026-11-21T19:30:00Z", "status": "open"}
    assert record(start(enterprise, **asked)) == first
    over_rest = export_builders.post(enterprise, filter=first["filter"])
    assert over_rest.json() == first
    assert record(start(enterprise))["id"] != first["id"]
    assert Export.objects.count() == 2


@pytest.mark.exhaustive
def test_three_exports_may_be_under_way(enterprise: Client) -> None:
    for status in ("open", "moved", "unverified"):
        start(enterprise, status=status)
    fourth = start(enterprise)
    assert refusal_of(fourth)["code"] == "invalid_request"
    assert words_of(fourth).endswith("See how far they are with get_export.")
    assert Export.objects.count() == 3


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("arguments", "param"),
    [
        ({"dataset": "everything"}, "dataset"),
        ({"format": "docx"}, "format"),
        ({"market": {}}, "market"),
        ({"status": "shut"}, "status"),
        ({"since": "yesterday"}, "since"),
        ({"since": "2026-02-30T00:00:00Z"}, "since"),
        ({"filter": {}}, "filter"),
        ({"filter.market": "copenhagen"}, "filter.market"),
    ],
)
def test_a_wrong_argument_is_refused_by_its_own_name(
    enterprise: Client, arguments: dict[str, Any], param: str
) -> None:
    assert f"`{param}`" in refused(start(enterprise, **arguments), "invalid_request", param)


def test_an_unknown_market_is_refused_with_the_nearest(enterprise: Client) -> None:
    builders.market("copenhagen")
    result = start(enterprise, market="copenhagn")
    words = refused(result, "invalid_request", "market")
    assert [one["param"] for one in refusal_of(result)["details"]] == ["market"]
    assert "Did you mean `copenhagen`?" in words


def test_a_condition_that_a_dataset_has_not_is_refused_by_its_own_name(enterprise: Client) -> None:
    words = refused(start(enterprise, dataset="landmarks", status="open"), "invalid_request", "status")
    assert words.startswith("An export of landmarks cannot be filtered by status.")
    assert "filter." not in words


def test_who_has_not_signed_in_reads_how_to_and_gets_no_401(client: Client, venue: Venue) -> None:
    for caller in (client, keys.client(venue)):
        for result in (start(caller), call(caller, "get_export", export_id=UNKNOWN)):
            assert refused(result, "missing_credentials") == (
                "This is for a proven wallet: your person has to connect this client with `Authorization: Bearer`, and"
                " the session (ws_...) of a wallet, or the key (rk_...) of an account that has linked one."
            )


@pytest.mark.parametrize("tier", ["free", "pro", "premium"])
def test_a_wallet_below_enterprise_is_refused(prices: None, wallets: Mapping[str, Key], tier: str) -> None:
    result = start(client_of(wallets[tier]))
    assert "Nothing was charged." in refused(result, "tier_required")
    assert refusal_of(result)["tier_required"] == "enterprise"


@pytest.mark.exhaustive
def test_the_export_of_another_wallet_is_none(enterprise: Client) -> None:
    started = record(start(enterprise))
    Export.objects.update(wallet=export_builders.wallet_without_key())
    for id_ in (started["id"], UNKNOWN):
        result = call(enterprise, "get_export", export_id=id_)
        assert (refusal_of(result)["code"], words_of(result)) == (
            "not_found",
            "There is no such export. start_export gives the `id` of one, to the wallet that orders it.",
        )


@pytest.mark.exhaustive
def test_what_an_export_costs(enterprise: Client) -> None:
    started = record(start(enterprise))
    with costing(14):
        record(start(enterprise))
    with costing(9):
        record(call(enterprise, "get_export", export_id=started["id"]))
    with costing(16):
        record(start(enterprise, status="open"))


def test_the_choices_are_those_of_the_document(client: Client) -> None:
    listed = {tool["name"]: tool for tool in rpc(client, "tools/list")["result"]["tools"]}
    taken = listed["start_export"]["inputSchema"]["properties"]
    assert taken["dataset"]["enum"] == Export.Dataset.values
    assert taken["format"]["enum"] == Export.Format.values
    assert list(taken) == ["dataset", "format", "fields", "market", "since", "status", "since_export"]
