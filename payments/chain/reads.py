"""Reads of the chain: what a wallet holds, and which payments have arrived."""

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

# Price feeds promise an update a day; its transaction may be late.
MAX_FEED_AGE = timedelta(hours=25)
MAX_CLOCK_DIFFERENCE = timedelta(minutes=1)
# In USD for one whole token: beyond it a feed is broken.
MAX_PRICE_USD = 10**9
# Five hours on Base. Hosted nodes search ten thousand blocks in one call, and an authorization lives for minutes.
LOOK_BACK_BLOCKS = 9_000
MICRO = 10**6
# The columns of payments.models.Wallet hold no more; a token that anybody can mint has no limit.
MAX_USD, MAX_STAKED = Decimal(10**23), Decimal(10**41)
# Enough for many owners or an expensive curve; a contract that burns gas gets no more of the node's time.
MAX_SIGNATURE_GAS = 5_000_000
# Creation code that returns the timestamp of the current block: an eth_call of it reads the chain's clock.
CLOCK = "0x4260005260206000f3"

Params = ParamSpec("Params")
Result = TypeVar("Result")


def unreadable_is_rpc_error(read: Callable[Params, Result]) -> Callable[Params, Result]:
    """Raise RpcError where an answer of the node cannot be interpreted."""

    @wraps(read)
    def wrapper(*args: Params.args, **kwargs: Params.kwargs) -> Result:
        try:
            return read(*args, **kwargs)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            logger.exception("the chain's node sent an unreadable answer")
            raise rpc.RpcError(f"unreadable answer: {error!r}") from error

    return wrapper


class NotAPayment(Exception):
    """A transaction or authorization pays us nothing, and never will. `reason` is shown to the caller."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class FeedSilent(rpc.RpcUnavailable):
    """The price feed has no valid, current price, so the value of a holding is unknown."""


@dataclass(frozen=True, slots=True)
class Holdings:
    """Utility tokens of an address: whole tokens staked, and the value in USD of held and staked tokens."""

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
class TransferLog:
    """One log of USDC that arrived at our address: `amount` in whole USDC."""

    payer: str
    amount: Decimal
    tx_hash: str
    block: int


# Holdings
NOTHING = Holdings(usd=Decimal(0), staked=Decimal(0))


def holdings(address: str, *, now: datetime) -> Holdings:
    """Return what the address holds and has staked; see `holdings_of`."""
    return holdings_of([address], now=now)[0]


@unreadable_is_rpc_error
def holdings_of(addresses: Sequence[str], *, now: datetime) -> Sequence[Holdings]:
    """Return what each address holds and has staked, capped at MAX_USD and MAX_STAKED. One request to the node.

    NOTHING for each where no token is configured. Raises RpcUnavailable, and its subclass FeedSilent where an address
    holds tokens and the feed has no positive price, none of the last day, or one from the future.
    """
    if not settings.TOKEN_ADDRESS or not addresses:
        return [NOTHING for _ in addresses]
    token, feed = settings.TOKEN_ADDRESS, settings.TOKEN_PRICE_FEED
    calls = [_contract_call(token, "decimals()")]
    for address in addresses:
        calls += [
            _contract_call(token, "balanceOf(address)", address),
            _contract_call(token, "stakedOf(address)", address),
        ]
    if feed:
        calls += [_contract_call(feed, "latestRoundData()"), _contract_call(feed, "decimals()")]
    (decimals, *_), *results = [_words(result) for result in rpc.batch(calls)]
    amounts = [word for word, *_ in results[: 2 * len(addresses)]]
    if not any(amounts):
        return [NOTHING for _ in addresses]
    if feed:
        price, price_decimals = _feed_price(results[-2], results[-1][0], now=now), results[-1][0]
    else:
        price, price_decimals = int(settings.TOKEN_PRICE_USD.scaleb(18)), 18
    # In integers to the end: neither a float nor a Decimal's 28 digits may round a holding over its threshold.
    return [
        Holdings(
            usd=min(_decimal((held + staked) * price * MICRO // 10 ** (decimals + price_decimals), 6), MAX_USD),
            staked=min(_decimal(staked, decimals), MAX_STAKED),
        )
        for held, staked in zip(amounts[::2], amounts[1::2], strict=True)
    ]


def _feed_price(round_data: list[int], decimals: int, *, now: datetime) -> int:
    price, updated_at = evm.to_signed(round_data[1]), round_data[3]
    age_s = now.timestamp() - updated_at
    is_current = -MAX_CLOCK_DIFFERENCE.total_seconds() <= age_s <= MAX_FEED_AGE.total_seconds()
    if not is_current or not 0 < price <= MAX_PRICE_USD * 10**decimals:
        logger.error("the price feed is not valid: price %s, updated at %s", price, updated_at)
        raise FeedSilent
    return price


# Payments
@unreadable_is_rpc_error
def transfers(tx_hash: str) -> Sequence[Transfer]:
    """Return what each payer sent us in a transaction, largest first; nothing while the chain does not know it.

    Two requests to the node. Raises NotAPayment for a transaction that was reverted, pays us nothing, or only used
    authorizations, and RpcUnavailable.
    """
    receipt = receipts.find(tx_hash)
    if receipt is None:
        return []
    if receipt.is_reverted:
        raise NotAPayment("The transaction was reverted: it has moved nothing.")
    plain = [log for log, nonce in usdc.incoming_transfers(receipt.logs) if nonce is None]
    if not plain and any(usdc.is_event(log, usdc.AUTHORIZATION_USED) for log in receipt.logs):
        # An authorization is identified by its nonce (authorization_used); the hash must not count it again.
        raise NotAPayment("The transaction used an authorization: send that as the payment.")
    if not plain:
        raise NotAPayment(f"The transaction moves no {ours().asset_name} to {settings.PAY_TO}.")
    moment = mined_at(receipt.block)
    found = [_transfer(*logs, mined_at=moment) for logs in usdc.group_by_payer(plain)]
    return sorted(found, key=lambda each: each.amount, reverse=True)


@unreadable_is_rpc_error
def was_reverted(tx_hash: str) -> bool:
    """Return whether a transaction is in a block and was reverted. One request. Raises RpcUnavailable."""
    receipt = receipts.find(tx_hash)
    return receipt is not None and receipt.is_reverted


@unreadable_is_rpc_error
def ledger_transfers(tx_hash: str) -> Sequence[tuple[Transfer, bytes | None]]:
    """Return what a transaction paid us, as the ledger books it: one per nonce, and one per payer without a nonce.

    Nothing where the chain does not know it. Two requests to the node. Raises RpcUnavailable.
    """
    receipt = receipts.find(tx_hash)
    if receipt is None:
        return []
    incoming = list(usdc.incoming_transfers(receipt.logs))
    moment = mined_at(receipt.block)
    authorized = [(_transfer(log, mined_at=moment), nonce) for log, nonce in incoming if nonce is not None]
    plain = usdc.group_by_payer([log for log, nonce in incoming if nonce is None])
    return [*authorized, *((_transfer(*logs, mined_at=moment), None) for logs in plain)]


@unreadable_is_rpc_error
def transfer_logs(first: int, last: int) -> Sequence[TransferLog]:
    """Return all USDC that arrived at our address in these blocks, in the order of the chain.

    One request to the node, and two more each time it refuses the size of a search. Raises RpcUnavailable.
    """
    query = {
        "address": ours().asset,
        "topics": [usdc.TRANSFER, None, evm.topic(settings.PAY_TO)],
        "fromBlock": hex(first),
        "toBlock": hex(last),
    }
    try:
        logs = rpc.call("eth_getLogs", query)
    except rpc.RpcError:
        # Hosted nodes limit what one call may find: search the two halves. A single block has none.
        if first >= last:
            raise
        middle = (first + last) // 2
        return [*transfer_logs(first, middle), *transfer_logs(middle + 1, last)]
    found = [
        TransferLog(
            payer=usdc.sender(log),
            amount=ours().decimal(usdc.value(log)),
            tx_hash=log["transactionHash"].lower(),
            block=int(log["blockNumber"], 16),
        )
        for log in logs
        if usdc.pays_us(log)
    ]
    if not all(first <= each.block <= last for each in found):
        raise rpc.RpcError("the node sent logs of other blocks")
    return found


@unreadable_is_rpc_error
def latest_block() -> int:
    """Return the number of the latest block. One request. Raises RpcUnavailable."""
    return int(rpc.call("eth_blockNumber"), 16)


@unreadable_is_rpc_error
def mined_at(block: int) -> datetime:
    """Return the time of a block. One request. Raises RpcUnavailable, also where there is no such block."""
    header = rpc.call("eth_getBlockByNumber", hex(block), False)
    if header is None:
        raise rpc.RpcError(f"the node has no block {block}")
    return datetime.fromtimestamp(int(header["timestamp"], 16), tz=UTC)


def last_block_before(moment: datetime, *, latest: int) -> int | None:
    """Return the last block up to `latest` that was made before this moment; None where there is none.

    A binary search: as many requests as the number of blocks has bits. Raises RpcUnavailable.
    """
    first, last = -1, latest
    while first < last:
        middle = (first + last + 1) // 2
        if mined_at(middle) < moment:
            first = middle
        else:
            last = middle - 1
    return None if first < 0 else first


@unreadable_is_rpc_error
def authorization_used(payer: str, nonce: bytes, *, windows: int = 1) -> Transfer | None:
    """Return the transfer to us that used this authorization; None where the chain shows no use of it (yet).

    Up to four requests, and one more for each further window of LOOK_BACK_BLOCKS. Raises NotAPayment where the chain
    shows that it was cancelled or moved nothing to us, and RpcUnavailable.
    """
    log = None
    last, to_block = int(rpc.call("eth_blockNumber"), 16), "latest"
    for _ in range(windows):
        first = max(last - LOOK_BACK_BLOCKS, 0)
        query = {
            "address": ours().asset,
            "topics": [[usdc.AUTHORIZATION_USED, usdc.AUTHORIZATION_CANCELED], evm.topic(payer), evm.topic(nonce)],
            "fromBlock": hex(first),
            "toBlock": to_block,
        }
        logs = rpc.call("eth_getLogs", query)
        if logs:
            log = logs[0]
            break
        if first == 0:
            break
        last, to_block = first - 1, hex(first - 1)
    if log is None:
        return None
    if [topic.lower() for topic in log["topics"][1:3]] != [evm.topic(payer), evm.topic(nonce)]:
        raise rpc.RpcError("the node sent the log of another authorization")
    if usdc.is_event(log, usdc.AUTHORIZATION_CANCELED):
        raise NotAPayment("It was cancelled.")
    receipt = receipts.find(log["transactionHash"])
    if receipt is None:
        return None
    # One transaction may use several authorizations of a payer: the token logs each use, and its transfer right after.
    used_at_index = int(log["logIndex"], 16)
    for each in receipt.logs:
        if int(each["logIndex"], 16) > used_at_index and usdc.is_transfer(each):
            if usdc.pays_us(each) and usdc.sender(each) == payer:
                return _transfer(each, mined_at=mined_at(receipt.block))
            raise NotAPayment("It has paid somebody else, or nothing.")
    return None


@unreadable_is_rpc_error
def authorization_is_spent(payer: str, nonce: bytes) -> bool:
    """Return whether the authorization was used or cancelled. One request. Raises RpcUnavailable."""
    method, params = _authorization_state_call(payer, nonce)
    return _boolean(rpc.call(method, *params))


@unreadable_is_rpc_error
def authorization_state(payer: str, nonce: bytes) -> tuple[bool, datetime]:
    """Return whether the authorization was used or cancelled, and the time of the block for which that holds.

    One request; the node may lag behind our clock. Raises RpcUnavailable.
    """
    clock = ("eth_call", [{"data": CLOCK}, "latest"])
    is_spent, timestamp = rpc.batch([_authorization_state_call(payer, nonce), clock])
    return _boolean(is_spent), datetime.fromtimestamp(_words(timestamp)[0], tz=UTC)


def approves(wallet: str, digest: bytes, signature: bytes) -> bool:
    """Return whether a contract at this address accepts the signature as its own (ERC-1271), as USDC would ask it.

    One request, two where the contract fails, which is no acceptance. Raises RpcUnavailable.
    """
    call = {"to": wallet, "data": evm.erc1271_call_data(digest, signature), "gas": hex(MAX_SIGNATURE_GAS)}
    try:
        answer = rpc.call("eth_call", call, "latest")
    except rpc.RpcError:
        # Nodes report a contract's failure in many ways. A node that still answers has run it; one in trouble has not.
        rpc.call("eth_blockNumber")
        return False
    # The whole word: the precompile at address 4 repeats its input, which begins with the same four bytes.
    return str(answer).startswith("0x" + evm.ERC1271_VALID.hex())


def _transfer(*logs: Mapping[str, Any], mined_at: datetime) -> Transfer:
    """Sum the transfers of one payer in one transaction; the first log identifies the sum."""
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
def _contract_call(contract: str, function: str, *arguments: int | str | bytes) -> tuple[str, list[Any]]:
    return "eth_call", [{"to": contract, "data": evm.call_data(function, *arguments)}, "latest"]


def _authorization_state_call(payer: str, nonce: bytes) -> tuple[str, list[Any]]:
    return _contract_call(ours().asset, "authorizationState(address,bytes32)", payer, nonce)


def _boolean(answer: str) -> bool:
    word = _words(answer)[0]
    if word > 1:
        raise rpc.RpcError("the answer is not a boolean")
    return word == 1


def _words(answer: str) -> list[int]:
    words = evm.words(answer)
    if not words:
        raise rpc.RpcError("there is no such contract on this chain")
    return words


def _decimal(units: int, decimals: int) -> Decimal:
    """Return the exact amount; Decimal.scaleb would round to 28 digits."""
    return Decimal(f"{units}e-{decimals}")
