"""Transactions of the tests' wallets on the development chain, beyond paying."""

from coincurve import PrivateKey

from payments import evm
from payments.devchain.wallets import Wallet
from payments.networks import ours
from tests import wallets

Arguments = int | str | bytes


def send(sender: Wallet, contract: str, function: str, *arguments: Arguments) -> str:
    """Call a function of a contract and return the transaction's hash; it may have been reverted."""
    return wallets.send(sender, to=contract, data=evm.call_data(function, *arguments))


def authorize(payer: Wallet, *, to: str, value: int, nonce: bytes, valid_before: int = 2**48) -> tuple[Arguments, ...]:
    """The arguments of transferWithAuthorization with v, r and s, signed by the payer."""
    digest = evm.transfer_digest(
        ours(), sender=payer.address, to=to, value=value, valid_after=0, valid_before=valid_before, nonce=nonce
    )
    made = PrivateKey(bytes.fromhex(payer.private_key[2:])).sign_recoverable(digest, hasher=None)
    return payer.address, to, value, 0, valid_before, nonce, made[64] + 27, made[:32], made[32:64]


TRANSFER = "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)"
CANCEL = "cancelAuthorization(address,bytes32,uint8,bytes32,bytes32)"
