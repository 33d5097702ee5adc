"""What a facilitator of ours settles: for whom, in which asset, and for how much gas."""

import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from payments.chain.networks import NETWORKS, Network
from payments.facilitator_server import error_codes

# The variable in which the server's process finds its policy. Secrets stay in their files.
POLICY = "FACILITATOR_POLICY"
KEY = re.compile("(0x)?([0-9a-fA-F]{64})")
SHORTEST_TOKEN = 16


class UnsafeFile(ValueError):
    """A file that should hold a secret does not, or does not keep it; the message is for staff."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Addresses are in small letters; `most_gas_price` is in wei for a unit of gas, `most_gas` of one settlement.

    `private_key` (0x and hexadecimal digits) pays the gas and holds nothing else. Without `tokens` everybody may ask,
    and with `pay_to` None for anybody's sake: both are for one machine only.
    """

    network: Network
    rpc_url: str = field(repr=False)
    private_key: str = field(repr=False)
    tokens: frozenset[str] = field(repr=False)
    pay_to: frozenset[str] | None
    assets: frozenset[str]
    most_gas_price: int
    most_gas: int

    def admits(self, authorization: str) -> bool:
        """Whether who shows this Authorization header may have something verified or settled."""
        scheme, _, shown = authorization.partition(" ")
        if not self.tokens:
            return True
        # Each is compared, and in constant time: how long it takes tells nothing.
        matches = [hmac.compare_digest(shown.strip().encode(), token.encode()) for token in self.tokens]
        return scheme.lower() == "bearer" and any(matches)

    def objection(self, payload: Any, requirements: Any) -> str | None:
        """Why this is not settled here, by its own words, before the chain is asked anything; else None."""
        if requirements.network not in (self.network.caip2, self.network.name):
            # The SDK knows no other network and says so.
            return None
        if str(requirements.asset).lower() not in self.assets:
            return error_codes.WRONG_ASSET
        if self.pay_to is not None and str(requirements.pay_to).lower() not in self.pay_to:
            return error_codes.WRONG_PAY_TO
        # By anything else beside it the SDK may choose another way to move the money.
        if not {"authorization"} <= payload.payload.keys() <= {"authorization", "signature"}:
            return error_codes.WRONG_TRANSFER
        return None


def policy_of(words: Mapping[str, Any]) -> Policy:
    """The policy in these words, with what its files hold. Raises UnsafeFile."""
    return Policy(
        network=NETWORKS[words["network"]],
        rpc_url=words["rpc_url"],
        private_key=key_in(Path(words["key_file"])),
        tokens=tokens_in(Path(words["token_file"])) if words["token_file"] else frozenset(),
        pay_to=frozenset(words["pay_to"]),
        assets=frozenset(words["assets"]),
        most_gas_price=words["most_gas_price"],
        most_gas=words["most_gas"],
    )


def key_in(path: Path) -> str:
    """The private key in this file: 64 hexadecimal digits. Raises UnsafeFile."""
    found = KEY.fullmatch(secret_in(path))
    if found is None:
        raise UnsafeFile(f"{path} holds no private key: 64 hexadecimal digits are expected.")
    return f"0x{found[2]}"


def tokens_in(path: Path) -> frozenset[str]:
    """The tokens in this file, one a line: several while one takes the place of another. Raises UnsafeFile."""
    tokens = frozenset(filter(None, map(str.strip, secret_in(path).splitlines())))
    if not tokens or any(len(token) < SHORTEST_TOKEN or not token.isascii() for token in tokens):
        raise UnsafeFile(f"{path} is to hold a token of {SHORTEST_TOKEN} ASCII characters or more in each line.")
    return tokens


def secret_in(path: Path) -> str:
    """What a file holds that nobody else may read. Raises UnsafeFile."""
    try:
        rights = path.stat().st_mode & 0o077
        content = path.read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "not a text"
        raise UnsafeFile(f"{path} cannot be read: {why}.") from error
    if rights:
        raise UnsafeFile(f"{path} can be read by others than its owner: chmod 600 {path}")
    return content
