"""One reservation in version 2 of the management API: retrieved, changed and cancelled."""

from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine
from django.test import Client

from accounts.models import Event, Scope, Venue
from framework.api.urls import public_url
from reservations.mail.templates import build_mail
from reservations.models import Area, GuestMail, Reservation, Seating
from tests.reservations import consistency
from tests.support import builders

RESERVATIONS = "/api/v2/reservations"
NOON = datetime(2026, 11, 28, 11, 0, tzinfo=UTC)


@pytest.fixture
def osteria(venue: Venue) -> Any:
    """A venue with tables for four and six, open for dinner, at noon."""
    builders.table(venue, "T4")
    builders.table(venue, "T6", seats_max=6)
    builders.period(venue)
    with time_machine.travel(NOON, tick=False):
        yield venue


def book(api: Client, **changes: Any) -> dict[str, Any]:
    body = builders.reservation_body(date="2026-11-28", **changes)
    answer = api.post(RESERVATIONS, body, content_type="application/json")
    assert answer.status_code == 201
    record: dict[str, Any] = answer.json()
    return record


def patch(api: Client, record: dict[str, Any], headers: dict[str, str] | None = None, **changes: Any) -> Any:
    path = f"{RESERVATIONS}/{record['id']}"
    return api.patch(path, changes, content_type="application/json", headers=headers or {})


def retrieve(api: Client, record: dict[str, Any]) -> Any:
    return api.get(f"{RESERVATIONS}/{record['id']}").json()


# Version 1 and version 2
def test_version_2_does_all_that_version_1_does(osteria: Venue, api: Client) -> None:
    record = book(api)
    for version in ("v1", "v2"):
        assert api.get(f"/api/{version}/reservations").json()["data"] == [record]
    order = api.post("/api/v2/orders", builders.order_body(), content_type="application/json")
    assert order.status_code == 201
    assert order["Location"] == public_url(f"/api/v2/orders/{order.json()['id']}")
    assert api.get(f"/api/v1/orders/{order.json()['id']}").json() == order.json()


@pytest.mark.parametrize("method", ["get", "patch", "put", "delete"])
def test_version_1_has_no_operation_on_a_single_reservation(osteria: Venue, api: Client, method: str) -> None:
    record = book(api)
    assert getattr(api, method)(f"/api/v1/reservations/{record['id']}").status_code == 404
    assert retrieve(api, record) == record


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_a_new_reservation_says_where_it_can_be_read(osteria: Venue, api: Client, version: str) -> None:
    body = builders.reservation_body(date="2026-11-28")
    answer = api.post(f"/api/{version}/reservations", body, content_type="application/json")
    assert answer["Location"] == public_url(f"{RESERVATIONS}/{answer.json()['id']}")
    assert answer["ETag"] == '"1"'


# Retrieve
def test_a_reservation_is_retrieved_and_not_sent_again_to_who_has_it(osteria: Venue, api: Client) -> None:
    record = book(api, area=None, special_requests="By the window")
    answer = api.get(f"{RESERVATIONS}/{record['id']}")
    assert (answer.json(), answer["ETag"]) == (record, '"1"')
    same = api.get(f"{RESERVATIONS}/{record['id']}", headers={"if-none-match": '"1"'})
    assert (same.status_code, same.content) == (304, b"")


@pytest.mark.parametrize("method", ["get", "patch", "delete"])
@pytest.mark.parametrize("which", ["unknown", "malformed", "foreign"])
def test_a_reservation_that_is_not_of_the_venue_is_not_found(
    osteria: Venue, other_venue: Venue, api: Client, method: str, which: str
) -> None:
    public_id = {
        "unknown": "res_01jd5k3v8rf8hb2m0c9t6w4y7z",
        "malformed": "res_1",
        "foreign": builders.reservation(other_venue).public_id,
    }[which]
    answer = getattr(api, method)(f"{RESERVATIONS}/{public_id}", content_type="application/json")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")


# Change
def test_the_time_changes_and_the_table_is_free_for_others(osteria: Venue, api: Client) -> None:
    record = book(api, time="19:30")
    changed = patch(api, record, time="21:30").json()
    assert (changed["time"], changed["starts_at"], changed["ends_at"], changed["tables"], changed["version"]) == (
        "21:30",
        "2026-11-28T20:30:00Z",
        "2026-11-28T22:15:00Z",
        ["T4"],
        2,
    )
    assert retrieve(api, record) == changed
    assert book(api, time="19:30")["tables"] == ["T4"]
    assert consistency.problems() == []


def test_a_change_that_has_no_room_leaves_the_reservation_as_it_was(osteria: Venue, api: Client) -> None:
    book(api, time="21:30")
    book(api, time="21:30", party_size=6)
    record = book(api, time="19:30")
    refused = patch(api, record, time="21:30", special_requests="A cake").json()["error"]
    assert (refused["code"], refused["param"]) == ("slot_unavailable", "time")
    # Not its own time, 19:30.
    assert refused["alternatives"] == ["18:45", "19:00", "19:15", "19:45"]
    assert retrieve(api, record) == record
    assert Seating.objects.count() == 3


def test_its_own_time_is_an_alternative_for_another_party(osteria: Venue, api: Client) -> None:
    book(api, time="21:30", party_size=6)
    record = book(api, time="19:15")
    refused = patch(api, record, time="21:30", party_size=5).json()["error"]
    assert refused["alternatives"] == ["18:45", "19:00", "19:15", "19:30"]


def test_an_alternative_has_a_table_of_the_wanted_area(osteria: Venue, api: Client) -> None:
    terrace = Area.objects.create(venue=osteria, name="Terrace")
    builders.table(osteria, "T1", area=terrace)
    book(api, time="19:00", area="Terrace")
    record = book(api, time="19:30")
    # The party of 19:00 leaves the terrace at 20:45.
    refused = patch(api, record, time="17:00", area="Terrace").json()["error"]
    assert (refused["code"], refused["alternatives"]) == (
        "outside_service_hours",
        ["20:45", "21:00", "21:15", "21:30"],
    )


def test_no_other_time_is_named_to_a_party_that_the_staff_arrange(osteria: Venue, api: Client) -> None:
    record = book(api)
    for at in ("19:30", "15:00"):
        refused = patch(api, record, time=at, party_size=9).json()["error"]
        assert (refused["code"], refused["param"], refused["alternatives"]) == ("slot_unavailable", "party_size", [])


def test_the_guest_is_mailed_another_area(osteria: Venue, api: Client) -> None:
    terrace = Area.objects.create(venue=osteria, name="Terrace")
    builders.table(osteria, "T1", area=terrace)
    record = book(api)
    patch(api, record, area="Terrace")
    patch(api, record, time="20:00")
    latest = GuestMail.objects.select_related("reservation__venue", "reservation__area").latest("pk")
    assert latest.kind == "changed"
    text = str(build_mail(latest).body)
    assert "Area: Terrace, was any" in text
    assert "Time: 20:00, was 19:30" in text
    assert f"{record['party_size']} guests, Terrace" in text
    patch(api, record, area="Terrace")
    assert GuestMail.objects.filter(kind="changed").count() == 2


def test_a_larger_party_gets_a_larger_table(osteria: Venue, api: Client) -> None:
    record = book(api)
    assert patch(api, record, party_size=6).json()["tables"] == ["T6"]
    refused = patch(api, record, party_size=7).json()["error"]
    assert (refused["code"], refused["message"]) == ("slot_unavailable", "There is no table for 7 here.")
    large = patch(api, record, party_size=9).json()["error"]
    assert (large["code"], large["param"]) == ("slot_unavailable", "party_size")
    assert retrieve(api, record)["tables"] == ["T6"]


def test_a_party_may_move_within_its_own_time(osteria: Venue, api: Client) -> None:
    Seating.objects.all().delete()
    record = book(api, time="19:30", party_size=6)
    assert patch(api, record, time="20:00").json()["tables"] == ["T6"]


def test_a_change_follows_the_hours_and_the_pacing(osteria: Venue, api: Client) -> None:
    osteria.service_periods.update(pacing_covers=4)
    book(api, time="19:30")
    record = book(api, time="20:00")
    closed = patch(api, record, time="16:00").json()["error"]
    assert (closed["code"], closed["param"]) == ("outside_service_hours", "time")
    full = patch(api, record, time="19:30").json()["error"]
    assert (full["code"], full["param"]) == ("slot_unavailable", "time")
    # Its own guests do not count against it.
    assert patch(api, record, area=None, party_size=3).status_code == 200


def test_the_area_changes(osteria: Venue, api: Client) -> None:
    terrace = Area.objects.create(venue=osteria, name="Terrace")
    builders.table(osteria, "T9", area=terrace)
    record = book(api)
    changed = patch(api, record, area="Terrace").json()
    assert (changed["area"], changed["tables"]) == ("Terrace", ["T9"])
    unknown = patch(api, record, area="Roof").json()["error"]
    assert (unknown["param"], unknown["message"]) == (
        "area",
        "The restaurant has no such area. It has `Terrace`.",
    )
    assert patch(api, record, area=None).json()["area"] is None


@pytest.mark.exhaustive
def test_named_tables_are_given_at_any_time(osteria: Venue, api: Client) -> None:
    record = book(api)
    changed = patch(api, record, tables=["T6"], time="23:10").json()
    assert (changed["time"], changed["tables"]) == ("23:10", ["T6"])
    other = book(api, party_size=2)
    taken = patch(api, other, tables=["T6"], time="23:30").json()["error"]
    assert (taken["code"], taken["param"]) == ("slot_unavailable", "tables")
    assert patch(api, record, tables=[]).json()["tables"] == []


@pytest.mark.parametrize("day", ["0001-01-01", "1969-12-31", "2201-01-01", "9999-12-30"])
def test_named_tables_are_given_from_1970_to_2200(osteria: Venue, api: Client, day: str) -> None:
    record = book(api)
    answer = patch(api, record, tables=["T6"], date=day)
    assert answer.status_code == 400
    assert builders.problems_of(answer) == [("date", "With `tables` this must be a day from 1970 to 2200.")]
    assert retrieve(api, record) == record


@pytest.mark.exhaustive
@pytest.mark.parametrize("day", ["1970-01-01", "2200-12-31"])
def test_named_tables_are_given_on_the_first_and_the_last_day(osteria: Venue, api: Client, day: str) -> None:
    changed = patch(api, book(api), tables=["T6"], date=day).json()
    assert (changed["date"], changed["tables"]) == (day, ["T6"])


def test_without_tables_a_confirmed_reservation_is_moved_by_the_staff_only(venue: Venue, api: Client) -> None:
    with time_machine.travel(NOON, tick=False):
        record = book(api)
        assert patch(api, record, party_size=12, time="20:00").json()["status"] == "pending"
        record = patch(api, record, status="confirmed").json()
        for changes in ({"party_size": 13}, {"party_size": 2}, {"time": "21:00"}):
            refused = patch(api, record, **changes).json()["error"]
            assert (refused["code"], refused["alternatives"]) == ("slot_unavailable", [])
            assert refused["message"] == (
                "The staff of this restaurant confirm each reservation. Please call them, or send `tables` for them."
            )
        assert retrieve(api, record) == record
        moved = patch(api, record, time="21:00", tables=[]).json()
        assert (moved["status"], moved["time"]) == ("confirmed", "21:00")
        assert patch(api, record, special_requests="A cake").json()["status"] == "confirmed"


def test_the_guest_the_requests_and_the_metadata_change(osteria: Venue, api: Client) -> None:
    record = book(api, metadata={"campaign": "autumn"})
    changes: dict[str, Any] = {
        "customer_name": "Grace Hopper",
        "customer_email": None,
        "customer_phone": "+15550100999",
        "special_requests": "A cake",
        "metadata": {"vip": "yes"},
    }
    changed = patch(api, record, **changes).json()
    assert {name: changed[name] for name in changes} == changes
    # A change of the guest's data is no news for the guest.
    assert list(GuestMail.objects.values_list("kind", flat=True)) == ["confirmed"]
    assert patch(api, record, customer_phone=None).json()["error"]["param"] == "customer_email"
    assert retrieve(api, record) == changed


def test_one_event_tells_what_changed_and_a_repetition_tells_nothing(osteria: Venue, api: Client) -> None:
    record = book(api)
    for _ in range(2):
        changed = patch(api, record, time="21:00", customer_name="Grace Hopper").json()
    events = Event.objects.filter(type="reservation.updated")
    assert [event.record for event in events] == [changed]
    assert changed["version"] == 2


def test_a_repeated_change_with_a_key_is_answered_again(osteria: Venue, api: Client) -> None:
    record, key = book(api), {"idempotency-key": "k"}
    first = patch(api, record, key, time="21:00")
    patch(api, record, time="19:00")
    again = patch(api, record, key, time="21:00")
    assert (again.json(), again["Idempotent-Replayed"]) == (first.json(), "true")
    assert retrieve(api, record)["time"] == "19:00"


# Versions
def test_a_change_can_depend_on_the_version(osteria: Venue, api: Client) -> None:
    record = book(api)
    changed = patch(api, record, {"if-match": '"1"'}, time="21:00")
    assert (changed.status_code, changed["ETag"]) == (200, '"2"')
    for call in (
        patch(api, record, {"if-match": '"1"'}, time="19:00"),
        patch(api, record, {"if-match": '"1"'}, status="cancelled"),
        api.delete(f"{RESERVATIONS}/{record['id']}", headers={"if-match": '"1"'}),
    ):
        assert (call.status_code, call.json()["error"]["code"]) == (412, "version_conflict")
    assert retrieve(api, record) == changed.json()


# Status
@pytest.mark.exhaustive
def test_statuses_follow_the_table_of_transitions(venue: Venue, api: Client) -> None:
    made = {status: builders.reservation(venue, status=status) for status in ("pending", "confirmed", "cancelled")}
    allowed = {
        ("pending", "pending"): True,
        ("pending", "confirmed"): True,
        ("pending", "cancelled"): True,
        ("confirmed", "pending"): False,
        ("confirmed", "confirmed"): True,
        ("confirmed", "cancelled"): True,
        ("cancelled", "pending"): False,
        ("cancelled", "confirmed"): False,
        ("cancelled", "cancelled"): True,
    }
    for (before, after), is_allowed in allowed.items():
        row = builders.reservation(venue, status=before)
        answer = patch(api, {"id": row.public_id}, status=after)
        if is_allowed:
            assert (answer.status_code, answer.json()["status"]) == (200, after), (before, after)
            assert answer.json()["version"] == row.version + (before != after)
        else:
            error = answer.json()["error"]
            assert (answer.status_code, error["code"], error["param"]) == (400, "invalid_transition", "status")
    assert len(made) == 3


def test_delete_cancels_and_frees_the_table_and_can_be_repeated(osteria: Venue, api: Client) -> None:
    record = book(api)
    answers = [api.delete(f"{RESERVATIONS}/{record['id']}") for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].json() == answers[1].json() == retrieve(api, record)
    cancelled = answers[0].json()
    assert (cancelled["status"], cancelled["tables"], cancelled["cancelled_at"]) == (
        "cancelled",
        [],
        "2026-11-28T11:00:00Z",
    )
    assert not Seating.objects.exists()
    refused = patch(api, record, time="20:00").json()["error"]
    assert (refused["code"], refused["param"]) == ("invalid_transition", "status")


def test_an_arrival_is_recorded_in_its_order(osteria: Venue, api: Client) -> None:
    record = book(api)
    assert record["arrival"] is None
    early = patch(api, record, arrival="finished").json()["error"]
    assert (early["code"], early["param"]) == ("invalid_transition", "arrival")
    for arrival in ("arrived", "seated", "finished"):
        assert patch(api, record, arrival=arrival).json()["arrival"] == arrival
    moved = patch(api, record, time="21:00").json()["error"]
    assert (moved["code"], moved["param"]) == ("invalid_transition", "arrival")


def test_all_changes_are_made_or_none(osteria: Venue, api: Client) -> None:
    record = book(api)
    refused = patch(api, record, time="21:00", status="pending").json()["error"]
    assert (refused["code"], refused["param"]) == ("invalid_transition", "status")
    assert retrieve(api, record) == record
    assert not Event.objects.filter(type="reservation.updated").exists()


def test_a_waiting_party_that_moves_to_a_free_time_is_confirmed(osteria: Venue, api: Client) -> None:
    Venue.objects.update(when_full="waitlist")
    book(api, time="19:30")
    book(api, time="19:30", party_size=6)
    waiting = book(api, time="19:30", party_size=4)
    assert waiting["pending_reason"] == "waitlist"
    moved = patch(api, waiting, time="22:00").json()
    assert (moved["status"], moved["pending_reason"], moved["tables"]) == ("confirmed", None, ["T4"])
    assert [event.type for event in Event.objects.filter(subject=Reservation.objects.latest("created_at").pk)] == [
        "reservation.created",
        "reservation.confirmed",
    ]


# Refusals
@pytest.mark.parametrize(
    ("changes", "param", "message"),
    [
        ({}, None, "Send at least one field to change."),
        ({"time": None}, "time", "This must not be null."),
        ({"party_size": "4"}, "party_size", "This must be an integer."),
        ({"status": "seated"}, "status", "This must be one of: confirmed, pending, cancelled."),
        ({"arrival": "here"}, "arrival", "This must be one of: arrived, seated, finished, no_show."),
        ({"tables": "T1"}, "tables", "This must be an array."),
        ({"code": "K7QX2M"}, "code", None),
        (
            {"date": "2026-11-27"},
            "date",
            "2026-11-27 is in the past. The current date at the restaurant is 2026-11-28.",
        ),
    ],
)
def test_what_is_wrong_is_named(
    osteria: Venue, api: Client, changes: dict[str, Any], param: str | None, message: str | None
) -> None:
    record = book(api)
    answer = patch(api, record, **changes)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_request")
    problem = answer.json()["error"]
    assert problem["param"] == param
    assert message is None or message in problem["message"]
    assert retrieve(api, record) == record


def test_changes_take_the_scope_to_write(osteria: Venue, api: Client) -> None:
    record = book(api)
    reader = builders.client_with(builders.key(osteria, scopes=[Scope.RESERVATIONS_READ]).text)
    assert retrieve(reader, record) == record
    for answer in (patch(reader, record, time="21:00"), reader.delete(f"{RESERVATIONS}/{record['id']}")):
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "insufficient_scope")
