"""Encryption at rest and the rotation of SECRET_KEY."""

import pytest
from pytest_django import Settings

from framework.encryption import CannotDecrypt, decrypt, encrypt


def test_text_is_decrypted_for_its_purpose_alone() -> None:
    encrypted = encrypt("ključ", purpose="letters")
    assert "ključ" not in encrypted
    assert decrypt(encrypted, purpose="letters") == decrypt(encrypted.encode(), purpose="letters") == "ključ"
    with pytest.raises(CannotDecrypt):
        decrypt(encrypted, purpose="second factors")
    with pytest.raises(CannotDecrypt):
        decrypt("no token", purpose="letters")


def test_a_fallback_decrypts_what_the_key_before_encrypted(settings: Settings) -> None:
    encrypted = encrypt("text", purpose="letters")
    settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = [settings.SECRET_KEY], "another" * 8
    assert decrypt(encrypted, purpose="letters") == "text"
    renewed = encrypt("text", purpose="letters")
    settings.SECRET_KEY_FALLBACKS = []
    assert decrypt(renewed, purpose="letters") == "text"
    with pytest.raises(CannotDecrypt):
        decrypt(encrypted, purpose="letters")


def test_what_is_stored_stays_readable(settings: Settings) -> None:
    settings.SECRET_KEY = "k" * 50
    stored = "gAAAAABrBJ43QItaLdsZr37Uu_2s4UQXGcQ6ZEVHIXtcOs0E4CRccpYYqmRpHjwAdh-3GlGkEjXzorLsP1902s1wszq3B-3DWA=="
    assert decrypt(stored, purpose="second factors") == "stored"
