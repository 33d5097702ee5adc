"""Ethereum formats, against eth-account, eth-abi and the examples of the standards."""

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

ORDER = 2 * evm.MAX_S + 1
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
def test_keccak_is_not_sha3() -> None:
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
def test_checksummed_addresses_match_the_examples_of_eip_55(address: str) -> None:
    assert evm.to_checksum_address(address.lower()) == evm.to_checksum_address(address) == address


@profile(deadline=None)
@given(address=ADDRESSES)
def test_checksummed_addresses_match_eth_utils(address: str) -> None:
    assert evm.to_checksum_address(address) == to_checksum_address(address)


# Signatures
@pytest.mark.exhaustive
@profile(deadline=None)
@given(key=KEYS, text=st.text())
def test_the_signer_of_a_message_is_recovered(key: bytes, text: str) -> None:
    signed = Account.sign_message(encode_defunct(text=text), key)
    assert signed.message_hash == evm.hash_message(text)
    assert (
        evm.recover_address(evm.hash_message(text), bytes(signed.signature)) == Account.from_key(key).address.lower()
    )


@pytest.mark.exhaustive
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
def test_the_signer_of_a_transfer_is_recovered(
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
    digest = evm.hash_transfer_authorization(
        network,
        sender=sender,
        to=to,
        value=value,
        valid_after=valid_after,
        valid_before=valid_before,
        nonce=nonce,
    )
    assert signed.message_hash == digest
    assert evm.recover_address(digest, bytes(signed.signature)) == Account.from_key(key).address.lower()


def test_v_may_start_at_0_or_27() -> None:
    signature = sign(DIGEST)
    signer = Account.from_key(KEY).address.lower()
    assert (
        evm.recover_address(DIGEST, signature)
        == evm.recover_address(DIGEST, signature[:64] + bytes([signature[64] - 27]))
        == signer
    )


def test_a_signature_with_a_high_s_is_invalid() -> None:
    signature = sign(DIGEST)
    mirrored = ORDER - int.from_bytes(signature[32:64])
    other = signature[:32] + mirrored.to_bytes(32) + bytes([55 - signature[64]])
    assert Account._recover_hash(DIGEST, signature=other) == Account.from_key(KEY).address  # noqa: SLF001
    assert evm.recover_address(DIGEST, other) is None


@pytest.mark.parametrize("v", [2, 3, 26, 29, 30, 255])
def test_any_other_v_is_invalid(v: int) -> None:
    assert evm.recover_address(DIGEST, sign(DIGEST)[:64] + bytes([v])) is None


@pytest.mark.parametrize("signature", [b"", bytes(64), bytes(65), sign(DIGEST) + b"\x00", b"\xff" * 65])
def test_bytes_that_are_no_signature_are_invalid(signature: bytes) -> None:
    assert evm.recover_address(DIGEST, signature) is None


@profile(deadline=None)
@given(signature=st.binary(min_size=65, max_size=65))
def test_recovery_fails_on_no_65_bytes(signature: bytes) -> None:
    evm.recover_address(DIGEST, signature)


# Calls and logs
@pytest.mark.exhaustive
@profile(deadline=None)
@given(address=ADDRESSES, number=WORDS, nonce=NONCES)
def test_call_data_matches_eth_abi(address: str, number: int, nonce: bytes) -> None:
    function = "some(address,uint256,bytes32)"
    arguments = encode(["address", "uint256", "bytes32"], [address, number, nonce])
    expected = function_signature_to_4byte_selector(function) + arguments
    assert evm.encode_call(function, address, number, nonce) == f"0x{expected.hex()}"


@profile(deadline=None)
@given(address=ADDRESSES, number=WORDS, signed=st.integers(-(2**255), 2**255 - 1))
def test_words_of_an_answer_match_eth_abi(address: str, number: int, signed: int) -> None:
    whole, held, below_zero = evm.decode_words(
        "0x" + encode(["uint256", "address", "int256"], [number, address, signed]).hex()
    )
    assert (whole, evm.decode_address(held), evm.to_int256(below_zero)) == (number, address, signed)


def test_the_topics_of_a_transfer_are_the_standard_ones() -> None:
    topic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
    assert evm.encode_topic("Transfer(address,address,uint256)") == topic
    assert evm.encode_topic(BASE.asset) == "0x" + 24 * "0" + BASE.asset[2:]
    assert evm.encode_topic(DIGEST) == f"0x{DIGEST.hex()}"


# Imports of the web server
@pytest.mark.stack
def test_the_web_server_does_not_import_web3() -> None:
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
