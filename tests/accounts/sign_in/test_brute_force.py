"""Guessing passwords and codes from any number of addresses, in any number of sessions: each account has its limit."""

import threading
from collections.abc import Iterator
from datetime import timedelta
from itertools import count
from typing import Any

import pytest
import time_machine
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, hotp_value, yield_hotp_counters_from_time
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import User
from tests.support import users

PASSWORD = "correct horse battery staple"
EMAIL = "known@example.com"
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
LIMIT = 5
addresses = count(1)


@pytest.fixture(autouse=True)
def _clear_sign_in_attempts(settings: Settings) -> Iterator[None]:
    # A hundred passwords are checked here.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def person(db: None) -> User:
    user = users.user(EMAIL, password=PASSWORD)
    EmailAddress.objects.create(user=user, email=EMAIL, verified=True, primary=True)
    return user


def new_client() -> Client:
    """A client with an IP address of its own."""
    number = next(addresses)
    return Client(REMOTE_ADDR=f"198.18.{number // 250}.{number % 250 + 1}")


def sign_in(password: str = PASSWORD) -> Client:
    client = new_client()
    client.post("/account/login/", {"login": EMAIL, "password": password})
    return client


def is_signed_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


@pytest.mark.exhaustive
def test_passwords_of_an_account_are_tried_five_times_in_five_minutes_from_all_addresses_together(
    person: User,
) -> None:
    for _ in range(LIMIT):
        assert not is_signed_in(sign_in("wrong"))
    assert not is_signed_in(sign_in())
    # Another account is not affected.
    users.user("other@example.com", password=PASSWORD)
    client = new_client()
    client.post("/account/login/", {"login": "other@example.com", "password": PASSWORD})
    assert is_signed_in(client)
    with time_machine.travel(timezone.now() + timedelta(minutes=5, seconds=5), tick=True):
        assert is_signed_in(sign_in())


@pytest.mark.exhaustive
@pytest.mark.parametrize("written", [EMAIL.upper(), f" {EMAIL} ", "Known@Example.com"])
def test_writing_the_address_differently_gives_no_more_tries(person: User, written: str) -> None:
    for _ in range(LIMIT):
        new_client().post("/account/login/", {"login": written, "password": "wrong"})
    assert not is_signed_in(sign_in())


def both_factors(user: User) -> str:
    """Set up an authenticator app and recovery codes; return an unused recovery code."""
    TOTP.activate(user, SECRET)
    codes = RecoveryCodes.activate(user).get_unused_codes()
    return str(codes[0])


def app_code() -> str:
    return str(format_hotp_value(hotp_value(SECRET, next(iter(yield_hotp_counters_from_time())))))


def enter_code(client: Client, code: str) -> Any:
    return client.post("/account/2fa/authenticate/", {"code": code})


@pytest.mark.exhaustive
@pytest.mark.parametrize("guessed", ["000000", "00000000"], ids=["app", "recovery"])
def test_codes_of_an_account_are_tried_five_times_in_five_minutes_from_all_sessions_together(
    person: User, guessed: str
) -> None:
    recovery_code = both_factors(person)
    for _ in range(LIMIT):
        client = sign_in()
        enter_code(client, guessed)
        assert not is_signed_in(client)
    for code in (app_code(), recovery_code):
        client = sign_in()
        enter_code(client, code)
        assert not is_signed_in(client)
    assert Authenticator.objects.get(type="recovery_codes").wrap().get_unused_codes()[0] == recovery_code
    with time_machine.travel(timezone.now() + timedelta(minutes=5, seconds=5), tick=True):
        client = sign_in()
        enter_code(client, recovery_code)
        assert is_signed_in(client)


@pytest.mark.exhaustive
def test_a_password_that_is_right_gives_no_more_tries_at_the_code(person: User) -> None:
    both_factors(person)
    client = sign_in()
    for _ in range(LIMIT):
        enter_code(client, "000000")
        client = sign_in()
    enter_code(client, app_code())
    assert not is_signed_in(client)


@pytest.mark.exhaustive
def test_a_stolen_session_tries_the_password_ten_times_a_minute(person: User) -> None:
    client = sign_in()
    statuses = [client.post("/account/reauthenticate/", {"password": "wrong"}).status_code for _ in range(11)]
    assert statuses == [200] * 10 + [429]


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_tries_at_the_same_time_are_counted_each(person: User) -> None:
    pages, start = [], threading.Barrier(16)

    def guess() -> None:
        client = new_client()
        start.wait()
        try:
            page = client.post("/account/login/", {"login": EMAIL, "password": "wrong"})
            pages.append("Too many failed login attempts" in page.content.decode())
        finally:
            connection.close()

    threads = [threading.Thread(target=guess) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(pages) == 16
    assert pages.count(False) <= LIMIT
