"""The guest's own page: by a signed link, without signing in, and without JavaScript."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from threading import Barrier
from typing import Any

import psycopg
import pytest
import time_machine
from django.core import signing
from django.db import connection
from django.test import Client

from accounts.models import Event, Venue
from reservations.booking import waitlist
from reservations.models import GuestMail, Reservation
from reservations.self_service import links
from tests.support import builders
from tests.support.live_server import database_url

# The reservations of tests/support/builders.py begin on 2031-05-03 at 17:30 UTC, and a party of four stays for 105
# minutes.
NOW = datetime(2031, 5, 3, 12, 0, tzinfo=UTC)
STARTS_AT = datetime(2031, 5, 3, 17, 30, tzinfo=UTC)
ENDS_AT = STARTS_AT + timedelta(minutes=105)


def page(reservation: Reservation, step: str = "") -> str:
    """The path of the guest's page, or of one step behind it."""
    return f"/guest/{links.token_of(reservation)}{step and '/'}{step}"


def words(response: Any) -> str:
    """The text of a page without its markup."""
    main = re.search(r"<main>(.*)</main>", response.content.decode(), re.DOTALL)
    assert main
    return " ".join(re.sub(r"<[^>]+>", " ", main[1]).split())


def row(reservation: Reservation) -> dict[str, Any]:
    """The whole row, to say that nothing of it has changed."""
    return dict(Reservation.objects.values().get(pk=reservation.pk))


def offered(venue: Venue, **fields: Any) -> Reservation:
    """A party of the waiting list for which a table is held until half past twelve."""
    builders.table(venue)
    reservation = builders.reservation(venue, **fields)
    Reservation.objects.filter(pk=reservation.pk).update(pending_reason="waitlist")
    waitlist.offer_table(reservation, actor="system", now=NOW)
    return reservation


@pytest.fixture
def guest() -> Client:
    """A browser that nobody has signed in with, and that is asked for the CSRF token as a real one."""
    return Client(enforce_csrf_checks=True)


def press(guest: Client, reservation: Reservation, step: str, *, seen_on: str = "", **headers: str) -> Any:
    """Open a page and send its form for this step, as a browser does."""
    opened = guest.get(page(reservation, seen_on)).content.decode()
    form = re.search(rf'<form method="post" action="([^"]*/{step})">.*?value="([^"]+)"', opened, re.DOTALL)
    assert form
    return guest.post(form[1], {"csrfmiddlewaretoken": form[2]}, headers={"origin": "http://testserver", **headers})


@pytest.mark.parametrize(
    ("status", "changes", "page_text", "buttons"),
    [
        ("confirmed", {}, "Your table is reserved.", ["Change reservation", "Cancel reservation", "Add to calendar"]),
        (
            "pending",
            {},
            "The restaurant has received your request. It is not confirmed yet.",
            ["Change request", "Withdraw request"],
        ),
        (
            "pending",
            {"pending_reason": "waitlist"},
            "You are on the waiting list.",
            ["Change request", "Leave the waiting list"],
        ),
        (
            "pending",
            {"pending_reason": "waitlist", "offered_until": NOW + timedelta(minutes=30)},
            "A table is free. It is held for you until 14:30 on Saturday 3 May 2031.",
            ["Accept the table", "Decline and leave the waiting list"],
        ),
        (
            "pending",
            {"pending_reason": "waitlist", "offered_until": NOW},
            "You are on the waiting list.",
            ["Change request", "Leave the waiting list"],
        ),
        ("cancelled", {}, "This reservation is cancelled.", []),
        ("confirmed", {"starts_at": NOW}, "The restaurant expects you now.", []),
        ("confirmed", {"arrival": "arrived"}, "please call the restaurant", []),
        ("pending", {"starts_at": NOW}, "This reservation was not confirmed in time.", []),
    ],
)
def test_the_page_says_what_is_booked_and_how_it_stands(
    venue: Venue, guest: Client, status: str, changes: dict[str, Any], page_text: str, buttons: list[str]
) -> None:
    reservation = builders.reservation(venue, status=status, code="K7QX2M", special_requests="A quiet corner")
    Reservation.objects.filter(pk=reservation.pk).update(tables=["T77"], **changes)
    with time_machine.travel(NOW, tick=False):
        response = guest.get(page(reservation))
    assert response.status_code == 200
    text = words(response)
    for part in (page_text, "Trattoria", "Saturday 3 May 2031", "19:30 (Europe/Rome time)", "K7QX2M", "Guests 4"):
        assert part in text
    assert "A quiet corner" in text
    assert "T77" not in text
    own, _languages = response.content.decode().split('<form class="languages-form"')
    assert re.findall(r"<(?:button|a)[^>]*>([^<]+)<", own) == buttons


def test_a_page_is_not_cached_not_indexed_and_does_not_leak_its_link(venue: Venue, guest: Client) -> None:
    response = guest.get(page(builders.reservation(venue)))
    assert response["Cache-Control"] == "no-store, private"
    assert response["X-Robots-Tag"] == "noindex, nofollow"
    assert response["Referrer-Policy"] == "same-origin"
    assert response["X-Frame-Options"] == "DENY"
    assert response["Content-Security-Policy"] == (
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none';"
        " frame-ancestors 'none'"
    )


class Page(HTMLParser):
    """What a page loads, links to and labels."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember it."""
        self.tags.append((tag, dict(attrs)))


@pytest.mark.parametrize("step", ["", "cancel"])
def test_a_page_needs_no_script_and_no_other_site_and_fits_a_phone(venue: Venue, guest: Client, step: str) -> None:
    reservation = builders.reservation(venue, status="confirmed", customer_name="<script>alert(1)</script>")
    tags = Page(guest.get(page(reservation, step)).content.decode()).tags
    assert {tag for tag, _ in tags} & {"script", "img", "iframe", "style"} == set()
    assert [attrs["href"] for tag, attrs in tags if tag == "link"] == ["/static/reservations/book.css"]
    assert all(str(attrs["href"]).startswith("/") for tag, attrs in tags if tag == "a")
    assert not any(name.startswith("on") or name == "style" for _, attrs in tags for name in attrs)
    assert ("html", {"lang": "en", "dir": "ltr"}) in tags
    metas = {attrs.get("name"): attrs.get("content") for tag, attrs in tags if tag == "meta"}
    assert (metas["viewport"], metas["color-scheme"]) == ("width=device-width, initial-scale=1", "light dark")
    # Keyboards reach buttons and links, and nothing is taken out of their order.
    assert not any("tabindex" in attrs for _, attrs in tags)


@pytest.mark.django_db
def test_the_style_is_served(client: Client) -> None:
    response = client.get("/static/reservations/book.css")
    assert (response.status_code, response["Content-Type"]) == (200, 'text/css; charset="utf-8"')
    response.close()


@pytest.mark.parametrize("step", ["", "/", "/cancel", "/cancel/", "/accept", "/decline/"])
def test_both_slash_forms_are_served(venue: Venue, guest: Client, step: str) -> None:
    response = guest.get(page(builders.reservation(venue)) + step)
    assert response.status_code == (302 if step.strip("/") in ("accept", "decline") else 200)


def mangled(token: str) -> list[str]:
    """What becomes of a link in mail programs, and what people try."""
    key, _, signature = token.partition("~")
    return [
        token[:-1],
        token + "x",
        key,
        f"{key}~",
        f"~{signature}",
        token.replace("~", "."),
        signing.Signer(sep="~").sign(key),
        signing.Signer(salt="reservations.guest", sep="~").sign("res_zzzz"),
        signing.Signer(salt="reservations.guest", sep="~").sign("res_00000000000000000000000000"),
        "\u00e9\u4e00%00",
        "a" * 3000,
    ]


@pytest.mark.sample(3)
@pytest.mark.parametrize("number", range(11))
def test_a_link_that_is_not_ours_gets_a_friendly_404(venue: Venue, guest: Client, number: int) -> None:
    reservation = builders.reservation(venue, status="confirmed")
    before = row(reservation)
    path = f"/guest/{mangled(links.token_of(reservation))[number]}"
    for response in (guest.get(path), guest.get(f"{path}/cancel"), Client().post(f"{path}/cancel")):
        assert response.status_code == 404
        assert words(response).startswith("Invalid link Part of the link may be missing.")
        assert response["Cache-Control"] == "no-store, private"
    assert row(reservation) == before


def test_looking_changes_nothing(venue: Venue, guest: Client) -> None:
    reservation = offered(venue)
    before = row(reservation)
    with time_machine.travel(NOW, tick=False):
        for step in ("", "cancel", "accept", "decline"):
            guest.get(page(reservation, step))
            guest.head(page(reservation, step))
    assert row(reservation) == before


@pytest.mark.parametrize("step", ["cancel", "accept", "decline"])
def test_without_the_token_of_the_form_nothing_is_done(venue: Venue, guest: Client, step: str) -> None:
    reservation = offered(venue)
    before = row(reservation)
    with time_machine.travel(NOW, tick=False):
        assert guest.post(page(reservation, step)).status_code == 403
        # Nor from the page of another site.
        guest.get(page(reservation))
        token = guest.cookies["csrftoken"].value
        answer = guest.post(
            page(reservation, step), {"csrfmiddlewaretoken": token}, headers={"origin": "https://evil.example"}
        )
    assert (answer.status_code, row(reservation)) == (403, before)


def test_a_form_that_is_refused_says_so_and_leads_back(venue: Venue, guest: Client) -> None:
    reservation = offered(venue)
    response = guest.post(page(reservation, "accept"))
    assert response.status_code == 403
    assert words(response).startswith("Not saved The page may have been open for too long, or cookies are blocked.")
    assert f'href="{page(reservation)}"' in response.content.decode()
    assert (response["Cache-Control"], response["Referrer-Policy"]) == ("no-store, private", "same-origin")


def test_an_address_of_a_step_that_is_opened_again_shows_the_reservation(venue: Venue, guest: Client) -> None:
    reservation = offered(venue)
    for step in ("accept", "decline"):
        assert guest.get(page(reservation, step))["Location"] == page(reservation)
    for path, allowed in ((page(reservation), "GET, HEAD"), (page(reservation, "accept"), "POST")):
        response = Client().put(path)
        assert (response.status_code, response["Allow"]) == (405, allowed)
        assert words(response).startswith("Not saved")
        assert response["Cache-Control"] == "no-store, private"


def test_a_name_turns_nothing_around_it(venue: Venue, guest: Client) -> None:
    reservation = builders.reservation(venue, customer_name="Ada \u202eecalevoL", special_requests="\u202etluciffid")
    for step in ("", "cancel"):
        shown = guest.get(page(reservation, step)).content.decode()
        assert "<bdi>Ada \u202eecalevoL</bdi>" in shown
        assert "<bdi>\u202etluciffid</bdi>" in shown


def test_a_guest_cancels_in_two_steps(venue: Venue, guest: Client) -> None:
    builders.table(venue)
    reservation = builders.reservation(venue, status="confirmed")
    assert reservation.tables == ["T1"]
    with time_machine.travel(NOW, tick=False):
        asked = guest.get(page(reservation, "cancel"))
        assert "Cancel this reservation? It cannot be undone." in words(asked)
        response = press(guest, reservation, "cancel", seen_on="cancel")
        assert (response.status_code, response["Location"]) == (302, page(reservation))
        assert "This reservation is cancelled." in words(guest.get(page(reservation)))
    reservation.refresh_from_db()
    assert (reservation.status, reservation.cancelled_at, reservation.tables) == ("cancelled", NOW, [])
    newest = Event.objects.filter(subject=reservation.pk).latest("created_at", "id")
    assert (newest.type, newest.actor) == ("reservation.cancelled", "guest")
    assert [notice.kind for notice in GuestMail.objects.filter(created_at=NOW)] == ["cancelled"]


def test_to_cancel_twice_is_to_cancel_once(venue: Venue) -> None:
    reservation = builders.reservation(venue, status="confirmed")
    with time_machine.travel(NOW, tick=False):
        first, second = (Client().post(page(reservation, "cancel")) for _ in range(2))
    assert (first.status_code, second.status_code) == (302, 302)
    assert Event.objects.filter(subject=reservation.pk, type="reservation.cancelled").count() == 1


@pytest.mark.parametrize("now", [STARTS_AT, ENDS_AT - timedelta(seconds=1)])
def test_after_the_start_a_guest_cannot_cancel_and_sees_why(venue: Venue, now: datetime) -> None:
    reservation = builders.reservation(venue, status="confirmed")
    before = row(reservation)
    with time_machine.travel(now, tick=False):
        response = Client().post(page(reservation, "cancel"))
        assert "Cancel this reservation?" not in words(Client().get(page(reservation, "cancel")))
    assert (response.status_code, row(reservation)) == (409, before)
    assert "It is too late to cancel online. Please call the restaurant." in words(response)


@pytest.mark.parametrize("status", ["pending", "confirmed", "cancelled"])
def test_a_reservation_that_is_over_says_no_more_than_that(venue: Venue, status: str) -> None:
    reservation = builders.reservation(venue, status=status, code="K7QX2M")
    before = row(reservation)
    with time_machine.travel(ENDS_AT, tick=False):
        seen = Client().get(page(reservation))
        tried = Client().post(page(reservation, "cancel"))
    assert (seen.status_code, tried.status_code) == (410, 409)
    for response in (seen, tried):
        assert words(response).startswith("This reservation is in the past")
        assert not {"Ada Lovelace", "K7QX2M"} & set(words(response).split())
    assert row(reservation) == before


def test_an_offer_is_accepted(venue: Venue, guest: Client) -> None:
    reservation = offered(venue)
    with time_machine.travel(NOW + timedelta(minutes=29), tick=False):
        response = press(guest, reservation, "accept")
        assert response["Location"] == page(reservation)
        assert "Your table is reserved." in words(guest.get(page(reservation)))
        # A second click meets what the first has done.
        assert Client().post(page(reservation, "accept")).status_code == 302
    reservation.refresh_from_db()
    assert (reservation.status, reservation.tables, reservation.offered_until) == ("confirmed", ["T1"], None)
    assert Event.objects.filter(subject=reservation.pk, type="reservation.confirmed", actor="guest").count() == 1


def test_an_offer_is_declined(venue: Venue, guest: Client) -> None:
    reservation = offered(venue)
    with time_machine.travel(NOW, tick=False):
        assert press(guest, reservation, "decline")["Location"] == page(reservation)
        assert Client().post(page(reservation, "decline")).status_code == 302
    reservation.refresh_from_db()
    assert (reservation.status, reservation.tables, reservation.seatings.count()) == ("cancelled", [], 0)


@pytest.mark.parametrize("step", ["accept", "decline"])
def test_an_offer_that_has_lapsed_is_neither_accepted_nor_declined(venue: Venue, step: str) -> None:
    reservation = offered(venue)
    before = row(reservation)
    with time_machine.travel(NOW + timedelta(minutes=30), tick=False):
        response = Client().post(page(reservation, step))
    assert (response.status_code, row(reservation)) == (409, before)
    text = words(response)
    assert "This table is no longer held for you. You are still on the waiting list." in text
    assert "Leave the waiting list" in text


@pytest.mark.parametrize(
    ("status", "step", "page_text"),
    [
        ("cancelled", "accept", "This reservation is cancelled and cannot become confirmed."),
        ("confirmed", "decline", "This reservation is confirmed; cancel it instead."),
    ],
)
def test_expired_actions_show_an_error_on_the_page(venue: Venue, status: str, step: str, page_text: str) -> None:
    reservation = builders.reservation(venue, status=status)
    before = row(reservation)
    with time_machine.travel(NOW, tick=False):
        response = Client().post(page(reservation, step))
    assert (response.status_code, row(reservation)) == (409, before)
    assert page_text in words(response)


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_eight_clicks_at_once_are_answered_with_pages_and_do_one_thing() -> None:
    venue = builders.venue()
    start = Barrier(8)

    def click(job: tuple[Reservation, str]) -> int:
        reservation, step = job
        start.wait(timeout=10)
        try:
            return Client().post(page(reservation, step)).status_code
        finally:
            connection.close()

    for number in range(3):
        reservation = builders.reservation(venue, code=f"AAAAA{number + 2}")
        table = builders.table(venue, f"T{number}")
        Reservation.objects.filter(pk=reservation.pk).update(pending_reason="waitlist")
        waitlist.offer_table(reservation, actor="system", now=datetime.now(UTC))
        with ThreadPoolExecutor(8) as threads:
            steps = ["accept", "decline", "cancel", "accept"] * 2
            answers = list(threads.map(click, [(reservation, step) for step in steps]))
        assert set(answers) <= {302, 409}
        reservation.refresh_from_db()
        # Somebody cancels in the end, whoever came first, and nobody keeps the table.
        assert (reservation.status, reservation.tables, table.seatings.count()) == ("cancelled", [], 0)
        cancellations = Event.objects.filter(subject=reservation.pk, type="reservation.cancelled")
        assert cancellations.count() == 1


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_a_database_that_cannot_answer_is_a_page_too_and_nothing_was_done() -> None:
    reservation = builders.reservation(builders.venue(), status="confirmed")
    before = row(reservation)
    with psycopg.connect(database_url()) as rival:
        rival.execute("SELECT FROM reservations_reservation WHERE id = %s FOR UPDATE", [reservation.pk])
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = 50")
        response = Client().post(page(reservation, "cancel"))
        connection.close()
    assert (response.status_code, response["Retry-After"]) == (503, "2")
    assert words(response).startswith("Try again in a moment")
    assert row(reservation) == before
