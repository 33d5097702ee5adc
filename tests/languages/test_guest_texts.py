"""Guests read every page and mail in one language: no text of ours stands in English among the others."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.test import Client

from accounts.models import Venue
from reservations.booking_page import online_booking
from reservations.mail import templates
from reservations.models import CancellationTerms, GuestMail, Reservation
from reservations.self_service import links
from tests.languages import pseudo
from tests.orders.ordering_page.test_ordering_page import Guest, entered, pizzeria
from tests.support import builders

NOW = datetime(2031, 5, 3, 12, 0, tzinfo=UTC)
STARTS_AT = datetime(2031, 5, 5, 17, 30, tzinfo=UTC)
KNOWN = (
    # What people have written.
    r"Trattoria|Pizzeria|Menu|Size|Extras|Ada|Lovelace|Via Roma|Margherita|Acqua|Europe/Rome|USDC|EUR|T1|[A-Z0-9]{6}"
    # Of Django's forms, in Dutch.
    r"|Dit veld is vereist|Null-tekens zijn niet toegestaan"
    # Days and months, by Babel.
    r"|maandag|zaterdag|mei\b|ma\b|di\b|wo\b|do\b|vr\b|za\b|zo\b"
    r"|https?://\S+"
)
KIND, STATUS = GuestMail.Kind, Reservation.Status

pytestmark = pytest.mark.exhaustive


@pytest.fixture(autouse=True)
def _pseudo_language(tmp_path: Path) -> Iterator[None]:
    with pseudo.activated(tmp_path):
        yield


@pytest.fixture
def trattoria(db: None) -> Venue:
    venue = builders.venue(
        "Trattoria", is_bookable_online=True, address="Via Roma 1", phone="+390612345678", language=pseudo.LANGUAGE
    )
    builders.table(venue)
    builders.period(venue)
    return venue


def check(page: str) -> None:
    assert pseudo.OPEN in page
    assert pseudo.find_unmarked(unescape(page), known=KNOWN) == []


def get(path: str, *, status: int = 200) -> str:
    with time_machine.travel(NOW, tick=False):
        response = Client().get(path)
    assert response.status_code == status, path
    return response.content.decode()


def book(venue: Venue, **changes: str) -> Any:
    """Submit the form of the booking page."""
    sent = {
        "form": online_booking.new_form_token(venue, now=NOW - timedelta(seconds=10)),
        "party": "4",
        "day": "2031-05-05",
        "time": "19:30",
        "customer_name": "Ada Lovelace",
        "customer_email": "ada@example.com",
    }
    with time_machine.travel(NOW, tick=False):
        return Client().post(f"/book/{venue.public_id}", sent | changes)


@pytest.mark.parametrize(
    "query",
    [
        "",
        "?party=4&day=2031-05-05&time=19:30",
        "?party=9&day=2031-05-05&time=19:30",
        "?party=5&day=2031-05-05&time=19:30",
        "?party=x&day=2020-01-01&area=Roof",
        "?day=2031-05-03",
    ],
)
def test_the_booking_page_is_in_one_language(trattoria: Venue, query: str) -> None:
    check(get(f"/book/{trattoria.public_id}{query}"))


@pytest.mark.parametrize("state", ["no-hours", "closed", "waitlist", "deposit", "terms", "by-email"])
def test_the_booking_page_of_every_kind_of_venue_is_in_one_language(trattoria: Venue, state: str) -> None:
    if state == "no-hours":
        trattoria.tables.all().delete()
    if state == "closed":
        trattoria.closures.create(first_date="2031-05-05", last_date="2031-05-05")
    if state == "waitlist":
        Venue.objects.update(when_full="waitlist")
        builders.reservation(trattoria, status="confirmed", starts_at=STARTS_AT)
    if state in ("deposit", "terms"):
        CancellationTerms.objects.create(
            venue=trattoria, free_hours=24, deposit_usdc="10" if state == "deposit" else None
        )
    if state == "by-email":
        Venue.objects.update(proves_guests=True)
    check(get(f"/book/{trattoria.public_id}?party=4&day=2031-05-05&time=19:30"))


@pytest.mark.parametrize(
    "changes",
    [
        {"customer_email": ""},
        {"customer_email": "ada"},
        {"customer_phone": "x"},
        {"customer_name": "\x00"},
        {"website": "spam"},
        {"form": "expired"},
        {"time": "03:00"},
    ],
)
def test_the_errors_of_a_booking_are_in_one_language(trattoria: Venue, changes: dict[str, str]) -> None:
    check(book(trattoria, **changes).content.decode())


def test_a_full_time_and_the_limits_of_bookings_are_in_one_language(trattoria: Venue) -> None:
    assert book(trattoria).status_code == 302
    full = book(trattoria, customer_email="bob@example.com")
    assert full.status_code == 409
    check(full.content.decode())


@pytest.mark.parametrize("settings", [{}, {"proves_guests": True}, {"is_sandbox": True}, {"mails_guests": False}])
def test_the_page_after_a_booking_and_the_guests_own_page_are_in_one_language(
    trattoria: Venue, settings: dict[str, bool]
) -> None:
    Venue.objects.update(**settings)
    response = book(trattoria)
    check(get(response["Location"]))
    token = links.token_of(Reservation.objects.get())
    for step in ("", "/cancel", "/change", "/change?party=9", "/change?party=2&time=20:00"):
        page = get(f"/guest/{token}{step}")
        check(page)


@pytest.mark.parametrize("status", ["pending", "confirmed", "cancelled"])
def test_a_guests_page_is_in_one_language_in_each_status(trattoria: Venue, status: str) -> None:
    reservation = builders.reservation(trattoria, status=status, starts_at=STARTS_AT)
    CancellationTerms.objects.create(venue=trattoria, free_hours=24)
    check(get(f"/guest/{links.token_of(reservation)}"))


def test_pages_of_past_and_of_unknown_reservations_are_in_one_language(trattoria: Venue) -> None:
    reservation = builders.reservation(trattoria, status="confirmed", starts_at=NOW - timedelta(days=2))
    check(get(f"/guest/{links.token_of(reservation)}", status=410))
    for path in ("/guest/unknown?lang=nl", "/book/ven_unknown?lang=nl"):
        check(get(path, status=404))


@pytest.mark.parametrize("kind", KIND)
def test_each_mail_is_in_one_language(trattoria: Venue, kind: GuestMail.Kind) -> None:
    status = {KIND.REQUESTED: "pending", KIND.WAITLISTED: "pending", KIND.CANCELLED: "cancelled"}.get(
        kind, "confirmed"
    )
    reservation = builders.reservation(trattoria, status=status, starts_at=STARTS_AT)
    former = {"date": "2031-05-04", "time": "19:00", "party_size": 2, "area": ""} if kind == KIND.CHANGED else None
    notice = GuestMail.objects.create(
        reservation=reservation, kind=kind, former=former, next_attempt_at=NOW, created_at=NOW
    )
    with time_machine.travel(NOW, tick=False):
        message = templates.build_mail(notice)
    check(str(message.subject))
    check(str(message.body))
    check(str(message.alternatives[0][0]))
    for attached in message.attachments:
        lines = str(attached[1]).replace("\r\n ", "").splitlines()
        for name in ("SUMMARY:", "DESCRIPTION:"):
            (text,) = (line.removeprefix(name) for line in lines if line.startswith(name))
            check(text.replace("\\n", "\n"))


@pytest.mark.parametrize("step", ["menu", "dish", "checkout", "errors", "placed"])
def test_the_ordering_page_is_in_one_language(db: None, step: str) -> None:
    guest = Guest(pizzeria(), "?lang=nl")
    if step == "dish":
        guest.press("open:margherita")
    if step in ("checkout", "errors", "placed"):
        guest.press("add:acqua")
        guest.press("checkout")
    if step == "errors":
        guest.press("place", name="", phone="x")
    if step == "placed":
        guest.press("place", **entered())
        guest.follow()
    check(guest.response.content.decode())
