"""The facilitator's journal, an SQLite file: transactions that are not mined yet, and payers of reverted ones."""

import sqlite3
import threading
import time
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

# A mined transaction stays for a while: a lagging node does not show it yet, and a reorganisation may undo its block.
MINED_RETENTION_S = 60.0
# After this time an authorization that our API accepts has expired: sending it again could only fail.
UNMINED_RETENTION_S = 24 * 3600.0
# A payer is refused for the first duration after the first revert, ten times longer after each further one.
FIRST_REFUSAL_S, REFUSAL_FACTOR, MAX_REFUSAL_S = 60.0, 10.0, 24 * 3600.0
MAX_EXPONENT = 9
REVERT_RETENTION_S = 7 * 24 * 3600.0
# Longer than the previous process of this journal takes to end.
OPENED_WITHIN_S = 30.0
# Of SQLite.
MAX_INTEGER = 2**63 - 1
SCHEMA = """
CREATE TABLE IF NOT EXISTS sent (
    hash TEXT PRIMARY KEY, nonce INTEGER NOT NULL, authorization TEXT NOT NULL, valid_before INTEGER NOT NULL,
    gas_price INTEGER NOT NULL, raw BLOB NOT NULL, signed_at REAL NOT NULL, mined_at REAL, is_reported INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS reverted (hash TEXT PRIMARY KEY, payer TEXT NOT NULL, at REAL NOT NULL);
CREATE INDEX IF NOT EXISTS reverted_by_payer ON reverted (payer);
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A signed transaction, written before it is sent.

    `authorization` is `payer:nonce` of the payment, `nonce` the number of the transaction. Several of one nonce differ
    in their gas price; one of them is mined at most. `is_reported`: its settlement was reported to a caller. Times in
    Unix seconds.
    """

    hash: str
    nonce: int
    authorization: str
    valid_before: int
    gas_price: int
    raw: bytes
    signed_at: float
    mined_at: float | None = None
    is_reported: int = 0


class Journal:
    """The journal at this path. Thread-safe; each change is on disk when the method returns.

    One process uses it at a time: another waits for up to OPENED_WITHIN_S, then sqlite3.OperationalError is raised.
    """

    def __init__(self, path: Path | str) -> None:
        self._lock = threading.Lock()
        self._database = sqlite3.connect(
            path, timeout=OPENED_WITHIN_S, isolation_level=None, check_same_thread=False, cached_statements=32
        )
        self._database.execute("PRAGMA locking_mode = EXCLUSIVE")
        self._database.execute("PRAGMA synchronous = FULL")
        self._database.executescript(f"BEGIN IMMEDIATE; {SCHEMA} COMMIT;")

    def close(self) -> None:
        self._database.close()

    def add(self, sent: Sent) -> None:
        self._execute("INSERT INTO sent VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", *astuple(sent))

    def remove(self, sent: Sent) -> None:
        """Forget a transaction that the node has certainly not accepted."""
        self._execute("DELETE FROM sent WHERE hash = ?", sent.hash)

    def list_all(self) -> list[Sent]:
        """Return the transactions by nonce, those of one nonce from the newest on."""
        rows = self._execute("SELECT * FROM sent ORDER BY nonce, signed_at DESC")
        return [Sent(**dict(zip(Sent.__slots__, row, strict=True))) for row in rows]

    def mark_mined(self, nonce: int) -> None:
        """Record that a transaction with this nonce is mined: none of the journal's is sent again."""
        self._execute("UPDATE sent SET mined_at = ? WHERE nonce = ? AND mined_at IS NULL", time.time(), nonce)

    def mark_reported(self, authorization: str) -> None:
        self._execute("UPDATE sent SET is_reported = 1 WHERE authorization = ?", authorization)

    def mark_unmined(self, first: int) -> None:
        """Record that the transactions from this nonce on are not mined, whatever was recorded before."""
        self._execute("UPDATE sent SET mined_at = NULL WHERE nonce >= ? AND mined_at IS NOT NULL", first)

    def purge(self) -> None:
        now = time.time()
        self._execute(
            "DELETE FROM sent WHERE mined_at < ? OR signed_at < ?", now - MINED_RETENTION_S, now - UNMINED_RETENTION_S
        )
        self._execute("DELETE FROM reverted WHERE at < ?", now - REVERT_RETENTION_S)

    def record_revert(self, tx_hash: str, payer: str) -> None:
        """Record that a settlement of this payer was mined and reverted, at our cost. Idempotent."""
        self._execute("INSERT OR IGNORE INTO reverted VALUES (?, ?, ?)", tx_hash, payer, time.time())

    def list_refused(self) -> set[str]:
        """Return the payers whose settlements are not sent now, because earlier ones reverted."""
        rows = self._execute("SELECT payer, count(*), max(at) FROM reverted GROUP BY payer")
        return {payer for payer, times, last_at in rows if time.time() < last_at + refusal_s(times)}

    def is_refused(self, payer: str) -> bool:
        [(times, last_at)] = self._execute("SELECT count(*), max(at) FROM reverted WHERE payer = ?", payer)
        return bool(times) and time.time() < last_at + refusal_s(times)

    def _execute(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._database.execute(statement, values).fetchall()


def refusal_s(times: int) -> float:
    """Return for how long a payer is refused after so many reverts."""
    return min(FIRST_REFUSAL_S * REFUSAL_FACTOR ** min(times - 1, MAX_EXPONENT), MAX_REFUSAL_S)
