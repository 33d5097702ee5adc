"""The stages of an order in the kitchen: each is reached once, forward only, and reported."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client

from accounts.models import Event, Venue
from orders import commands
from orders.models import InvalidTransition, Order
from orders.models.orders import KITCHEN_STAGES
from orders.order_json import serialize_order
from tests.support import builders

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def place(api: Client) -> str:
    answer = api.post("/api/v1/orders", builders.order_body(), content_type="application/json")
    assert answer.status_code == 201
    return str(answer.json()["id"])


def move(api: Client, public_id: str, stage: Any, **headers: str) -> Any:
    path = f"/api/v1/orders/{public_id}/stage"
    return api.put(path, {"stage": stage}, content_type="application/json", headers=headers or None)


def events_of(public_id: str) -> list[tuple[str, str]]:
    """Type and stage of the events of an order, in order."""
    rows = Event.objects.filter(record__id=public_id).order_by("created_at", "id")
    return [(event.type, event.record["stage"]) for event in rows]


@pytest.mark.django_db
def test_an_order_moves_through_the_kitchen_and_each_stage_has_its_moment(api: Client) -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        order = place(api)
        for stage in ("accepted", "preparing", "ready"):
            clock.shift(timedelta(minutes=5))
            record = move(api, order, stage).json()
            assert (record["status"], record["stage"]) == ("pending", stage)
        clock.shift(timedelta(minutes=5))
        record = move(api, order, "handed_over").json()
    assert {name: record[name] for name in record if name.endswith("_at")} == {
        "created_at": "2026-11-21T12:00:00Z",
        "promised_at": None,
        "accepted_at": "2026-11-21T12:05:00Z",
        "preparing_at": "2026-11-21T12:10:00Z",
        "ready_at": "2026-11-21T12:15:00Z",
        "updated_at": "2026-11-21T12:20:00Z",
        "completed_at": "2026-11-21T12:20:00Z",
        "cancelled_at": None,
    }
    assert (record["status"], record["stage"], record["version"]) == ("completed", "handed_over", 5)
    assert events_of(order) == [
        ("order.created", "received"),
        ("order.stage_changed", "accepted"),
        ("order.stage_changed", "preparing"),
        ("order.stage_changed", "ready"),
        ("order.completed", "handed_over"),
    ]


@pytest.mark.django_db
def test_a_skipped_stage_has_no_moment_and_the_current_one_again_changes_nothing(api: Client) -> None:
    order = place(api)
    ready = move(api, order, "ready")
    record = ready.json()
    assert (ready.status_code, ready["ETag"]) == (200, '"2"')
    assert (record["accepted_at"], record["preparing_at"], record["ready_at"]) == (None, None, record["updated_at"])
    assert move(api, order, "ready").json() == record
    assert api.get(f"/api/v1/orders/{order}").json() == record
    assert len(events_of(order)) == 2


@pytest.mark.parametrize("stage", ["received", "accepted", "preparing"])
@pytest.mark.django_db
def test_a_stage_never_goes_back(api: Client, stage: str) -> None:
    order = place(api)
    record = move(api, order, "ready").json()
    error = move(api, order, stage).json()["error"]
    assert (error["code"], error["param"]) == ("invalid_transition", "stage")
    assert error["message"] == "This order is ready already, and a stage never goes back."
    assert api.get(f"/api/v1/orders/{order}").json() == record


@pytest.mark.exhaustive
@pytest.mark.parametrize("status", ["completed", "cancelled"])
@pytest.mark.django_db
def test_an_order_with_a_final_status_has_a_final_stage(api: Client, status: str) -> None:
    order = place(api)
    move(api, order, "accepted")
    ended = api.put(f"/api/v1/orders/{order}/status", {"status": status}, content_type="application/json").json()
    assert ended["stage"] == ("handed_over" if status == "completed" else "accepted")
    error = move(api, order, "ready").json()["error"]
    assert (error["code"], error["message"]) == ("invalid_transition", f"This order is {status}, which is final.")
    again = move(api, order, "handed_over")
    assert again.status_code == (200 if status == "completed" else 400)
    if status == "cancelled":
        assert again.json()["error"]["param"] == "stage"


@pytest.mark.django_db
def test_a_stage_changes_only_the_version_that_was_seen(api: Client) -> None:
    order = place(api)
    assert move(api, order, "accepted", **{"If-Match": '"1"'}).status_code == 200
    refused = move(api, order, "ready", **{"If-Match": '"1"'})
    assert (refused.status_code, refused.json()["error"]["code"]) == (412, "version_conflict")
    assert Order.objects.get().kitchen_stage == "accepted"


@pytest.mark.parametrize("stage", ["cooking", "", None, 1, "READY"])
@pytest.mark.django_db
def test_an_unknown_stage_is_refused(api: Client, stage: Any) -> None:
    order = place(api)
    error = move(api, order, stage).json()["error"]
    assert (error["code"], error["param"]) == ("invalid_request", "stage")


@pytest.mark.django_db
def test_the_order_of_another_venue_is_not_found(api: Client, other_venue: Venue) -> None:
    order = builders.order(other_venue)
    assert move(api, order.public_id, "ready").status_code == 404
    assert Order.objects.get().kitchen_stage == "received"


@pytest.mark.django_db
def test_staff_move_a_stage_back_and_later_moments_are_removed(venue: Venue) -> None:
    order = builders.order(venue, now=NOON)
    for minutes, stage in enumerate(("accepted", "ready")):
        commands.change_stage(order, stage, now=NOON + timedelta(minutes=minutes), actor="staff:ada@example.com")
    assert commands.change_stage(order, "accepted", now=NOON, actor="staff:ada@example.com", moves_back=True)
    order.refresh_from_db()
    assert (order.stage, order.accepted_at, order.ready_at) == ("accepted", NOON, None)
    assert not commands.change_stage(order, "accepted", now=NOON, actor="staff:ada@example.com", moves_back=True)


@pytest.mark.parametrize("change", ["cancelled", "address", "reopened", "preparing"])
@pytest.mark.django_db
def test_the_event_of_a_change_has_all_that_others_have_changed_meanwhile(venue: Venue, change: str) -> None:
    """Two callers have read the order at once; the second change is reported with the first one in it."""
    order = builders.order(venue, now=NOON)
    if change == "reopened":
        commands.change_status(order, "completed", now=NOON, actor="system")
    stale = Order.objects.select_related("venue").get(pk=order.pk)
    if change == "reopened":
        commands.reopen_order(Order.objects.get(pk=order.pk), now=NOON, actor="system")
    elif change == "preparing":
        commands.change_delivery_address(order, "1 Main St", now=NOON, actor="system")
    else:
        commands.change_stage(order, "accepted", now=NOON, actor="system")
    later = NOON + timedelta(minutes=1)
    if change == "cancelled":
        commands.change_status(stale, "cancelled", now=later, actor="system")
    elif change == "preparing":
        commands.change_stage(stale, "preparing", now=later, actor="system")
    else:
        commands.change_delivery_address(stale, "2 Main St", now=later, actor="system")
    event = Event.objects.filter(subject=order.pk).latest("record__version")
    assert event.record == serialize_order(Order.objects.with_items().get(pk=order.pk))


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_of_ten_writers_at_once_one_moves_an_order_to_each_stage(venue: Venue) -> None:
    orders = [builders.order(venue) for _ in range(5)]

    def write(number: int) -> list[str]:
        moved = []
        for stage in (*KITCHEN_STAGES[1:], "handed_over"):
            for order in orders:
                mine = Order.objects.select_related("venue").get(pk=order.pk)
                try:
                    if commands.change_stage(mine, stage, now=NOON, actor=f"key:{number}"):
                        moved.append(f"{order.public_id} {stage}")
                except InvalidTransition:
                    pass
        connection.close()
        return moved

    with ThreadPoolExecutor(10) as pool:
        moved = [each for found in pool.map(write, range(10)) for each in found]
    assert len(moved) == len(set(moved))
    for order in orders:
        stages = [stage for kind, stage in events_of(order.public_id) if kind != "order.created"]
        assert sorted(stages) == sorted(each.split()[1] for each in moved if each.startswith(order.public_id))
        assert stages[-1] == "handed_over"
        order.refresh_from_db()
        assert (order.status, order.version) == ("completed", len(stages) + 1)
