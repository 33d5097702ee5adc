"""A development chain: the list of its transactions, each in a block of its own, and the state they lead to."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import rlp

from payments.chain.evm import keccak
from payments.devchain import genesis, transactions
from payments.devchain.evm import Entry, Machine, Outcome, RefusedError
from payments.devchain.journal import Journal
from payments.devchain.transactions import InvalidTransactionError, Transaction

CHAIN_ID = 84532
# In wei for a unit of gas, as cheap as Base.
BASE_FEE = 1_000_000
GAS_LIMIT = 30_000_000
# Of one sender, whose earlier transactions have not come yet.
MOST_WAITING = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Mined:
    """A transaction that is on the chain, and how it ended."""

    transaction: Transaction
    outcome: Outcome

    @property
    def price(self) -> int:
        """What was paid for a unit of gas, in wei."""
        return self.transaction.price(BASE_FEE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A block with its one transaction; the first block has none. `timestamp` in Unix seconds."""

    number: int
    hash: bytes
    parent: bytes
    timestamp: int
    mined: Mined | None


class Chain:
    """The chain whose transactions are in `home`, made there when it is new. Not for two threads at once."""

    def __init__(self, home: Path, *, secret: str) -> None:
        self.machine = Machine(chain_id=CHAIN_ID)
        genesis.lay(self.machine, secret=secret)
        self.blocks = [_block(None, timestamp=0, mined=None)]
        self._number_of: dict[bytes, int] = {}
        self._waiting: dict[tuple[str, int], Transaction] = {}
        self._journal = Journal(home / "transactions")
        for timestamp, raw in self._journal.entries:
            self._take(transactions.read(raw, chain_id=CHAIN_ID), timestamp)

    @property
    def head(self) -> Block:
        """The latest block."""
        return self.blocks[-1]

    def send(self, raw: bytes, *, now: int) -> bytes:
        """Accept a signed transaction, for good, and return its hash.

        It is on the chain by then, unless an earlier one of its sender is yet to come: it waits for that.
        Raises InvalidTransactionError, and then nothing has changed; OSError when it cannot be stored.
        """
        transaction = transactions.read(raw, chain_id=CHAIN_ID)
        self._examine(transaction, now)
        timestamp = self._next_timestamp(now)
        self._journal.append(timestamp, raw)
        self._take(transaction, timestamp)
        return transaction.hash

    def close(self) -> None:
        """Let another process have the chain."""
        self._journal.close()

    def call(self, *, sender: str, to: str | None, data: bytes, value: int, gas: int, now: int) -> Outcome:
        """What would come of a call in a block of now; it changes nothing. Raises InvalidTransactionError."""
        self._enter_next(now)
        try:
            return self.machine.try_out(sender=sender, to=to, data=data, value=value, gas=min(gas, GAS_LIMIT))
        except RefusedError as error:
            raise InvalidTransactionError(str(error)) from None

    def find(self, transaction_hash: bytes) -> tuple[Block, Mined] | None:
        """The block with this transaction; None while it waits, or when nobody has sent it."""
        number = self._number_of.get(transaction_hash)
        if number is None:
            return None
        block = self.blocks[number]
        return (block, block.mined) if block.mined else None

    def find_waiting(self, transaction_hash: bytes) -> Transaction | None:
        """A transaction that waits for an earlier one of its sender."""
        return next((one for one in self._waiting.values() if one.hash == transaction_hash), None)

    def find_block(self, block_hash: bytes) -> Block | None:
        """The block with this hash."""
        return next((block for block in reversed(self.blocks) if block.hash == block_hash), None)

    def logs(self, first: int, last: int) -> Iterator[tuple[Block, Mined, int, Entry]]:
        """Every log of the blocks from `first` to `last`, both included, with its place in its block."""
        for block in self.blocks[first : last + 1]:
            if block.mined:
                for place, entry in enumerate(block.mined.outcome.logs):
                    yield block, block.mined, place, entry

    def _examine(self, transaction: Transaction, now: int) -> None:
        """Raise InvalidTransactionError for what would not be mined."""
        expected = self.machine.nonce(transaction.sender)
        if transaction.nonce < expected:
            raise InvalidTransactionError(f"nonce too low: next nonce {expected}, tx nonce {transaction.nonce}")
        if transaction.highest_price < BASE_FEE:
            raise InvalidTransactionError("max fee per gas less than block base fee")
        if transaction.gas > GAS_LIMIT:
            raise InvalidTransactionError("exceeds block gas limit")
        if transaction.nonce > expected:
            self._examine_waiting(transaction)
            return
        if self.machine.balance(transaction.sender) < _cost(transaction):
            raise InvalidTransactionError("insufficient funds for gas * price + value")
        self.call(
            sender=transaction.sender,
            to=transaction.to,
            data=transaction.data,
            value=transaction.value,
            gas=transaction.gas,
            now=now,
        )

    def _examine_waiting(self, transaction: Transaction) -> None:
        known = self._waiting.get((transaction.sender, transaction.nonce))
        if known is not None:
            same = known.hash == transaction.hash
            raise InvalidTransactionError("already known" if same else "replacement transaction underpriced")
        if sum(sender == transaction.sender for sender, _ in self._waiting) >= MOST_WAITING:
            raise InvalidTransactionError("too many transactions of this sender wait for an earlier one")

    def _take(self, transaction: Transaction, timestamp: int) -> None:
        """Mine a transaction and those that waited for it, or let it wait. The same for the same list of them."""
        self._waiting[transaction.sender, transaction.nonce] = transaction
        sender = transaction.sender
        while due := self._waiting.pop((sender, self.machine.nonce(sender)), None):
            if not self._mine(due, timestamp):
                return

    def _mine(self, transaction: Transaction, timestamp: int) -> bool:
        """Put a transaction on the chain. One that waited may be impossible by now: it is forgotten."""
        if self.machine.balance(transaction.sender) < _cost(transaction):
            return False
        self.machine.enter(number=self.head.number + 1, timestamp=timestamp)
        try:
            outcome = self.machine.run(
                sender=transaction.sender,
                to=transaction.to,
                data=transaction.data,
                value=transaction.value,
                gas=transaction.gas,
            )
        except RefusedError:
            return False
        mined = Mined(transaction=transaction, outcome=outcome)
        self.machine.charge(transaction.sender, nonce=transaction.nonce + 1, fee=outcome.gas_used * mined.price)
        block = _block(self.head, timestamp=timestamp, mined=mined)
        self.blocks.append(block)
        self._number_of[transaction.hash] = block.number
        return True

    def _next_timestamp(self, now: int) -> int:
        """The clock of the wall, which may be set back; the chain's may not."""
        return max(now, self.head.timestamp)

    def _enter_next(self, now: int) -> None:
        # Of now, not of the latest block: a quiet chain would judge an authorization's times by yesterday's clock.
        self.machine.enter(number=self.head.number + 1, timestamp=self._next_timestamp(now))


def _cost(transaction: Transaction) -> int:
    return transaction.gas * transaction.highest_price + transaction.value


def _block(parent: Block | None, *, timestamp: int, mined: Mined | None) -> Block:
    """A block with a hash over all that it holds, its parent's among it. It is not that of a header of Ethereum."""
    number = parent.number + 1 if parent else 0
    before = parent.hash if parent else bytes(32)
    content = [before, number, timestamp, mined.transaction.hash if mined else b""]
    return Block(number=number, hash=keccak(rlp.encode(content)), parent=before, timestamp=timestamp, mined=mined)
