"""Who is let in: keys that are mistyped, unknown, revoked, expired or sent in another way."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from accounts.models import ApiKey, Venue
from accounts.models.api_keys import checksum
from tests.support import builders

ORDERS = "/api/v1/orders"
NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
UNKNOWN = "rk_live_" + "A" * 40


def get(authorization: str | None) -> Any:
    headers = {"authorization": authorization} if authorization is not None else {}
    return Client().get(ORDERS, headers=headers)


def refusal_of(response: Any) -> tuple[int, str, str]:
    error = response.json()["error"]
    assert error["param"] is None
    assert response["WWW-Authenticate"] == 'Bearer realm="tablewire"'
    return response.status_code, error["code"], error["message"]


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "Bearer  "])
def test_the_scheme_is_read_in_any_case(venue: Venue, scheme: str) -> None:
    assert get(f"{scheme} {ApiKey.create(venue, name='test').text}").status_code == 200


@pytest.mark.parametrize("header", [None, "", "  "])
@pytest.mark.django_db
def test_call_without_the_header_is_asked_to_send_it(
    header: str | None, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(0):
        response = get(header)
    assert refusal_of(response) == (
        401,
        "missing_credentials",
        "Send your API key: `Authorization: Bearer <API_KEY>`.",
    )


@pytest.mark.parametrize("form", ["{key}", "Basic {key}", "Token {key}", "Bearer", "Bearer:{key}", "Bearer{key}"])
def test_another_scheme_is_refused_without_a_query(
    venue: Venue, form: str, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    key = ApiKey.create(venue, name="test").text
    with django_assert_num_queries(0):
        response = get(form.format(key=key))
    assert refusal_of(response) == (
        401,
        "invalid_credentials",
        "The Authorization header must read `Bearer <API_KEY>`.",
    )


def test_mistyped_key_is_recognized_without_a_query(
    venue: Venue, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    key = ApiKey.create(venue, name="test").text
    other = "a" if key[20] != "a" else "b"
    mistyped = [
        key[:20] + other + key[21:],
        key[:-1],
        f"{key}a",
        f"{key} {key}",
        key.replace("live", "life"),
        key.upper(),
        key[:20] + "é" + key[21:],
        "x" * 100_000,
    ]
    with django_assert_num_queries(0):
        answers = [get(f"Bearer {text}") for text in mistyped]
    assert {refusal_of(response) for response in answers} == {
        (401, "invalid_credentials", "This is not an API key: a character is missing or mistyped.")
    }


@pytest.mark.django_db
def test_an_unknown_key_costs_one_query(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(1):
        response = get(f"Bearer {UNKNOWN}{checksum(UNKNOWN)}")
    assert refusal_of(response) == (401, "invalid_credentials", "There is no such API key.")


def test_a_known_key_costs_one_query(venue: Venue, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    api = builders.client(venue)
    with django_assert_num_queries(1):
        assert api.get("/api/v1/nothing").status_code == 404


def test_a_revoked_key_is_refused_from_that_moment(venue: Venue) -> None:
    key = ApiKey.create(venue, name="test")
    with time_machine.travel(NOON, tick=False) as clock:
        key.row.revoke(now=NOON)
        assert refusal_of(get(f"Bearer {key.text}")) == (401, "revoked_api_key", "This API key was revoked.")
        clock.shift(timedelta(seconds=-1))
        assert get(f"Bearer {key.text}").status_code == 200


def test_an_expired_key_is_refused_from_that_moment(venue: Venue) -> None:
    key = ApiKey.create(venue, name="test", expires_at=NOON)
    with time_machine.travel(NOON, tick=False) as clock:
        assert refusal_of(get(f"Bearer {key.text}")) == (401, "expired_api_key", "This API key has expired.")
        clock.shift(timedelta(seconds=-1))
        assert get(f"Bearer {key.text}").status_code == 200


def test_a_key_sees_its_own_venue_only(api: Client, other_api: Client, venue: Venue) -> None:
    order, reservation = builders.order(venue), builders.reservation(venue)
    for path, public_id in ((ORDERS, order.public_id), ("/api/v1/reservations", reservation.public_id)):
        assert [record["id"] for record in api.get(path).json()["data"]] == [public_id]
        assert other_api.get(path).json()["data"] == []


def test_refused_credentials_are_not_repeated(venue: Venue) -> None:
    key = ApiKey.create(venue, name="test")
    key.row.revoke(now=NOON)
    for text in (key.text, f"{key.text}x"):
        assert key.text not in get(f"Bearer {text}").content.decode()
