"""Signed transactions, against eth-account."""

from typing import Any

import pytest
from eth_account import Account
from hypothesis import given
from hypothesis import strategies as st

from payments.devchain import transactions
from payments.devchain.transactions import InvalidTransaction

KEY = "0x" + 64 * "7"


@given(st.binary(max_size=80))
def test_bytes_that_are_no_transaction_are_refused(content: bytes) -> None:
    with pytest.raises(InvalidTransaction):
        transactions.decode_transaction(content, chain_id=84532)


@pytest.mark.parametrize("content", ["", "8100", "b800", "83aabb", "f800", "bf" + 8 * "ff", "0102", "c1" * 50_000])
def test_non_canonical_encodings_are_refused(content: str) -> None:
    with pytest.raises(InvalidTransaction):
        transactions.decode_transaction(bytes.fromhex(content), chain_id=84532)


FORMS: list[dict[str, Any]] = [
    {"gasPrice": 5, "chainId": 84532},
    {"gasPrice": 5},
    {"gasPrice": 5, "chainId": 84532, "type": 1, "accessList": []},
    {"maxFeePerGas": 9, "maxPriorityFeePerGas": 2, "chainId": 84532},
]


@pytest.mark.exhaustive
@given(
    form=st.sampled_from(FORMS),
    nonce=st.integers(0, 2**63),
    value=st.integers(0, 2**255),
    data=st.binary(max_size=80),
    to=st.sampled_from(["0x" + 40 * "1", ""]),
)
def test_the_sender_is_the_signer(form: dict[str, Any], nonce: int, value: int, data: bytes, to: str) -> None:
    words: dict[str, Any] = {**form, "nonce": nonce, "gas": 21_000, "value": value, "data": data, "to": to}
    made = Account.sign_transaction(words, KEY)
    raw = bytes(made.raw_transaction)
    read = transactions.decode_transaction(raw, chain_id=84532)
    assert read.sender == Account.from_key(KEY).address.lower() == Account.recover_transaction(raw).lower()
    assert (read.hash, read.nonce, read.value, read.data, read.to or "") == (bytes(made.hash), nonce, value, data, to)
    assert (read.max_fee, read.max_priority_fee) == ((9, 2) if "maxFeePerGas" in form else (5, 5))


@pytest.mark.exhaustive
@given(st.binary(max_size=200))
def test_random_bytes_are_refused_with_a_message(raw: bytes) -> None:
    with pytest.raises(InvalidTransaction, match=r"\w+ \w+"):
        transactions.decode_transaction(raw, chain_id=84532)


@pytest.mark.exhaustive
@given(place=st.integers(0), change=st.integers(1, 255))
def test_a_changed_byte_changes_the_sender_or_is_refused(place: int, change: int) -> None:
    words: dict[str, Any] = {**FORMS[3], "nonce": 1, "gas": 21_000, "value": 7, "to": "0x" + 40 * "1"}
    raw = bytearray(Account.sign_transaction(words, KEY).raw_transaction)
    raw[place % len(raw)] ^= change
    try:
        read = transactions.decode_transaction(bytes(raw), chain_id=84532)
    except InvalidTransaction:
        return
    assert read.sender != Account.from_key(KEY).address.lower()
