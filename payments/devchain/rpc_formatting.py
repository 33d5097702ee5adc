"""Blocks, transactions, receipts and logs in the form of Ethereum's JSON-RPC."""

from typing import Any

from payments.chain.evm import ZERO_ADDRESS
from payments.devchain.chain import BASE_FEE, GAS_LIMIT, Block, Mined
from payments.devchain.evm import Log
from payments.devchain.transactions import Transaction

ZERO_WORD = "0x" + 64 * "0"
EMPTY_BLOOM = "0x" + 512 * "0"
# Error(string), which Solidity returns with the reason of a revert.
ERROR_SELECTOR = bytes.fromhex("08c379a0")


def quantity(number: int) -> str:
    """Format a number without leading zeros."""
    return hex(number)


def raw(content: bytes) -> str:
    """Format bytes."""
    return "0x" + content.hex()


def block(one: Block, *, full: bool) -> dict[str, Any]:
    """Format a block with its `full` transactions or their hashes. Fields that this chain does not have are zero."""
    transactions: list[Any] = []
    if one.mined:
        sent = one.mined.transaction
        transactions = [transaction(sent, of=one)] if full else [raw(sent.hash)]
    return {
        "number": quantity(one.number),
        "hash": raw(one.hash),
        "parentHash": raw(one.parent),
        "timestamp": quantity(one.timestamp),
        "transactions": transactions,
        "gasUsed": quantity(one.mined.outcome.gas_used if one.mined else 0),
        "gasLimit": quantity(GAS_LIMIT),
        "baseFeePerGas": quantity(BASE_FEE),
        "miner": ZERO_ADDRESS,
        "difficulty": "0x0",
        "totalDifficulty": "0x0",
        "extraData": "0x",
        "logsBloom": EMPTY_BLOOM,
        "mixHash": ZERO_WORD,
        "nonce": "0x0000000000000000",
        "receiptsRoot": ZERO_WORD,
        "stateRoot": ZERO_WORD,
        "transactionsRoot": ZERO_WORD,
        "sha3Uncles": ZERO_WORD,
        "size": "0x0",
        "uncles": [],
    }


def transaction(one: Transaction, *, of: Block | None) -> dict[str, Any]:
    """Format a transaction of a block, or of none while it is pending."""
    formatted = {
        "hash": raw(one.hash),
        "type": quantity(one.kind),
        "chainId": quantity(one.chain_id),
        "from": one.sender,
        "to": one.to,
        "nonce": quantity(one.nonce),
        "gas": quantity(one.gas),
        "gasPrice": quantity(one.gas_price(BASE_FEE)),
        "value": quantity(one.value),
        "input": raw(one.data),
        "v": quantity(one.signature[64]),
        "r": quantity(int.from_bytes(one.signature[:32])),
        "s": quantity(int.from_bytes(one.signature[32:64])),
        "blockHash": raw(of.hash) if of else None,
        "blockNumber": quantity(of.number) if of else None,
        "transactionIndex": "0x0" if of else None,
    }
    if one.kind == 2:
        formatted |= {"maxFeePerGas": quantity(one.max_fee), "maxPriorityFeePerGas": quantity(one.max_priority_fee)}
    return formatted


def receipt(of: Block, mined: Mined) -> dict[str, Any]:
    """Format the receipt of a transaction of a block."""
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
        "effectiveGasPrice": quantity(mined.gas_price),
        "logs": [log(of, mined, index, entry) for index, entry in enumerate(outcome.logs)],
        "logsBloom": EMPTY_BLOOM,
        "type": quantity(one.kind),
    }


def log(of: Block, mined: Mined, index: int, entry: Log) -> dict[str, Any]:
    """Format one log of a block."""
    return {
        "address": entry.address,
        "topics": list(entry.topics),
        "data": raw(entry.data),
        "blockHash": raw(of.hash),
        "blockNumber": quantity(of.number),
        "transactionHash": raw(mined.transaction.hash),
        "transactionIndex": "0x0",
        "logIndex": quantity(index),
        "removed": False,
    }


def revert_reason(output: bytes) -> str:
    """Return the text with which a contract reverted; "" where there is none."""
    if output[:4] != ERROR_SELECTOR or len(output) < 68:
        return ""
    length = int.from_bytes(output[36:68])
    return output[68 : 68 + length].decode(errors="replace")
