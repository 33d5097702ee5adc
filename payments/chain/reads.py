"""Reads of the chain: holdings of wallets, transfers to our address, and the use of authorizations."""

import logging
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import wraps
from operator import attrgetter
from typing import Any, ParamSpec, TypeVar

from django.conf import settings

from payments.chain import evm, rpc, usdc
from payments.chain.networks import payment_network

logger = logging.getLogger("tablewire.payments")

# Price feeds promise an update a day; its transaction may be late.
MAX_FEED_AGE = timedelta(hours=25)
MAX_CLOCK_DIFFERENCE = timedelta(minutes=1)
# In USD for one whole token: beyond it a feed is broken.
MAX_PRICE_USD = 10**9
# Five hours on Base. Hosted nodes search ten thousand blocks in one call, and an authorization lives for minutes.
LOG_WINDOW_BLOCKS = 9_000
MICRO = 10**6
# The columns of payments.models.Wallet hold no more; a token that anybody can mint has no limit.
MAX_USD, MAX_STAKED = Decimal(10**23), Decimal(10**41)
# Enough for many owners or an expensive curve; a contract that burns gas gets no more of the node's time.
MAX_SIGNATURE_GAS = 5_000_000
# Creation code that returns the timestamp of the current block: an eth_call of it reads the chain's clock.
CLOCK = "0x4260005260206000f3"

Params = ParamSpec("Params")
Result = TypeVar("Result")


def invalid_response_as_rpc_error(read: Callable[Params, Result]) -> Callable[Params, Result]:
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
    """A transaction or authorization pays us nothing, and this is final. The message is shown to the caller."""


class PriceFeedUnavailable(rpc.RpcUnavailable):
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
class TransactionReceipt:
    """The receipt of a transaction in a block. A reverted transaction has no logs."""

    block: int
    logs: Sequence[Mapping[str, Any]]
    is_reverted: bool


NO_HOLDINGS = Holdings(usd=Decimal(0), staked=Decimal(0))


@invalid_response_as_rpc_error
def read_holdings(addresses: Sequence[str], *, now: datetime) -> Sequence[Holdings]:
    """Return what each address holds and has staked, capped at MAX_USD and MAX_STAKED. One request to the node.

    NO_HOLDINGS for each where no token is configured. Raises RpcUnavailable, and its subclass PriceFeedUnavailable
    where an address holds tokens and the feed has no positive price, none of the last day, or one from the future.
    """
    if not settings.TOKEN_ADDRESS or not addresses:
        return [NO_HOLDINGS] * len(addresses)
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
        return [NO_HOLDINGS] * len(addresses)
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
    price, updated_at = evm.to_int256(round_data[1]), round_data[3]
    age_s = now.timestamp() - updated_at
    is_current = -MAX_CLOCK_DIFFERENCE.total_seconds() <= age_s <= MAX_FEED_AGE.total_seconds()
    if not is_current or not 0 < price <= MAX_PRICE_USD * 10**decimals:
        logger.error("the price feed is not valid: price %s, updated at %s", price, updated_at)
        raise PriceFeedUnavailable
    return price


@invalid_response_as_rpc_error
def find_receipt(tx_hash: str) -> TransactionReceipt | None:
    """Return the receipt; None where the chain does not know the transaction, or no block holds it yet. One request.

    Raises RpcUnavailable.
    """
    receipt = rpc.call("eth_getTransactionReceipt", tx_hash)
    if receipt is None or receipt.get("blockNumber") is None:
        return None
    is_reverted = int(receipt["status"], 16) != 1
    logs = [] if is_reverted else receipt["logs"]
    return TransactionReceipt(block=int(receipt["blockNumber"], 16), logs=logs, is_reverted=is_reverted)


@invalid_response_as_rpc_error
def find_plain_transfers(tx_hash: str) -> Sequence[Transfer]:
    """Return what each payer sent us in a transaction, largest first; nothing while the chain does not know it.

    Two requests to the node. Raises NotAPayment for a transaction that was reverted, pays us nothing, or only used
    authorizations, and RpcUnavailable.
    """
    receipt = find_receipt(tx_hash)
    if receipt is None:
        return []
    if receipt.is_reverted:
        raise NotAPayment("The transaction was reverted: it has moved nothing.")
    plain = [(log, nonce) for log, nonce in usdc.incoming_transfers(receipt.logs) if nonce is None]
    if not plain and any(usdc.is_event(log, usdc.AUTHORIZATION_USED) for log in receipt.logs):
        # An authorization is identified by its nonce (find_authorization_transfer); its hash must not pay again.
        raise NotAPayment("The transaction used an authorization: send that as the payment.")
    if not plain:
        raise NotAPayment(f"The transaction moves no {payment_network().asset_name} to {settings.PAY_TO}.")
    transfers = [transfer for transfer, _ in _sum_transfers(plain, block=receipt.block)]
    return sorted(transfers, key=attrgetter("amount"), reverse=True)


@invalid_response_as_rpc_error
def find_all_transfers(tx_hash: str) -> Sequence[tuple[Transfer, bytes | None]]:
    """Return what a transaction paid us, as the ledger records it: one per nonce, and one per payer without a nonce.

    Nothing where the chain does not know it. Two requests to the node. Raises RpcUnavailable.
    """
    receipt = find_receipt(tx_hash)
    return _sum_transfers(usdc.incoming_transfers(receipt.logs), block=receipt.block) if receipt else []


@invalid_response_as_rpc_error
def read_transfer_logs(first: int, last: int) -> Sequence[tuple[str, str, Decimal]]:
    """Return transaction, payer and amount of all USDC that arrived at our address in these blocks, in their order.

    One request to the node, and two more each time it refuses the size of a search. Raises RpcUnavailable.
    """
    query = {
        "address": payment_network().asset,
        "topics": [usdc.TRANSFER, None, evm.encode_topic(settings.PAY_TO)],
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
        return [*read_transfer_logs(first, middle), *read_transfer_logs(middle + 1, last)]
    incoming = [log for log in logs if usdc.is_incoming_transfer(log)]
    if not all(first <= int(log["blockNumber"], 16) <= last for log in incoming):
        raise rpc.RpcError("the node sent logs of other blocks")
    return [
        (log["transactionHash"].lower(), usdc.sender(log), payment_network().to_decimal(usdc.value(log)))
        for log in incoming
    ]


@invalid_response_as_rpc_error
def read_latest_block_number() -> int:
    """Return the number of the latest block. One request. Raises RpcUnavailable."""
    return int(rpc.call("eth_blockNumber"), 16)


@invalid_response_as_rpc_error
def read_block_time(block: int) -> datetime:
    """Return the time of a block. One request. Raises RpcUnavailable, also where there is no such block."""
    header = rpc.call("eth_getBlockByNumber", hex(block), False)
    if header is None:
        raise rpc.RpcError(f"the node has no block {block}")
    return datetime.fromtimestamp(int(header["timestamp"], 16), tz=UTC)


def find_last_block_before(moment: datetime, *, latest: int) -> int | None:
    """Return the last block up to `latest` that was made before this moment; None where there is none.

    A binary search: as many requests as the number of blocks has bits. Raises RpcUnavailable.
    """
    earlier = bisect_left(range(latest + 1), moment, key=read_block_time)
    return earlier - 1 if earlier else None


@invalid_response_as_rpc_error
def find_authorization_transfer(payer: str, nonce: bytes, *, windows: int = 1) -> Transfer | None:
    """Return the transfer to us that used this authorization; None where the chain shows no use of it (yet).

    Up to four requests, and one more for each further window of LOG_WINDOW_BLOCKS. Raises NotAPayment where the chain
    shows that it was cancelled or moved nothing to us, and RpcUnavailable.
    """
    latest, authorization = read_latest_block_number(), [evm.encode_topic(payer), evm.encode_topic(nonce)]
    for end in range(latest, -1, -(LOG_WINDOW_BLOCKS + 1))[:windows]:
        query = {
            "address": payment_network().asset,
            "topics": [[usdc.AUTHORIZATION_USED, usdc.AUTHORIZATION_CANCELED], *authorization],
            "fromBlock": hex(max(end - LOG_WINDOW_BLOCKS, 0)),
            "toBlock": "latest" if end == latest else hex(end),
        }
        if logs := rpc.call("eth_getLogs", query):
            break
    else:
        return None
    log = logs[0]
    if [topic.lower() for topic in log["topics"][1:3]] != authorization:
        raise rpc.RpcError("the node sent the log of another authorization")
    if usdc.is_event(log, usdc.AUTHORIZATION_CANCELED):
        raise NotAPayment("It was cancelled.")
    receipt = find_receipt(log["transactionHash"])
    if receipt is None:
        return None
    # One transaction may use several authorizations of a payer: the token logs each use, and its transfer right after.
    used_at_index = int(log["logIndex"], 16)
    for following in receipt.logs:
        if int(following["logIndex"], 16) > used_at_index and usdc.is_transfer(following):
            if usdc.is_incoming_transfer(following) and usdc.sender(following) == payer:
                return _sum_logs([following], mined_at=read_block_time(receipt.block))
            raise NotAPayment("It has paid another address, or nothing.")
    return None


@invalid_response_as_rpc_error
def is_authorization_spent(payer: str, nonce: bytes) -> bool:
    """Return whether the authorization was used or cancelled. One request. Raises RpcUnavailable."""
    method, params = _authorization_state_call(payer, nonce)
    return _boolean(rpc.call(method, *params))


@invalid_response_as_rpc_error
def read_authorization_state(payer: str, nonce: bytes) -> tuple[bool, datetime]:
    """Return whether the authorization was used or cancelled, and the time of the block for which that holds.

    One request; the node may lag behind our clock. Raises RpcUnavailable.
    """
    clock = ("eth_call", [{"data": CLOCK}, "latest"])
    is_spent, timestamp = rpc.batch([_authorization_state_call(payer, nonce), clock])
    return _boolean(is_spent), datetime.fromtimestamp(_words(timestamp)[0], tz=UTC)


def is_contract_signature(wallet: str, digest: bytes, signature: bytes) -> bool:
    """Return whether a contract at this address accepts the signature as its own (ERC-1271), as USDC checks it.

    One request, two where the contract fails, which is no acceptance. Raises RpcUnavailable.
    """
    call = {"to": wallet, "data": evm.encode_erc1271_call(digest, signature), "gas": hex(MAX_SIGNATURE_GAS)}
    try:
        answer = rpc.call("eth_call", call, "latest")
    except rpc.RpcError:
        # Nodes report a contract's failure in many ways. A node that still answers has run the contract.
        rpc.call("eth_blockNumber")
        return False
    # The whole word: the precompile at address 4 repeats its input, which begins with the same four bytes.
    return str(answer).startswith("0x" + evm.ERC1271_VALID.hex())


def _sum_transfers(
    incoming: Iterable[tuple[Mapping[str, Any], bytes | None]], *, block: int
) -> list[tuple[Transfer, bytes | None]]:
    """Return a transfer for each nonce, and for the transfers of each payer without one."""
    mined_at = read_block_time(block)
    groups: dict[tuple[str, bytes | None], list[Mapping[str, Any]]] = {}
    for log, nonce in incoming:
        groups.setdefault((usdc.sender(log), nonce), []).append(log)
    return [(_sum_logs(logs, mined_at=mined_at), nonce) for (_, nonce), logs in groups.items()]


def _sum_logs(logs: Sequence[Mapping[str, Any]], *, mined_at: datetime) -> Transfer:
    """Sum the transfers of one payer in one transaction; the first log identifies the sum."""
    first = logs[0]
    return Transfer(
        payer=usdc.sender(first),
        amount=payment_network().to_decimal(sum(map(usdc.value, logs))),
        tx_hash=first["transactionHash"].lower(),
        log_index=int(first["logIndex"], 16),
        block=int(first["blockNumber"], 16),
        mined_at=mined_at,
    )


def _contract_call(contract: str, function: str, *arguments: int | str | bytes) -> tuple[str, list[Any]]:
    return "eth_call", [{"to": contract, "data": evm.encode_call(function, *arguments)}, "latest"]


def _authorization_state_call(payer: str, nonce: bytes) -> tuple[str, list[Any]]:
    return _contract_call(payment_network().asset, "authorizationState(address,bytes32)", payer, nonce)


def _boolean(answer: str) -> bool:
    word = _words(answer)[0]
    if word > 1:
        raise rpc.RpcError("the answer is not a boolean")
    return word == 1


def _words(answer: str) -> list[int]:
    words = evm.decode_words(answer)
    if not words:
        raise rpc.RpcError("there is no such contract on this chain")
    return words


def _decimal(units: int, decimals: int) -> Decimal:
    """Return the exact amount; Decimal.scaleb would round to 28 digits."""
    return Decimal(f"{units}e-{decimals}")
