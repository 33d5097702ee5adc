"""A development chain: a list of transactions, each in a block of its own, and the state that they produce."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import rlp
from pyrevm import EVM, BlockEnv, CfgEnv, Env

from payments.chain.evm import keccak
from payments.devchain import genesis
from payments.devchain.addresses import CHAIN_ID
from payments.devchain.evm import FORK, ExecutionResult, Log, charge, execute
from payments.devchain.journal import Journal
from payments.devchain.transactions import InvalidTransaction, Transaction, decode_transaction

# In wei per unit of gas, as cheap as on Base.
BASE_FEE = 1_000_000
GAS_LIMIT = 30_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class MinedTransaction:
    """A transaction in a block, and the result of its execution."""

    transaction: Transaction
    result: ExecutionResult

    @property
    def gas_price(self) -> int:
        return self.transaction.gas_price(BASE_FEE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A block with its one transaction; the first block has none. `timestamp` in Unix seconds."""

    number: int
    hash: bytes
    parent_hash: bytes
    timestamp: int
    mined: MinedTransaction | None


class Chain:
    """The chain whose transactions are stored in `home`; a new one where there are none. Not thread-safe."""

    def __init__(self, home: Path, *, secret: str) -> None:
        self.evm = EVM(env=Env(cfg=CfgEnv(chain_id=CHAIN_ID)), spec_id=FORK)
        genesis.apply(self.evm, secret=secret)
        self.blocks = [_block(None, timestamp=0, mined=None)]
        self._blocks_by_transaction: dict[bytes, Block] = {}
        self._journal = Journal(home / "transactions")
        for timestamp, raw in self._journal.entries:
            self._mine(decode_transaction(raw, chain_id=CHAIN_ID), timestamp)

    @property
    def head(self) -> Block:
        return self.blocks[-1]

    def send(self, raw: bytes, *, now: int) -> bytes:
        """Store a signed transaction, mine it and return its hash.

        Raises InvalidTransaction, or OSError where it cannot be stored; then nothing has changed.
        """
        transaction = decode_transaction(raw, chain_id=CHAIN_ID)
        self._validate(transaction, now)
        timestamp = self._next_timestamp(now)
        self._journal.append(timestamp, raw)
        self._mine(transaction, timestamp)
        return transaction.hash

    def close(self) -> None:
        """Release the journal, so that another process can open the chain."""
        self._journal.close()

    def call(self, *, sender: str, to: str | None, data: bytes, value: int, gas: int, now: int) -> ExecutionResult:
        """Simulate a call in a block of `now`. Raises InvalidTransaction."""
        # Not in the latest block: on a quiet chain that would check an authorization against an old time.
        self.evm.set_block_env(BlockEnv(number=self.head.number + 1, timestamp=self._next_timestamp(now)))
        snapshot = self.evm.snapshot()
        try:
            return execute(self.evm, sender=sender, to=to, data=data, value=value, gas=min(gas, GAS_LIMIT))
        finally:
            self.evm.revert(snapshot)

    def find(self, transaction_hash: bytes) -> tuple[Block, MinedTransaction] | None:
        block = self._blocks_by_transaction.get(transaction_hash)
        return (block, block.mined) if block and block.mined else None

    def find_block(self, block_hash: bytes) -> Block | None:
        return next((block for block in reversed(self.blocks) if block.hash == block_hash), None)

    def logs(self, first: int, last: int) -> Iterator[tuple[Block, MinedTransaction, int, Log]]:
        """Yield the logs of the blocks from `first` to `last` inclusive, each with its index in its block."""
        for block in self.blocks[first : last + 1]:
            if block.mined:
                for index, entry in enumerate(block.mined.result.logs):
                    yield block, block.mined, index, entry

    def _validate(self, transaction: Transaction, now: int) -> None:
        """Raise InvalidTransaction for a transaction that cannot be mined now."""
        expected = self.evm.basic(transaction.sender).nonce
        if transaction.nonce != expected:
            problem = "low" if transaction.nonce < expected else "high"
            raise InvalidTransaction(f"nonce too {problem}: next nonce {expected}, tx nonce {transaction.nonce}")
        if transaction.max_fee < BASE_FEE:
            raise InvalidTransaction("max fee per gas less than block base fee")
        if transaction.gas > GAS_LIMIT:
            raise InvalidTransaction("exceeds block gas limit")
        if self.evm.get_balance(transaction.sender) < transaction.max_cost:
            raise InvalidTransaction("insufficient funds for gas * price + value")
        self.call(**transaction.call, now=now)

    def _mine(self, transaction: Transaction, timestamp: int) -> None:
        """Add a block with the transaction. The transactions and their timestamps alone decide the result."""
        self.evm.set_block_env(BlockEnv(number=self.head.number + 1, timestamp=timestamp))
        mined = MinedTransaction(transaction=transaction, result=execute(self.evm, **transaction.call))
        fee = mined.result.gas_used * mined.gas_price
        charge(self.evm, transaction.sender, nonce=transaction.nonce + 1, fee=fee)
        self.blocks.append(_block(self.head, timestamp=timestamp, mined=mined))
        self._blocks_by_transaction[transaction.hash] = self.head

    def _next_timestamp(self, now: int) -> int:
        """Return `now`, or the time of the latest block where the system's clock was set back."""
        return max(now, self.head.timestamp)


def _block(parent: Block | None, *, timestamp: int, mined: MinedTransaction | None) -> Block:
    """Return a block. Its hash covers its content and its parent's hash, but is not that of an Ethereum header."""
    number = parent.number + 1 if parent else 0
    parent_hash = parent.hash if parent else bytes(32)
    content = [parent_hash, number, timestamp, mined.transaction.hash if mined else b""]
    return Block(
        number=number, hash=keccak(rlp.encode(content)), parent_hash=parent_hash, timestamp=timestamp, mined=mined
    )
