"""Keys as they are kept, and people in any case."""

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection
from hypothesis import given
from hypothesis import strategies as st

from accounts.models import ApiKey, User, Venue
from accounts.models.api_keys import BASE62, CannotRotate, checksum, digest, is_api_key
from tests.support import builders

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(("is_sandbox", "prefix"), [(False, "rk_live_"), (True, "rk_test_")])
@pytest.mark.django_db
def test_a_key_is_prefix_secret_and_checksum(is_sandbox: bool, prefix: str) -> None:
    text = ApiKey.create(builders.venue(is_sandbox=is_sandbox), name="test").text
    assert re.fullmatch(rf"{prefix}[0-9A-Za-z]{{46}}", text)
    assert text[-6:] == checksum(text[:-6])


def test_a_checksum_is_crc_32_in_six_letters() -> None:
    # CRC-32 of "123456789" is 0xCBF43926, the check value of the algorithm.
    value = 0
    for character in checksum("123456789"):
        value = value * 62 + BASE62.index(character)
    assert value == 0xCBF43926
    assert checksum("") == "000000"


@pytest.mark.exhaustive
@given(st.text())
def test_hardly_a_text_looks_like_a_key(text: str) -> None:
    assert not is_api_key(text)
    assert not is_api_key(f"rk_live_{text}")


def test_only_the_hash_and_the_prefix_of_a_key_are_stored(venue: Venue) -> None:
    key = ApiKey.create(venue, name="test")
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_jsonb(kept)::text, digest FROM accounts_apikey AS kept")
        row, stored = cursor.fetchone()
    assert bytes(stored) == digest(key.text)
    assert key.text[12:-4] not in row
    assert (key.row.start, key.row.end) == (key.text[:12], key.text[-4:])
    assert str(key.row) == f"test ({key.text[:12]}…{key.text[-4:]})"


def test_no_two_keys_are_alike(venue: Venue) -> None:
    assert len({ApiKey.create(venue, name="test").text for _ in range(50)}) == 50


def test_a_key_is_revoked_once(venue: Venue) -> None:
    row = ApiKey.create(venue, name="test").row
    assert row.revoke(now=NOON) is True
    assert row.revoke(now=NOON.replace(hour=13)) is False
    row.refresh_from_db()
    assert row.revoked_at == NOON


def test_a_key_allows_at_least_one_call(venue: Venue) -> None:
    with pytest.raises(IntegrityError, match="api_key_allowance_positive"):
        ApiKey.create(venue, name="test", allowance=0)


# Rotation
def test_a_new_key_takes_over_what_the_old_one_may(venue: Venue) -> None:
    old = ApiKey.create(venue, name="Till", allowance=7, scopes=["orders:read"]).row
    new = old.rotate(overlap=timedelta(hours=1), now=NOON).row
    assert (new.venue, new.family, new.name, new.allowance, new.scopes, new.expires_at) == (
        *(venue, old.family, "Till", 7),
        *(["orders:read"], None),
    )
    assert new.digest != old.digest
    old.refresh_from_db()
    assert (old.expires_at, old.revoked_at) == (NOON + timedelta(hours=1), None)


@pytest.mark.parametrize(("left", "overlap", "ends"), [(2, 24, 2), (24, 24, 24), (30, 24, 24), (30, 0, 0)])
def test_an_overlap_lengthens_no_life(venue: Venue, left: int, overlap: int, ends: int) -> None:
    old = ApiKey.create(venue, name="Till", expires_at=NOON + timedelta(hours=left)).row
    old.rotate(overlap=timedelta(hours=overlap), now=NOON)
    old.refresh_from_db()
    assert old.expires_at == NOON + timedelta(hours=ends)


def test_a_new_key_lives_as_long_as_the_old_one_was_made_to(venue: Venue) -> None:
    old = ApiKey.create(venue, name="Till", expires_at=NOON).row
    ApiKey.objects.filter(pk=old.pk).update(created_at=NOON - timedelta(days=90))
    now = NOON - timedelta(days=3)
    assert old.rotate(overlap=timedelta(0), now=now).row.expires_at == now + timedelta(days=90)


@pytest.mark.parametrize("end", ["revoked_at", "expires_at"])
def test_a_key_that_has_ended_is_not_replaced(venue: Venue, end: str) -> None:
    old = ApiKey.create(venue, name="Till").row
    ApiKey.objects.filter(pk=old.pk).update(**{end: NOON})
    with pytest.raises(CannotRotate, match="has expired or was revoked; create a new one"):
        old.rotate(overlap=timedelta(0), now=NOON)
    assert ApiKey.objects.count() == 1


def test_a_key_is_replaced_once_and_then_its_successor(venue: Venue) -> None:
    first = ApiKey.create(venue, name="Till").row
    second = first.rotate(overlap=timedelta(days=7), now=NOON).row
    before = ApiKey.objects.get(pk=first.pk).expires_at
    with pytest.raises(CannotRotate, match=f"was already replaced by {re.escape(second.masked)}; rotate that one"):
        first.rotate(overlap=timedelta(0), now=NOON)
    assert ApiKey.objects.get(pk=first.pk).expires_at == before
    third = second.rotate(overlap=timedelta(0), now=NOON).row
    assert (third.family, ApiKey.objects.count()) == (first.family, 3)


@pytest.mark.parametrize("expires_at", [None, NOON + timedelta(hours=1)])
@pytest.mark.django_db(transaction=True)
def test_of_two_rotations_at_once_exactly_one_makes_a_key(venue: Venue, expires_at: datetime | None) -> None:
    """Also of a key that ends before the overlap, whose row both leave as it is."""
    together = threading.Barrier(4)
    old = ApiKey.create(venue, name="Till", expires_at=expires_at).row

    def rotate(_: int) -> str:
        together.wait(10)
        try:
            return old.rotate(overlap=timedelta(days=1), now=NOON).text
        except CannotRotate:
            return ""
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        made = [text for text in threads.map(rotate, range(4)) if text]
    assert (len(made), ApiKey.objects.count()) == (1, 2)


# Last use
def test_the_last_use_is_written_once_a_minute(venue: Venue) -> None:
    row = ApiKey.create(venue, name="Till").row
    steps = [(0, True), (59, False), (60, True), (61, False)]
    for seconds, written in steps:
        assert row.record_use(now=NOON + timedelta(seconds=seconds), address=f"203.0.113.{seconds}") is written
    row.refresh_from_db()
    assert (row.last_used_at, row.last_used_ip) == (NOON + timedelta(seconds=60), "203.0.113.60")


@pytest.mark.django_db
def test_a_mail_address_is_one_person_in_any_case() -> None:
    assert User.objects.create_user("Ada@example.com").email == "ada@example.com"
    with pytest.raises(IntegrityError, match="user_email_unique_in_any_case"):
        User.objects.create(email="aDA@EXAMPLE.com")


@pytest.mark.django_db
def test_a_user_without_a_password_cannot_sign_in() -> None:
    user = User.objects.create_user("ada@example.com")
    assert not user.has_usable_password()
    assert not user.is_staff


def test_a_key_that_ends_with_the_calendar_is_replaced_by_one_that_does(venue: Venue) -> None:
    with time_machine.travel(NOON, tick=False):
        old = ApiKey.create(venue, name="Till", expires_at=datetime(9999, 12, 31, tzinfo=UTC)).row
    new = old.rotate(overlap=timedelta(0), now=NOON + timedelta(days=3)).row
    assert new.expires_at == datetime(9999, 12, 31, tzinfo=UTC)


@pytest.mark.parametrize(
    "zone", ["Europe/Rom", "Europe", "", "../etc/passwd", "CEST", "localtime", "Factory", "posixrules"]
)
def test_a_venue_lives_in_a_zone_that_exists(venue: Venue, zone: str) -> None:
    venue.full_clean()
    venue.timezone = zone
    with pytest.raises(ValidationError) as refused:
        venue.full_clean()
    assert list(refused.value.message_dict) == ["timezone"]


@pytest.mark.parametrize("currency", ["eur", "EU", "€", "E1R", ""])
def test_a_venue_has_a_currency_of_three_capitals(venue: Venue, currency: str) -> None:
    with pytest.raises(IntegrityError, match="venue_currency_is_three_capitals"):
        Venue.objects.filter(pk=venue.pk).update(currency=currency)
