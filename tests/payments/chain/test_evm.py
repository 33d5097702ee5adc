"""Ethereum's formats, against the official implementation and the vectors of their standards."""

import subprocess
import sys

import pytest
from coincurve import PrivateKey
from django.conf import settings
from eth_abi.abi import encode
from eth_account import Account
from eth_account.messages import encode_defunct, encode_typed_data
from eth_utils.abi import function_signature_to_4byte_selector
from eth_utils.address import to_checksum_address
from hypothesis import given
from hypothesis import settings as profile
from hypothesis import strategies as st

from payments.chain import evm
from payments.chain.networks import BASE, BASE_SEPOLIA, Network

ORDER = 2 * evm.HIGHEST_S + 1
KEYS = st.integers(1, ORDER - 1).map(lambda number: number.to_bytes(32))
ADDRESSES = st.binary(min_size=20, max_size=20).map(lambda content: f"0x{content.hex()}")
WORDS = st.integers(0, 2**256 - 1)
NONCES = st.binary(min_size=32, max_size=32)
KEY = bytes.fromhex("11" * 32)
DIGEST = evm.keccak(b"something")


def sign(digest: bytes, key: bytes = KEY) -> bytes:
    """A signature as wallets write it: v is 27 or 28."""
    signature = PrivateKey(key).sign_recoverable(digest, hasher=None)
    return signature[:64] + bytes([signature[64] + 27])


# Hashes and addresses
def test_keccak_is_the_one_from_before_the_standard() -> None:
    assert evm.keccak(b"").hex() == "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"


@pytest.mark.parametrize(
    "address",
    [
        # EIP-55, "Test Cases".
        "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
        "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
        "0x52908400098527886E0F7030069857D2E4169EE7",
        "0xde709f2102306220921060314715629080e2fb77",
    ],
)
def test_the_capitals_of_an_address_are_those_of_the_standard(address: str) -> None:
    assert evm.checksummed(address.lower()) == evm.checksummed(address) == address


@profile(deadline=None)
@given(address=ADDRESSES)
def test_any_address_is_written_as_wallets_write_it(address: str) -> None:
    assert evm.checksummed(address) == to_checksum_address(address)


# Signatures
@profile(deadline=None)
@given(key=KEYS, text=st.text())
def test_the_signer_of_a_message_is_found(key: bytes, text: str) -> None:
    signed = Account.sign_message(encode_defunct(text=text), key)
    assert signed.message_hash == evm.message_digest(text)
    assert evm.recover(evm.message_digest(text), bytes(signed.signature)) == Account.from_key(key).address.lower()


@profile(deadline=None)
@given(
    key=KEYS,
    network=st.sampled_from([BASE, BASE_SEPOLIA]),
    sender=ADDRESSES,
    to=ADDRESSES,
    value=WORDS,
    times=st.tuples(WORDS, WORDS),
    nonce=NONCES,
)
def test_the_signer_of_a_transfer_is_found(
    key: bytes, network: Network, sender: str, to: str, value: int, times: tuple[int, int], nonce: bytes
) -> None:
    valid_after, valid_before = times
    kinds = ["from address", "to address", "value uint256"]
    kinds += ["validAfter uint256", "validBefore uint256", "nonce bytes32"]
    signable = encode_typed_data(
        domain_data={
            "name": network.domain_name,
            "version": network.domain_version,
            "chainId": network.chain_id,
            "verifyingContract": network.asset,
        },
        message_types={
            "TransferWithAuthorization": [dict(zip(("name", "type"), kind.split(), strict=True)) for kind in kinds]
        },
        message_data={
            "from": sender,
            "to": to,
            "value": value,
            "validAfter": valid_after,
            "validBefore": valid_before,
            "nonce": nonce,
        },
    )
    signed = Account.sign_message(signable, key)
    digest = evm.transfer_digest(
        network,
        sender=sender,
        to=to,
        value=value,
        valid_after=valid_after,
        valid_before=valid_before,
        nonce=nonce,
    )
    assert signed.message_hash == digest
    assert evm.recover(digest, bytes(signed.signature)) == Account.from_key(key).address.lower()


def test_v_may_be_written_from_zero_or_from_27() -> None:
    signature = sign(DIGEST)
    signer = Account.from_key(KEY).address.lower()
    assert (
        evm.recover(DIGEST, signature) == evm.recover(DIGEST, signature[:64] + bytes([signature[64] - 27])) == signer
    )


def test_the_second_signature_that_everyone_can_make_of_one_is_refused() -> None:
    signature = sign(DIGEST)
    mirrored = ORDER - int.from_bytes(signature[32:64])
    other = signature[:32] + mirrored.to_bytes(32) + bytes([55 - signature[64]])
    assert Account._recover_hash(DIGEST, signature=other) == Account.from_key(KEY).address  # noqa: SLF001
    assert evm.recover(DIGEST, other) is None


@pytest.mark.parametrize("v", [2, 3, 26, 29, 30, 255])
def test_any_other_v_is_refused(v: int) -> None:
    assert evm.recover(DIGEST, sign(DIGEST)[:64] + bytes([v])) is None


@pytest.mark.parametrize("signature", [b"", bytes(64), bytes(65), sign(DIGEST) + b"\x00", b"\xff" * 65])
def test_what_is_no_signature_is_refused(signature: bytes) -> None:
    assert evm.recover(DIGEST, signature) is None


@profile(deadline=None)
@given(signature=st.binary(min_size=65, max_size=65))
def test_no_65_bytes_break_the_recovery(signature: bytes) -> None:
    evm.recover(DIGEST, signature)


# Calls and logs
@profile(deadline=None)
@given(address=ADDRESSES, number=WORDS, nonce=NONCES)
def test_a_call_is_coded_as_contracts_read_it(address: str, number: int, nonce: bytes) -> None:
    function = "some(address,uint256,bytes32)"
    arguments = encode(["address", "uint256", "bytes32"], [address, number, nonce])
    expected = function_signature_to_4byte_selector(function) + arguments
    assert evm.call_data(function, address, number, nonce) == f"0x{expected.hex()}"


@profile(deadline=None)
@given(address=ADDRESSES, number=WORDS, signed=st.integers(-(2**255), 2**255 - 1))
def test_an_answer_is_read_as_contracts_code_it(address: str, number: int, signed: int) -> None:
    whole, held, below_zero = evm.words(
        "0x" + encode(["uint256", "address", "int256"], [number, address, signed]).hex()
    )
    assert (whole, evm.address(held), evm.signed(below_zero)) == (number, address, signed)


def test_the_topics_of_a_transfer_are_those_on_every_chain() -> None:
    topic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
    assert evm.topic("Transfer(address,address,uint256)") == topic
    assert evm.topic(BASE.asset) == "0x" + 24 * "0" + BASE.asset[2:]
    assert evm.topic(DIGEST) == f"0x{DIGEST.hex()}"


# What the web server carries
def test_the_web_server_does_without_web3() -> None:
    """It would cost two seconds of each start and 30 MB of each process."""
    script = """
import sys, django
django.setup()
import config.urls
print([name for name in sys.modules if name.startswith(("web3", "eth_"))])
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=settings.BASE_DIR, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
