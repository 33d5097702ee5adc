"""Exports as tasks: an order answers with a handle, and the client polls it, cancels it, and reads its result."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from catalogue.models import Export
from payments.devchain.wallets import Wallet as Key
from payments.models import Payment, Plan
from payments.x402.proofs import PAYMENT_META
from tests.catalogue import builders
from tests.catalogue.exports import export_builders
from tests.catalogue.exports.export_builders import UNKNOWN
from tests.mcp.client import LATEST_HANDSHAKE, RECEIPT, Era, call, post, price_of, quoted, rpc
from tests.payments.signing import client_of

pytestmark = pytest.mark.django_db(transaction=True)
TASKS = "io.modelcontextprotocol/tasks"
NEW: Era = "2026-07-28"
SUPPORTED: dict[str, Any] = {"extensions": {TASKS: {}}}


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path) -> Path:
    return export_builders.keep_in(settings, tmp_path / "exports")


@pytest.fixture
def enterprise(wallets: Mapping[str, Key]) -> Client:
    """A caller on the Enterprise tier to whom exports are free."""
    export_builders.grant_free_plan(wallets["enterprise"])
    return client_of(wallets["enterprise"])


def start(client: Client, **rest: Any) -> Any:
    """The answer to start_export of a client that takes tasks."""
    return call(client, "start_export", dataset="restaurants", era=NEW, capabilities=SUPPORTED, **rest)


def ask(client: Client, method: str, task_id: str, **params: Any) -> Any:
    return rpc(client, method, {"taskId": task_id, **params}, era=NEW, capabilities=SUPPORTED)


def poll(client: Client, task_id: str) -> Any:
    result = ask(client, "tasks/get", task_id)["result"]
    result.pop("_meta")
    return result


def test_an_export_is_a_task_that_is_polled_until_its_files_are_there(enterprise: Client) -> None:
    builders.listed(builders.restaurant())
    handle = start(enterprise)
    (export,) = Export.objects.all()
    created_at = export.created_at.isoformat().replace("+00:00", "Z")
    waiting = {
        "taskId": export.public_id,
        "status": "working",
        "statusMessage": "Waiting for a worker.",
        "createdAt": created_at,
        "lastUpdatedAt": created_at,
        "ttlMs": None,
        "pollIntervalMs": 5000,
    }
    handle.pop("_meta")
    assert handle == {"resultType": "task", **waiting}
    # It exists before its handle is told.
    assert poll(enterprise, export.public_id) == {"resultType": "complete", **waiting}
    export_builders.start_export(export)
    assert poll(enterprise, export.public_id)["statusMessage"] == "0 % of the files are written."

    export_builders.run_to_end(export)
    done = poll(enterprise, export.public_id)
    assert (done["status"], done["statusMessage"]) == ("completed", "The files are there.")
    assert timedelta(milliseconds=done["ttlMs"]) > timedelta(days=6)
    record = done["result"]["structuredContent"]
    assert (record["id"], record["status"], len(record["files"])) == (export.public_id, "succeeded", 1)
    # The result is that of get_export, whose links are signed anew.
    there = call(enterprise, "get_export", export_id=export.public_id)["structuredContent"]
    assert {**record, "files": [], "manifest_url": ""} == {**there, "files": [], "manifest_url": ""}


def test_on_the_free_tier_a_task_is_polled_every_fifteen_seconds(wallets: Mapping[str, Key]) -> None:
    """Four of its ten requests a minute."""
    export_builders.grant_free_plan(wallets["free"])
    client = client_of(wallets["free"])
    task_id = start(client)["taskId"]
    Plan.objects.all().delete()
    assert poll(client, task_id)["pollIntervalMs"] == 15_000


def test_who_does_not_take_tasks_gets_the_export_itself(enterprise: Client) -> None:
    for era in (NEW, LATEST_HANDSHAKE):
        result = call(enterprise, "start_export", dataset="restaurants", era=era)
        assert result["structuredContent"]["status"] == "queued"
        assert result.get("resultType", "complete") == "complete"
    export = Export.objects.get()
    response = post(enterprise, "tasks/get", {"taskId": export.public_id}, era=NEW)
    assert (response.status_code, response.json()["error"]) == (
        400,
        {
            "code": -32021,
            "message": f"The client does not declare {TASKS}.",
            "data": {"requiredCapabilities": SUPPORTED},
        },
    )
    assert rpc(enterprise, "tasks/get", {"taskId": export.public_id})["error"]["code"] == -32601


def test_the_extension_is_announced_where_it_is_served(client: Client) -> None:
    new = rpc(client, "server/discover", era=NEW)["result"]["capabilities"]
    old = rpc(client, "initialize", {"protocolVersion": LATEST_HANDSHAKE})["result"]["capabilities"]
    assert (TASKS in new["extensions"], TASKS in old["extensions"]) == (True, False)


def test_a_cancelled_task_stops_and_an_ended_one_keeps_its_files(enterprise: Client) -> None:
    task_id = start(enterprise)["taskId"]
    acknowledged = ask(enterprise, "tasks/cancel", task_id)["result"]
    assert {name: value for name, value in acknowledged.items() if name != "_meta"} == {"resultType": "complete"}
    cancelled = poll(enterprise, task_id)
    assert (cancelled["status"], "result" in cancelled) == ("cancelled", False)

    other = start(enterprise)["taskId"]
    assert other != task_id
    export = Export.objects.get(status="queued")
    export_builders.run_to_end(export)
    assert "error" not in ask(enterprise, "tasks/cancel", other)
    assert poll(enterprise, other)["result"]["structuredContent"]["status"] == "succeeded"


def test_a_failed_export_is_a_completed_task_with_an_error(enterprise: Client) -> None:
    task_id = start(enterprise)["taskId"]
    Export.objects.update(status="failed", error="The storage is full.", finished_at=timezone.now())
    failed = poll(enterprise, task_id)
    assert (failed["status"], failed["result"]["isError"]) == ("completed", True)
    assert failed["result"]["structuredContent"]["error"] == "The storage is full."


def test_an_answer_that_no_task_has_asked_for_is_acknowledged_and_ignored(enterprise: Client) -> None:
    task_id = start(enterprise)["taskId"]
    answer = ask(enterprise, "tasks/update", task_id, inputResponses={"name": {"action": "accept", "content": {}}})
    assert answer["result"]["resultType"] == "complete"
    assert poll(enterprise, task_id)["status"] == "working"


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
def test_a_task_of_others_or_of_nobody_is_none(enterprise: Client, method: str) -> None:
    task_id = start(enterprise)["taskId"]
    Export.objects.update(wallet=export_builders.wallet_without_key())
    for id_ in (task_id, UNKNOWN, "x"):
        error = ask(enterprise, method, id_, inputResponses={})["error"]
        assert (error["code"], error["message"]) == (-32602, "There is no such task.")
    assert Export.objects.get().status == "queued"


def test_without_a_wallet_a_task_is_refused_and_a_header_must_name_it(client: Client, enterprise: Client) -> None:
    task_id = start(enterprise)["taskId"]
    assert ask(client, "tasks/get", task_id)["error"]["data"]["code"] == "missing_credentials"
    params: dict[str, Any] = {"taskId": task_id}
    for wrong in ("", UNKNOWN):
        response = post(enterprise, "tasks/get", params, era=NEW, capabilities=SUPPORTED, Mcp_Name=wrong)
        assert (response.status_code, response.json()["error"]["code"]) == (400, -32020)


@pytest.mark.exhaustive
def test_a_paid_task_has_its_receipt_and_its_cancellation_is_paid_back(
    ledger_matches_chain: None, wallets: Mapping[str, Key]
) -> None:
    key = wallets["enterprise"]
    buyer = client_of(key)
    # The price is no task.
    assert price_of(start(buyer))
    payment = quoted(buyer, key, "start_export", dataset="restaurants")
    handle = start(buyer, meta={PAYMENT_META: payment})
    assert (handle["resultType"], handle["_meta"][RECEIPT]["success"]) == ("task", True)
    # docs/receipts.md: it answers no content yet.
    assert "tablewire/statement" not in handle["_meta"]
    assert Payment.objects.get().state == "delivered"
    ask(buyer, "tasks/cancel", handle["taskId"])
    assert (Payment.objects.get().state, Export.objects.get().status) == ("refund_due", "cancelled")
