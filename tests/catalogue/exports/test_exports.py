"""POST, GET and DELETE /v1/exports, and the files behind their links."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Venue
from catalogue.exports.storage import files
from catalogue.models import Export
from payments.devchain.wallets import Wallet as Key
from tests.catalogue import builders
from tests.catalogue.exports import export_builders
from tests.catalogue.exports.export_builders import EXPORTS, UNKNOWN, error_of, get, get_record, post, post_accepted
from tests.payments.signing import client_of
from tests.support import builders as keys

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


def test_an_export_is_accepted_with_its_record_and_its_address(enterprise: Client) -> None:
    now = timezone.now().replace(microsecond=0) + timedelta(seconds=1)
    with time_machine.travel(now, tick=False):
        answer = post(enterprise, filter={"market": builders.market().slug, "status": "open"})
    (export,) = Export.objects.all()
    assert (answer.status_code, answer["X-Tier"]) == (202, "enterprise")
    assert answer["Location"] == f"http://127.0.0.1:8000{EXPORTS}/{export.public_id}"
    assert answer.json() == {
        "id": export.public_id,
        "status": "queued",
        "progress": 0,
        "dataset": "restaurants",
        "format": "jsonl.gz",
        "filter": {"market": "copenhagen", "status": "open"},
        "fields": [],
        "since_export": None,
        "rows": None,
        "removed": None,
        "payment": None,
        "created_at": f"{now:%Y-%m-%dT%H:%M:%SZ}",
        "snapshot_at": None,
        "changes_from": None,
        "files": [],
        "manifest_url": None,
        "expires_at": None,
        "error": None,
    }
    assert enterprise.get(f"{EXPORTS}/{export.public_id}").json() == answer.json()


def test_who_has_not_signed_in_is_asked_to_before_anything_is_judged(client: Client) -> None:
    for call in (
        lambda: post(client, nonsense=1),
        lambda: client.get(EXPORTS, {"nonsense": 1}),
        lambda: client.get(f"{EXPORTS}/{UNKNOWN}"),
        lambda: client.delete(f"{EXPORTS}/{UNKNOWN}"),
        lambda: client.get(f"{EXPORTS}/{UNKNOWN}/files/manifest.json"),
    ):
        answer = call()
        assert error_of(answer) == (401, "missing_credentials", None)
        assert answer["WWW-Authenticate"] == 'Bearer realm="tablewire"'
    assert [client.put(EXPORTS).status_code, client.options(EXPORTS).status_code] == [405, 405]


def test_a_key_without_a_wallet_is_reported_to_link_one(venue: Venue) -> None:
    answer = keys.client(venue).get(EXPORTS)
    assert error_of(answer) == (401, "missing_credentials", None)
    assert "POST /v1/me/wallets" in answer.json()["error"]["message"]


@pytest.mark.parametrize("tier", ["free", "pro", "premium"])
def test_a_wallet_below_enterprise_is_reported_so_and_nothing_is_begun(
    prices: None, wallets: Mapping[str, Key], tier: str
) -> None:
    answer = post(client_of(wallets[tier]))
    assert error_of(answer) == (403, "tier_required", None)
    assert (answer.json()["error"]["tier"], answer.json()["error"]["tier_required"]) == (tier, "enterprise")
    assert not Export.objects.exists()


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("wanted", "param", "words"),
    [
        ({"fliter": {}}, "fliter", "Did you mean `filter`?"),
        (
            {"dataset": "menu"},
            "dataset",
            "This must be one of: restaurants, reviews, photos, landmarks, history, menus.",
        ),
        ({"format": "docx"}, "format", "This must be one of: parquet, jsonl.gz, csv.gz."),
        ({"filter": []}, "filter", "This must be an object."),
        ({"filter": {"marked": "paris"}}, "filter.marked", "Did you mean `market`?"),
        ({"filter": {"market": "copenhagn"}}, "filter.market", "Did you mean `copenhagen`?"),
        ({"filter": {"market": "Paris"}}, "filter.market", ""),
        ({"filter": {"status": "shut"}}, "filter.status", "permanently_closed"),
        ({"filter": {"updated_since": "yesterday"}}, "filter.updated_since", "2026-11-21T19:30:00Z"),
        ({"filter": {"updated_since": "2026-02-30T00:00:00Z"}}, "filter.updated_since", "no such moment"),
        ({"filter": {"updated_since": "0001-01-01T00:00:00+01:00"}}, "filter.updated_since", "no such moment"),
    ],
)
def test_what_is_not_understood_is_refused_by_name(
    enterprise: Client, wanted: dict[str, Any], param: str, words: str
) -> None:
    builders.market()
    answer = post(enterprise, **wanted)
    assert error_of(answer) == (400, "invalid_request", param)
    assert words in answer.json()["error"]["message"]
    assert not Export.objects.exists()


@pytest.mark.parametrize(
    ("wanted", "param", "words"),
    [
        ({"filter": {"status": "open"}}, "filter.status", "An export of landmarks cannot be filtered by status."),
        (
            {"fields": ["reviews"]},
            "fields",
            "Field groups are of restaurants: an export of landmarks has all its fields.",
        ),
        ({"since_export": export_builders.UNKNOWN}, "since_export", "You have no such export."),
    ],
)
def test_what_does_not_fit_is_refused_with_a_message_that_name_no_parameter_twice(
    enterprise: Client, wanted: dict[str, Any], param: str, words: str
) -> None:
    answer = post(enterprise, dataset="landmarks", **wanted)
    assert error_of(answer) == (400, "invalid_request", param)
    assert answer.json()["error"]["details"] == [{"param": param, "message": words}]
    assert answer.json()["error"]["message"] == words


def test_the_same_filter_in_other_words_is_the_same_export(enterprise: Client) -> None:
    first = post_accepted(enterprise, filter={"updated_since": "2026-11-21T19:00:00+01:00", "status": "open"})
    again = post_accepted(
        enterprise, filter={"status": "open", "updated_since": "2026-11-21T18:00:00Z"}, format="jsonl.gz"
    )
    assert again == first
    assert first.filter == {"status": "open", "updated_since": "2026-11-21T18:00:00Z"}


@pytest.mark.exhaustive
def test_the_same_post_from_eight_threads_makes_one_export(wallets: Mapping[str, Key]) -> None:
    export_builders.grant_free_plan(wallets["enterprise"])
    assert at_once(wallets["enterprise"], lambda client, _: post(client).json()["id"], times=8) == {
        Export.objects.get().public_id
    }


@pytest.mark.exhaustive
def test_a_wallet_has_at_most_three_exports_under_way_however_it_asks(wallets: Mapping[str, Key]) -> None:
    def ask_for_another(client: Client, number: int) -> tuple[int, int]:
        return number, post(client, filter={"updated_since": f"2026-11-2{number}T00:00:00Z"}).status_code

    export_builders.grant_free_plan(wallets["enterprise"])
    found = at_once(wallets["enterprise"], ask_for_another, times=8)
    assert sorted(status for _, status in found) == [202] * 3 + [400] * 5
    assert Export.objects.count() == 3
    client = client_of(wallets["enterprise"])
    refused = post(client, dataset="restaurants")
    assert error_of(refused) == (400, "invalid_request", None)
    assert "3 unfinished exports" in refused.json()["error"]["message"]
    client.delete(f"{EXPORTS}/{Export.objects.earliest('pk').public_id}")
    assert post(client).status_code == 202


def at_once(wallet: Key, call: Callable[[Client, int], Any], *, times: int) -> set[Any]:
    """What so many calls answer that are made at the same time with one session."""
    session = client_of(wallet).defaults["HTTP_AUTHORIZATION"]

    def one(number: int) -> Any:
        try:
            return call(Client(HTTP_AUTHORIZATION=session), number)
        finally:
            connection.close()

    with ThreadPoolExecutor(times) as threads:
        return set(threads.map(one, range(times)))


@pytest.mark.exhaustive
def test_a_finished_export_may_be_ordered_again(enterprise: Client, done: dict[str, Any]) -> None:
    assert post(enterprise).json()["id"] != done["id"]


@pytest.mark.exhaustive
def test_the_progress_grows_with_the_parts(enterprise: Client) -> None:
    for _ in range(8):
        builders.restaurant()
    export = post_accepted(enterprise)
    export_builders.start_export(export, rows_per_part=2)
    seen = []
    for _ in range(5):
        seen.append((get_record(enterprise, export)["status"], get_record(enterprise, export)["progress"]))
        export_builders.run_step(export, max_step_s=0)
    assert seen == [("running", 0), ("running", 0.25), ("running", 0.5), ("running", 0.75), ("running", 0.999)]
    finished = get_record(enterprise, export)
    assert (finished["status"], finished["progress"], finished["rows"]) == ("succeeded", 1, 8)


def test_files_that_are_not_written_yet_are_409(enterprise: Client) -> None:
    export = post_accepted(enterprise)
    answer = enterprise.get(f"{EXPORTS}/{export.public_id}/files/manifest.json")
    assert error_of(answer) == (409, "export_not_ready", None)


@pytest.mark.exhaustive
def test_an_expired_export_shows_no_files_and_has_none(enterprise: Client, done: dict[str, Any]) -> None:
    Export.objects.update(expires_at=timezone.now())
    found = enterprise.get(f"{EXPORTS}/{done['id']}").json()
    assert (found["files"], found["manifest_url"], found["progress"]) == ([], None, 1)
    assert error_of(enterprise.get(f"{EXPORTS}/{done['id']}/files/manifest.json")) == (410, "gone", None)
    assert error_of(get(enterprise, done["manifest_url"])) == (410, "gone", None)


@pytest.mark.exhaustive
def test_a_cancelled_export_stops_and_its_files_go(enterprise: Client, folder: Path) -> None:
    for _ in range(4):
        builders.restaurant()
    export = post_accepted(enterprise)
    export_builders.start_export(export, rows_per_part=2)
    export_builders.run_step(export, max_step_s=0)
    assert len(export_builders.list_stored(folder)) == 1
    answer = enterprise.delete(f"{EXPORTS}/{export.public_id}")
    assert (answer.status_code, answer.content) == (204, b"")
    assert export_builders.list_stored(folder) == set()
    export_builders.run_step(export)
    assert get_record(enterprise, export)["status"] == "cancelled"
    assert export_builders.list_stored(folder) == set()
    assert enterprise.delete(f"{EXPORTS}/{export.public_id}").status_code == 204


@pytest.mark.exhaustive
def test_deleting_a_finished_export_expires_it_at_once(
    enterprise: Client, client: Client, done: dict[str, Any], folder: Path
) -> None:
    assert enterprise.delete(f"{EXPORTS}/{done['id']}").status_code == 204
    assert export_builders.list_stored(folder) == set()
    assert enterprise.get(f"{EXPORTS}/{done['id']}").json()["status"] == "expired"
    assert error_of(get(client, done["files"][0]["url"])) == (410, "gone", None)


@pytest.mark.exhaustive
def test_the_id_of_another_wallet_is_answered_as_an_unknown_one(enterprise: Client, done: dict[str, Any]) -> None:
    Export.objects.update(wallet=export_builders.wallet_without_key())
    for method, rest in (("get", ""), ("delete", ""), ("get", "/files/manifest.json")):
        theirs, unknown, malformed = (
            enterprise.generic(method.upper(), f"{EXPORTS}/{found}{rest}") for found in (done["id"], UNKNOWN, "ex_1")
        )
        assert without_request_id(theirs) == without_request_id(unknown) == without_request_id(malformed)
        assert error_of(theirs) == (404, "not_found", None)
    assert Export.objects.get().status == "succeeded"
    assert enterprise.get(EXPORTS).json()["data"] == []


def without_request_id(response: Any) -> bytes:
    """The bytes of an answer but for what names the request."""
    content: bytes = response.content
    return content.replace(response["X-Request-Id"].encode(), b"")


@pytest.mark.exhaustive
def test_exports_are_listed_newest_first_page_by_page_in_a_fixed_number_of_queries(enterprise: Client) -> None:
    exports = []
    for number in range(5):
        exports.append(post_accepted(enterprise, filter={"updated_since": f"2026-01-0{number + 1}T00:00:00Z"}))
        export_builders.run_to_end(exports[-1])
    with CaptureQueriesContext(connection) as few:
        first = enterprise.get(EXPORTS, {"limit": 2}).json()
    assert first["pagination"]["has_more"] is True
    second = enterprise.get(EXPORTS, {"limit": 2, "cursor": first["pagination"]["next_cursor"]}).json()
    third = enterprise.get(EXPORTS, {"limit": 2, "cursor": second["pagination"]["next_cursor"]}).json()
    assert third["pagination"]["next_cursor"] is None
    found = [export["id"] for page in (first, second, third) for export in page["data"]]
    assert found == [export.public_id for export in reversed(exports)]
    with CaptureQueriesContext(connection) as many:
        assert len(enterprise.get(EXPORTS).json()["data"]) == 5
    assert len(many) == len(few)
    assert error_of(enterprise.get(EXPORTS, {"cursor": "x"})) == (400, "invalid_request", "cursor")


@pytest.mark.exhaustive
def test_the_files_are_for_their_owner_alone_on_the_disk(done: dict[str, Any], folder: Path) -> None:
    modes = {path.stat().st_mode & 0o777 for path in folder.rglob("*")} | {folder.stat().st_mode & 0o777}
    assert modes == {0o700, 0o600}
    assert len(files.list_folders()) == 1
