"""Reads the chain: what a wallet holds, and which payments have arrived."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from django.conf import settings

from payments.chain import evm, receipts, rpc, usdc
from payments.chain.networks import ours

logger = logging.getLogger("tablewire.payments")

# Feeds promise a round a day; its transaction may be late.
HEARTBEAT = timedelta(hours=25)
# What two clocks may differ by.
AHEAD = timedelta(minutes=1)
# In USD for one whole token: beyond it a feed is broken.
MOST_PRICE = 10**9
# Five hours on Base. Hosted nodes look through ten thousand blocks at once, and an authorization lives for minutes.
LOOK_BACK_BLOCKS = 9_000
MICRO = 10**6
# A token of which anybody may make as much as they like would fill no column (payments.models.Wallet).
MOST_USD, MOST_STAKED = Decimal(10**23), Decimal(10**41)
# What many owners or a dear curve need to judge a signature; who burns gas gets no more of the node's time.
MOST_GAS = 5_000_000
# The code of a contract that answers the time of the block in which it is asked, once it would be made.
CLOCK = "0x4260005260206000f3"

Said = ParamSpec("Said")
Read = TypeVar("Read")


def sensible(read: Callable[Said, Read]) -> Callable[Said, Read]:
    """Take an answer that is none of what was asked for a node that cannot be read: RpcError."""

    @wraps(read)
    def reading(*args: Said.args, **kwargs: Said.kwargs) -> Read:
        try:
            return read(*args, **kwargs)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            logger.exception("the chain's node answers nonsense")
            raise rpc.RpcError(f"nonsense: {error!r}") from error

    return reading


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


@dataclass(frozen=True, slots=True)
class Moved:
    """One log of USDC that arrived at our address: `amount` in whole USDC."""

    payer: str
    amount: Decimal
    tx_hash: str
    block: int


# Holdings
NOTHING = Holdings(usd=Decimal(0), staked=Decimal(0))


def holdings(address: str, *, now: datetime) -> Holdings:
    """What the address holds and has staked; see `holdings_of`."""
    return holdings_of([address], now=now)[0]


@sensible
def holdings_of(addresses: Sequence[str], *, now: datetime) -> Sequence[Holdings]:
    """What each address holds and has staked, for one trip to the node; none where there is no token.

    More than any column holds counts as MOST_USD and MOST_STAKED.

    Raises RpcUnavailable, FeedSilent among it: a feed that says nothing above zero, nothing since a day, or something
    of tomorrow, tells no more of a holding than a node that is away. Who has nothing needs no price.
    """
    if not settings.TOKEN_ADDRESS or not addresses:
        return [NOTHING for _ in addresses]
    token, feed = settings.TOKEN_ADDRESS, settings.TOKEN_PRICE_FEED
    calls = [_read(token, "decimals()")]
    for address in addresses:
        calls += [_read(token, "balanceOf(address)", address), _read(token, "stakedOf(address)", address)]
    if feed:
        calls += [_read(feed, "latestRoundData()"), _read(feed, "decimals()")]
    (decimals, *_), *said = [_words(answer) for answer in rpc.batch(calls)]
    amounts = [word for word, *_ in said[: 2 * len(addresses)]]
    held = list(zip(amounts[::2], amounts[1::2], strict=True))
    if not any(amounts):
        return [NOTHING for _ in addresses]
    price, price_decimals = _price(said[-2], said[-1], now=now) if feed else _fixed_price()
    # In whole numbers to the end: neither a float nor a Decimal's 28 digits may round a holding over its threshold.
    worth = [(sum(each) * price * MICRO // 10 ** (decimals + price_decimals), each[1]) for each in held]
    return [
        Holdings(usd=min(_decimal(usd, 6), MOST_USD), staked=min(_decimal(staked, decimals), MOST_STAKED))
        for usd, staked in worth
    ]


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


# Payments
@sensible
def transfers(tx_hash: str) -> Sequence[Transfer]:
    """What each payer has sent us in a transaction, the most first; nothing where the chain does not know it yet.

    Two trips to the node. Raises NotAPayment for one that was reverted, pays us nothing, or only used authorizations,
    and RpcUnavailable.
    """
    sent = receipts.find(tx_hash)
    if sent is None:
        return []
    if sent.is_reverted:
        raise NotAPayment("The transaction was reverted: it has moved nothing.")
    plain = [log for log, nonce in usdc.arrivals(sent.logs) if nonce is None]
    if not plain and any(usdc.is_of_asset(log, usdc.AUTHORIZATION_USED) for log in sent.logs):
        # Each is known by its nonce (authorization_used), and must not be counted by the hash too.
        raise NotAPayment("The transaction used an authorization: send that as the payment.")
    if not plain:
        raise NotAPayment(f"The transaction moves no {ours().asset_name} to {settings.PAY_TO}.")
    moment = mined_at(sent.block)
    found = [_transfer(*logs, mined_at=moment) for logs in usdc.by_payer(plain)]
    return sorted(found, key=lambda each: each.amount, reverse=True)


@sensible
def was_reverted(tx_hash: str) -> bool:
    """Whether a transaction is in a block and has moved nothing. One trip to the node. Raises RpcUnavailable."""
    sent = receipts.find(tx_hash)
    return sent is not None and sent.is_reverted


@sensible
def pieces(tx_hash: str) -> Sequence[tuple[Transfer, bytes | None]]:
    """All that a transaction has brought us, as the ledger books it: one of each nonce, one of each payer without.

    Nothing where the chain does not know it. Two trips to the node. Raises RpcUnavailable.
    """
    sent = receipts.find(tx_hash)
    if sent is None:
        return []
    moves = list(usdc.arrivals(sent.logs))
    moment = mined_at(sent.block)
    authorized = [(_transfer(log, mined_at=moment), nonce) for log, nonce in moves if nonce is not None]
    plain = usdc.by_payer([log for log, nonce in moves if nonce is None])
    return [*authorized, *((_transfer(*logs, mined_at=moment), None) for logs in plain)]


@sensible
def moved(first: int, last: int) -> Sequence[Moved]:
    """All USDC that has arrived at our address in these blocks, in its order, however it was sent.

    One trip to the node, and two more for each time that it refuses to look through so much. Raises RpcUnavailable.
    """
    wanted = {
        "address": ours().asset,
        "topics": [usdc.TRANSFER, None, evm.topic(settings.PAY_TO)],
        "fromBlock": hex(first),
        "toBlock": hex(last),
    }
    try:
        logs = rpc.call("eth_getLogs", wanted)
    except rpc.RpcError:
        # Hosted nodes bound what one call may find. Of a single block there is no half.
        if first >= last:
            raise
        middle = (first + last) // 2
        return [*moved(first, middle), *moved(middle + 1, last)]
    found = [
        Moved(
            payer=usdc.sender(log),
            amount=ours().decimal(usdc.value(log)),
            tx_hash=log["transactionHash"].lower(),
            block=int(log["blockNumber"], 16),
        )
        for log in logs
        if usdc.pays_us(log)
    ]
    if not all(first <= each.block <= last for each in found):
        raise rpc.RpcError("the node tells of other blocks than it was asked for")
    return found


@sensible
def head() -> int:
    """The number of the latest block. One trip to the node. Raises RpcUnavailable."""
    return int(rpc.call("eth_blockNumber"), 16)


@sensible
def mined_at(block: int) -> datetime:
    """When a block was made. One trip to the node. Raises RpcUnavailable, also where there is no such block."""
    made = rpc.call("eth_getBlockByNumber", hex(block), False)
    if made is None:
        raise rpc.RpcError(f"there is a receipt of block {block}, but no such block yet")
    return datetime.fromtimestamp(int(made["timestamp"], 16), tz=UTC)


def last_before(moment: datetime, *, head: int) -> int | None:
    """The last block up to `head` that was made before this moment; None where there is none.

    As many trips to the node as the number of blocks has bits. Raises RpcUnavailable.
    """
    first, last = -1, head
    while first < last:
        middle = (first + last + 1) // 2
        if mined_at(middle) < moment:
            first = middle
        else:
            last = middle - 1
    return None if first < 0 else first


@sensible
def authorization_used(payer: str, nonce: bytes, *, windows: int = 1) -> Transfer | None:
    """The transfer to us that used this authorization; None where the chain shows no use of it, or not yet.

    Up to four trips to the node, one more for each further window of five hours. Raises NotAPayment where the chain
    shows that it was cancelled, or moved nothing to us, and RpcUnavailable.
    """
    log = _end(payer, nonce, windows=windows)
    if log is None:
        return None
    if [topic.lower() for topic in log["topics"][1:3]] != [evm.topic(payer), evm.topic(nonce)]:
        raise rpc.RpcError("the node tells of another authorization than it was asked for")
    if usdc.is_of_asset(log, usdc.AUTHORIZATION_CANCELED):
        raise NotAPayment("It was cancelled.")
    sent = receipts.find(log["transactionHash"])
    if sent is None:
        return None
    # One transaction may use several authorizations of a payer: the token logs each use, and right after it the money.
    since = int(log["logIndex"], 16)
    for after in sent.logs:
        if int(after["logIndex"], 16) > since and usdc.moves_asset(after):
            if usdc.pays_us(after) and usdc.sender(after) == payer:
                return _transfer(after, mined_at=mined_at(sent.block))
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
            "topics": [[usdc.AUTHORIZATION_USED, usdc.AUTHORIZATION_CANCELED], evm.topic(payer), evm.topic(nonce)],
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


@sensible
def authorization_is_spent(payer: str, nonce: bytes) -> bool:
    """Whether the authorization can move nothing any more: it was used, or cancelled. Raises RpcUnavailable."""
    method, params = _state(payer, nonce)
    return _yes_or_no(rpc.call(method, *params))


@sensible
def authorization_at(payer: str, nonce: bytes) -> tuple[bool, datetime]:
    """Whether the authorization can move nothing any more, and the time of the chain at which that is so.

    One trip to the node, which may lag behind our clock. Raises RpcUnavailable.
    """
    clock = ("eth_call", [{"data": CLOCK}, "latest"])
    state, time = rpc.batch([_state(payer, nonce), clock])
    return _yes_or_no(state), datetime.fromtimestamp(_words(time)[0], tz=UTC)


def approves(wallet: str, digest: bytes, signature: bytes) -> bool:
    """Whether there is a contract at this address that takes the signature for its own (ERC-1271).

    USDC asks the same question when it moves the money. One trip to the node, two where the contract fails: then it
    has not agreed. Raises RpcUnavailable.
    """
    question = {"to": wallet, "data": evm.signature_question(digest, signature), "gas": hex(MOST_GAS)}
    try:
        answer = rpc.call("eth_call", question, "latest")
    except rpc.RpcError:
        # Nodes word a contract's failure in many ways. One that still answers has tried; one in trouble does not.
        rpc.call("eth_blockNumber")
        return False
    # The whole word: the contract at address 4 repeats what it is asked, which begins like it.
    return str(answer).startswith("0x" + evm.GOOD_SIGNATURE.hex())


def _transfer(*logs: Mapping[str, Any], mined_at: datetime) -> Transfer:
    """The transfers of one payer in one transaction, as one: it is named by its first log."""
    first = logs[0]
    return Transfer(
        payer=usdc.sender(first),
        amount=ours().decimal(sum(map(usdc.value, logs))),
        tx_hash=first["transactionHash"].lower(),
        log_index=int(first["logIndex"], 16),
        block=int(first["blockNumber"], 16),
        mined_at=mined_at,
    )


# Calls
def _read(contract: str, function: str, *arguments: int | str | bytes) -> tuple[str, list[Any]]:
    return "eth_call", [{"to": contract, "data": evm.call_data(function, *arguments)}, "latest"]


def _state(payer: str, nonce: bytes) -> tuple[str, list[Any]]:
    return _read(ours().asset, "authorizationState(address,bytes32)", payer, nonce)


def _yes_or_no(answer: str) -> bool:
    word = _words(answer)[0]
    if word > 1:
        raise rpc.RpcError("the node answers neither yes nor no")
    return word == 1


def _words(answer: str) -> list[int]:
    found = evm.words(answer)
    if not found:
        raise rpc.RpcError("there is no such contract on this chain")
    return found


def _decimal(whole: int, decimals: int) -> Decimal:
    """Exact, unlike Decimal.scaleb, which rounds to 28 digits."""
    return Decimal(f"{whole}e-{decimals}")
