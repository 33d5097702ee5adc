"""Blocks, transactions, receipts and logs in the form of Ethereum's JSON-RPC."""

from typing import Any

from payments.chain.evm import ZERO_ADDRESS
from payments.devchain.chain import BASE_FEE, GAS_LIMIT, Block, MinedTransaction
from payments.devchain.evm import Log
from payments.devchain.transactions import Transaction

ZERO_WORD = "0x" + 64 * "0"
EMPTY_BLOOM = "0x" + 512 * "0"
# Error(string), which Solidity returns with the reason of a revert.
ERROR_SELECTOR = bytes.fromhex("08c379a0")


def to_hex(content: bytes) -> str:
    return "0x" + content.hex()


def format_block(block: Block, *, full: bool) -> dict[str, Any]:
    """Format a block with its `full` transactions or their hashes. Fields that this chain does not have are zero."""
    transactions: list[Any] = []
    if block.mined:
        sent = block.mined.transaction
        transactions = [format_transaction(sent, block=block)] if full else [to_hex(sent.hash)]
    return {
        "number": hex(block.number),
        "hash": to_hex(block.hash),
        "parentHash": to_hex(block.parent_hash),
        "timestamp": hex(block.timestamp),
        "transactions": transactions,
        "gasUsed": hex(block.mined.result.gas_used if block.mined else 0),
        "gasLimit": hex(GAS_LIMIT),
        "baseFeePerGas": hex(BASE_FEE),
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


def format_transaction(sent: Transaction, *, block: Block) -> dict[str, Any]:
    formatted = {
        "hash": to_hex(sent.hash),
        "type": hex(sent.kind),
        "chainId": hex(sent.chain_id),
        "from": sent.sender,
        "to": sent.to,
        "nonce": hex(sent.nonce),
        "gas": hex(sent.gas),
        "gasPrice": hex(sent.gas_price(BASE_FEE)),
        "value": hex(sent.value),
        "input": to_hex(sent.data),
        "v": hex(sent.signature[64]),
        "r": hex(int.from_bytes(sent.signature[:32])),
        "s": hex(int.from_bytes(sent.signature[32:64])),
        "blockHash": to_hex(block.hash),
        "blockNumber": hex(block.number),
        "transactionIndex": "0x0",
    }
    if sent.kind == 2:
        formatted |= {"maxFeePerGas": hex(sent.max_fee), "maxPriorityFeePerGas": hex(sent.max_priority_fee)}
    return formatted


def format_receipt(block: Block, mined: MinedTransaction) -> dict[str, Any]:
    """Format the receipt of a transaction of a block."""
    sent, result = mined.transaction, mined.result
    return {
        "transactionHash": to_hex(sent.hash),
        "transactionIndex": "0x0",
        "blockHash": to_hex(block.hash),
        "blockNumber": hex(block.number),
        "from": sent.sender,
        "to": sent.to,
        "contractAddress": result.created,
        "status": hex(int(result.is_success)),
        "gasUsed": hex(result.gas_used),
        "cumulativeGasUsed": hex(result.gas_used),
        "effectiveGasPrice": hex(mined.gas_price),
        "logs": [format_log(block, mined, index, entry) for index, entry in enumerate(result.logs)],
        "logsBloom": EMPTY_BLOOM,
        "type": hex(sent.kind),
    }


def format_log(block: Block, mined: MinedTransaction, index: int, entry: Log) -> dict[str, Any]:
    return {
        "address": entry.address,
        "topics": list(entry.topics),
        "data": to_hex(entry.data),
        "blockHash": to_hex(block.hash),
        "blockNumber": hex(block.number),
        "transactionHash": to_hex(mined.transaction.hash),
        "transactionIndex": "0x0",
        "logIndex": hex(index),
        "removed": False,
    }


def revert_reason(output: bytes) -> str:
    """Return the text with which a contract reverted; "" where there is none."""
    if output[:4] != ERROR_SELECTOR or len(output) < 68:
        return ""
    length = int.from_bytes(output[36:68])
    return output[68 : 68 + length].decode(errors="replace")
