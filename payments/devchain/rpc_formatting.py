"""What the node says: blocks, transactions, receipts and logs as Ethereum's JSON-RPC writes them."""

from typing import Any

from payments.chain.evm import NOBODY
from payments.devchain.chain import BASE_FEE, GAS_LIMIT, Block, Mined
from payments.devchain.evm import Entry
from payments.devchain.transactions import Transaction

NOTHING = "0x" + 64 * "0"
BLOOM = "0x" + 512 * "0"
# Error(string), by which Solidity says why.
SAID = bytes.fromhex("08c379a0")


def quantity(number: int) -> str:
    """A whole number without leading zeros."""
    return hex(number)


def raw(content: bytes) -> str:
    """Bytes as they are."""
    return "0x" + content.hex()


def block(one: Block, *, whole: bool) -> dict[str, Any]:
    """A block with its transactions, or with their hashes only. What a chain of one has no use for is zero."""
    listed: list[Any] = []
    if one.mined:
        chosen = one.mined.transaction
        listed = [transaction(chosen, of=one)] if whole else [raw(chosen.hash)]
    return {
        "number": quantity(one.number),
        "hash": raw(one.hash),
        "parentHash": raw(one.parent),
        "timestamp": quantity(one.timestamp),
        "transactions": listed,
        "gasUsed": quantity(one.mined.outcome.gas_used if one.mined else 0),
        "gasLimit": quantity(GAS_LIMIT),
        "baseFeePerGas": quantity(BASE_FEE),
        "miner": NOBODY,
        "difficulty": "0x0",
        "totalDifficulty": "0x0",
        "extraData": "0x",
        "logsBloom": BLOOM,
        "mixHash": NOTHING,
        "nonce": "0x0000000000000000",
        "receiptsRoot": NOTHING,
        "stateRoot": NOTHING,
        "transactionsRoot": NOTHING,
        "sha3Uncles": NOTHING,
        "size": "0x0",
        "uncles": [],
    }


def transaction(one: Transaction, *, of: Block | None) -> dict[str, Any]:
    """A transaction of a block; of none while it waits."""
    sign = one.signature[64]
    told = {
        "hash": raw(one.hash),
        "type": quantity(one.kind),
        "chainId": quantity(one.chain_id),
        "from": one.sender,
        "to": one.to,
        "nonce": quantity(one.nonce),
        "gas": quantity(one.gas),
        "gasPrice": quantity(one.price(BASE_FEE)),
        "value": quantity(one.value),
        "input": raw(one.data),
        "v": quantity(sign),
        "r": quantity(int.from_bytes(one.signature[:32])),
        "s": quantity(int.from_bytes(one.signature[32:64])),
        "blockHash": raw(of.hash) if of else None,
        "blockNumber": quantity(of.number) if of else None,
        "transactionIndex": "0x0" if of else None,
    }
    if one.kind == 2:
        told |= {"maxFeePerGas": quantity(one.highest_price), "maxPriorityFeePerGas": quantity(one.tip)}
    return told


def receipt(of: Block, mined: Mined) -> dict[str, Any]:
    """How a transaction of a block ended."""
    one, outcome = mined.transaction, mined.outcome
    return {
        "transactionHash": raw(one.hash),
        "transactionIndex": "0x0",
        "blockHash": raw(of.hash),
        "blockNumber": quantity(of.number),
        "from": one.sender,
        "to": one.to,
        "contractAddress": outcome.created,
        "status": quantity(int(outcome.is_success)),
        "gasUsed": quantity(outcome.gas_used),
        "cumulativeGasUsed": quantity(outcome.gas_used),
        "effectiveGasPrice": quantity(mined.price),
        "logs": [log(of, mined, place, entry) for place, entry in enumerate(outcome.logs)],
        "logsBloom": BLOOM,
        "type": quantity(one.kind),
    }


def log(of: Block, mined: Mined, place: int, entry: Entry) -> dict[str, Any]:
    """One log of a block."""
    return {
        "address": entry.address,
        "topics": list(entry.topics),
        "data": raw(entry.data),
        "blockHash": raw(of.hash),
        "blockNumber": quantity(of.number),
        "transactionHash": raw(mined.transaction.hash),
        "transactionIndex": "0x0",
        "logIndex": quantity(place),
        "removed": False,
    }


def words_of(output: bytes) -> str:
    """What a contract said when it reverted; "" for nothing, or for what is no text."""
    if output[:4] != SAID or len(output) < 68:
        return ""
    length = int.from_bytes(output[36:68])
    return output[68 : 68 + length].decode(errors="replace")
