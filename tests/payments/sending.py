"""Transactions of the tests' wallets on the development chain, beyond paying."""

from typing import Any

from coincurve import PrivateKey
from eth_account import Account

from payments import evm, rpc
from payments.networks import ours

Arguments = int | str | bytes


def send(sender: Any, contract: str, function: str, *arguments: Arguments, gas: int = 300_000) -> str:
    """Call a function of a contract and return the transaction's hash; it may have been reverted."""
    count, price, chain_id = rpc.batch(
        [("eth_getTransactionCount", (sender.address, "latest")), ("eth_gasPrice", ()), ("eth_chainId", ())]
    )
    signed = Account.sign_transaction(
        {
            "to": evm.checksummed(contract),
            "data": evm.call_data(function, *arguments),
            "nonce": int(count, 16),
            "gas": gas,
            "gasPrice": 2 * int(price, 16),
            "value": 0,
            "chainId": int(chain_id, 16),
        },
        sender.private_key,
    )
    sent: str = rpc.call("eth_sendRawTransaction", "0x" + bytes(signed.raw_transaction).hex())
    return sent


def authorize(payer: Any, *, to: str, value: int, nonce: bytes, valid_before: int = 2**48) -> tuple[Arguments, ...]:
    """The arguments of transferWithAuthorization with v, r and s, signed by the payer."""
    digest = evm.transfer_digest(
        ours(), sender=payer.address, to=to, value=value, valid_after=0, valid_before=valid_before, nonce=nonce
    )
    made = PrivateKey(bytes.fromhex(payer.private_key[2:])).sign_recoverable(digest, hasher=None)
    return payer.address, to, value, 0, valid_before, nonce, made[64] + 27, made[:32], made[32:64]


TRANSFER = "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)"
CANCEL = "cancelAuthorization(address,bytes32,uint8,bytes32,bytes32)"
