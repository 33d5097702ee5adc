"""Exports in the admin: seen with their progress, begun anew and cancelled."""

import re
from datetime import timedelta
from decimal import Decimal
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from catalogue.exports.jobs import finalize, worker
from catalogue.models import Export, ExportPart
from tests.catalogue import builders as catalogue_builders
from tests.catalogue.exports import export_builders
from tests.catalogue.html import address
from tests.payments import ledger_builders
from tests.support import builders

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path) -> Path:
    return export_builders.keep_in(settings, tmp_path / "exports")


@pytest.fixture
def staff() -> Client:
    return builders.staff()


def act(staff: Client, action: str, *exports: Export) -> list[str]:
    """What the list says after an action on these exports."""
    answer = send(staff, action, *exports, confirmed="Yes")
    assert answer.status_code == 302
    return builders.messages_of(answer)


def send(staff: Client, action: str, *exports: Export, **more: str) -> Any:
    """The answer to the form of the list."""
    form = {"action": action, "_selected_action": [str(export.pk) for export in exports]}
    return staff.post(address(Export, "changelist"), {**form, **more})


def columns(page: str) -> list[str]:
    """The headings of a list."""
    return re.findall(r'<th[^>]*class="[^"]*column-(\w+)', page)


def test_the_list_shows_how_far_an_export_is_in_a_bar_that_is_read_out(staff: Client) -> None:
    for _ in range(4):
        catalogue_builders.restaurant()
    export = export_builders.create_running(rows_per_part=1)
    worker.run_step(export, max_step_s=0)
    page = staff.get(address(Export, "changelist")).content.decode()
    (bar,) = re.findall("<progress.*?</progress>[^<]*", page)
    name = f"Progress of {export.public_id}"
    assert bar == f'<progress max="100" value="25" aria-label="{name}" data-runs>25 %</progress> 25 %'


def test_an_export_is_shown_with_its_parts_and_what_went_wrong_is_escaped(staff: Client) -> None:
    catalogue_builders.restaurant()
    export = export_builders.create_running()
    export_builders.run_step(export)
    Export.objects.update(error="<script>alert(1)</script>")
    page = staff.get(address(Export, "change", export.pk)).content.decode()
    sha256 = ExportPart.objects.get().sha256
    assert f'<span title="{sha256}">{sha256[:12]}…</span>' in page
    assert "Wallet id" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script>alert" not in page


def test_a_failed_export_is_restarted_and_another_is_not(staff: Client) -> None:
    failed, done = export_builders.create_running(status="open"), export_builders.create_finished()
    finalize.fail_export(failed, "The disk was full.", now=catalogue_builders.NOW)
    text = act(staff, "restart", failed, done)
    assert sorted(text) == sorted(
        [f"Export {failed.public_id} is queued.", f"Export {done.public_id} has not failed."]
    )
    assert dict(Export.objects.values_list("pk", "status")) == {failed.pk: "queued", done.pk: "succeeded"}


def test_an_export_that_was_ordered_again_is_not_restarted(staff: Client) -> None:
    failed = export_builders.create_running()
    finalize.fail_export(failed, "The disk was full.", now=catalogue_builders.NOW)
    export_builders.create_queued()
    (text,) = act(staff, "restart", failed)
    assert text == f"Export {failed.public_id}: The wallet has an unfinished export with the same specification."


def test_what_went_wrong_stands_beside_the_status_in_the_list(staff: Client) -> None:
    export_builders.create_queued()
    page = staff.get(address(Export, "changelist")).content.decode()
    assert columns(page) == [
        *("short_id", "status_badge", "content", "bar", "failure", "owner", "paid", "rows", "created_at", "assignee")
    ]


@pytest.mark.parametrize(("state", "words"), [("delivered", "delivered"), ("refund_due", "refund due")])
def test_what_was_paid_is_shown_with_what_became_of_it(staff: Client, state: str, words: str) -> None:
    row = ledger_builders.payment(state=state, amount_usdc=Decimal("0.5"))
    Export.objects.filter(pk=export_builders.create_queued().pk).update(payment=row)
    page = staff.get(address(Export, "changelist")).content.decode()
    assert f">0.5 USDC, {words}</a>" in page


def test_cancelling_asks_first(staff: Client, folder: Path) -> None:
    done, failed = export_builders.create_finished(), export_builders.create_running()
    finalize.fail_export(failed, "The disk was full.", now=catalogue_builders.NOW)
    stored = export_builders.list_stored(folder)
    page = send(staff, "cancel", done, failed)
    assert page.status_code == 200
    words = " ".join(page.content.decode().split())
    assert "1 export will be cancelled, and its files deleted." in words
    assert (done.public_id in words, failed.public_id in words) == (True, False)
    assert export_builders.list_stored(folder) == stored
    assert dict(Export.objects.values_list("pk", "status")) == {failed.pk: "failed", done.pk: "succeeded"}


def test_exports_are_cancelled_and_their_files_removed(staff: Client, folder: Path) -> None:
    done, queued = export_builders.create_finished(), export_builders.create_queued()
    text = act(staff, "cancel", done, queued)
    assert set(text) == {
        f"Export {export.public_id} was cancelled and its files deleted." for export in (done, queued)
    }
    assert dict(Export.objects.values_list("pk", "status")) == {done.pk: "expired", queued.pk: "cancelled"}
    assert export_builders.list_stored(folder) == set()
    assert f"Export {done.public_id} had no files." in act(staff, "cancel", done)


def test_one_that_runs_says_how_fast_it_is_and_how_long_it_takes(staff: Client) -> None:
    export = export_builders.create_running()
    Export.objects.update(snapshot_at=timezone.now() - timedelta(seconds=100), rows_total=4000, generation=1)
    export.parts.update(rows=1000)
    page = staff.get(address(Export, "changelist")).content.decode()
    assert '<div class="quiet">10 rows/s, 5 min left</div>' in page


def test_the_pages_refresh_themselves_while_something_runs(staff: Client) -> None:
    export = export_builders.create_queued()
    for page in (address(Export, "changelist"), address(Export, "change", export.pk)):
        assert 'src="/static/catalogue/refreshing.js"' in staff.get(page).content.decode()
    assert " data-runs>" in staff.get(address(Export, "changelist")).content.decode()
    Export.objects.update(status="cancelled")
    assert " data-runs>" not in staff.get(address(Export, "changelist")).content.decode()


def test_staff_order_an_export_of_their_own(staff: Client) -> None:
    catalogue_builders.market()
    order = {"dataset": "restaurants", "format": "csv.gz", "market": "copenhagen", "status": "open"}
    order |= {"updated_since": "2026-11-21T18:00", "fields_": "reviews"}
    answer = staff.post(address(Export, "add"), order)
    export = Export.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, address(Export, "change", export.pk))
    assert builders.messages_of(answer) == [f"Export {export.public_id} is queued."]
    assert (export.wallet, export.queue, export.format, export.fields) == (None, "standard", "csv.gz", ["reviews"])
    assert export.filter == {"market": "copenhagen", "status": "open", "updated_since": "2026-11-21T18:00:00Z"}
    assert "No exports yet" not in staff.get(address(Export, "changelist")).content.decode()


@pytest.mark.parametrize(
    ("order", "words"),
    [
        ({"dataset": "reviews", "fields_": "reviews"}, "an export of reviews has all its fields"),
        ({"dataset": "restaurants", "since_export": export_builders.UNKNOWN}, "You have no such export."),
        ({"dataset": "dishes"}, "Select a valid choice."),
    ],
)
def test_an_order_that_cannot_be_is_shown_again_with_the_reason(
    staff: Client, order: dict[str, str], words: str
) -> None:
    page = staff.post(address(Export, "add"), {"format": "parquet", **order}).content.decode()
    assert words in page
    assert not Export.objects.exists()


def test_staff_fetch_the_files_by_signed_links(staff: Client, client: Client) -> None:
    catalogue_builders.listed(catalogue_builders.restaurant())
    export = export_builders.create_finished()
    page = staff.get(address(Export, "change", export.pk)).content.decode()
    manifest, file = re.findall(r'href="(http[^"]+/files/[^"]+)"', page)
    assert client.get(unescape(manifest)).json()["id"] == export.public_id
    assert len(export_builders.parse_lines(client.get(unescape(file)).content)) == 1


def test_an_empty_list_says_what_fills_it(staff: Client) -> None:
    page = staff.get(address(Export, "changelist")).content.decode()
    assert "Wallets order exports with POST /v1/exports" in page
    assert "Create export" in page


def test_the_list_costs_the_same_for_many_exports_and_an_export_is_found_by_its_id(
    staff: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    exports = [export_builders.create_running(updated_since=f"2026-01-0{day}T00:00:00Z") for day in range(1, 4)]
    with django_assert_max_num_queries(11):
        page = staff.get(address(Export, "changelist")).content.decode()
    assert page.count("<progress") == 3
    with django_assert_max_num_queries(12):
        staff.get(address(Export, "change", exports[0].pk))
    found = staff.get(address(Export, "changelist"), {"q": exports[1].public_id}).content.decode()
    assert (found.count("<progress"), exports[1].public_id in found) == (1, True)


@pytest.mark.exhaustive
@pytest.mark.parametrize("model", [Export, ExportPart])
def test_what_workers_write_is_for_reading_only(staff: Client, model: type[Export | ExportPart]) -> None:
    export = export_builders.create_running()
    row = export if model is Export else export.parts.get()
    assert staff.get(address(model, "add")).status_code == (200 if model is Export else 403)
    assert staff.post(address(model, "delete", row.pk), {"post": "yes"}).status_code == 403
    page = staff.get(address(model, "change", row.pk)).content.decode()
    assert '<input type="text"' not in page
    assert 'name="_save"' not in page
    assert staff.post(address(model, "change", row.pk), {}).status_code == 403
