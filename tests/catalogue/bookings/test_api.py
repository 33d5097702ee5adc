"""Any free table of a restaurant, over the data API: seen, booked, changed, cancelled and listed."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client

from accounts.models import Account, ApiKey, Event, Venue
from catalogue.models import FlowBooking, Listing, Restaurant
from catalogue.offers import booking
from reservations.guests.profiles import hash_contact
from reservations.models import Area, GuestMail, Reservation, Table
from tests.catalogue import builders
from tests.catalogue.builders import NOW
from tests.payments.signing import client_of
from tests.reservations import consistency
from tests.support import builders as base
from tests.support.wallets import fresh_wallet

pytestmark = pytest.mark.django_db

DAY = "2026-11-22"
ASKED: dict[str, Any] = {"date": DAY, "party_size": 2}
EVENING: dict[str, Any] = {"date": DAY, "time": "19:00", "party_size": 2}


@pytest.fixture(autouse=True)
def _now() -> Iterator[None]:
    with time_machine.travel(NOW, tick=False):
        yield


@pytest.fixture
def place() -> Restaurant:
    """A restaurant that can be booked: a table for four, dinner from 17:00 to 22:00."""
    return builders.listing(builders.restaurant(name="Fiskebar")).restaurant


def body(**changes: Any) -> dict[str, Any]:
    return EVENING | {"customer_name": "Ada Lovelace", "customer_email": "ada@example.com"} | changes


def post(place: Restaurant, *, api: Client | None = None, key: str | None = "first", **changes: Any) -> Any:
    headers = {} if key is None else {"Idempotency-Key": key}
    path = f"/v1/restaurants/{place.slug}/bookings"
    return (api or Client()).post(path, body(**changes), "application/json", headers=headers)


def send(method: str, record: dict[str, Any], *, api: Client | None = None, token: bool = True, **changes: Any) -> Any:
    headers = {"X-Manage-Token": record["manage_token"]} if token else {}
    call = getattr(api or Client(), method)
    return call(f"/v1/bookings/{record['id']}", changes or None, content_type="application/json", headers=headers)


def see(place: Restaurant, **params: Any) -> Any:
    return Client().get(f"/v1/restaurants/{place.slug}/availability", ASKED | params)


def refused(response: Any, status: int, code: str, param: str | None = None) -> dict[str, Any]:
    error: dict[str, Any] = response.json()["error"]
    assert (response.status_code, error["code"], error["param"]) == (status, code, param)
    return error


def account_client() -> Client:
    """A caller with an API key of some account, which is not that of the restaurant."""
    venue = base.venue("Platform")
    return base.client(venue)


# Availability
def test_everybody_sees_which_tables_are_free(place: Restaurant) -> None:
    answer = see(place)
    assert answer.status_code == 200
    record = answer.json()
    assert (record["restaurant"], record["timezone"], record["party_size"]) == (place.slug, "Europe/Copenhagen", 2)
    (day,) = record["days"]
    assert (day["date"], day["state"], len(day["slots"])) == (DAY, "free", 21)
    assert day["slots"][8] == {
        "time": "19:00",
        "starts_at": "2026-11-22T18:00:00Z",
        "ends_at": "2026-11-22T19:30:00Z",
        "state": "free",
        "reason": None,
        "period": "Dinner",
        "terms": None,
    }
    post(place)
    states = {slot["time"]: slot["state"] for slot in see(place).json()["days"][0]["slots"]}
    assert (states["17:15"], states["17:45"], states["19:00"], states["20:30"]) == ("free", "full", "full", "free")


def test_an_unchanged_answer_is_304(place: Restaurant) -> None:
    etag = see(place)["ETag"]
    path = f"/v1/restaurants/{place.slug}/availability"
    same = Client().get(path, ASKED, headers={"If-None-Match": etag})
    assert same.status_code == 304


@pytest.mark.parametrize("why", ["unlisted", "inactive", "without tables", "closed for good", "account closed"])
def test_a_restaurant_that_takes_no_bookings_says_so(place: Restaurant, why: str) -> None:
    if why == "unlisted":
        place.listing.delete()
    elif why == "inactive":
        Listing.objects.update(is_active=False)
    elif why == "without tables":
        Table.objects.update(is_active=False)
    elif why == "closed for good":
        place.search_row.__class__.objects.update(is_shut=True)
    else:
        Account.objects.update(closed_at=NOW)
    for answer in (see(place), post(place)):
        error = refused(answer, 404, "not_found", "slug")
        assert error["message"] == "This restaurant takes no bookings here; its record may have a phone number."
    assert not Reservation.objects.exists()


def test_an_unknown_restaurant_is_404(place: Restaurant) -> None:
    assert Client().get("/v1/restaurants/nowhere/availability", ASKED).status_code == 404


# Book
def test_a_booking_of_any_table_is_answered_whole(place: Restaurant) -> None:
    terrace = Area.objects.create(venue=place.listing.venue, name="Terrace")
    base.table(place.listing.venue, "T9", area=terrace)
    response = post(place, special_requests="By the window", area="terrace")
    found, taken = FlowBooking.objects.get(), Reservation.objects.get()
    assert response.status_code == 201
    assert response["Location"] == f"http://127.0.0.1:8000/v1/bookings/{found.public_id}"
    assert response["Cache-Control"] == "private, no-store"
    record = response.json()
    assert record == {
        "id": found.public_id,
        "status": "confirmed",
        "offer": None,
        "restaurant": place.slug,
        "date": DAY,
        "time": "19:00",
        "timezone": "Europe/Copenhagen",
        "party_size": 2,
        "percent": None,
        "applies_to": None,
        "terms": None,
        "customer_name": "Ada Lovelace",
        "manage_token": record["manage_token"],
        "manage_url": f"http://127.0.0.1:8000/guest/{record['manage_token']}",
        "reservation_code": taken.code,
        "created_at": "2026-11-21T18:00:00Z",
        "cancelled_at": None,
        "area": "Terrace",
        "special_requests": "By the window",
        "cancellation": None,
        "deposit": None,
    }
    assert (taken.status, taken.tables, taken.customer_email) == ("confirmed", ["T9"], "ada@example.com")
    assert [event.type for event in Event.objects.order_by("pk")] == ["reservation.created", "reservation.confirmed"]
    assert GuestMail.objects.get().kind == "confirmed"
    assert consistency.problems() == []


def test_the_same_request_again_is_the_same_booking(place: Restaurant) -> None:
    first, again = post(place), post(place)
    assert (again.content, again["Idempotent-Replayed"]) == (first.content, "true")
    assert FlowBooking.objects.count() == 1
    refused(post(place, party_size=3), 400, "idempotency_key_reused", "Idempotency-Key")


def test_without_an_idempotency_key_nothing_is_booked(place: Restaurant) -> None:
    refused(post(place, key=None), 400, "invalid_request", "Idempotency-Key")
    assert not Reservation.objects.exists()


def test_a_full_time_is_refused_with_the_nearest_others(place: Restaurant) -> None:
    post(place)
    error = refused(post(place, key="second", customer_email="bob@example.com"), 409, "slot_full", "time")
    assert error["alternatives"] == ["17:15", "17:30", "20:30", "20:45"]
    assert FlowBooking.objects.count() == 1


def test_a_time_without_service_and_a_party_for_the_staff_are_refused(place: Restaurant) -> None:
    base.table(place.listing.venue, "T20", seats_max=20)
    refused(post(place, time="12:00"), 409, "slot_full", "time")
    error = refused(post(place, party_size=9), 409, "slot_full", "party_size")
    assert error["message"] == "The restaurant confirms parties of 9 itself, or has no table then. Please call it."
    assert not Reservation.objects.exists()


def test_a_full_restaurant_with_a_waiting_list_books_nothing(place: Restaurant) -> None:
    Venue.objects.update(when_full="waitlist")
    post(place)
    refused(post(place, key="second", customer_email="bob@example.com"), 409, "slot_full", "party_size")
    assert Reservation.objects.count() == 1


@pytest.mark.exhaustive
def test_a_guest_has_three_upcoming_bookings_with_and_without_offers(place: Restaurant) -> None:
    days = [f"2026-11-{day}" for day in range(22, 26)]
    answers = [post(place, key=day, date=day).status_code for day in days]
    assert answers == [201, 201, 201, 409]
    slot = builders.slot(place)
    offered = Client().post(
        f"/v1/flow/offers/{slot.public_id}/bookings",
        {name: value for name, value in body().items() if name not in ("date", "time")},
        "application/json",
        headers={"Idempotency-Key": "offer"},
    )
    refused(offered, 409, "too_many_bookings")


@pytest.mark.exhaustive
def test_one_guest_has_ten_tries_an_hour_whoever_asks(place: Restaurant) -> None:
    statuses = [post(place, key=str(number), time="12:00").status_code for number in range(11)]
    assert statuses == [409] * 10 + [429]
    limited = post(place, api=account_client(), key="x", time="12:00")
    assert limited.status_code == 429
    assert int(limited["Retry-After"]) > 0
    assert post(place, key="y", customer_email="bob@example.com").status_code == 201


@pytest.mark.exhaustive
def test_the_limits_of_a_guest_count_the_number_beside_any_email_address(place: Restaurant) -> None:
    def ask(number: int, **changes: Any) -> Any:
        return post(place, key=str(number), customer_email=f"{number}@example.com", **changes)

    same: dict[str, Any] = {"customer_phone": "+4512345678"}
    assert [ask(day, date=f"2026-11-{day}", **same).status_code for day in range(22, 25)] == [201] * 3
    refused(ask(25, date="2026-11-25", **same), 409, "too_many_bookings")
    # The number alone is the same guest.
    refused(post(place, key="number", customer_email=None, date="2026-11-25", **same), 409, "too_many_bookings")
    for number in range(5):
        refused(ask(number, date="2026-11-26", **same), 409, "too_many_bookings")
    refused(ask(9, date="2026-11-26", **same), 429, "rate_limit_exceeded")


def test_an_address_has_sixty_tries_an_hour_and_an_account_six_hundred(place: Restaurant) -> None:
    assert post(place, customer_email=None)["X-RateLimit-Limit"] == "60"
    assert post(place, api=account_client(), customer_email=None)["X-RateLimit-Limit"] == "600"


def test_the_repetition_of_a_booking_is_no_try(place: Restaurant) -> None:
    answers = [post(place, key="same") for _ in range(4)]
    assert [(answer.status_code, answer["X-RateLimit-Remaining"]) for answer in answers] == [(201, "59")] * 4
    assert [answer.get("Idempotent-Replayed") for answer in answers] == [None, "true", "true", "true"]
    # Nor a try of the guest.
    assert post(place, key="other", time="12:00")["X-RateLimit-Remaining"] == "58"


@pytest.mark.exhaustive
def test_a_hosted_chat_books_for_many_people_behind_one_address(place: Restaurant) -> None:
    """Each person that signs in, also with a wallet of the free tier, has tries of their own."""
    people = [client_of(fresh_wallet()) for _ in range(3)]
    tries = [[post(place, api=each, key=f"{n}", time="12:00") for n in range(2)] for each in people]
    seen = [[(one["X-RateLimit-Limit"], one["X-RateLimit-Remaining"]) for one in of_one] for of_one in tries]
    assert seen == [[("60", "59"), ("60", "58")]] * 3
    assert post(place, key="nobody", time="12:00")["X-RateLimit-Remaining"] == "59"


def test_the_limit_of_a_guest_is_named_in_the_headers_beside_that_of_the_caller(place: Restaurant) -> None:
    for _ in range(10):
        booking.count_attempt(hash_contact(customer_email="ada@example.com", customer_phone=None))
    limited = post(place)
    assert limited.status_code == 429
    assert limited["RateLimit-Policy"] == '"bookings-contact";q=10;w=3600, "bookings";q=60;w=3600'
    reset = int(limited["Retry-After"])
    assert limited["RateLimit"].startswith(f'"bookings-contact";r=0;t={reset}, "bookings";r=59;t=')


@pytest.mark.parametrize(
    ("changes", "param"),
    [
        ({"date": "2026-11-20"}, "date"),
        ({"date": "2028-11-20"}, "date"),
        ({"date": "tomorrow"}, "date"),
        ({"time": "7pm"}, "time"),
        ({"party_size": 0}, "party_size"),
        ({"customer_email": None}, "customer_email"),
        ({"area": "Roof"}, "area"),
        ({"seats": 2}, "seats"),
    ],
)
def test_what_is_wrong_is_named(place: Restaurant, changes: dict[str, Any], param: str) -> None:
    refused(post(place, **changes), 400, "invalid_request", param)
    assert not Reservation.objects.exists()


@pytest.mark.parametrize("day", ["2026-11-20", "2028-11-20", "9999-12-15", "9999-12-31"])
def test_a_date_that_the_restaurant_takes_no_bookings_for_is_refused(place: Restaurant, day: str) -> None:
    refused(see(place, date=day), 400, "invalid_request", "date")


def test_no_time_is_named_to_a_party_that_the_restaurant_confirms(place: Restaurant) -> None:
    error = refused(post(place, time="03:00", party_size=9), 409, "slot_full", "party_size")
    assert error["message"] == "The restaurant confirms parties of 9 itself, or has no table then. Please call it."
    assert error["alternatives"] == []


# See, change, cancel
@pytest.mark.exhaustive
def test_the_holder_of_the_token_sees_changes_and_cancels(place: Restaurant) -> None:
    record = post(place).json()
    assert send("get", record).json() == record
    changed = send("patch", record, time="20:30", party_size=4, special_requests="A cake")
    assert changed.status_code == 200
    assert changed.json() == record | {"time": "20:30", "party_size": 4, "special_requests": "A cake"}
    assert GuestMail.objects.filter(kind="changed").count() == 1
    cancelled = [send("delete", record) for _ in range(2)]
    assert [answer.status_code for answer in cancelled] == [200, 200]
    assert cancelled[0].json()["status"] == "cancelled"
    refused(send("patch", record, time="19:00"), 400, "invalid_transition", "status")
    assert consistency.problems() == []


@pytest.mark.exhaustive
def test_a_change_without_room_keeps_the_table(place: Restaurant) -> None:
    record = post(place).json()
    post(place, key="second", time="21:00", customer_email="bob@example.com")
    error = refused(send("patch", record, time="21:00"), 409, "slot_full", "time")
    # Not its own time, 19:00.
    assert error["alternatives"] == ["18:30", "18:45", "19:15", "19:30"]
    assert send("get", record).json() == record
    refused(send("patch", record, time="12:00"), 409, "slot_full", "time")
    refused(send("patch", record, party_size=9), 409, "slot_full", "party_size")
    refused(send("patch", record, date="2026-11-20"), 400, "invalid_request", "date")
    refused(send("patch", record), 400, "invalid_request")
    assert send("get", record).json() == record


@pytest.mark.exhaustive
def test_nobody_without_the_token_sees_or_changes_a_booking(place: Restaurant) -> None:
    record = post(place).json()
    other = post(place, key="second", time="21:00", customer_email="bob@example.com").json()
    stolen = record | {"manage_token": other["manage_token"]}
    for method in ("get", "patch", "delete"):
        changes: dict[str, Any] = {"time": "20:30"} if method == "patch" else {}
        refused(send(method, record, token=False, **changes), 404, "not_found")
        refused(send(method, record, token=False, api=account_client(), **changes), 404, "not_found")
        refused(send(method, stolen, **changes), 404, "not_found")
        refused(send(method, record | {"manage_token": "x~y"}, **changes), 404, "not_found")
    assert send("get", record).json()["status"] == "confirmed"


@pytest.mark.exhaustive
def test_the_account_that_booked_sees_and_changes_its_bookings_without_a_token(place: Restaurant) -> None:
    platform = account_client()
    record = post(place, api=platform).json()
    assert send("get", record, api=platform, token=False).json() == record
    assert send("patch", record, api=platform, token=False, time="20:00").json()["time"] == "20:00"
    assert send("delete", record, api=platform, token=False).json()["status"] == "cancelled"


def test_a_booking_at_an_offer_is_changed_in_its_requests_only(place: Restaurant) -> None:
    slot = builders.slot(place)
    offered = (
        Client()
        .post(
            f"/v1/flow/offers/{slot.public_id}/bookings",
            {name: value for name, value in body().items() if name not in ("date", "time")},
            "application/json",
            headers={"Idempotency-Key": "offer"},
        )
        .json()
    )
    assert send("get", offered).json()["offer"] == slot.public_id
    error = refused(send("patch", offered, time="21:00"), 400, "invalid_request", "time")
    assert error["message"].startswith("This table is booked at an offer")
    assert send("patch", offered, special_requests="A cake").json()["special_requests"] == "A cake"
    assert send("delete", offered).json()["status"] == "cancelled"
    slot.refresh_from_db()
    assert slot.seats_left == 8


def test_a_booking_that_has_begun_is_neither_changed_nor_cancelled(place: Restaurant) -> None:
    record = post(place).json()
    with time_machine.travel(NOW + timedelta(days=1, minutes=1), tick=False):
        refused(send("patch", record, time="21:00"), 400, "invalid_transition", "status")
        refused(send("delete", record), 400, "invalid_transition", "status")


# One's own
@pytest.mark.exhaustive
def test_the_bookings_of_an_account_are_listed_the_latest_first(place: Restaurant) -> None:
    platform, times = account_client(), ("17:00", "18:30", "20:00")
    made = []
    for number, time in enumerate(times):
        email = f"guest{number}@example.com"
        made.append(post(place, api=platform, key=time, time=time, customer_email=email).json())
    post(place, key="other", time="21:30", customer_email="other@example.com")
    first = platform.get("/v1/bookings", {"limit": 2}).json()
    assert first["data"] == [made[2], made[1]]
    second = platform.get("/v1/bookings", {"limit": 2, "cursor": first["pagination"]["next_cursor"]}).json()
    assert (second["data"], second["pagination"]["has_more"]) == ([made[0]], False)
    stranger = account_client()
    assert stranger.get("/v1/bookings").json()["data"] == []
    refused(
        stranger.get("/v1/bookings", {"cursor": first["pagination"]["next_cursor"]}), 400, "invalid_request", "cursor"
    )


def test_another_key_of_the_account_sees_its_bookings(place: Restaurant) -> None:
    venue = base.venue("Platform")
    record = post(place, api=base.client(venue)).json()
    assert base.client(venue).get("/v1/bookings").json()["data"] == [record]
    assert ApiKey.objects.filter(venue=venue).count() == 2


def test_anonymous_callers_have_no_list(place: Restaurant) -> None:
    answer = Client().get("/v1/bookings")
    refused(answer, 401, "missing_credentials")
    assert answer["WWW-Authenticate"].startswith("Bearer ")
