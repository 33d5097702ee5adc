"""Keys as they are kept, and people in any case."""

import re
from datetime import UTC, datetime

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection
from hypothesis import given
from hypothesis import strategies as st

from accounts.models import BASE62, ApiKey, User, Venue, checksum, digest, looks_like_a_key
from tests import make

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(("is_sandbox", "prefix"), [(False, "rk_live_"), (True, "rk_test_")])
@pytest.mark.django_db
def test_a_key_is_prefix_secret_and_checksum(is_sandbox: bool, prefix: str) -> None:
    text = ApiKey.issue(make.venue(is_sandbox=is_sandbox), name="test").text
    assert re.fullmatch(rf"{prefix}[0-9A-Za-z]{{46}}", text)
    assert text[-6:] == checksum(text[:-6])


def test_a_checksum_is_crc_32_in_six_letters() -> None:
    # CRC-32 of "123456789" is 0xCBF43926, the check value of the algorithm.
    value = 0
    for letter in checksum("123456789"):
        value = value * 62 + BASE62.index(letter)
    assert value == 0xCBF43926
    assert checksum("") == "000000"


@given(st.text())
def test_hardly_a_text_looks_like_a_key(text: str) -> None:
    assert not looks_like_a_key(text)
    assert not looks_like_a_key(f"rk_live_{text}")


def test_only_the_hash_and_ten_or_so_letters_of_a_key_are_kept(venue: Venue) -> None:
    key = ApiKey.issue(venue, name="test")
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_jsonb(kept)::text, digest FROM accounts_apikey AS kept")
        row, kept = cursor.fetchone()
    assert bytes(kept) == digest(key.text)
    assert key.text[12:-4] not in row
    assert (key.row.start, key.row.end) == (key.text[:12], key.text[-4:])
    assert str(key.row) == f"test ({key.text[:12]}…{key.text[-4:]})"


def test_no_two_keys_are_alike(venue: Venue) -> None:
    assert len({ApiKey.issue(venue, name="test").text for _ in range(50)}) == 50


def test_a_key_is_revoked_once(venue: Venue) -> None:
    row = ApiKey.issue(venue, name="test").row
    assert row.revoke(now=NOON) is True
    assert row.revoke(now=NOON.replace(hour=13)) is False
    row.refresh_from_db()
    assert row.revoked_at == NOON


def test_a_key_allows_at_least_one_call(venue: Venue) -> None:
    with pytest.raises(IntegrityError, match="api_key_allowance_positive"):
        ApiKey.issue(venue, name="test", allowance=0)


@pytest.mark.django_db
def test_a_mail_address_is_one_person_in_any_case() -> None:
    User.objects.create_user("Ada@example.com")
    with pytest.raises(IntegrityError, match="one_user_per_email_in_any_case"):
        User.objects.create_user("aDA@EXAMPLE.com")


@pytest.mark.django_db
def test_a_user_without_a_password_cannot_sign_in() -> None:
    user = User.objects.create_user("ada@example.com")
    assert not user.has_usable_password()
    assert not user.is_staff


@pytest.mark.parametrize("zone", ["Europe/Rom", "Europe", "", "../etc/passwd", "CEST"])
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
