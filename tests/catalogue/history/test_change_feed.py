"""The feed of changes: every change once, in one order, whoever writes at the same time."""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from random import Random
from threading import Barrier

import orjson
import pytest
from django.db import connection, transaction
from django.test import Client

from catalogue import history
from catalogue import places as catalogue_places
from catalogue.history import publish as history_publish
from catalogue.models import Restaurant, Version
from catalogue.serializers.history import render_changes
from tests.catalogue import builders
from tests.catalogue.builders import NOW


def seen(since: int = 0, **asked: object) -> Sequence[history.Change]:
    return history.list_changes(since=since, **asked).rows  # type: ignore[arg-type]


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_change_has_its_kind_and_its_place() -> None:
    one, two = builders.restaurant(slug="one"), builders.restaurant(slug="two")
    Restaurant.objects.filter(pk=one.pk).update(phone="+4532155656", line1="Main Street 1")
    catalogue_places.rename(two, "deux", actor="staff:7", now=NOW)
    catalogue_places.merge(one, two, actor="staff:7", now=NOW)
    result = [(change.type, change.slug, change.version, change.paths, change.into) for change in seen()]
    assert result[:4] == [
        ("created", "one", 1, [], None),
        ("created", "deux", 1, [], None),
        ("updated", "one", 2, ["/address/line1", "/phone"], None),
        ("renamed", "deux", 2, ["/slug"], None),
    ]
    assert ("merged", "one", 3, [], "deux") in result


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_who_goes_on_from_next_since_misses_and_repeats_nothing() -> None:
    for number in range(7):
        builders.restaurant(slug=f"place-{number}x", market="oslo" if number % 2 else "copenhagen")
    slugs: list[str] = []
    since = 0
    for more in (True, True, False):
        page = history.list_changes(since=since, limit=3)
        assert page.has_more is more
        slugs += [change.slug for change in page.rows]
        since = page.next_since
    assert slugs == [f"place-{number}x" for number in range(7)]
    empty = history.list_changes(since=since)
    assert (empty.rows, empty.next_since, empty.has_more) == ([], since, False)
    assert [change.slug for change in seen(market="oslo")] == ["place-1x", "place-3x", "place-5x"]
    page = history.list_changes(market="oslo", limit=2)
    assert ([change.slug for change in page.rows], page.has_more) == (["place-1x", "place-3x"], True)
    rest = history.list_changes(since=page.next_since, market="oslo", limit=2)
    assert ([change.slug for change in rest.rows], rest.next_since, rest.has_more) == (["place-5x"], since, False)
    assert seen(types=["merged", "erased"]) == []
    assert len(seen(types=["created"])) == 7


@pytest.mark.django_db
def test_search_for_rare_words_scans_a_bounded_range_and_says_that_more_may_follow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("catalogue.history.change_feed.MAX_SCANNED", 2)
    for number in range(5):
        builders.restaurant(market="oslo" if number == 4 else "copenhagen")
    since, found, pages = 0, [], 0
    while True:
        page = history.list_changes(since=since, market="oslo")
        found += [change.slug for change in page.rows]
        since, pages = page.next_since, pages + 1
        if not page.has_more:
            break
    assert (len(found), pages) == (1, 3)


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_a_record_comes_along_where_it_is_asked_for_and_there() -> None:
    stored, lost = builders.restaurant(slug="kept"), builders.restaurant(slug="lost")
    catalogue_places.merge(lost, stored, actor="staff:7", now=NOW)
    page = history.list_changes(with_record=True)
    answer = orjson.loads(render_changes(page, with_record=True))
    records = {change["slug"]: change["record"] for change in answer["data"]}
    assert records["lost"] is None
    assert (records["kept"]["slug"], "flow_offer" in records["kept"]) == ("kept", False)
    assert "record" not in orjson.loads(render_changes(page, with_record=False))["data"][0]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("since", "-1"),
        ("since", "x"),
        ("limit", "0"),
        ("limit", "1001"),
        ("type", "gone"),
        ("include", "all"),
        ("from", "1"),
    ],
)
def test_a_feed_that_cannot_be_meant_is_refused(client: Client, parameter: str, value: str) -> None:
    response = client.get("/v1/changes", {parameter: value})
    assert (response.status_code, response.json()["error"]["param"]) == (400, parameter)


@pytest.mark.django_db
def test_a_position_that_the_feed_has_not_reached_is_refused(client: Client) -> None:
    builders.restaurant()
    history.list_changes()
    end = Version.objects.latest("seq").seq
    assert end is not None
    assert client.get(f"/v1/changes?since={end}").status_code == 200
    for query in (f"since={end + 1}", f"since={10**15 - 1}&type=closed"):
        response = client.get(f"/v1/changes?{query}")
        assert (response.status_code, response.json()["error"]["param"]) == (400, "since")
        assert response.json()["error"]["message"].startswith(f"The feed ends at {end}: ")


@pytest.mark.django_db
def test_the_feed_of_a_market_that_is_not_there_is_refused_with_the_one_that_was_meant(client: Client) -> None:
    builders.market()
    for slug in ("copenhage", "COPENHAGEN"):
        response = client.get("/v1/changes", {"market": slug})
        assert (response.status_code, response.json()["error"]["param"]) == (400, "market")
        assert response.json()["error"]["suggestions"] == ["copenhagen"]
    assert client.get("/v1/changes?include=x").json()["error"]["details"] == [
        {"param": "include", "message": "This must be one of: record."}
    ]


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_a_consumer_sees_every_change_once_and_in_order_while_eight_writers_commit_out_of_order() -> None:
    writers, changes = 8, 12
    places = [builders.restaurant() for _ in range(writers)]
    ready = Barrier(writers + 1)

    def write(number: int) -> None:
        chance = Random(number)
        ready.wait()
        try:
            for count in range(1, changes + 1):
                with transaction.atomic():
                    Restaurant.objects.filter(pk=places[number].pk).update(review_count=count)
                    # Whoever has written first commits last.
                    time.sleep(chance.random() / 50)
                history_publish.publish_versions()
        finally:
            connection.close()

    consumed: list[history.Change] = []
    with ThreadPoolExecutor(writers) as threads:
        done = [threads.submit(write, number) for number in range(writers)]
        ready.wait()
        since = 0
        while not all(future.done() for future in done):
            page = history.list_changes(since=since, limit=7)
            consumed += page.rows
            since = page.next_since
        for future in done:
            future.result()
    while rows := history.list_changes(since=since, limit=7).rows:
        consumed += rows
        since = rows[-1].seq
    assert [change.seq for change in consumed] == sorted({change.seq for change in consumed})
    outcome = {(change.slug, change.version) for change in consumed}
    assert len(outcome) == len(consumed) == writers * (changes + 1)
    assert not Version.objects.filter(seq=None).exists()


@pytest.mark.django_db(transaction=True)
def test_while_one_gives_numbers_others_leave_at_once() -> None:
    builders.restaurant()
    with ThreadPoolExecutor(1) as thread, transaction.atomic():
        history_publish.FEED_LOCK.acquire()

        def publish() -> int:
            try:
                return history_publish.publish_versions()
            finally:
                connection.close()

        assert thread.submit(publish).result(timeout=5) == 0
    assert history_publish.publish_versions() == 1
    assert history_publish.publish_versions() == 0
