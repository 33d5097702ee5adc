"""Reads a transaction that is in a block: what it has logged, and whether it was reverted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from payments.chain import rpc


@dataclass(frozen=True, slots=True)
class Mined:
    """A transaction in a block; one that was reverted has logged nothing."""

    block: int
    logs: Sequence[Mapping[str, Any]]
    is_reverted: bool


def find(tx_hash: str) -> Mined | None:
    """The transaction, None where the chain does not know it, or no block holds it yet. One trip to the node.

    Raises RpcUnavailable, and what `payments.chain.reads.sensible` takes for nonsense.
    """
    receipt = rpc.call("eth_getTransactionReceipt", tx_hash)
    if receipt is None or receipt.get("blockNumber") is None:
        return None
    is_reverted = int(receipt["status"], 16) != 1
    return Mined(
        block=int(receipt["blockNumber"], 16), logs=[] if is_reverted else receipt["logs"], is_reverted=is_reverted
    )
