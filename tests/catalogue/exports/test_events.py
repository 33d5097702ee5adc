"""The end of an export is told to the account of its wallet: once, signed, whoever ends it."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.db import connection, transaction
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Account, Event, Venue, WebhookDelivery
from accounts.webhooks import dispatcher, endpoints
from catalogue.exports.jobs import finalize
from catalogue.exports.requests import commands, representation
from catalogue.models import Export
from catalogue.serializers.exports import ExportRecord
from framework.api.renderers import JSONRenderer
from payments.wallets import links
from tests.accounts.webhook_receivers import receiving
from tests.catalogue import builders as catalogue_builders
from tests.catalogue.exports import export_builders
from tests.support import builders

pytestmark = pytest.mark.django_db(transaction=True)
URL = "https://hooks.example.com/"


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path) -> Path:
    return export_builders.keep_in(settings, tmp_path / "exports")


@pytest.fixture
def account(venue: Venue) -> Account:
    """The account of the venue, to which the wallet that orders is linked."""
    export_builders.wallet_without_key()
    links.link_wallet(export_builders.WALLET, account=venue.account_id, now=timezone.now())
    return venue.account


def current_record(export: Export) -> dict[str, Any]:
    """The record of an export, as it would be answered now, without its links."""
    shown = orjson.loads(
        JSONRenderer().render(ExportRecord(representation.represent_export(export, now=timezone.now())).data)
    )
    return without_links(shown)


def without_links(shown: dict[str, Any]) -> dict[str, Any]:
    """What two records of the same export have in common."""
    return {**shown, "manifest_url": "", "files": [{**file, "url": ""} for file in shown["files"]]}


def test_a_finished_export_is_reported_by_a_signed_request_with_its_record(
    venue: Venue, account: Account, settings: Settings
) -> None:
    settings.WEBHOOKS_TO_LOOPBACK = True
    catalogue_builders.listed(catalogue_builders.restaurant())
    with receiving() as receiver:
        _, secret = endpoints.create(venue, url=receiver.url, types=["export.finished"])
        export = export_builders.create_finished()
        dispatcher.run(clock=timezone.now, timeout_s=0.2)
        (received,) = receiver.received
    event = received.verified(secret)
    assert (event["type"], event["data"]["status"]) == ("export.finished", "succeeded")
    assert without_links(event["data"]) == current_record(export)
    assert len(event["data"]["files"]) == 1
    assert received.headers["webhook-id"] == Event.objects.get().public_id
    assert WebhookDelivery.objects.get().state == "delivered"


def test_it_is_reported_once_though_two_workers_finish_at_once(venue: Venue, account: Account) -> None:
    endpoints.create(venue, url=URL)
    catalogue_builders.listed(catalogue_builders.restaurant())
    export = export_builders.create_running()
    export_builders.run_step(export)
    together = threading.Barrier(2)

    def finish() -> None:
        together.wait(10)
        finalize.finalize_export(Export.objects.get(pk=export.pk), now=timezone.now())
        connection.close()

    workers = [threading.Thread(target=finish) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    export.refresh_from_db()
    assert export.status == "succeeded"
    assert (Event.objects.count(), WebhookDelivery.objects.count()) == (1, 1)
    finalize.finalize_export(export, now=timezone.now())
    assert Event.objects.count() == 1


def failed(export: Export) -> None:
    finalize.fail_export(export, "The disk was full.", now=timezone.now())


def cancelled(export: Export) -> None:
    assert commands.cancel_export(export, actor="staff:ada@example.com", now=timezone.now())


@pytest.mark.parametrize(
    ("end", "status", "actor"),
    [(failed, "failed", "system"), (cancelled, "cancelled", "staff:ada@example.com")],
)
def test_one_that_fails_or_is_cancelled_is_reported_of_too_and_once(
    venue: Venue, account: Account, end: Callable[[Export], None], status: str, actor: str
) -> None:
    export = export_builders.create_running()
    end(export)
    event = Event.objects.get()
    assert (event.account, event.venue, event.subject, event.actor) == (account, None, export.pk, actor)
    assert (event.record["status"], event.record["files"], event.record["manifest_url"]) == (status, [], None)
    finalize.fail_export(export, "It fails again.", now=timezone.now())
    assert not commands.cancel_export(export, actor="system", now=timezone.now())
    assert Event.objects.count() == 1


def test_one_that_is_restarted_is_reported_of_again_when_it_ends(account: Account) -> None:
    catalogue_builders.listed(catalogue_builders.restaurant())
    export = export_builders.create_running()
    failed(export)
    assert commands.restart_export(export, now=timezone.now())
    export.refresh_from_db()
    export_builders.run_to_end(export)
    assert list(Event.objects.order_by("pk").values_list("record__status", flat=True)) == ["failed", "succeeded"]


def test_each_endpoint_of_the_account_hears_of_it_once_and_those_of_sandboxes_and_others_never(
    venue: Venue, other_venue: Venue, account: Account
) -> None:
    second = builders.venue("Trattoria")
    sandbox = builders.venue("Trial", is_sandbox=True)
    Venue.objects.filter(pk__in=[second.pk, sandbox.pk]).update(account=account)
    hearing = [endpoints.create(place, url=URL)[0] for place in (venue, second)]
    endpoints.create(venue, url=URL, types=["order.created"])
    off, _ = endpoints.create(second, url=URL)
    endpoints.disable(off, now=timezone.now())
    for deaf in (sandbox, other_venue):
        endpoints.create(deaf, url=URL)
    failed(export_builders.create_running())
    assert Event.objects.count() == 1
    assert set(WebhookDelivery.objects.values_list("endpoint", flat=True)) == {one.pk for one in hearing}


def test_the_end_and_its_event_are_one_transaction(venue: Venue, account: Account) -> None:
    endpoints.create(venue, url=URL)
    export = export_builders.create_running()

    def undone() -> None:
        with transaction.atomic():
            failed(export)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        undone()
    export.refresh_from_db()
    assert (export.status, Event.objects.count(), WebhookDelivery.objects.count()) == ("running", 0, 0)


@pytest.mark.parametrize("linked", [True, False])
def test_of_what_no_one_waits_for_nothing_is_written(venue: Venue, linked: bool) -> None:
    endpoints.create(venue, url=URL)
    export = export_builders.create_running()
    if linked:
        links.link_wallet(export_builders.WALLET, account=venue.account_id, now=timezone.now())
        # Ordered by staff.
        Export.objects.update(wallet=None)
        export.refresh_from_db()
    failed(export)
    assert Export.objects.get().status == "failed"
    assert not Event.objects.exists()


def test_the_end_of_one_that_was_never_paid_for_is_no_event(account: Account) -> None:
    export = export_builders.create_queued()
    Export.objects.update(status="awaiting_payment")
    assert commands.cancel_export(export, actor="system", now=timezone.now())
    assert (Export.objects.get().status, Event.objects.count()) == ("cancelled", 0)
