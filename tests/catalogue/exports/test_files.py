"""The files of an export: by signed links, whole or in pieces."""

import hashlib
import json
import resource
import secrets
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from catalogue.models import Export
from payments.devchain.wallets import Wallet as Key
from tests.catalogue import builders
from tests.catalogue.exports import export_builders
from tests.catalogue.exports.export_builders import EXPORTS, UNKNOWN, body, error_of, get
from tests.payments.signing import client_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path) -> Path:
    return export_builders.keep_in(settings, tmp_path / "exports")


@pytest.fixture
def enterprise(wallets: Mapping[str, Key]) -> Client:
    """A caller on the Enterprise tier, who has signed in."""
    export_builders.grant_free_plan(wallets["enterprise"])
    return client_of(wallets["enterprise"])


@pytest.fixture
def done(enterprise: Client) -> dict[str, Any]:
    return export_builders.create_three_files(enterprise)


@pytest.mark.exhaustive
def test_files_open_count_and_checksum_right(client: Client, done: dict[str, Any]) -> None:
    contents = {file["name"]: body(get(client, file["url"])) for file in done["files"]}
    assert [(file["name"], file["rows"]) for file in done["files"]] == [
        ("restaurants-00001.jsonl.gz", 3),
        ("restaurants-00002.jsonl.gz", 3),
        ("restaurants-00003.jsonl.gz", 1),
    ]
    for file in done["files"]:
        content = contents[file["name"]]
        assert (len(content), hashlib.sha256(content).hexdigest()) == (file["bytes"], file["sha256"])
        assert len(export_builders.parse_lines(content)) == file["rows"]
    slugs = [row["slug"] for content in contents.values() for row in export_builders.parse_lines(content)]
    with connection.cursor() as cursor:
        cursor.execute("SELECT slug FROM catalogue_restaurant ORDER BY id")
        assert slugs == [slug for (slug,) in cursor.fetchall()]


@pytest.mark.exhaustive
def test_the_manifest_says_the_same_of_the_files_as_the_record(client: Client, done: dict[str, Any]) -> None:
    answer = get(client, done["manifest_url"])
    content = body(answer)
    assert answer["ETag"] == f'"{hashlib.sha256(content).hexdigest()}"'
    assert answer["Content-Type"] == "application/json"
    result = json.loads(content)
    assert result["files"] == [
        {name: file[name] for name in ("name", "kind", "bytes", "rows", "sha256")} for file in done["files"]
    ]
    assert (result["id"], result["rows"], result["snapshot_at"]) == (done["id"], 7, done["snapshot_at"])


@pytest.mark.exhaustive
def test_a_file_comes_with_headers_that_a_download_needs(client: Client, done: dict[str, Any]) -> None:
    file = done["files"][0]
    answer = get(client, file["url"])
    named = {
        "ETag": f'"{file["sha256"]}"',
        "Content-Length": str(file["bytes"]),
        "Content-Type": "application/gzip",
        "Content-Disposition": 'attachment; filename="restaurants-00001.jsonl.gz"',
        "Accept-Ranges": "bytes",
        "Cache-Control": "private, no-transform",
    }
    assert {name: answer[name] for name in named} == named
    assert "Content-Encoding" not in answer
    assert len(body(answer)) == file["bytes"]

    head = client.head(file["url"])
    assert {name: head[name] for name in named} == named
    assert (head.status_code, head.content) == (200, b"")

    known = get(client, file["url"], **{"if-none-match": f'W/"x", "{file["sha256"]}"'})
    assert (known.status_code, known.content, known["ETag"]) == (304, b"", named["ETag"])


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("asked_for", "first", "last"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=5-9", 5, 10),
        ("bytes=10-", 10, None),
        ("bytes=-7", -7, None),
        ("bytes=3-9999", 3, None),
    ],
)
def test_a_range_is_served_alone(
    client: Client, done: dict[str, Any], asked_for: str, first: int, last: int | None
) -> None:
    file = done["files"][0]
    whole = body(get(client, file["url"]))
    answer = get(client, file["url"], range=asked_for)
    piece = body(answer)
    start = first % len(whole)
    assert answer.status_code == 206
    assert piece == whole[first:last]
    assert answer["Content-Range"] == f"bytes {start}-{start + len(piece) - 1}/{len(whole)}"
    assert answer["Content-Length"] == str(len(piece))


@pytest.mark.exhaustive
@pytest.mark.parametrize("asked_for", ["bytes=0-1,3-4", "lines=1-2", "bytes=9-3", "bytes=a-b", "bytes=-"])
def test_what_is_no_single_range_is_answered_with_the_whole_file(
    client: Client, done: dict[str, Any], asked_for: str
) -> None:
    answer = get(client, done["files"][0]["url"], range=asked_for)
    assert (answer.status_code, len(body(answer))) == (200, done["files"][0]["bytes"])


@pytest.mark.exhaustive
def test_a_range_past_the_end_is_416_and_says_how_long_the_file_is(client: Client, done: dict[str, Any]) -> None:
    file = done["files"][0]
    for asked_for in (f"bytes={file['bytes']}-", "bytes=-0"):
        answer = get(client, file["url"], range=asked_for)
        assert error_of(answer) == (416, "range_not_satisfiable", None)
        assert answer["Content-Range"] == f"bytes */{file['bytes']}"


@pytest.mark.exhaustive
def test_a_range_of_another_file_than_the_caller_has_begun_is_the_whole_file(
    client: Client, done: dict[str, Any]
) -> None:
    url, tag = done["files"][0]["url"], f'"{done["files"][0]["sha256"]}"'
    same = get(client, url, **{"range": "bytes=4-", "if-range": tag})
    assert (same.status_code, len(body(same))) == (206, done["files"][0]["bytes"] - 4)
    other = get(client, url, **{"range": "bytes=4-", "if-range": '"other"'})
    assert (other.status_code, len(body(other))) == (200, done["files"][0]["bytes"])


@pytest.mark.exhaustive
def test_the_manifest_is_always_whole_as_a_part_of_it_would_be_no_json(client: Client, done: dict[str, Any]) -> None:
    answer = get(client, done["manifest_url"], range="bytes=4-9")
    assert (answer.status_code, answer["Accept-Ranges"]) == (200, "none")
    assert json.loads(body(answer))["id"] == done["id"]


@pytest.mark.exhaustive
def test_a_link_that_we_did_not_make_leads_nowhere(client: Client, done: dict[str, Any]) -> None:
    url: str = done["files"][0]["url"]
    signature = url.rpartition("signature=")[2]
    for wrong in (
        url.replace(signature, signature[:-1] + ("A" if signature[-1] != "A" else "B")),
        url.replace("00001", "00002"),
        url.replace("until=", "until=1"),
        url.replace(done["id"], UNKNOWN),
        url.partition("&")[0],
        url.replace("until=", "until=9"),
    ):
        assert error_of(get(client, wrong)) == (404, "not_found", None)


@pytest.mark.exhaustive
def test_a_link_is_good_for_an_hour_and_the_record_has_a_fresh_one(enterprise: Client, done: dict[str, Any]) -> None:
    url, now = done["files"][0]["url"], timezone.now()
    with time_machine.travel(now + timedelta(minutes=59), tick=False):
        assert body(get(enterprise, url))
    with time_machine.travel(now + timedelta(minutes=61), tick=False):
        assert error_of(get(enterprise, url)) == (410, "gone", None)
        fresh = enterprise.get(f"{EXPORTS}/{done['id']}").json()["files"][0]["url"]
        assert body(get(enterprise, fresh))


@pytest.mark.exhaustive
def test_the_owner_fetches_files_by_their_plain_address(enterprise: Client, done: dict[str, Any]) -> None:
    address = done["files"][0]["url"].partition("?")[0]
    assert len(body(get(enterprise, address))) == done["files"][0]["bytes"]
    assert error_of(get(enterprise, f"{EXPORTS}/{done['id']}/files/restaurants-00004.jsonl.gz"))[0] == 404


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["restaurants-00002.jsonl.gz", "manifest.json"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_file_that_we_have_lost_is_503_and_an_error_in_the_log(
    enterprise: Client, done: dict[str, Any], folder: Path, caplog: pytest.LogCaptureFixture, method: str, name: str
) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            path.unlink()
    answer = enterprise.generic(method, f"{EXPORTS}/{done['id']}/files/{name}")
    assert (answer.status_code, answer["Retry-After"]) == (503, "2")
    if method == "GET":
        assert error_of(answer) == (503, "service_unavailable", None)
    (logged,) = [entry for entry in caplog.records if entry.name == "catalogue.exports.downloads.signed_urls"]
    assert (logged.levelname, done["id"] in logged.getMessage()) == ("ERROR", True)


@pytest.mark.exhaustive
def test_a_file_of_another_size_than_was_written_is_503(
    enterprise: Client, done: dict[str, Any], folder: Path
) -> None:
    for path in folder.rglob("*.gz"):
        path.write_bytes(path.read_bytes()[:-1])
    assert error_of(get(enterprise, done["files"][0]["url"])) == (503, "service_unavailable", None)


@contextmanager
def nearly_full(folder: Path) -> Iterator[None]:
    """Room for so little that no file of an export fits: on a real small disk, where we may mount one."""
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", str(folder)], capture_output=True, check=False
    )
    maximum, never = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        if mounted.returncode:
            resource.setrlimit(resource.RLIMIT_FSIZE, (16, never))
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (maximum, never))
        if not mounted.returncode:
            subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.exhaustive
@pytest.mark.parametrize("format", ["jsonl.gz", "parquet"])
def test_a_full_disk_is_reported_on_the_row_and_leaves_nothing(folder: Path, format: str) -> None:  # noqa: A002  # its name
    for _ in range(200):
        builders.restaurant(name=secrets.token_hex(30))
    export = export_builders.create_running()
    Export.objects.update(format=format)
    export.refresh_from_db()
    with nearly_full(folder):
        export_builders.run_step(export)
        assert export_builders.list_stored(folder) == set()
    assert export.error == "Part 1 could not be written: the storage did not accept it. It will be retried."
    assert (export.status, export.parts.get().state) == ("running", "queued")
    export_builders.run_to_end(export)
    assert (export.status, export.rows, len(export_builders.list_stored(folder))) == ("succeeded", 200, 2)


@pytest.mark.exhaustive
def test_a_folder_that_cannot_be_written_is_reported_on_the_row(folder: Path) -> None:
    builders.restaurant()
    export = export_builders.create_running()
    folder.write_text("a file in its place")
    export_builders.run_step(export)
    assert export.error == "Part 1 could not be written: the storage did not accept it. It will be retried."
    folder.unlink()
    export_builders.run_to_end(export)
    assert export.status == "succeeded"


def test_files_and_folders_of_exports_are_no_one_elses(folder: Path) -> None:
    builders.restaurant()
    export_builders.create_finished()
    modes = {path.is_dir(): path.stat().st_mode & 0o777 for path in folder.rglob("*")}
    assert modes == {True: 0o700, False: 0o600}


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("format", "kind"), [("csv.gz", "application/gzip"), ("parquet", "application/vnd.apache.parquet")]
)
def test_each_format_is_served_under_its_own_name_and_type(
    enterprise: Client,
    client: Client,
    format: str,  # noqa: A002  # its name
    kind: str,
) -> None:
    builders.listed(builders.restaurant())
    export = export_builders.post_accepted(enterprise, format=format)
    export_builders.run_to_end(export)
    (file,) = export_builders.get_record(enterprise, export)["files"]
    answer = get(client, file["url"])
    name = f"restaurants-00001.{format}"
    assert (file["name"], answer["Content-Type"]) == (name, kind)
    assert answer["Content-Disposition"] == f'attachment; filename="{name}"'
    assert hashlib.sha256(body(answer)).hexdigest() == file["sha256"]
