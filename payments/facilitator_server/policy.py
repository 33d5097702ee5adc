"""What our facilitator settles: for which callers and receivers, in which asset, and for how much gas."""

import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from payments.chain.networks import NETWORKS, Network
from payments.facilitator_server import error_codes

# The environment variable that holds the policy of the server's process. Secrets stay in their files.
POLICY = "FACILITATOR_POLICY"
KEY = re.compile("(0x)?([0-9a-fA-F]{64})")
MIN_TOKEN_LENGTH = 16


class UnsafeFile(ValueError):
    """A secret's file does not hold one, or can be read by other users; the message is for operators."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The rules of one facilitator.

    Addresses are in lower case; `max_gas_price` is in wei for a unit of gas, `max_gas` in units for one settlement.
    `private_key` (0x and hexadecimal digits) pays the gas and holds nothing else. Without `tokens` any caller is
    served, and with `pay_to` None any receiver is allowed: both only for a development machine. `journal` is the file
    of the transactions that are not mined yet. A settlement is reported after `confirmations` blocks with its own.
    """

    network: Network
    rpc_url: str = field(repr=False)
    private_key: str = field(repr=False)
    tokens: frozenset[str] = field(repr=False)
    pay_to: frozenset[str] | None
    assets: frozenset[str]
    max_gas_price: int
    max_gas: int
    journal: Path
    confirmations: int = 1

    def is_authorized(self, authorization: str) -> bool:
        """Whether a caller with this Authorization header may use /verify and /settle."""
        scheme, _, token_given = authorization.partition(" ")
        if not self.tokens:
            return True
        # All are compared, each in constant time, so that the duration discloses nothing.
        matches = [hmac.compare_digest(token_given.strip().encode(), token.encode()) for token in self.tokens]
        return scheme.lower() == "bearer" and any(matches)

    def find_refusal_reason(self, payload: Any, requirements: Any) -> str | None:
        """Return why this payment is not settled here, judged without the chain; None if it may be."""
        if requirements.network not in (self.network.caip2, self.network.name):
            # The SDK refuses every other network.
            return None
        if str(requirements.asset).lower() not in self.assets:
            return error_codes.WRONG_ASSET
        if self.pay_to is not None and str(requirements.pay_to).lower() not in self.pay_to:
            return error_codes.WRONG_PAY_TO
        # With any further key the SDK may choose another way to move the money.
        if not {"authorization"} <= payload.payload.keys() <= {"authorization", "signature"}:
            return error_codes.WRONG_TRANSFER
        return None


def load_policy(config: Mapping[str, Any]) -> Policy:
    """Return the policy of this configuration, with the secrets of its files. Raises UnsafeFile."""
    return Policy(
        network=NETWORKS[config["network"]],
        rpc_url=config["rpc_url"],
        private_key=read_key(Path(config["key_file"])),
        tokens=read_tokens(Path(config["token_file"])) if config["token_file"] else frozenset(),
        pay_to=frozenset(config["pay_to"]),
        assets=frozenset(config["assets"]),
        max_gas_price=config["max_gas_price"],
        max_gas=config["max_gas"],
        journal=Path(config["journal"]),
        confirmations=config["confirmations"],
    )


def read_key(path: Path) -> str:
    """Return the private key in this file: 64 hexadecimal digits. Raises UnsafeFile."""
    match = KEY.fullmatch(read_secret(path))
    if match is None:
        raise UnsafeFile(f"{path} holds no private key: 64 hexadecimal digits are expected.")
    return f"0x{match[2]}"


def read_tokens(path: Path) -> frozenset[str]:
    """Return the tokens in this file, one a line: several during a rotation. Raises UnsafeFile."""
    tokens = frozenset(filter(None, map(str.strip, read_secret(path).splitlines())))
    if not tokens or any(len(token) < MIN_TOKEN_LENGTH or not token.isascii() for token in tokens):
        raise UnsafeFile(f"{path} is to hold a token of {MIN_TOKEN_LENGTH} ASCII characters or more in each line.")
    return tokens


def read_secret(path: Path) -> str:
    """Return the content of a file that only its owner can read. Raises UnsafeFile."""
    try:
        permissions_of_others = path.stat().st_mode & 0o077
        content = path.read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "not a text"
        raise UnsafeFile(f"{path} cannot be read: {why}.") from error
    if permissions_of_others:
        raise UnsafeFile(f"{path} can be read by others than its owner: chmod 600 {path}")
    return content
