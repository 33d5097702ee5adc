"""Signed tokens and keyed hashes, and the rotation of SECRET_KEY."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.core import signing
from django.utils.crypto import salted_hmac
from pytest_django import Settings

from framework.signed_tokens import BadSignature, KeyedHash, SignatureExpired, TokenSigner

SIGNER = TokenSigner("test", separator="~")
HASH = KeyedHash("test")


def test_tokens_are_of_one_purpose() -> None:
    token = SIGNER.sign("res_1")
    assert token == f"res_1~{SIGNER.signature('res_1')}" == signing.Signer(salt="test", sep="~").sign("res_1")
    assert SIGNER.unsign(token) == "res_1"
    for wrong in (token[:-1], f"x{token}", "res_1", TokenSigner("another", separator="~").sign("res_1")):
        with pytest.raises(BadSignature):
            SIGNER.unsign(wrong)


def test_json_comes_back_until_it_is_too_old() -> None:
    value = ["ø", 0.1, 3, None, {"a": True}]
    with time_machine.travel(datetime(2026, 5, 1, 12, tzinfo=UTC), tick=False) as clock:
        token = SIGNER.dump(value)
        assert SIGNER.load(token) == value
        clock.shift(timedelta(minutes=15))
        assert SIGNER.load(token, max_age=timedelta(minutes=15)) == value
        clock.shift(timedelta(seconds=1))
        with pytest.raises(SignatureExpired):
            SIGNER.load(token, max_age=timedelta(minutes=15))
    with pytest.raises(BadSignature):
        TokenSigner("another").load(token)


def test_a_hash_is_keyed_and_compared_by_its_beginning_too() -> None:
    digest = HASH.hexdigest("content")
    assert digest == HASH.hexdigest(b"content") == salted_hmac("test", "content", algorithm="sha256").hexdigest()
    assert HASH.matches("content", digest)
    assert HASH.matches("content", digest[:32], length=32)
    assert not HASH.matches("content", digest[:32])
    assert not HASH.matches("content", "", length=32)
    assert not HASH.matches("other", digest)
    assert not KeyedHash("another").matches("content", digest)


def test_a_fallback_is_accepted(settings: Settings) -> None:
    token, dumped, digest = SIGNER.sign("text"), SIGNER.dump([1]), HASH.hexdigest("text")
    settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = [settings.SECRET_KEY], "another" * 8
    assert (SIGNER.unsign(token), SIGNER.load(dumped), HASH.matches("text", digest)) == ("text", [1], True)
    assert SIGNER.sign("text") != token
    settings.SECRET_KEY_FALLBACKS = []
    assert not HASH.matches("text", digest)
    for read in (lambda: SIGNER.unsign(token), lambda: SIGNER.load(dumped)):
        with pytest.raises(BadSignature):
            read()
