"""Exports in the admin: seen with their progress, begun anew and cancelled."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from catalogue.exports import write
from catalogue.models import Export, ExportPart
from tests import make as builders
from tests.catalogue import exporting, make
from tests.catalogue.pages import address

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path) -> Path:
    return exporting.keep_in(settings, tmp_path / "exports")


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
        make.restaurant()
    export = exporting.begun(rows_a_part=1)
    exporting.step(export)
    page = staff.get(address(Export, "changelist")).content.decode()
    (bar,) = re.findall("<progress.*?</progress>[^<]*", page)
    assert bar == (f'<progress max="100" value="25" aria-label="Progress of {export.public_id}">25 %</progress> 25 %')


def test_an_export_is_shown_with_its_parts_and_what_went_wrong_is_escaped(staff: Client) -> None:
    make.restaurant()
    export = exporting.begun()
    exporting.step(export)
    Export.objects.update(error="<script>alert(1)</script>")
    page = staff.get(address(Export, "change", export.pk)).content.decode()
    sha256 = ExportPart.objects.get().sha256
    assert f'<span title="{sha256}">{sha256[:12]}…</span>' in page
    assert "Wallet id" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script>alert" not in page


def test_a_failed_export_is_begun_anew_and_another_is_not(staff: Client) -> None:
    failed, done = exporting.begun(status="open"), exporting.finished()
    write.fail(failed, "The disk was full.", now=make.NOW)
    said = act(staff, "restart", failed, done)
    assert sorted(said) == sorted(
        [f"Export {failed.public_id} is queued.", f"Export {done.public_id} has not failed."]
    )
    assert dict(Export.objects.values_list("pk", "status")) == {failed.pk: "queued", done.pk: "succeeded"}


def test_an_export_that_was_asked_for_again_is_not_begun_anew(staff: Client) -> None:
    failed = exporting.begun()
    write.fail(failed, "The disk was full.", now=make.NOW)
    exporting.queued()
    (said,) = act(staff, "restart", failed)
    assert said == f"Export {failed.public_id}: The wallet has asked for the same again, and that one is under way."


def test_what_went_wrong_stands_beside_the_status_in_the_list(staff: Client) -> None:
    exporting.queued()
    page = staff.get(address(Export, "changelist")).content.decode()
    assert columns(page) == ["public_id", "status", "failure", "bar", "owner", "rows", "created_at"]


def test_cancelling_asks_first(staff: Client, folder: Path) -> None:
    done, failed = exporting.finished(), exporting.begun()
    write.fail(failed, "The disk was full.", now=make.NOW)
    kept = exporting.stored(folder)
    page = send(staff, "cancel", done, failed)
    assert page.status_code == 200
    words = " ".join(page.content.decode().split())
    assert "1 export will be cancelled, and its files removed." in words
    assert (done.public_id in words, failed.public_id in words) == (True, False)
    assert exporting.stored(folder) == kept
    assert dict(Export.objects.values_list("pk", "status")) == {failed.pk: "failed", done.pk: "succeeded"}


def test_exports_are_cancelled_and_their_files_removed(staff: Client, folder: Path) -> None:
    done, queued = exporting.finished(), exporting.queued()
    said = act(staff, "cancel", done, queued)
    assert set(said) == {f"Export {export.public_id} has no files any more." for export in (done, queued)}
    assert dict(Export.objects.values_list("pk", "status")) == {done.pk: "expired", queued.pk: "cancelled"}
    assert exporting.stored(folder) == set()
    assert f"Export {done.public_id} had none already." in act(staff, "cancel", done)


@pytest.mark.parametrize("model", [Export, ExportPart])
def test_what_workers_write_is_for_reading_only(staff: Client, model: type[Export | ExportPart]) -> None:
    export = exporting.begun()
    row = export if model is Export else export.parts.get()
    assert staff.get(address(model, "add")).status_code == 403
    assert staff.post(address(model, "delete", row.pk), {"post": "yes"}).status_code == 403
    page = staff.get(address(model, "change", row.pk)).content.decode()
    assert '<input type="text"' not in page
    assert 'name="_save"' not in page
    assert staff.post(address(model, "change", row.pk), {}).status_code == 403
