"""Reads the chain: what a wallet holds, and which payments have arrived."""

import logging
from collections.abc import Mapping, Sequence
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
AUTHORIZATION_CANCELED = evm.topic("AuthorizationCanceled(address,bytes32)")
# Feeds promise a round a day; its transaction may be late.
HEARTBEAT = timedelta(hours=25)
# What two clocks may differ by.
AHEAD = timedelta(minutes=1)
# In USD for one whole token: beyond it a feed is broken.
MOST_PRICE = 10**9
# Five hours on Base. Hosted nodes look through ten thousand blocks at once, and an authorization lives for minutes.
LOOK_BACK_BLOCKS = 9_000
MICRO = 10**6


class NotAPayment(Exception):
    """What is on the chain pays us nothing, and never will; `reason` is written for the caller."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class FeedSilent(rpc.RpcUnavailable):
    """The price feed names no price that can be believed: what a holding is worth cannot be read for a moment."""


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

    Raises RpcUnavailable, FeedSilent among it: a feed that says nothing above zero, nothing since a day, or something
    of tomorrow, tells no more of a holding than a node that is away. Who has nothing needs no price.
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
    if balance + staked == 0:
        return Holdings(usd=Decimal(0), staked=Decimal(0))
    price, price_decimals = _price(said[0], said[1], now=now) if feed else _fixed_price()
    # In whole numbers to the end: neither a float nor a Decimal's 28 digits may round a holding over its threshold.
    micro_usd = (balance + staked) * price * MICRO // 10 ** (decimals + price_decimals)
    return Holdings(usd=_decimal(micro_usd, 6), staked=_decimal(staked, decimals))


def _price(latest: list[int], decimals: list[int], *, now: datetime) -> tuple[int, int]:
    answer, updated_at = evm.signed(latest[1]), latest[3]
    age_s = now.timestamp() - updated_at
    is_fresh = -AHEAD.total_seconds() <= age_s <= HEARTBEAT.total_seconds()
    if not is_fresh or not 0 < answer <= MOST_PRICE * 10 ** decimals[0]:
        logger.error("the price feed says %s, last heard at %s: it is not believed", answer, updated_at)
        raise FeedSilent
    return answer, decimals[0]


def _fixed_price() -> tuple[int, int]:
    price: Decimal = settings.TOKEN_PRICE_USD
    return int(price.scaleb(18)), 18


# Payments ----------------------------------------------------------------------------------------------------------
def transfers(tx_hash: str) -> Sequence[Transfer]:
    """What each payer has sent us in a transaction, the most first; nothing where the chain does not know it yet.

    Two trips to the node. Raises NotAPayment for one that was reverted, pays us nothing, or only used authorizations,
    and RpcUnavailable.
    """
    receipt = rpc.call("eth_getTransactionReceipt", tx_hash)
    if receipt is None or receipt.get("blockNumber") is None:
        return []
    if int(receipt["status"], 16) != 1:
        raise NotAPayment("The transaction was reverted: it has moved nothing.")
    plain, authorized = _payments(receipt["logs"])
    if authorized and not plain:
        # Each is known by its nonce (authorization_used), and must not be counted by the hash too.
        raise NotAPayment("The transaction used an authorization: send that as the payment.")
    if not plain:
        raise NotAPayment(f"The transaction moves no {ours().asset_name} to {settings.PAY_TO}.")
    by_payer: dict[str, list[Mapping[str, Any]]] = {}
    for log in plain:
        by_payer.setdefault(_sender(log), []).append(log)
    mined_at = _mined_at(receipt["blockNumber"])
    found = [_transfer(*logs, mined_at=mined_at) for logs in by_payer.values()]
    return sorted(found, key=lambda each: each.amount, reverse=True)


def authorization_used(payer: str, nonce: bytes, *, windows: int = 1) -> Transfer | None:
    """The transfer to us that used this authorization; None where the chain shows no use of it, or not yet.

    Up to four trips to the node, one more for each further window of five hours. Raises NotAPayment where the chain
    shows that it was cancelled, or moved nothing to us, and RpcUnavailable.
    """
    log = _end(payer, nonce, windows=windows)
    if log is None:
        return None
    if _is_of_asset(log, AUTHORIZATION_CANCELED):
        raise NotAPayment("It was cancelled.")
    receipt = rpc.call("eth_getTransactionReceipt", log["transactionHash"])
    if receipt is None or receipt.get("blockNumber") is None:
        return None
    # One transaction may use several authorizations of a payer: the token logs each use, and right after it the money.
    since = int(log["logIndex"], 16)
    for moved in receipt["logs"]:
        if int(moved["logIndex"], 16) > since and _moves_asset(moved):
            if _pays_us(moved) and _sender(moved) == payer:
                return _transfer(moved, mined_at=_mined_at(receipt["blockNumber"]))
            raise NotAPayment("It has paid somebody else, or nothing.")
    return None


def _end(payer: str, nonce: bytes, *, windows: int) -> Mapping[str, Any] | None:
    """The log that says how an authorization ended."""
    last = int(rpc.call("eth_blockNumber"), 16)
    to = "latest"
    for _ in range(windows):
        first = max(last - LOOK_BACK_BLOCKS, 0)
        wanted = {
            "address": ours().asset,
            "topics": [[AUTHORIZATION_USED, AUTHORIZATION_CANCELED], evm.topic(payer), evm.topic(nonce)],
            "fromBlock": hex(first),
            "toBlock": to,
        }
        found = rpc.call("eth_getLogs", wanted)
        if found:
            log: Mapping[str, Any] = found[0]
            return log
        if first == 0:
            break
        last, to = first - 1, hex(first - 1)
    return None


def authorization_is_spent(payer: str, nonce: bytes) -> bool:
    """Whether the authorization can move nothing any more: it was used, or cancelled. Raises RpcUnavailable."""
    method, params = _read(ours().asset, "authorizationState(address,bytes32)", payer, nonce)
    return _words(rpc.call(method, *params))[0] == 1


def is_contract(address: str) -> bool:
    """Whether there is code at this address, as of a contract wallet. One trip to the node. Raises RpcUnavailable."""
    code: str = rpc.call("eth_getCode", address, "latest")
    return len(code) > len("0x0")


def _moves_asset(log: Mapping[str, Any]) -> bool:
    return _is_of_asset(log, TRANSFER) and len(log["topics"]) == 3


def _payments(logs: Sequence[Mapping[str, Any]]) -> tuple[list[Mapping[str, Any]], bool]:
    """The plain transfers to us among the logs of a transaction, and whether authorizations were used beside them."""
    plain, authorized, is_next = [], False, False
    for log in logs:
        if _is_of_asset(log, AUTHORIZATION_USED):
            authorized = is_next = True
        elif _moves_asset(log):
            if _pays_us(log) and not is_next:
                plain.append(log)
            is_next = False
    return plain, authorized


def _is_of_asset(log: Mapping[str, Any], event: str) -> bool:
    address, topics = log["address"].lower(), log["topics"]
    return bool(address == ours().asset and topics and topics[0].lower() == event)


def _pays_us(log: Mapping[str, Any]) -> bool:
    """Also money that was just minted moves; it was nobody's and pays for nothing. Anybody may move nothing."""
    if not _moves_asset(log):
        return False
    return evm.address(log["topics"][2]) == settings.PAY_TO and _sender(log) != evm.NOBODY and _value(log) > 0


def _sender(log: Mapping[str, Any]) -> str:
    return evm.address(log["topics"][1])


def _value(log: Mapping[str, Any]) -> int:
    return evm.words(log["data"])[0]


def _transfer(*logs: Mapping[str, Any], mined_at: datetime) -> Transfer:
    """The transfers of one payer in one transaction, as one: it is named by its first log."""
    first = logs[0]
    return Transfer(
        payer=_sender(first),
        amount=ours().decimal(sum(map(_value, logs))),
        tx_hash=first["transactionHash"].lower(),
        log_index=int(first["logIndex"], 16),
        block=int(first["blockNumber"], 16),
        mined_at=mined_at,
    )


def _mined_at(block_number: str) -> datetime:
    block = rpc.call("eth_getBlockByNumber", block_number, False)
    if block is None:
        raise rpc.RpcError(f"there is a receipt of block {block_number}, but no such block yet")
    return datetime.fromtimestamp(int(block["timestamp"], 16), tz=UTC)


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
