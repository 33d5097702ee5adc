"""Transaction receipts: what a transaction in a block has logged, and whether it was reverted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from payments.chain import rpc


@dataclass(frozen=True, slots=True)
class TransactionReceipt:
    """The receipt of a transaction in a block. A reverted transaction has no logs."""

    block: int
    logs: Sequence[Mapping[str, Any]]
    is_reverted: bool


def find_receipt(tx_hash: str) -> TransactionReceipt | None:
    """Return the receipt; None where the chain does not know the transaction, or no block holds it yet. One request.

    Raises RpcUnavailable, and the errors that `reads.invalid_response_as_rpc_error` converts.
    """
    receipt = rpc.call("eth_getTransactionReceipt", tx_hash)
    if receipt is None or receipt.get("blockNumber") is None:
        return None
    is_reverted = int(receipt["status"], 16) != 1
    logs = [] if is_reverted else receipt["logs"]
    return TransactionReceipt(block=int(receipt["blockNumber"], 16), logs=logs, is_reverted=is_reverted)
