"""Exports in the admin: seen with their progress, begun anew and cancelled."""

import re
from pathlib import Path

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
    form = {"action": action, "_selected_action": [str(export.pk) for export in exports]}
    answer = staff.post(address(Export, "changelist"), form)
    assert answer.status_code == 302
    return builders.messages_of(answer)


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
    assert ExportPart.objects.get().sha256 in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script>alert" not in page


def test_a_failed_export_is_begun_anew_and_another_is_not(staff: Client) -> None:
    failed, done = exporting.begun(status="open"), exporting.finished()
    write.fail(failed, "The disk was full.", now=make.NOW)
    said = act(staff, "restart", failed, done)
    assert sorted(said) == sorted([f"{failed.public_id} is queued.", f"{done.public_id} has not failed."])
    assert dict(Export.objects.values_list("pk", "status")) == {failed.pk: "queued", done.pk: "succeeded"}


def test_an_export_that_was_asked_for_again_is_not_begun_anew(staff: Client) -> None:
    failed = exporting.begun()
    write.fail(failed, "The disk was full.", now=make.NOW)
    exporting.queued()
    (said,) = act(staff, "restart", failed)
    assert said == f"{failed.public_id}: The wallet has asked for the same again, and that one is under way."


def test_exports_are_cancelled_and_their_files_removed(staff: Client, folder: Path) -> None:
    done, queued = exporting.finished(), exporting.queued()
    said = act(staff, "cancel", done, queued)
    assert set(said) == {f"{export.public_id} has no files any more." for export in (done, queued)}
    assert dict(Export.objects.values_list("pk", "status")) == {done.pk: "expired", queued.pk: "cancelled"}
    assert exporting.stored(folder) == set()
    assert f"{done.public_id} had none already." in act(staff, "cancel", done)


@pytest.mark.parametrize("model", [Export, ExportPart])
def test_what_workers_write_is_for_reading_only(staff: Client, model: type[Export | ExportPart]) -> None:
    export = exporting.begun()
    row = export if model is Export else export.parts.get()
    assert staff.get(address(model, "add")).status_code == 403
    assert staff.post(address(model, "delete", row.pk), {"post": "yes"}).status_code == 403
    assert '<input type="text"' not in staff.get(address(model, "change", row.pk)).content.decode()
