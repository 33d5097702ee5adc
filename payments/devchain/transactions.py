"""Signed transactions as wallets send them: EIP-155 and before it, EIP-2930, EIP-1559."""

from dataclasses import dataclass
from typing import Any

import rlp

from payments.chain.evm import keccak, recover

# By type: how many fields there are before the signature.
UNSIGNED = {0: 6, 1: 8, 2: 9}


class InvalidTransactionError(ValueError):
    """The chain does not take this transaction; the message is what its sender is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction:
    """A transaction whose sender is known by its signature. `to` is None where it creates a contract.

    Prices are in wei for a unit of gas; before EIP-1559 both are the one that was named. Addresses in small letters.
    """

    hash: bytes
    kind: int
    chain_id: int
    sender: str
    nonce: int
    gas: int
    highest_price: int
    tip: int
    to: str | None
    value: int
    data: bytes
    signature: bytes

    def price(self, base_fee: int) -> int:
        """What is paid for a unit of gas in a block of this base fee."""
        return min(self.highest_price, base_fee + self.tip)


def read(raw: bytes, *, chain_id: int) -> Transaction:
    """Read a signed transaction and find its sender. Raises InvalidTransactionError."""
    kind = raw[0] if raw and raw[0] < 0x80 else 0
    if kind not in UNSIGNED:
        raise InvalidTransactionError(f"transaction type {kind} is not supported")
    try:
        fields = rlp.decode(raw[1:] if kind else raw)
    except (rlp.DecodingError, RecursionError) as error:
        raise InvalidTransactionError(str(error)) from None
    if not isinstance(fields, list) or len(fields) != UNSIGNED[kind] + 3:
        raise InvalidTransactionError("the transaction has too few or too many fields")
    unsigned = fields[: UNSIGNED[kind]]
    sign, r, s = (_number(field, 32) for field in fields[-3:])
    if kind:
        named = _number(unsigned[0], 32)
        signed = unsigned
    else:
        # EIP-155 puts the chain into v; before it, v was 27 or 28 and the chain was any.
        named = chain_id if sign in (27, 28) else (sign - 35) // 2
        signed = unsigned if sign in (27, 28) else [*unsigned, named, 0, 0]
        sign = sign - 27 if sign in (27, 28) else (sign - 35) % 2
    if named != chain_id:
        raise InvalidTransactionError(f"invalid chain id for signer: have {named} want {chain_id}")
    signature = r.to_bytes(32) + s.to_bytes(32) + bytes([min(sign, 255)])
    sender = recover(keccak((bytes([kind]) if kind else b"") + rlp.encode(signed)), signature)
    if sender is None:
        raise InvalidTransactionError("invalid sender")
    # Newer ones have the chain before these and a list of what is read after them, which only makes gas cheaper.
    nonce, *prices, gas, to, value, data = unsigned[1:-1] if kind else unsigned
    if not isinstance(to, bytes) or len(to) not in (0, 20) or not isinstance(data, bytes):
        raise InvalidTransactionError("the transaction's receiver or data are malformed")
    return Transaction(
        hash=keccak(raw),
        kind=kind,
        chain_id=chain_id,
        sender=sender,
        nonce=_number(nonce, 8),
        gas=_number(gas, 8),
        highest_price=_number(prices[-1], 16),
        tip=_number(prices[0], 16),
        to="0x" + to.hex() if to else None,
        value=_number(value, 32),
        data=data,
        signature=signature,
    )


def _number(field: Any, size: int) -> int:
    if not isinstance(field, bytes) or len(field) > size or field[:1] == b"\0":
        raise InvalidTransactionError("the transaction holds a malformed number")
    return int.from_bytes(field)
