"""Exports whose files are kept in a bucket, by a server that speaks S3."""

import hashlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
import time_machine
from django.conf import settings as django_settings
from django.core.files.base import ContentFile
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from catalogue.exports.jobs import claims, parts, shared_snapshot
from catalogue.exports.storage import files
from catalogue.models import Export
from catalogue.tasks import clean_up_exports
from payments.devchain.wallets import Wallet as Key
from tests.catalogue import builders
from tests.catalogue.exports import export_builders, s3_server
from tests.catalogue.exports.export_builders import EXPORTS, error_of
from tests.catalogue.exports.s3_server import BUCKET, KEY, SECRET, Service
from tests.payments.signing import client_of
from tests.support.live_server import database_url, served

pytestmark = pytest.mark.django_db(transaction=True)

PREFIX = "exports/of us"


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with s3_server.serving() as running:
        yield running


@pytest.fixture(autouse=True)
def export_dir(service: Service, settings: Settings, tmp_path: Path) -> Path:
    """Keep the files in an empty bucket; the folder where none should be."""
    service.empty()
    folder = export_builders.keep_in(settings, tmp_path / "exports")
    s3_server.keep_in(settings, service.endpoint)
    return folder


@pytest.fixture
def enterprise(wallets: Mapping[str, Key]) -> Client:
    export_builders.grant_free_plan(wallets["enterprise"])
    return client_of(wallets["enterprise"])


def make_seven() -> None:
    """Restaurants for three files."""
    for _ in range(7):
        builders.listed(builders.restaurant())


def running() -> Export:
    """An export of three parts, none of them written."""
    make_seven()
    return export_builders.create_running(rows_per_part=3)


@pytest.mark.exhaustive
def test_an_export_goes_through_a_bucket_and_leaves_nothing_there(
    enterprise: Client, client: Client, service: Service, export_dir: Path
) -> None:
    done = export_builders.create_three_files(enterprise)
    keys = service.keys()
    assert len(keys) == 4
    assert all(key.startswith(f"{PREFIX}/{done['id']}/") for key in keys)
    assert not export_dir.exists()

    for file in done["files"]:
        answer = client.get(file["url"])
        assert (answer.status_code, answer["Cache-Control"], answer.content) == (302, "no-store", b"")
        fetched = httpx.get(answer["Location"])
        assert fetched.status_code == 200
        assert (fetched.headers["Content-Type"], fetched.headers.get("Content-Encoding")) == ("application/gzip", None)
        assert fetched.headers["Content-Disposition"] == f'attachment; filename="{file["name"]}"'
        assert fetched.headers["Cache-Control"] == "private, no-transform"
        assert hashlib.sha256(fetched.content).hexdigest() == file["sha256"]
        assert len(export_builders.parse_lines(fetched.content)) == file["rows"]
    body = httpx.get(client.get(done["manifest_url"])["Location"]).json()
    assert (body["id"], body["rows"], len(body["files"])) == (done["id"], 7, 3)

    clean_up_exports()
    assert service.keys() == keys
    Export.objects.update(expires_at=builders.NOW.replace(year=2020))
    clean_up_exports()
    assert Export.objects.get().status == "expired"
    assert service.keys() == []


@pytest.mark.exhaustive
def test_a_link_into_the_bucket_lives_as_long_as_ours_and_tells_no_secret(
    enterprise: Client, client: Client, service: Service
) -> None:
    file = export_builders.create_three_files(enterprise)["files"][0]
    now = timezone.now()
    with time_machine.travel(now + timedelta(minutes=50), tick=False):
        by_link = client.get(file["url"])["Location"]
        by_session = enterprise.get(file["url"].partition("?")[0])["Location"]
        assert client.get(file["url"].partition("?")[0]).status_code == 401
    left = int(httpx.URL(by_link).params["X-Amz-Expires"])
    assert 595 <= left <= 600
    assert httpx.URL(by_session).params["X-Amz-Expires"] == "3600"
    for address in (by_link, by_session):
        assert address.startswith(f"{service.endpoint}/{BUCKET}/")
        assert httpx.URL(address).params["X-Amz-Algorithm"] == "AWS4-HMAC-SHA256"
        assert SECRET not in httpx.URL(address).query.decode() + address
        assert (KEY in address, "Authorization" in address) == (True, False)
    with time_machine.travel(now + timedelta(minutes=61), tick=False):
        assert error_of(client.get(file["url"])) == (410, "gone", None)


@pytest.mark.exhaustive
def test_a_link_leads_on_by_head_by_range_and_from_a_page_elsewhere(enterprise: Client, client: Client) -> None:
    file = export_builders.create_three_files(enterprise)["files"][0]
    origin = {"origin": "https://page.example"}
    head = client.head(file["url"], headers=origin)
    assert (head.status_code, head.content, head["Access-Control-Allow-Origin"]) == (302, b"", "*")
    result = httpx.head(head["Location"])
    assert (result.status_code, result.headers["Content-Length"]) == (200, str(file["bytes"]))
    answer = client.get(file["url"], headers={"range": "bytes=4-9", **origin})
    assert (answer.status_code, answer["Access-Control-Allow-Origin"]) == (302, "*")
    piece = httpx.get(answer["Location"], headers={"Range": "bytes=4-9"})
    assert (piece.status_code, piece.headers["Content-Range"]) == (206, f"bytes 4-9/{file['bytes']}")
    known = client.get(file["url"], headers={"if-none-match": f'"{file["sha256"]}"'})
    assert (known.status_code, known["ETag"]) == (304, f'"{file["sha256"]}"')


@pytest.mark.exhaustive
def test_a_cancelled_export_leaves_nothing_in_the_bucket(enterprise: Client, client: Client, service: Service) -> None:
    done = export_builders.create_three_files(enterprise)
    assert enterprise.delete(f"{EXPORTS}/{done['id']}").status_code == 204
    assert service.keys() == []
    assert error_of(client.get(done["files"][0]["url"])) == (410, "gone", None)


@pytest.mark.exhaustive
def test_what_no_row_names_is_swept_out_of_the_bucket(service: Service) -> None:
    export = running()
    export_builders.run_to_end(export)
    keys = service.keys()
    folder = f"{PREFIX}/{export.public_id}"
    for key in (
        f"{folder}/1-9.jsonl.gz",
        f"{PREFIX}/{export_builders.UNKNOWN}/1-1.jsonl.gz",
        f"{PREFIX}/other/1-1.parquet",
    ):
        service.client.put_object(Bucket=BUCKET, Key=key, Body=b"left")
    service.client.put_object(Bucket=BUCKET, Key="another's/file", Body=b"not ours")
    clean_up_exports()
    assert service.keys() == sorted(["another's/file", *keys])


@pytest.mark.exhaustive
def test_folders_of_old_exports_are_not_scanned(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    export = running()
    export_builders.run_to_end(export)
    service.client.put_object(Bucket=BUCKET, Key=f"{PREFIX}/{export.public_id}/1-9.jsonl.gz", Body=b"left")
    Export.objects.update(finished_at=timezone.now() - timedelta(hours=2))
    caplog.clear()
    clean_up_exports()
    # One call for all that are there.
    assert len([entry for entry in caplog.records if entry.name == "werkzeug"]) == 1
    assert len(service.keys()) == 5
    Export.objects.update(expires_at=builders.NOW.replace(year=2020))
    clean_up_exports()
    assert service.keys() == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("place", ["", "exports", "a/b c"])
def test_folders_and_files_are_listed_below_any_prefix_and_beyond_a_page(
    service: Service, settings: Settings, place: str
) -> None:
    s3_server.keep_in(settings, service.endpoint, location=place)
    storage = files.storage()
    assert (files.list_folders(), files.list_names("ex_1")) == ([], [])
    names = sorted(f"{number}.parquet" for number in range(3))
    for name in names:
        storage.save(f"ex_1/{name}", ContentFile(b"one"))
    storage.save("ex_1/0.parquet", ContentFile(b"another"))
    storage.save("ex_2/0.parquet", ContentFile(b"one"))
    assert (sorted(files.list_folders()), sorted(files.list_names("ex_1"))) == (["ex_1", "ex_2"], names)
    assert (storage.size("ex_1/0.parquet"), storage.open("ex_1/0.parquet").read()) == (7, b"another")
    files.remove_all("ex_1")
    assert files.list_folders() == ["ex_2"]
    with pytest.raises(FileNotFoundError):
        storage.open("ex_1/0.parquet")


@pytest.mark.exhaustive
def test_a_file_is_sent_in_one_piece_and_its_draft_has_no_name(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with files.open_draft("ex_1/1-1.parquet") as draft:
        draft.write(os.urandom(20_000_000))
        assert list(tmp_path.iterdir()) == []
        draft.publish("ex_1/1-1.parquet")
    assert files.storage().size("ex_1/1-1.parquet") == 20_000_000
    (entry,) = service.client.list_objects_v2(Bucket=BUCKET)["Contents"]
    # A file of several pieces says how many: "...-3".
    assert "-" not in entry["ETag"]
    assert "Uploads" not in service.client.list_multipart_uploads(Bucket=BUCKET)


@pytest.mark.exhaustive
def test_a_bucket_that_goes_away_in_the_middle_is_reported_in_seconds_and_the_export_goes_on_when_it_is_back(
    service: Service, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    export = running()
    export.parts.filter(seq__gt=1).update(lease_until=timezone.now() + timedelta(hours=1))
    export_builders.run_step(export)
    assert len(service.keys()) == 1
    export.parts.filter(seq=2).update(lease_until=None)
    s3_server.keep_in(settings, "http://127.0.0.1:1")
    began = time.monotonic()
    export_builders.run_step(export)
    assert time.monotonic() - began < 15
    assert export.error == "Part 2 could not be written: the storage did not accept it. It will be retried."
    assert "the bucket could not be used (EndpointConnectionError)" in caplog.text
    assert (export.status, export.parts.get(seq=2).state) == ("running", "queued")
    with pytest.raises(OSError, match="could not be used"):
        files.list_folders()
    files.remove_all(export.public_id)
    assert "the next cleanup retries it" in caplog.text
    assert SECRET not in caplog.text + export.error
    s3_server.keep_in(settings, service.endpoint)
    export_builders.run_to_end(export)
    assert (export.status, export.rows, len(service.keys())) == ("succeeded", 7, 4)


@pytest.mark.exhaustive
def test_why_a_bucket_refuses_is_for_the_log_alone(
    service: Service, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    s3_server.keep_in(settings, service.endpoint, bucket_name="nobody-has-this")
    export = running()
    export_builders.run_step(export)
    assert export.error == "Part 1 could not be written: the storage did not accept it. It will be retried."
    assert "NoSuchBucket" in caplog.text
    for refused in (
        lambda: files.list_folders(),
        lambda: files.storage().save("ex_1/a", ContentFile(b"a")),
        lambda: files.storage().open("ex_1/a"),
    ):
        with pytest.raises(OSError, match=r"NoSuchBucket|does not exist|could not be used"):
            refused()
    assert SECRET not in caplog.text


@pytest.mark.exhaustive
def test_wrong_keys_are_reported_and_change_nothing(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    # From here on the service judges who asks, as it does not by itself.
    httpx.post(f"{service.endpoint}/moto-api/reset-auth", content=b"0").raise_for_status()
    try:
        export = running()
        export_builders.run_step(export)
        assert export.error == "Part 1 could not be written: the storage did not accept it. It will be retried."
        assert "(InvalidAccessKeyId)" in caplog.text
        assert {part.state for part in export.parts.all()} == {"queued"}
    finally:
        httpx.post(f"{service.endpoint}/moto-api/reset-auth", content=b"inf").raise_for_status()
    assert service.keys() == []


@pytest.mark.stack
def test_web_servers_redirect_to_a_bucket_without_a_request_to_it(
    enterprise: Client, client: Client, service: Service, settings: Settings, tmp_path: Path
) -> None:
    file = export_builders.create_three_files(enterprise)["files"][0]
    path = httpx.URL(file["url"]).raw_path.decode()
    with served(tmp_path / "web.log", PUBLIC_BASE_URL="", **s3_server.environment(service.endpoint)) as base_url:
        answer = httpx.get(base_url + path)
        assert answer.status_code == 302, answer.text
        fetched = httpx.get(base_url + path, follow_redirects=True)
        assert hashlib.sha256(fetched.content).hexdigest() == file["sha256"]
    with socket.create_server(("127.0.0.1", 0)) as bucket:
        endpoint = f"http://127.0.0.1:{bucket.getsockname()[1]}"
        s3_server.keep_in(settings, endpoint)
        assert client.get(file["url"])["Location"].startswith(f"{endpoint}/")
        bucket.setblocking(False)
        with pytest.raises(BlockingIOError):
            bucket.accept()


WEB = """
import sys
{before}
import config.wsgi
from django.test import Client
Client().get("/v1/exports/ex_1/files/manifest.json")
heavy = ("boto3", "botocore", "storages", "pyarrow", "adbc_driver_postgresql", "duckdb")
print(sorted({{name.partition(".")[0] for name in sys.modules}} & set(heavy)))
"""


def python(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A script in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", script],
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DATABASE_URL": database_url(),
            "ALLOWED_HOSTS": "testserver",
            **environment,
        },
        cwd=django_settings.BASE_DIR,
        capture_output=True,
        check=False,
        text=True,
    )


@pytest.mark.stack
def test_web_servers_without_a_bucket_load_nothing_for_one_nor_for_files() -> None:
    result = python(WEB.format(before=""))
    assert (result.returncode, result.stdout) == (0, "[]\n"), result.stderr


SETTINGS = (
    "import importlib.util as u\n{before}\nfrom django.conf import settings\nprint(settings.STORAGES['exports'])"
)
WITHOUT = "real = u.find_spec\nu.find_spec = lambda name, *rest: None if name == '{name}' else real(name, *rest)"


@pytest.mark.stack
@pytest.mark.parametrize(
    ("before", "environment", "message"),
    [
        (WITHOUT.format(name="storages"), {}, "without its extra `s3`"),
        (WITHOUT.format(name="boto3"), {}, "without its extra `s3`"),
        ("", {"EXPORTS_S3_SECRET_ACCESS_KEY": ""}, "EXPORTS_S3_SECRET_ACCESS_KEY"),
        ("", {"EXPORTS_S3_ENDPOINT_URL": "minio:9000"}, "EXPORTS_S3_ENDPOINT_URL"),
    ],
    ids=["no-storages", "no-boto3", "half-a-key", "no-address"],
)
def test_a_bucket_that_cannot_be_used_stops_the_start_by_the_name_of_what_is_wrong(
    before: str, environment: dict[str, str], message: str
) -> None:
    found = python(SETTINGS.format(before=before), **(s3_server.environment("http://127.0.0.1:1") | environment))
    assert found.returncode != 0
    last = found.stderr.strip().splitlines()[-1]
    assert message in last
    assert SECRET not in found.stderr


@pytest.mark.exhaustive
def test_a_file_that_is_gone_from_a_bucket_is_rewritten(service: Service) -> None:
    export = running()
    with shared_snapshot.join_snapshot(export) as snapshot:
        while part := claims.claim_part(export):
            parts.write_part(export, part, snapshot)
        files.storage().delete(files.path_of(export, export.parts.get(seq=1)))
    export_builders.run_to_end(export)
    assert (export.status, export.rows, len(service.keys())) == ("succeeded", 7, 4)
    assert len(export_builders.read_rows(export)) == 7
