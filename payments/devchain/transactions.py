"""Signed transactions as wallets send them: legacy (before and since EIP-155), EIP-2930, EIP-1559."""

from dataclasses import dataclass
from typing import Any

import rlp

from payments.chain.evm import keccak, recover_address

# By type: the number of fields before the signature.
UNSIGNED_FIELDS = {0: 6, 1: 8, 2: 9}


class InvalidTransaction(ValueError):
    """The chain rejects this transaction. The message is shown to its sender."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction:
    """A transaction whose signature is verified. `to` is None where it creates a contract.

    Fees are in wei per unit of gas; before EIP-1559 both are the gas price. Addresses are in lower case.
    """

    hash: bytes
    kind: int
    chain_id: int
    sender: str
    nonce: int
    gas: int
    max_fee: int
    max_priority_fee: int
    to: str | None
    value: int
    data: bytes
    signature: bytes

    @property
    def max_cost(self) -> int:
        """The most wei that the transaction can take from its sender."""
        return self.gas * self.max_fee + self.value

    @property
    def call(self) -> dict[str, Any]:
        """What the transaction executes, as arguments of `execute` and Chain.call."""
        names = ("sender", "to", "data", "value", "gas")
        return {name: getattr(self, name) for name in names}

    def gas_price(self, base_fee: int) -> int:
        return min(self.max_fee, base_fee + self.max_priority_fee)


def decode_transaction(raw: bytes, *, chain_id: int) -> Transaction:
    """Decode a signed transaction and recover its sender. Raises InvalidTransaction."""
    kind = raw[0] if raw and raw[0] < 0x80 else 0
    if kind not in UNSIGNED_FIELDS:
        raise InvalidTransaction(f"transaction type {kind} is not supported")
    try:
        fields = rlp.decode(raw[1:] if kind else raw)
    except (rlp.DecodingError, RecursionError) as error:
        raise InvalidTransaction(str(error)) from None
    if not isinstance(fields, list) or len(fields) != UNSIGNED_FIELDS[kind] + 3:
        raise InvalidTransaction("the transaction has too few or too many fields")
    unsigned = fields[: UNSIGNED_FIELDS[kind]]
    v, r, s = (_decode_number(field, 32) for field in fields[-3:])
    if kind:
        signed_for = _decode_number(unsigned[0], 32)
        parity, signed_fields = v, unsigned
    elif v in (27, 28):
        # Before EIP-155 a signature was valid on any chain.
        signed_for = chain_id
        parity, signed_fields = v - 27, unsigned
    else:
        signed_for = (v - 35) // 2
        parity, signed_fields = (v - 35) % 2, [*unsigned, signed_for, 0, 0]
    if signed_for != chain_id:
        raise InvalidTransaction(f"invalid chain id for signer: have {signed_for} want {chain_id}")
    signature = r.to_bytes(32) + s.to_bytes(32) + bytes([min(parity, 255)])
    sender = recover_address(keccak((bytes([kind]) if kind else b"") + rlp.encode(signed_fields)), signature)
    if sender is None:
        raise InvalidTransaction("invalid sender")
    # Types 1 and 2 begin with the chain id and end with an access list, which only makes gas cheaper.
    nonce, *fees, gas, to, value, data = unsigned[1:-1] if kind else unsigned
    if not isinstance(to, bytes) or len(to) not in (0, 20) or not isinstance(data, bytes):
        raise InvalidTransaction("the transaction's receiver or data are malformed")
    return Transaction(
        hash=keccak(raw),
        kind=kind,
        chain_id=chain_id,
        sender=sender,
        nonce=_decode_number(nonce, 8),
        gas=_decode_number(gas, 8),
        max_fee=_decode_number(fees[-1], 16),
        max_priority_fee=_decode_number(fees[0], 16),
        to="0x" + to.hex() if to else None,
        value=_decode_number(value, 32),
        data=data,
        signature=signature,
    )


def _decode_number(field: Any, size: int) -> int:
    if not isinstance(field, bytes) or len(field) > size or field[:1] == b"\0":
        raise InvalidTransaction("the transaction holds a malformed number")
    return int.from_bytes(field)
