"""The logs of USDC: which of them are payments to our address, and how they were sent."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from payments.chain import evm
from payments.chain.networks import payment_network

TRANSFER = evm.encode_topic("Transfer(address,address,uint256)")
AUTHORIZATION_USED = evm.encode_topic("AuthorizationUsed(address,bytes32)")
AUTHORIZATION_CANCELED = evm.encode_topic("AuthorizationCanceled(address,bytes32)")


def is_event(log: Mapping[str, Any], topic: str) -> bool:
    """Return whether the network's USDC emitted this log of the event with this topic."""
    address, topics = log["address"].lower(), log["topics"]
    return bool(address == payment_network().asset and topics and topics[0].lower() == topic)


def is_transfer(log: Mapping[str, Any]) -> bool:
    return is_event(log, TRANSFER) and len(log["topics"]) == 3


def sender(log: Mapping[str, Any]) -> str:
    return evm.decode_address(log["topics"][1])


def receiver(log: Mapping[str, Any]) -> str:
    return evm.decode_address(log["topics"][2])


def value(log: Mapping[str, Any]) -> int:
    """Return the amount of a transfer in the smallest unit."""
    return evm.decode_words(log["data"])[0]


def is_incoming_transfer(log: Mapping[str, Any], receivers: Collection[str]) -> bool:
    """Return whether this log is a transfer of money to one of these addresses of ours.

    Minted money comes from the zero address and pays for nothing; any account can send a transfer of 0.
    """
    return is_transfer(log) and receiver(log) in receivers and sender(log) != evm.ZERO_ADDRESS and value(log) > 0


def incoming_transfers(
    logs: Sequence[Mapping[str, Any]], receivers: Collection[str]
) -> Iterator[tuple[Mapping[str, Any], bytes | None]]:
    """Yield the transfers to us among the logs of a transaction, each with the nonce of the authorization it used."""
    nonce = None
    for log in logs:
        # The token logs each use of an authorization, and its transfer right after.
        if is_event(log, AUTHORIZATION_USED):
            nonce = bytes.fromhex(log["topics"][2][2:])
        elif is_transfer(log):
            if is_incoming_transfer(log, receivers):
                yield log, nonce
            nonce = None
