"""The chain's USDC as its clients use it: transfers, authorizations and permits."""

import secrets
from decimal import Decimal
from typing import Any

import pytest
from web3 import Web3
from web3.contract import Contract
from web3.exceptions import ContractLogicError
from web3.logs import DISCARD

from payments.chain.evm import to_checksum_address
from payments.chain.networks import BASE_SEPOLIA
from payments.devchain.wallets import Wallet
from tests.payments.devchain.external_tools import (
    AUTHORIZATION,
    FAR,
    LONG_AGO,
    authorization,
    parts,
    send,
    signed,
    soon,
)
from tests.support.wallets import fresh_wallet, usdc_balance

TRANSFER, RECEIVE = "TransferWithAuthorization", "ReceiveWithAuthorization"
# Contracts that accept every signature (ERC-1271), and none.
YES = bytes.fromhex("631626ba7e60e01b60005260206000f3")
NO = bytes.fromhex("600060005260206000f3")


def by_parts(usdc: Contract, words: dict[str, Any], signature: bytes, *, function: str = "transfer") -> Any:
    """The call with v, r and s."""
    inputs = "address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32"
    return usdc.get_function_by_signature(f"{function}WithAuthorization({inputs})")(*words.values(), *parts(signature))


def by_bytes(usdc: Contract, words: dict[str, Any], signature: bytes, *, function: str = "transfer") -> Any:
    """The call with the signature in one."""
    inputs = "address,address,uint256,uint256,uint256,bytes32,bytes"
    return usdc.get_function_by_signature(f"{function}WithAuthorization({inputs})")(*words.values(), signature)


def refusal(call: Any, sender: Wallet) -> str:
    """The message with which the contract reverts a call."""
    with pytest.raises(ContractLogicError) as refused:
        call.call({"from": to_checksum_address(sender.address)})
    return str(refused.value.message)


def test_the_contract_matches_the_network_registry(usdc: Contract) -> None:
    assert usdc.functions.name().call() == BASE_SEPOLIA.domain_name
    assert usdc.functions.version().call() == BASE_SEPOLIA.domain_version
    assert usdc.functions.decimals().call() == BASE_SEPOLIA.decimals
    assert usdc.functions.symbol().call() == "USDC"


@pytest.mark.exhaustive
@pytest.mark.parametrize("overload", [by_parts, by_bytes])
def test_a_signed_transfer_can_be_sent_by_anybody_but_only_once(node: Web3, usdc: Contract, overload: Any) -> None:
    payer, payee, relayer = fresh_wallet(), fresh_wallet(Decimal(0)), fresh_wallet(Decimal(0))
    words = authorization(payer.address, payee.address, 2_500_000)
    call = overload(usdc, words, signed(payer, TRANSFER, AUTHORIZATION, words))
    assert usdc.functions.authorizationState(words["from"], words["nonce"]).call() is False

    receipt = send(node, relayer, call)

    assert receipt["status"] == 1
    assert (usdc_balance(payer.address), usdc_balance(payee.address)) == (Decimal("97.5"), Decimal("2.5"))
    (used,) = usdc.events.AuthorizationUsed().process_receipt(receipt, errors=DISCARD)
    assert used["args"] == {"authorizer": words["from"], "nonce": words["nonce"]}
    (moved,) = usdc.events.Transfer().process_receipt(receipt, errors=DISCARD)
    assert moved["args"] == {"from": words["from"], "to": words["to"], "value": 2_500_000}
    assert usdc.functions.authorizationState(words["from"], words["nonce"]).call() is True
    assert refusal(call, relayer) == "execution reverted: FiatTokenV2: authorization is used or canceled"
    assert send(node, relayer, call)["status"] == 0
    assert (usdc_balance(payer.address), usdc_balance(payee.address)) == (Decimal("97.5"), Decimal("2.5"))


@pytest.mark.sample(2)
@pytest.mark.parametrize("overload", [by_parts, by_bytes])
@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"validBefore": 1}, "FiatTokenV2: authorization is expired"),
        ({"validAfter": FAR - 1}, "FiatTokenV2: authorization is not yet valid"),
        ({"value": 100_000_001}, "ERC20: transfer amount exceeds balance"),
        ({"to": "0x" + 40 * "0"}, "ERC20: transfer to the zero address"),
    ],
)
def test_an_authorization_outside_its_terms_is_refused(
    usdc: Contract, overload: Any, changed: Any, sentence: str
) -> None:
    payer = fresh_wallet()
    words = authorization(payer.address, fresh_wallet(Decimal(0)).address, 1) | changed
    call = overload(usdc, words, signed(payer, TRANSFER, AUTHORIZATION, words))
    assert refusal(call, payer) == f"execution reverted: {sentence}"


@pytest.mark.exhaustive
@pytest.mark.parametrize("overload", [by_parts, by_bytes])
def test_a_wrong_signer_or_a_changed_message_is_refused(usdc: Contract, overload: Any) -> None:
    payer, thief = fresh_wallet(), fresh_wallet(Decimal(0))
    words = authorization(payer.address, thief.address, 1)
    right = signed(payer, TRANSFER, AUTHORIZATION, words)
    tries = [
        (words, signed(thief, TRANSFER, AUTHORIZATION, words)),
        (words, signed(payer, RECEIVE, AUTHORIZATION, words)),
        ({**words, "value": 2}, right),
        ({**words, "nonce": secrets.token_bytes(32)}, right),
        (words, right[:64] + bytes([29])),
        (words, malleated(right)),
    ]
    sentences = {refusal(overload(usdc, message, signature), thief) for message, signature in tries}
    assert sentences == {"execution reverted: FiatTokenV2: invalid signature"}


def malleated(signature: bytes) -> bytes:
    """The second valid signature of the same message."""
    order = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
    other = order - int.from_bytes(signature[32:64])
    return signature[:32] + other.to_bytes(32) + bytes([55 - signature[64]])


@pytest.mark.exhaustive
@pytest.mark.parametrize("overload", [by_parts, by_bytes])
def test_only_the_payee_may_send_a_receive_authorization(node: Web3, usdc: Contract, overload: Any) -> None:
    payer, payee, other = fresh_wallet(), fresh_wallet(Decimal(0)), fresh_wallet(Decimal(0))
    words = authorization(payer.address, payee.address, 1_000_000)
    call = overload(usdc, words, signed(payer, RECEIVE, AUTHORIZATION, words), function="receive")
    assert refusal(call, other) == "execution reverted: FiatTokenV2: caller must be the payee"
    assert send(node, payee, call)["status"] == 1
    assert usdc_balance(payee.address) == Decimal(1)


@pytest.mark.exhaustive
def test_a_cancelled_authorization_cannot_be_used(node: Web3, usdc: Contract) -> None:
    payer, payee = fresh_wallet(), fresh_wallet(Decimal(0))
    words = authorization(payer.address, payee.address, 1)
    transfer = by_parts(usdc, words, signed(payer, TRANSFER, AUTHORIZATION, words))
    types = [{"name": "authorizer", "type": "address"}, {"name": "nonce", "type": "bytes32"}]
    withdrawn = {"authorizer": words["from"], "nonce": words["nonce"]}
    cancel = usdc.get_function_by_signature("cancelAuthorization(address,bytes32,uint8,bytes32,bytes32)")
    by_another = cancel(*withdrawn.values(), *parts(signed(payee, "CancelAuthorization", types, withdrawn)))
    assert refusal(by_another, payee) == "execution reverted: FiatTokenV2: invalid signature"

    receipt = send(
        node, payee, cancel(*withdrawn.values(), *parts(signed(payer, "CancelAuthorization", types, withdrawn)))
    )

    assert receipt["status"] == 1
    (canceled,) = usdc.events.AuthorizationCanceled().process_receipt(receipt, errors=DISCARD)
    assert canceled["args"] == withdrawn
    assert usdc.functions.authorizationState(*withdrawn.values()).call() is True
    assert refusal(transfer, payee) == "execution reverted: FiatTokenV2: authorization is used or canceled"
    assert usdc_balance(payer.address) == Decimal(100)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("code", "pays"), [(YES, True), (NO, False), (b"\0", False)])
def test_a_contract_wallet_validates_signatures(node: Web3, usdc: Contract, code: bytes, pays: bool) -> None:
    owner, payee = fresh_wallet(), fresh_wallet(Decimal(0))
    # Code that leaves the bytes after itself as the contract's.
    start = bytes.fromhex(f"60{len(code):02x}80600b6000396000f3")
    wallet = send(node, owner, data="0x" + (start + code).hex())["contractAddress"]
    assert wallet is not None
    assert node.eth.get_code(wallet) == code
    send(node, owner, usdc.functions.mint(wallet, 5_000_000))
    call = by_bytes(usdc, authorization(wallet, payee.address, 2_000_000), b"whatever the wallet understands")
    assert send(node, owner, call)["status"] == int(pays)
    assert usdc_balance(payee.address) == (Decimal(2) if pays else Decimal(0))


def test_a_permit_allows_a_spender_once(node: Web3, usdc: Contract) -> None:
    owner, spender = fresh_wallet(), fresh_wallet(Decimal(0))
    types = [
        *({"name": name, "type": "address"} for name in ("owner", "spender")),
        *({"name": name, "type": "uint256"} for name in ("value", "nonce", "deadline")),
    ]
    addresses = {"owner": to_checksum_address(owner.address), "spender": to_checksum_address(spender.address)}
    words = {**addresses, "value": 3_000_000, "nonce": 0, "deadline": soon()}
    signature = signed(owner, "Permit", types, words)
    permit = usdc.get_function_by_signature("permit(address,address,uint256,uint256,uint8,bytes32,bytes32)")
    call = permit(*addresses.values(), words["value"], words["deadline"], *parts(signature))
    assert send(node, spender, call)["status"] == 1
    assert refusal(call, spender) == "execution reverted: EIP2612: invalid signature"
    late = permit(*addresses.values(), words["value"], LONG_AGO, *parts(signature))
    assert refusal(late, spender) == "execution reverted: FiatTokenV2: permit is expired"

    spend = usdc.functions.transferFrom(addresses["owner"], addresses["spender"], 2_000_000)
    assert send(node, spender, spend)["status"] == 1
    assert usdc_balance(spender.address) == Decimal(2)
    assert refusal(spend, spender) == "execution reverted: ERC20: transfer amount exceeds allowance"
