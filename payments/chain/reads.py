"""Reads of the chain: holdings of wallets, transfers to our address, and the use of authorizations."""

import logging
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
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
# While blocks follow each other, the parts of one reading may belong to two of them: it is repeated then.
MAX_READ_TRIES = 4
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
class HoldingReading:
    """What an address holds after a block, and `moments`: all that it has held since an earlier one, newest first.

    Without an earlier block `moments` has only what it holds now. `block` is None where no token is configured.
    """

    block: int | None
    moments: Sequence[Holdings]

    @property
    def now(self) -> Holdings:
        return self.moments[0]


@dataclass(frozen=True, slots=True)
class Transfer:
    """USDC that arrived at our address `pay_to`: `amount` in whole USDC."""

    payer: str
    pay_to: str
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
def read_holdings(since: Mapping[str, int | None], *, now: datetime) -> Sequence[HoldingReading]:
    """Return what each address holds and has staked, capped at MAX_USD and MAX_STAKED, now and since a block.

    `since` has a block for each address; None: only what it holds now. Earlier holdings follow from the token's
    Transfer logs, at the current price: a transfer to the token's contract is a stake, one from it the end of a stake.
    One request to the node. NO_HOLDINGS where no token is configured. Raises RpcUnavailable, and its subclass
    PriceFeedUnavailable where an address holds tokens and the feed has no positive price, none of the last day, or one
    from the future.
    """
    if not settings.TOKEN_ADDRESS or not since:
        return [HoldingReading(None, [NO_HOLDINGS])] * len(since)
    token, feed = settings.TOKEN_ADDRESS, settings.TOKEN_PRICE_FEED
    calls = [_contract_call(token, "decimals()")]
    for address in since:
        calls += [
            _contract_call(token, "balanceOf(address)", address),
            _contract_call(token, "stakedOf(address)", address),
        ]
    if feed:
        calls += [_contract_call(feed, "latestRoundData()"), _contract_call(feed, "decimals()")]
    queries = _transfer_queries(token, since)
    block, results = _batch_in_one_block([*calls, *queries])
    logs = [log for found in results[len(calls) :] for log in found]
    (decimals, *_), *rest = [_words(result) for result in results[: len(calls)]]
    amounts = [word for word, *_ in rest[: 2 * len(since)]]
    moments = [
        [(held, staked), *_earlier_amounts(held, staked, logs, address=address, since=start)]
        for address, start, held, staked in zip(since, since.values(), amounts[::2], amounts[1::2], strict=True)
    ]
    if not any(held + staked for several in moments for held, staked in several):
        return [HoldingReading(block, [NO_HOLDINGS])] * len(since)
    if feed:
        price, price_decimals = _feed_price(rest[-2], rest[-1][0], now=now), rest[-1][0]
    else:
        price, price_decimals = int(settings.TOKEN_PRICE_USD.scaleb(18)), 18

    def value(held: int, staked: int) -> Holdings:
        # In integers to the end: neither a float nor a Decimal's 28 digits may round a holding over its threshold.
        return Holdings(
            usd=min(_decimal((held + staked) * price * MICRO // 10 ** (decimals + price_decimals), 6), MAX_USD),
            staked=min(_decimal(staked, decimals), MAX_STAKED),
        )

    return [HoldingReading(block, [value(*pair) for pair in several]) for several in moments]


def _transfer_queries(token: str, since: Mapping[str, int | None]) -> list[tuple[str, list[Any]]]:
    """Return the searches for all transfers of the token from and to the addresses that have an earlier block."""
    starts = {address: block for address, block in since.items() if block is not None}
    if not starts:
        return []
    # From that block on, not from the next one, which may not exist yet.
    query = {"address": token, "fromBlock": hex(min(starts.values())), "toBlock": "latest"}
    addresses = [evm.encode_topic(address) for address in starts]
    return [
        ("eth_getLogs", [{**query, "topics": [usdc.TRANSFER, addresses]}]),
        ("eth_getLogs", [{**query, "topics": [usdc.TRANSFER, None, addresses]}]),
    ]


def _batch_in_one_block(calls: Sequence[tuple[str, Sequence[Any]]]) -> tuple[int, list[Any]]:
    """Return the latest block and the results of these calls after it. One request, repeated if a block was added."""
    number: tuple[str, list[Any]] = ("eth_blockNumber", [])
    for _ in range(MAX_READ_TRIES):
        first, *results, last = rpc.batch([number, *calls, number])
        if first == last:
            return int(first, 16), results
    raise rpc.RpcError("blocks follow each other faster than they can be read")


def _earlier_amounts(
    held: int, staked: int, logs: Sequence[Mapping[str, Any]], *, address: str, since: int | None
) -> Iterator[tuple[int, int]]:
    """Yield what the address held and had staked before each of its transfers after that block, the newest first."""
    own = {
        (int(log["blockNumber"], 16), int(log["logIndex"], 16)): log
        for log in logs
        if address in (usdc.sender(log), usdc.receiver(log))
        and since is not None
        and int(log["blockNumber"], 16) > since
    }
    for _, log in sorted(own.items(), reverse=True):
        sender, receiver, amount = usdc.sender(log), usdc.receiver(log), usdc.value(log)
        if sender == address:
            held += amount
            staked -= amount if receiver == settings.TOKEN_ADDRESS else 0
        if receiver == address:
            held -= amount
            staked += amount if sender == settings.TOKEN_ADDRESS else 0
        # Below zero only for a token that moves without logs: nothing is certain of its earlier holdings.
        held, staked = max(held, 0), max(staked, 0)
        yield held, staked


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
    return _parse_receipt(rpc.call("eth_getTransactionReceipt", tx_hash))


def _parse_receipt(receipt: Mapping[str, Any] | None) -> TransactionReceipt | None:
    if receipt is None or receipt.get("blockNumber") is None:
        return None
    is_reverted = int(receipt["status"], 16) != 1
    logs = [] if is_reverted else receipt["logs"]
    return TransactionReceipt(block=int(receipt["blockNumber"], 16), logs=logs, is_reverted=is_reverted)


def _is_confirmed(block: int, *, latest: int) -> bool:
    """Whether enough blocks show what this block holds (PAYMENT_CONFIRMATIONS)."""
    return latest - block + 1 >= settings.PAYMENT_CONFIRMATIONS


@invalid_response_as_rpc_error
def find_plain_transfers(tx_hash: str, *, receivers: Collection[str]) -> Sequence[Transfer]:
    """Return what each payer sent to these addresses of ours, largest first; nothing while it is not confirmed.

    Two requests to the node, three where more than one block must confirm it. Raises NotAPayment for a transaction
    that was reverted, pays us nothing, or only used authorizations, and RpcUnavailable.
    """
    receipt = find_receipt(tx_hash)
    if receipt is None:
        return []
    if settings.PAYMENT_CONFIRMATIONS > 1 and not _is_confirmed(receipt.block, latest=read_latest_block_number()):
        return []
    if receipt.is_reverted:
        raise NotAPayment("The transaction was reverted: it has moved nothing.")
    plain = [(log, nonce) for log, nonce in usdc.incoming_transfers(receipt.logs, receivers) if nonce is None]
    if not plain and any(usdc.is_event(log, usdc.AUTHORIZATION_USED) for log in receipt.logs):
        # An authorization is identified by its nonce (find_authorization_transfer); its hash must not pay again.
        raise NotAPayment("The transaction used an authorization: send that as the payment.")
    if not plain:
        raise NotAPayment(f"The transaction moves no {payment_network().asset_name} to {settings.PAY_TO}.")
    transfers = [transfer for transfer, _ in _sum_transfers(plain, block=receipt.block)]
    return sorted(transfers, key=attrgetter("amount"), reverse=True)


@invalid_response_as_rpc_error
def find_all_transfers(tx_hash: str, *, receivers: Collection[str]) -> Sequence[tuple[Transfer, bytes | None]]:
    """Return what a transaction paid to these addresses, as the ledger records it.

    One per nonce, and one per payer without a nonce; nothing where the chain does not know it. Two requests to the
    node. Raises RpcUnavailable.
    """
    receipt = find_receipt(tx_hash)
    return _sum_transfers(usdc.incoming_transfers(receipt.logs, receivers), block=receipt.block) if receipt else []


@invalid_response_as_rpc_error
def read_transfer_logs(first: int, last: int, *, pay_to: str) -> Sequence[tuple[str, str, Decimal]]:
    """Return transaction, payer and amount of all USDC that arrived at this address in these blocks, in their order.

    One request to the node, and two more each time it refuses the size of a search. Raises RpcUnavailable.
    """
    query = {
        "address": payment_network().asset,
        "topics": [usdc.TRANSFER, None, evm.encode_topic(pay_to)],
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
        halves = ((first, middle), (middle + 1, last))
        return [log for half in halves for log in read_transfer_logs(*half, pay_to=pay_to)]
    incoming = [log for log in logs if usdc.is_incoming_transfer(log, {pay_to})]
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
    return parse_block_time(header)


def parse_block_time(header: Mapping[str, Any]) -> datetime:
    return datetime.fromtimestamp(int(header["timestamp"], 16), tz=UTC)


def find_last_block_before(moment: datetime, *, latest: int) -> int | None:
    """Return the last block up to `latest` that was made before this moment; None where there is none.

    A binary search: as many requests as the number of blocks has bits. Raises RpcUnavailable.
    """
    earlier = bisect_left(range(latest + 1), moment, key=read_block_time)
    return earlier - 1 if earlier else None


@invalid_response_as_rpc_error
def find_authorization_transfer(
    payer: str, nonce: bytes, *, receivers: Collection[str], windows: int = 1
) -> Transfer | None:
    """Return the transfer to one of these addresses that used this authorization; None while no use is confirmed.

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
    if receipt is None or not _is_confirmed(receipt.block, latest=latest):
        return None
    transfer = _find_transfer_after(int(log["logIndex"], 16), receipt.logs, payer=payer, receivers=receivers)
    return _sum_logs([transfer], mined_at=read_block_time(receipt.block)) if transfer else None


@invalid_response_as_rpc_error
def find_settlement(tx_hash: str, *, payer: str, nonce: bytes, receivers: Collection[str]) -> Transfer | None:
    """Return the transfer by which this transaction used this authorization; None while it is not confirmed.

    One request to the node, two where the transaction is in an earlier block than the latest. Raises NotAPayment where
    the transaction has used the authorization for nothing of ours, or not at all, and RpcUnavailable.
    """
    answer, head = rpc.batch([("eth_getTransactionReceipt", [tx_hash]), ("eth_getBlockByNumber", ["latest", False])])
    receipt, latest = _parse_receipt(answer), int(head["number"], 16)
    if receipt is None or not _is_confirmed(receipt.block, latest=latest):
        return None
    authorization = [evm.encode_topic(payer), evm.encode_topic(nonce)]
    for log in receipt.logs:
        if (
            usdc.is_event(log, usdc.AUTHORIZATION_USED)
            and [topic.lower() for topic in log["topics"][1:]] == authorization
        ):
            transfer = _find_transfer_after(int(log["logIndex"], 16), receipt.logs, payer=payer, receivers=receivers)
            if transfer is not None:
                is_latest = receipt.block == latest
                mined_at = parse_block_time(head) if is_latest else read_block_time(receipt.block)
                return _sum_logs([transfer], mined_at=mined_at)
    raise NotAPayment("The transaction that the facilitator named has not used it.")


def _find_transfer_after(
    used_at_index: int, logs: Sequence[Mapping[str, Any]], *, payer: str, receivers: Collection[str]
) -> Mapping[str, Any] | None:
    """Return the transfer that belongs to the use of an authorization at this index among a transaction's logs.

    One transaction may use several authorizations of a payer: the token logs each use, and its transfer right after.
    Raises NotAPayment where it pays another address, or nothing.
    """
    for following in logs:
        if int(following["logIndex"], 16) > used_at_index and usdc.is_transfer(following):
            if usdc.is_incoming_transfer(following, receivers) and usdc.sender(following) == payer:
                return following
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
    groups: dict[tuple[str, str, bytes | None], list[Mapping[str, Any]]] = {}
    for log, nonce in incoming:
        groups.setdefault((usdc.sender(log), usdc.receiver(log), nonce), []).append(log)
    return [(_sum_logs(logs, mined_at=mined_at), nonce) for (_, _, nonce), logs in groups.items()]


def _sum_logs(logs: Sequence[Mapping[str, Any]], *, mined_at: datetime) -> Transfer:
    """Sum the transfers of one payer in one transaction; the first log identifies the sum."""
    first = logs[0]
    return Transfer(
        payer=usdc.sender(first),
        pay_to=usdc.receiver(first),
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
