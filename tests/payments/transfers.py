"""Transactions of the tests' wallets on the development chain, beyond paying."""

from collections.abc import Mapping
from decimal import Decimal

import rlp
from coincurve import PrivateKey
from eth_abi.abi import encode

from payments.chain import evm, rpc
from payments.chain.networks import payment_network
from payments.devchain.addresses import MULTICALL
from payments.devchain.wallets import Wallet
from payments.x402.proofs import Authorization, parse_proof
from tests.support import wallets

Arguments = int | str | bytes


def send(sender: Wallet, contract: str, function: str, *arguments: Arguments) -> str:
    """Call a function of a contract and return the transaction's hash; it may have been reverted."""
    return wallets.send(sender, to=contract, data=evm.encode_call(function, *arguments))


def authorize(
    payer: Wallet, *, to: str, value: int, nonce: bytes, valid_after: int = 0, valid_before: int = 2**48
) -> tuple[Arguments, ...]:
    """The arguments of transferWithAuthorization with v, r and s, signed by the payer."""
    digest = evm.hash_transfer_authorization(
        payment_network(),
        sender=payer.address,
        to=to,
        value=value,
        valid_after=valid_after,
        valid_before=valid_before,
        nonce=nonce,
    )
    made = PrivateKey(bytes.fromhex(payer.private_key[2:])).sign_recoverable(digest, hasher=None)
    return payer.address, to, value, valid_after, valid_before, nonce, made[64] + 27, made[:32], made[32:64]


TRANSFER = "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)"
CANCEL = "cancelAuthorization(address,bytes32,uint8,bytes32,bytes32)"


def use_of(headers: Mapping[str, str]) -> str:
    """The call of the token that uses the authorization in this header, whatever it says."""
    signed = parse_proof(headers)
    assert isinstance(signed, Authorization)
    r, s, v = signed.signature[:32], signed.signature[32:64], signed.signature[64]
    times = (signed.valid_after, signed.valid_before)
    return evm.encode_call(TRANSFER, signed.payer, signed.to, signed.value, *times, signed.nonce, v, r, s)


def front_run(headers: Mapping[str, str], *, sender: Wallet) -> str:
    """Send an authorization to the chain past us; returns the transaction."""
    return wallets.send(sender, to=payment_network().asset, data=use_of(headers))


def together(*transfers: tuple[Wallet, str, int], beside: Mapping[str, str] | None = None) -> str:
    """Several transfers (from, to, smallest units) in one transaction, by a contract that may do so; its hash.

    An authorization may be used beside them, before the others.
    """
    for payer in {payer.address: payer for payer, _, _ in transfers}.values():
        send(payer, payment_network().asset, "approve(address,uint256)", MULTICALL, 10**9)
    move = "transferFrom(address,address,uint256)"
    texts = [use_of(beside)] if beside else []
    texts += [evm.encode_call(move, payer.address, to, value) for payer, to, value in transfers]
    calls = [(payment_network().asset, bytes.fromhex(text[2:])) for text in texts]
    selector = evm.keccak(b"tryAggregate(bool,(address,bytes)[])")[:4]
    data = selector + encode(["bool", "(address,bytes)[]"], [True, calls])
    return wallets.send(transfers[0][0], to=MULTICALL, data="0x" + data.hex())


# A contract that answers whatever it is asked with the word of ERC-1271 for a good signature.
AGREES = bytes.fromhex("7f1626ba7e" + 28 * "00" + "60005260206000f3")
# Agrees with every signature (ERC-1271) until it is called without a question; from then on with none.
FICKLE = bytes.fromhex(
    "366004106100105760016000550000"  # less than a selector and more: judge; else remember, and stop
    "00"
    "5b600054610045577f1626ba7e" + 28 * "00" + "60005260206000f3"
    "00005b600060005260206000f3"
)
# The same, but each call without a question changes its mind.
WAVERS = bytes.fromhex("36600410610010576000541560005500") + FICKLE[16:]


def contract_wallet(owner: Wallet, *, usdc: Decimal, code: bytes = AGREES) -> str:
    """The address of a new contract wallet with so much USDC; without another `code` every signature is good to it."""
    size = len(code)
    # Copy what stands behind these twelve bytes, and let it be the contract.
    creation = bytes.fromhex(f"60{size:02x}600c60003960{size:02x}6000f3") + code
    number = int(rpc.call("eth_getTransactionCount", owner.address, "latest"), 16)
    wallets.send(owner, to=None, data="0x" + creation.hex())
    address = "0x" + evm.keccak(rlp.encode([bytes.fromhex(owner.address[2:]), number]))[-20:].hex()
    send(owner, payment_network().asset, "mint(address,uint256)", address, payment_network().to_atomic(usdc))
    return address
