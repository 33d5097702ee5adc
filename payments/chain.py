"""Reads the chain: what a wallet holds, and which payments have arrived."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings

from payments import evm, rpc
from payments.networks import ours

logger = logging.getLogger("tablewire.payments")

TRANSFER = evm.topic("Transfer(address,address,uint256)")
AUTHORIZATION_USED = evm.topic("AuthorizationUsed(address,bytes32)")
# Feeds promise a round a day; its transaction may be late.
HEARTBEAT = timedelta(hours=25)
# Five hours on Base. Hosted nodes look through ten thousand blocks at once, and an authorization lives for minutes.
LOOK_BACK_BLOCKS = 9_000
MICRO = 10**6


class NotAPayment(Exception):
    """A transaction is on the chain and pays us nothing; `reason` is written for the caller."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Holdings:
    """What an address has of the utility token: whole tokens staked, and the worth of all of it in USD."""

    usd: Decimal
    staked: Decimal


@dataclass(frozen=True, slots=True)
class Transfer:
    """USDC that arrived at our address: `amount` in whole USDC."""

    payer: str
    amount: Decimal
    tx_hash: str
    log_index: int
    block: int
    mined_at: datetime


# Holdings ----------------------------------------------------------------------------------------------------------
def holdings(address: str, *, now: datetime) -> Holdings:
    """What the address holds and has staked, for one trip to the node; none where there is no token.

    A price feed that says nothing above zero, or nothing since a day, makes the price zero: then only a stake counts.
    Raises RpcUnavailable.
    """
    if not settings.TOKEN_ADDRESS:
        return Holdings(usd=Decimal(0), staked=Decimal(0))
    token, feed = settings.TOKEN_ADDRESS, settings.TOKEN_PRICE_FEED
    calls = [
        _read(token, "balanceOf(address)", address),
        _read(token, "stakedOf(address)", address),
        _read(token, "decimals()"),
    ]
    if feed:
        calls += [_read(feed, "latestRoundData()"), _read(feed, "decimals()")]
    (balance, *_), (staked, *_), (decimals, *_), *said = [_words(answer) for answer in rpc.batch(calls)]
    price, price_decimals = _price(said[0], said[1], now=now) if feed else _fixed_price()
    # In whole numbers to the end: neither a float nor a Decimal's 28 digits may round a holding over its threshold.
    micro_usd = (balance + staked) * price * MICRO // 10 ** (decimals + price_decimals)
    return Holdings(usd=_decimal(micro_usd, 6), staked=_decimal(staked, decimals))


def _price(latest: list[int], decimals: list[int], *, now: datetime) -> tuple[int, int]:
    answer, updated_at = evm.signed(latest[1]), latest[3]
    if answer <= 0 or now.timestamp() - updated_at > HEARTBEAT.total_seconds():
        logger.error("the price feed says %s, last heard at %s: the token counts as worth nothing", answer, updated_at)
        return 0, 0
    return answer, decimals[0]


def _fixed_price() -> tuple[int, int]:
    price: Decimal = settings.TOKEN_PRICE_USD
    return int(price.scaleb(18)), 18


# Payments ----------------------------------------------------------------------------------------------------------
def transfer(tx_hash: str) -> Transfer | None:
    """The largest transfer of USDC to us in a transaction; None where the chain does not know it, or not yet.

    Two trips to the node. Raises NotAPayment for one that was reverted, pays us nothing, or used an authorization,
    and RpcUnavailable.
    """
    receipt = rpc.call("eth_getTransactionReceipt", tx_hash)
    if receipt is None or receipt.get("blockNumber") is None:
        return None
    if int(receipt["status"], 16) != 1:
        raise NotAPayment("The transaction was reverted: it has moved nothing.")
    found = [log for log in receipt["logs"] if _pays_us(log)]
    if not found:
        raise NotAPayment(f"The transaction moves no {ours().asset_name} to {settings.PAY_TO}.")
    if any(_uses_authorization(log) for log in receipt["logs"]):
        # It is known by its nonce (authorization_used), and must not be counted by its hash too.
        raise NotAPayment("The transaction used an authorization: send that as the payment.")
    return _transfer(max(found, key=lambda log: evm.words(log["data"])[0]))


def authorization_used(payer: str, nonce: bytes) -> Transfer | None:
    """The transfer to us that used this authorization; None where none has, or it was cancelled, or paid another.

    Up to four trips to the node, and no more than five hours back. Raises RpcUnavailable.
    """
    head = int(rpc.call("eth_blockNumber"), 16)
    used = rpc.call(
        "eth_getLogs",
        {
            "address": ours().asset,
            "topics": [AUTHORIZATION_USED, evm.topic(payer), evm.topic(nonce)],
            "fromBlock": hex(max(head - LOOK_BACK_BLOCKS, 0)),
            "toBlock": "latest",
        },
    )
    if not used:
        return None
    receipt = rpc.call("eth_getTransactionReceipt", used[0]["transactionHash"])
    if receipt is None:
        return None
    # One transaction may use several authorizations of a payer: the token logs each use, and right after it the money.
    since = int(used[0]["logIndex"], 16)
    for log in receipt["logs"]:
        if int(log["logIndex"], 16) > since and _moves_asset(log):
            return _transfer(log) if _pays_us(log) and evm.address(log["topics"][1]) == payer else None
    return None


def authorization_is_spent(payer: str, nonce: bytes) -> bool:
    """Whether the authorization can move nothing any more: it was used, or cancelled. Raises RpcUnavailable."""
    method, params = _read(ours().asset, "authorizationState(address,bytes32)", payer, nonce)
    return _words(rpc.call(method, *params))[0] == 1


def _moves_asset(log: Mapping[str, Any]) -> bool:
    return _is_of_asset(log, TRANSFER) and len(log["topics"]) == 3


def _uses_authorization(log: Mapping[str, Any]) -> bool:
    return _is_of_asset(log, AUTHORIZATION_USED)


def _is_of_asset(log: Mapping[str, Any], event: str) -> bool:
    address, topics = log["address"].lower(), log["topics"]
    return bool(address == ours().asset and topics and topics[0].lower() == event)


def _pays_us(log: Mapping[str, Any]) -> bool:
    """Also money that was just minted moves; it was nobody's and pays for nothing."""
    if not _moves_asset(log):
        return False
    sender, to = (evm.address(topic) for topic in log["topics"][1:])
    return to == settings.PAY_TO and sender != evm.NOBODY


def _transfer(log: Mapping[str, Any]) -> Transfer:
    block = rpc.call("eth_getBlockByNumber", log["blockNumber"], False)
    return Transfer(
        payer=evm.address(log["topics"][1]),
        amount=ours().decimal(evm.words(log["data"])[0]),
        tx_hash=log["transactionHash"].lower(),
        log_index=int(log["logIndex"], 16),
        block=int(log["blockNumber"], 16),
        mined_at=datetime.fromtimestamp(int(block["timestamp"], 16), tz=UTC),
    )


# Calls -------------------------------------------------------------------------------------------------------------
def _read(contract: str, function: str, *arguments: int | str | bytes) -> tuple[str, list[Any]]:
    return "eth_call", [{"to": contract, "data": evm.call_data(function, *arguments)}, "latest"]


def _words(answer: str) -> list[int]:
    found = evm.words(answer)
    if not found:
        raise rpc.RpcError("there is no such contract on this chain")
    return found


def _decimal(whole: int, decimals: int) -> Decimal:
    """Exact, unlike Decimal.scaleb, which rounds to 28 digits."""
    return Decimal(f"{whole}e-{decimals}")
