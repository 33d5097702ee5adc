"""What the logs of USDC say: which of them are money that has arrived at our address, and how it was sent."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.conf import settings

from payments.chain import evm
from payments.chain.networks import ours

TRANSFER = evm.topic("Transfer(address,address,uint256)")
AUTHORIZATION_USED = evm.topic("AuthorizationUsed(address,bytes32)")
AUTHORIZATION_CANCELED = evm.topic("AuthorizationCanceled(address,bytes32)")


def moves_asset(log: Mapping[str, Any]) -> bool:
    """Whether this is a transfer of the network's USDC."""
    return is_of_asset(log, TRANSFER) and len(log["topics"]) == 3


def arrivals(logs: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], bytes | None]]:
    """The transfers to us among the logs of a transaction, each with the nonce of the authorization that it used."""
    nonce = None
    for log in logs:
        # The token logs each use, and right after it the money.
        if is_of_asset(log, AUTHORIZATION_USED):
            nonce = bytes.fromhex(log["topics"][2][2:])
        elif moves_asset(log):
            if pays_us(log):
                yield log, nonce
            nonce = None


def by_payer(logs: Sequence[Mapping[str, Any]]) -> Sequence[list[Mapping[str, Any]]]:
    """These transfers by who has sent them, each payer's in their order."""
    theirs: dict[str, list[Mapping[str, Any]]] = {}
    for log in logs:
        theirs.setdefault(sender(log), []).append(log)
    return list(theirs.values())


def is_of_asset(log: Mapping[str, Any], event: str) -> bool:
    """Whether the network's USDC has written this of such an event."""
    address, topics = log["address"].lower(), log["topics"]
    return bool(address == ours().asset and topics and topics[0].lower() == event)


def pays_us(log: Mapping[str, Any]) -> bool:
    """Whether money of somebody has arrived at our address.

    Also money that was just minted moves; it was nobody's and pays for nothing. Anybody may move nothing.
    """
    if not moves_asset(log):
        return False
    return receiver(log) == settings.PAY_TO and sender(log) != evm.NOBODY and value(log) > 0


def receiver(log: Mapping[str, Any]) -> str:
    """Whose money it is then."""
    return evm.address(log["topics"][2])


def sender(log: Mapping[str, Any]) -> str:
    """Whose money a transfer moves."""
    return evm.address(log["topics"][1])


def value(log: Mapping[str, Any]) -> int:
    """How much a transfer moves, in the smallest unit."""
    return evm.words(log["data"])[0]
