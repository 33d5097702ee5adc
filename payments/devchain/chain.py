"""A development chain: a list of transactions, each in a block of its own, and the state that they produce."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import rlp

from payments.chain.evm import keccak
from payments.devchain import genesis, transactions
from payments.devchain.evm import CallRejected, Log, Machine, Outcome
from payments.devchain.journal import Journal
from payments.devchain.transactions import InvalidTransactionError, Transaction

CHAIN_ID = 84532
# In wei per unit of gas, as cheap as on Base.
BASE_FEE = 1_000_000
GAS_LIMIT = 30_000_000
# Pending transactions of one sender.
MAX_PENDING = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Mined:
    """A transaction in a block, and how it ended."""

    transaction: Transaction
    outcome: Outcome

    @property
    def gas_price(self) -> int:
        """The price that was paid for a unit of gas, in wei."""
        return self.transaction.gas_price(BASE_FEE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A block with its one transaction; the first block has none. `timestamp` in Unix seconds."""

    number: int
    hash: bytes
    parent: bytes
    timestamp: int
    mined: Mined | None


class Chain:
    """The chain whose transactions are stored in `home`; a new one where there are none. Not thread-safe."""

    def __init__(self, home: Path, *, secret: str) -> None:
        self.machine = Machine(chain_id=CHAIN_ID)
        genesis.apply(self.machine, secret=secret)
        self.blocks = [_block(None, timestamp=0, mined=None)]
        self._block_numbers: dict[bytes, int] = {}
        # By sender and nonce: transactions before which an earlier one of their sender is missing.
        self._pending: dict[tuple[str, int], Transaction] = {}
        self._journal = Journal(home / "transactions")
        for timestamp, raw in self._journal.entries:
            self._apply(transactions.read(raw, chain_id=CHAIN_ID), timestamp)

    @property
    def head(self) -> Block:
        """The latest block."""
        return self.blocks[-1]

    def send(self, raw: bytes, *, now: int) -> bytes:
        """Store a signed transaction and mine it, or keep it pending; return its hash.

        Raises InvalidTransactionError, or OSError where it cannot be stored; then nothing has changed.
        """
        transaction = transactions.read(raw, chain_id=CHAIN_ID)
        self._validate(transaction, now)
        timestamp = self._next_timestamp(now)
        self._journal.append(timestamp, raw)
        self._apply(transaction, timestamp)
        return transaction.hash

    def close(self) -> None:
        """Release the journal, so that another process can open the chain."""
        self._journal.close()

    def call(self, *, sender: str, to: str | None, data: bytes, value: int, gas: int, now: int) -> Outcome:
        """Simulate a call in a block of `now`. Raises InvalidTransactionError."""
        # Not in the latest block: on a quiet chain that would check an authorization against an old time.
        self.machine.set_block(number=self.head.number + 1, timestamp=self._next_timestamp(now))
        try:
            return self.machine.simulate(sender=sender, to=to, data=data, value=value, gas=min(gas, GAS_LIMIT))
        except CallRejected as error:
            raise InvalidTransactionError(str(error)) from None

    def find(self, transaction_hash: bytes) -> tuple[Block, Mined] | None:
        """Return the block with this transaction; None where it is pending or unknown."""
        number = self._block_numbers.get(transaction_hash)
        if number is None:
            return None
        block = self.blocks[number]
        return (block, block.mined) if block.mined else None

    def find_pending(self, transaction_hash: bytes) -> Transaction | None:
        """Return the pending transaction with this hash."""
        return next((one for one in self._pending.values() if one.hash == transaction_hash), None)

    def find_block(self, block_hash: bytes) -> Block | None:
        """Return the block with this hash."""
        return next((block for block in reversed(self.blocks) if block.hash == block_hash), None)

    def logs(self, first: int, last: int) -> Iterator[tuple[Block, Mined, int, Log]]:
        """Yield the logs of the blocks from `first` to `last` inclusive, each with its index in its block."""
        for block in self.blocks[first : last + 1]:
            if block.mined:
                for index, entry in enumerate(block.mined.outcome.logs):
                    yield block, block.mined, index, entry

    def _validate(self, transaction: Transaction, now: int) -> None:
        """Raise InvalidTransactionError for a transaction that would not be mined."""
        expected = self.machine.nonce(transaction.sender)
        if transaction.nonce < expected:
            raise InvalidTransactionError(f"nonce too low: next nonce {expected}, tx nonce {transaction.nonce}")
        if transaction.max_fee < BASE_FEE:
            raise InvalidTransactionError("max fee per gas less than block base fee")
        if transaction.gas > GAS_LIMIT:
            raise InvalidTransactionError("exceeds block gas limit")
        if transaction.nonce > expected:
            known = self._pending.get((transaction.sender, transaction.nonce))
            if known is not None:
                is_same = known.hash == transaction.hash
                raise InvalidTransactionError("already known" if is_same else "replacement transaction underpriced")
            if sum(sender == transaction.sender for sender, _ in self._pending) >= MAX_PENDING:
                raise InvalidTransactionError("too many transactions of this sender wait for an earlier one")
            return
        if self.machine.balance(transaction.sender) < transaction.max_cost:
            raise InvalidTransactionError("insufficient funds for gas * price + value")
        self.call(
            sender=transaction.sender,
            to=transaction.to,
            data=transaction.data,
            value=transaction.value,
            gas=transaction.gas,
            now=now,
        )

    def _apply(self, transaction: Transaction, timestamp: int) -> None:
        """Mine a transaction and the pending ones after it, or keep it pending. The list alone decides the result."""
        self._pending[transaction.sender, transaction.nonce] = transaction
        sender = transaction.sender
        while due := self._pending.pop((sender, self.machine.nonce(sender)), None):
            if not self._mine(due, timestamp):
                return

    def _mine(self, transaction: Transaction, timestamp: int) -> bool:
        """Add a block with the transaction. A pending one that became impossible is dropped: False."""
        if self.machine.balance(transaction.sender) < transaction.max_cost:
            return False
        self.machine.set_block(number=self.head.number + 1, timestamp=timestamp)
        try:
            outcome = self.machine.run(
                sender=transaction.sender,
                to=transaction.to,
                data=transaction.data,
                value=transaction.value,
                gas=transaction.gas,
            )
        except CallRejected:
            return False
        mined = Mined(transaction=transaction, outcome=outcome)
        self.machine.charge(transaction.sender, nonce=transaction.nonce + 1, fee=outcome.gas_used * mined.gas_price)
        block = _block(self.head, timestamp=timestamp, mined=mined)
        self.blocks.append(block)
        self._block_numbers[transaction.hash] = block.number
        return True

    def _next_timestamp(self, now: int) -> int:
        """Return `now`, or the time of the latest block where the system's clock was set back."""
        return max(now, self.head.timestamp)


def _block(parent: Block | None, *, timestamp: int, mined: Mined | None) -> Block:
    """Return a block. Its hash covers its content and its parent's hash, but is not that of an Ethereum header."""
    number = parent.number + 1 if parent else 0
    parent_hash = parent.hash if parent else bytes(32)
    content = [parent_hash, number, timestamp, mined.transaction.hash if mined else b""]
    return Block(number=number, hash=keccak(rlp.encode(content)), parent=parent_hash, timestamp=timestamp, mined=mined)
