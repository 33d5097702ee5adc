"""Guests: one by mail address or number, found, noted, made one and two again, downloaded, and erased everywhere."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Event, IdempotentCall, Venue
from orders.models import Order
from reservations.booking import commands
from reservations.guests import erasure, profiles, search
from reservations.guests.profiles import guest_of_reservation
from reservations.models import GuestMail, GuestProfile, Reservation
from tests.reservations import consistency
from tests.support import builders, users

NOW = datetime(2031, 5, 3, 17, 30, tzinfo=UTC)
AGO = datetime(2026, 1, 9, 18, 30, tzinfo=UTC)


@pytest.fixture
def host(venue: Venue) -> Client:
    """Who works there with guests."""
    return users.member(venue, "host")


def visit(venue: Venue, *, status: str = "confirmed", starts_at: datetime = AGO, **fields: Any) -> Reservation:
    """A reservation of Ada, of the past if nothing else is said."""
    return builders.reservation(venue, status=status, starts_at=starts_at, **fields)


def url(its: Reservation, rest: str = "") -> str:
    """The page of the guest who made it."""
    return f"/dashboard/{its.venue.public_id}/guests/{its.public_id}{rest}"


def names(venue: Venue, text: str) -> list[str]:
    """Who is found by this text."""
    return [found.name for found in search.search(venue, text, now=NOW)]


# Who is one
def test_addresses_of_different_case_are_one_guest(venue: Venue) -> None:
    first = visit(venue, customer_email="Ada@Example.com")
    visit(venue, customer_email="ada@example.COM", starts_at=AGO + timedelta(days=1))
    guest = guest_of_reservation(first)
    assert (guest.sorted_contacts, guest.reservations.count()) == (["ada@example.com"], 2)
    (found,) = search.search(venue, "ADA@example.com", now=NOW)
    assert (found.reservations, found.contacts) == (2, {"ada@example.com"})


def test_the_list_counts_visits_and_neither_no_shows_nor_what_is_to_come(venue: Venue) -> None:
    for days in (0, 1):
        visit(venue, starts_at=AGO + timedelta(days=days))
    missed = visit(venue, starts_at=AGO + timedelta(days=2))
    Reservation.objects.filter(pk=missed.pk).update(arrival="no_show")
    visit(venue, starts_at=NOW + timedelta(days=1))
    visit(venue, status="cancelled")
    (found,) = search.search(venue, "ada", now=NOW)
    assert (found.visits, found.no_shows, found.reservations) == (2, 1, 5)


@pytest.mark.parametrize(
    ("hours", "arrival", "visits"), [(2, None, 0), (2, "seated", 1), (13, None, 1), (13, "no_show", 0)]
)
def test_a_party_that_nobody_has_marked_counts_from_twelve_hours_after_its_time(
    venue: Venue, hours: int, arrival: str | None, visits: int
) -> None:
    booking = visit(venue, starts_at=NOW - timedelta(hours=hours))
    Reservation.objects.filter(pk=booking.pk).update(arrival=arrival)
    (found,) = search.search(venue, "ada", now=NOW)
    last = booking.starts_at if visits else None
    statistics = guest_of_reservation(booking).statistics(now=NOW)
    assert (found.visits, found.last_visit) == (visits, last) == (statistics["visits"], statistics["last_visit"])


def test_who_shares_a_number_or_an_address_is_one_guest(venue: Venue) -> None:
    first = visit(venue, customer_email="ada@example.com", customer_phone="+3906123")
    visit(venue, customer_email=None, customer_phone="+3906123")
    visit(venue, customer_email="ada@work.example", customer_phone="+3906123")
    visit(venue, customer_email="else@example.com")
    assert guest_of_reservation(first).sorted_contacts == ["+3906123", "ada@example.com", "ada@work.example"]
    assert guest_of_reservation(first).reservations.count() == 3


def test_guests_of_another_venue_are_not_found(venue: Venue, other_venue: Venue) -> None:
    visit(other_venue)
    mine = visit(venue)
    assert guest_of_reservation(mine).reservations.get() == mine
    assert len(search.search(venue, "ada", now=NOW)) == 1


# Search
@pytest.mark.parametrize("text", ["love", "LOVELACE", "ada@ex", "06 123", "0039 06 123", "+39 (06) 123"])
def test_a_part_of_the_name_the_address_or_the_number_finds_the_guest(venue: Venue, text: str) -> None:
    visit(venue, customer_phone="+3906123")
    visit(venue, customer_name="Grace Hopper", customer_email="grace@navy.example")
    assert names(venue, text) == ["Ada Lovelace"]


@pytest.mark.parametrize("text", ["%", "_", "\\", "100%", "%%"])
def test_a_wildcard_is_an_ordinary_character(venue: Venue, text: str) -> None:
    visit(venue)
    assert names(venue, text) == []


@pytest.mark.parametrize("text", ["\x00\x00\x00", "%00", "x" * 5000, "';--", "1e400"])
def test_a_search_survives_whatever_is_typed(host: Client, venue: Venue, text: str) -> None:
    assert host.get(f"/dashboard/{venue.public_id}/guests", {"q": text}).status_code == 200


@pytest.mark.exhaustive
def test_the_list_costs_the_same_for_one_and_for_many_guests(host: Client, venue: Venue) -> None:
    path, counts = f"/dashboard/{venue.public_id}/guests", []
    for number in range(3):
        visit(venue, customer_email=f"g{number}@example.com")
        for query in ("", "?q=lovelace"):
            with CaptureQueriesContext(connection) as captured:
                assert host.get(path + query).status_code == 200
            counts.append(len(captured))
    assert set(counts) == {counts[0]}
    assert counts[0] <= 6


def test_a_venue_without_guests_says_who_stands_there(host: Client, venue: Venue) -> None:
    page = host.get(f"/dashboard/{venue.public_id}/guests").content.decode()
    assert "Guests appear here when they make a reservation" in page


# Numbers and notes
def test_the_page_of_a_guest_counts_visits_no_shows_and_cancellations(host: Client, venue: Venue) -> None:
    its = visit(venue, party_size=3)
    gone = visit(venue)
    Reservation.objects.filter(pk=gone.pk).update(arrival="no_show")
    visit(venue, status="cancelled")
    later = visit(venue, starts_at=NOW)
    statistics = host.get(url(its)).context["statistics"]
    assert (statistics["visits"], statistics["covers"], statistics["no_shows"], statistics["cancellations"]) == (
        1,
        3,
        1,
        1,
    )
    assert (statistics["last_visit"], statistics["next_visit"]) == (AGO, later.starts_at)


def test_a_note_applies_to_all_contacts_and_a_stale_note_is_refused(host: Client, venue: Venue) -> None:
    its = visit(venue, customer_phone="+3906123")
    sent = {"note": "Sits by the window", "tags": "regular, nut allergy, regular", "seen": ""}
    assert host.post(url(its), sent).status_code == 302
    noted = guest_of_reservation(visit(venue, customer_email=None, customer_phone="+3906123")).profile
    assert noted
    assert (noted.note, noted.tags) == ("Sits by the window", ["regular", "nut allergy"])
    answer = host.post(url(its), sent | {"note": "Likes the bar"})
    assert answer.status_code == 400
    assert "Another user has changed this note." in answer.content.decode()
    assert "Likes the bar" in answer.content.decode()
    assert GuestProfile.objects.get().note == "Sits by the window"


# Two become one
@pytest.mark.exhaustive
def test_guests_are_merged_and_separated(host: Client, venue: Venue) -> None:
    ada = visit(venue)
    other = visit(venue, customer_name="A. Lovelace", customer_email="ada@work.example")
    profiles.save_note(guest_of_reservation(other), text="Likes the bar", tags=["regular"], seen=None, now=NOW)
    page = host.get(url(ada, "/merge"), {"q": "lovelace"})
    assert [found.name for found in page.context["found"]] == ["A. Lovelace"]
    assert "Merge these guests?" in host.get(url(ada, "/merge"), {"other": other.public_id}).content.decode()
    host.post(url(ada, "/merge"), {"other": other.public_id})
    guest = guest_of_reservation(ada)
    assert (guest.sorted_contacts, guest.reservations.count()) == (["ada@example.com", "ada@work.example"], 2)
    assert guest.profile
    assert (guest.profile.note, guest.profile.tags) == ("Likes the bar", ["regular"])
    host.post(url(ada, "/split"), {"profile": guest.profiles[1].public_id})
    assert guest_of_reservation(ada).sorted_contacts == ["ada@example.com"]
    assert guest_of_reservation(other).sorted_contacts == ["ada@work.example"]


def test_a_guest_is_not_merged_with_themselves(host: Client, venue: Venue) -> None:
    ada, again = visit(venue), visit(venue)
    host.post(url(ada, "/merge"), {"other": again.public_id})
    assert not GuestProfile.objects.exists()


def test_who_has_been_seen_under_one_contact_is_not_made_two_again(host: Client, venue: Venue) -> None:
    ada, other = visit(venue), visit(venue, customer_email="ada@work.example")
    profiles.merge(guest_of_reservation(ada), guest_of_reservation(other), now=NOW)
    for mail in ("ada@example.com", "ada@work.example"):
        visit(venue, customer_email=mail, customer_phone="+3906123")
    away = guest_of_reservation(ada).profiles[1]
    with pytest.raises(profiles.SharedContact):
        profiles.split(away, now=NOW)
    away.refresh_from_db()
    assert away.merged_into is not None


# Erased
def test_an_erased_guest_is_nowhere_any_more_and_the_visits_are_still_counted(
    host: Client, venue: Venue, api: Client
) -> None:
    headers = {"Idempotency-Key": "once"}
    body = builders.reservation_body(
        customer_name="Ada Nowhere", special_requests="Nuts are poison", customer_phone="+3906123"
    )
    made = api.post("/api/v1/reservations", body, content_type="application/json", headers=headers)
    assert made.status_code == 201
    its = Reservation.objects.get()
    visit(venue, customer_name="Ada Nowhere")
    profiles.save_note(guest_of_reservation(its), text="Ada is kind", tags=["regular"], seen=None, now=timezone.now())
    commands.set_status(its, "cancelled", now=timezone.now(), actor="system")
    answer = host.post(url(its, "/erase"), {"typed": " ada  nowhere "})
    assert answer["Location"] == f"/dashboard/{venue.public_id}/guests"
    rows = [
        (row.customer_name, row.customer_email, row.customer_phone, row.special_requests, row.party_size)
        for row in Reservation.objects.all()
    ]
    assert rows == [("Erased guest", None, None, "", 4)] * 2
    assert not GuestProfile.objects.exists()
    assert not GuestMail.objects.filter(state="pending").exists()
    stored = json.dumps(
        [
            list(Event.objects.values_list("record", flat=True)),
            [bytes(call.body or b"").decode() for call in IdempotentCall.objects.all()],
        ]
    )
    for word in ("Ada", "ada@example.com", "+3906123", "poison"):
        assert word not in stored
    # The call that is sent again has still one effect, and names nobody.
    again = api.post("/api/v1/reservations", body, content_type="application/json", headers=headers)
    assert (again.status_code, again.json()["id"]) == (201, its.public_id)
    assert again.json()["customer_name"] == "Erased guest"
    assert Reservation.objects.count() == 2
    assert host.get(url(its)).status_code == 404
    assert names(venue, "nowhere") == []
    assert host.get(f"/dashboard/{venue.public_id}/reservations/{its.public_id}").status_code == 200


def test_the_orders_of_an_erased_guest_name_nobody_any_more(host: Client, venue: Venue, api: Client) -> None:
    its = visit(venue, customer_phone="+390612345678", starts_at=AGO)
    contact = {"name": "Ada Nowhere", "phone": "+390612345678", "email": "ada@example.com"}
    body = builders.order_body(fulfilment={"type": "pickup", "contact": contact})
    body["items"][0]["notes"] = "Nuts are poison"
    headers = {"Idempotency-Key": "once"}
    made = api.post("/api/v1/orders", body, content_type="application/json", headers=headers).json()
    refused = host.post(url(its, "/erase"), {"typed": "Ada Lovelace"})
    assert (refused.status_code, "The guest has an open order" in refused.content.decode()) == (400, True)
    api.put(f"/api/v1/orders/{made['id']}/status", {"status": "completed"}, content_type="application/json")
    assert host.post(url(its, "/erase"), {"typed": "Ada Lovelace"}).status_code == 302
    again = api.post("/api/v1/orders", body, content_type="application/json", headers=headers).json()
    assert (again["id"], again["fulfilment"]["contact"]) == (made["id"], None)
    assert Order.objects.get().contact_phone == ""
    stored = json.dumps(
        [
            list(Event.objects.values_list("record", flat=True)),
            [bytes(call.body or b"").decode() for call in IdempotentCall.objects.all()],
        ]
    )
    for word in ("Ada", "ada@example.com", "+390612345678", "poison"):
        assert word not in stored


@pytest.mark.parametrize(
    ("starts_at", "typed", "page_text"),
    [
        (AGO, "Ada", "Type the exact name shown above."),
        (NOW, "Ada Lovelace", "The guest has a reservation at 19:30 on 2031-05-03."),
    ],
)
def test_who_is_expected_or_is_not_meant_is_not_erased(
    host: Client, venue: Venue, starts_at: datetime, typed: str, page_text: str
) -> None:
    its = visit(venue, starts_at=starts_at)
    before = consistency.state()
    answer = host.post(url(its, "/erase"), {"typed": typed})
    assert answer.status_code == 400
    assert page_text in answer.content.decode()
    assert consistency.state() == before


def test_erasing_one_guest_leaves_the_others_alone(venue: Venue, other_venue: Venue) -> None:
    its, other = visit(venue), visit(venue, customer_name="Grace", customer_email="grace@example.com")
    elsewhere = visit(other_venue)
    assert (
        erasure.erase(guest_of_reservation(its), name="Ada Lovelace", typed="Ada Lovelace", now=NOW, actor="system")
        == 1
    )
    for row, name in ((other, "Grace"), (elsewhere, "Ada Lovelace")):
        row.refresh_from_db()
        assert (row.customer_name, row.erased_at) == (name, None)


# Downloaded
def test_all_that_is_known_of_a_guest_is_a_file(host: Client, venue: Venue) -> None:
    its = visit(venue, special_requests="By the window")
    profiles.save_note(guest_of_reservation(its), text="Kind", tags=["regular"], seen=None, now=NOW)
    answer = host.get(url(its, "/download"))
    assert answer["Content-Disposition"] == f'attachment; filename="guest-{its.code}.json"'
    export = answer.json()
    assert (export["venue"], export["contacts"]) == (venue.name, ["ada@example.com"])
    assert export["notes"] == [{"note": "Kind", "tags": ["regular"]}]
    (record,) = export["reservations"]
    assert (record["id"], record["special_requests"]) == (its.public_id, "By the window")
    assert [line["type"] for line in export["history"]] == ["reservation.created", "reservation.confirmed"]
