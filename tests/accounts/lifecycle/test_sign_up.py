"""Signing up: an account with a first key that is shown once."""

import re
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.db import connection
from django.test import Client

from accounts.models import Account, ApiKey, Membership, OutgoingMail, User, Venue
from tests.support import users

PASSWORD = "correct horse battery staple"


@pytest.fixture(autouse=True)
def _clear_sign_in_attempts() -> Iterator[None]:
    """The limits on tries know nothing of other tests."""
    cache.clear()
    yield
    cache.clear()


def asked(**changes: Any) -> dict[str, Any]:
    """What a newcomer writes."""
    return {
        "restaurant": "Da Ugo",
        "email": "ugo@example.com",
        "password1": PASSWORD,
        "timezone": "Europe/Rome",
        "currency": "CHF",
    } | changes


def shown_key(page: str) -> str:
    """The key that the page shows."""
    found = re.search(r'id="first-key"[^>]*>([^<]+)<', page)
    return found.group(1) if found else ""


def test_who_signs_up_has_a_restaurant_a_sandbox_and_a_key(db: None) -> None:
    client = Client()
    answer = client.post("/account/signup/", asked(), follow=True)
    key = shown_key(answer.content.decode())
    account = Account.objects.get()
    assert (account.name, account.memberships.get().role) == ("Da Ugo", "owner")
    assert [(venue.name, venue.timezone, venue.currency, venue.is_sandbox) for venue in Venue.objects.by_name()] == [
        ("Da Ugo", "Europe/Rome", "CHF", False),
        ("Da Ugo (sandbox)", "Europe/Rome", "CHF", True),
    ]
    assert key.startswith("rk_test_")
    order = client.post(
        "/api/v1/orders",
        {
            "customer_id": "cust_123",
            "items": [{"menu_item_id": "margherita", "quantity": 2}],
            "payment_method": "card",
        },
        "application/json",
        headers={"authorization": f"Bearer {key}"},
    )
    assert order.status_code == 201


def test_the_page_has_a_ready_call_with_the_key(db: None, settings: Any) -> None:
    settings.PUBLIC_BASE_URL = "https://book.example.com"
    page = Client().post("/account/signup/", asked(), follow=True).content.decode()
    call = re.search(r'id="first-call"[^>]*>([^<]+)<', page)
    assert call is not None
    assert call.group(1).startswith("curl -i https://book.example.com/api/v1/orders -H 'Authorization: Bearer rk_")


def test_a_key_is_shown_once(db: None) -> None:
    client = Client()
    first = client.post("/account/signup/", asked(), follow=True)
    again = client.get(first.request["PATH_INFO"])
    assert shown_key(first.content.decode())
    assert shown_key(again.content.decode()) == ""
    assert "A key is shown only once." in again.content.decode()


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_of_two_tabs_one_is_shown_the_key() -> None:
    client = Client()
    address = client.post("/account/signup/", asked())["Location"]
    cookies, pages, start = client.cookies, [], threading.Barrier(2)

    def look() -> None:
        tab = Client()
        tab.cookies = cookies
        start.wait()
        pages.append(tab.get(address).content.decode())
        connection.close()

    tabs = [threading.Thread(target=look) for _ in range(2)]
    for tab in tabs:
        tab.start()
    for tab in tabs:
        tab.join()
    assert sum(bool(shown_key(page)) for page in pages) == 1


def test_session_does_not_contain_the_key(db: None) -> None:
    Client().post("/account/signup/", asked())
    rows = Session.objects.get().get_decoded()
    key = ApiKey.objects.get()
    assert key.start not in str(rows)


WRONG = {
    "no name": ({"restaurant": " "}, "restaurant"),
    "a name that is too long": ({"restaurant": "x" * 191}, "restaurant"),
    "a NUL in the name": ({"restaurant": "Da\x00Ugo"}, "restaurant"),
    "no mail address": ({"email": "ugo"}, "email"),
    "a mail address that is too long": (
        {"email": f"u@{'x' * 60}.{'y' * 60}.{'z' * 60}.{'w' * 60}.{'v' * 20}.com"},
        "email",
    ),
    "no such zone": ({"timezone": "Europe/Atlantis"}, "timezone"),
    "a zone of the machine": ({"timezone": "localtime"}, "timezone"),
    "no such currency": ({"currency": "XXX"}, "currency"),
    "a short password": ({"password1": "kurz"}, "password1"),
    "a password that everybody has": ({"password1": "password123"}, "password1"),
    "a password that is the address": ({"password1": "ugo@example.com"}, "password1"),
}


@pytest.mark.sample(3)
@pytest.mark.parametrize(("changes", "field"), WRONG.values(), ids=WRONG)
def test_form_error_is_shown_at_its_field(db: None, changes: dict[str, Any], field: str) -> None:
    answer = Client().post("/account/signup/", asked(**changes))
    assert list(answer.context["form"].errors) == [field]
    assert not User.objects.exists()
    assert not Account.objects.exists()


def test_an_address_that_is_taken_founds_nothing(db: None) -> None:
    users.user("Ugo@Example.com")
    answer = Client().post("/account/signup/", asked())
    assert list(answer.context["form"].errors) == ["email"]
    assert not Account.objects.exists()


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_of_two_who_sign_up_with_one_address_one_gets_in() -> None:
    statuses, start = [], threading.Barrier(2)

    def sign_up() -> None:
        start.wait()
        statuses.append(Client().post("/account/signup/", asked()).status_code)
        connection.close()

    both = [threading.Thread(target=sign_up) for _ in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert 302 in statuses
    assert User.objects.count() == Account.objects.count() == Membership.objects.count() == 1


def test_a_newcomer_is_asked_by_mail_whether_the_address_is_theirs(db: None) -> None:
    Client().post("/account/signup/", asked())
    mail = OutgoingMail.objects.get()
    assert (mail.address, mail.subject) == (
        "ugo@example.com",
        "Welcome to Tablewire: confirm your email address",
    )
    assert "confirm-email" not in mail.text


def test_names_are_text(db: None) -> None:
    page = Client().post("/account/signup/", asked(restaurant="<script>alert(1)</script>"), follow=True)
    assert "<script>alert" not in page.content.decode()


@pytest.mark.exhaustive
def test_the_twenty_first_sign_up_of_a_minute_waits(db: None) -> None:
    client = Client()
    statuses = [client.post("/account/signup/", {}).status_code for _ in range(21)]
    assert statuses == [200] * 20 + [429]
    assert "Too many requests" in client.post("/account/signup/", {}).content.decode()


@pytest.mark.parametrize("typed", ["Rome", "rome", "europe/rome"])
def test_time_zone_is_found_by_its_city(db: None, client: Client, typed: str) -> None:
    assert client.post("/account/signup/", asked(timezone=typed)).status_code == 302
    assert {venue.timezone for venue in Venue.objects.all()} == {"Europe/Rome"}


@pytest.mark.exhaustive
def test_unknown_time_zone_stays_in_its_field(db: None, client: Client) -> None:
    page = client.post("/account/signup/", asked(timezone="Atlantis")).content.decode()
    assert "There is no time zone Atlantis." in page
    field = page.partition('name="timezone"')[2].partition(">")[0]
    assert 'value="Atlantis"' in field
    # The script fills in the browser's zone where this attribute is.
    assert "data-zone" not in field


def test_zones_have_the_currency_of_their_country(db: None, client: Client) -> None:
    page = client.get("/account/signup/").content.decode()
    assert '<option value="Europe/Copenhagen" data-currency="DKK">' in page
    assert '<option value="UTC" data-currency="">' in page
    # Folded, and open where one of the two is wrong.
    assert '<details class="folded">' in page
    assert (
        '<details class="folded" open>' in client.post("/account/signup/", asked(timezone="Atlantis")).content.decode()
    )


def test_currencies_have_their_names(db: None, client: Client) -> None:
    assert '<option value="DKK">DKK, Danish Krone</option>' in client.get("/account/signup/").content.decode()
