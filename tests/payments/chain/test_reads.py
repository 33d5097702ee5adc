"""Reading the chain, on the development chain of the run: what wallets hold, and which payments have arrived."""

import logging
import secrets
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from coincurve import PrivateKey
from pytest_django import Settings

from config.dev_stack.chain import PRICE_FEED
from payments.chain import evm, reads, rpc
from payments.chain.networks import ours
from payments.chain.reads import FeedSilent, Holdings, NotAPayment, Transfer
from payments.devchain.wallets import Wallet, from_key
from tests.payments.facilitators import node_that_says, serving
from tests.payments.transfers import CANCEL, TRANSFER, Arguments, authorize, send, together

NOBODY = "0x" + 20 * "0b"


@pytest.fixture
def shop(settings: Settings) -> str:
    """The address that is paid, for this test only: what arrives there is in no ledger."""
    settings.PAY_TO = from_key("shop", secrets.token_bytes(32)).address
    return str(settings.PAY_TO)


@pytest.fixture
def payer(wallets: Mapping[str, Wallet]) -> Wallet:
    """A wallet with USDC and gas."""
    return wallets["free"]


@pytest.fixture
def feed(payer: Wallet) -> Iterator[Wallet]:
    """Who may set the price of the token, which is 2 USD again afterwards."""
    yield payer
    send(payer, PRICE_FEED, "set(int256)", 2 * 10**8)


def held_by(wallet: Wallet) -> Holdings:
    return reads.holdings(wallet.address, now=datetime.now(UTC))


def pay(payer: Wallet, to: str, amount: str) -> str:
    return send(payer, ours().asset, "transfer(address,uint256)", to, ours().atomic(Decimal(amount)))


# Holdings
@pytest.mark.parametrize(
    ("name", "usd", "staked"), [("free", 0, 0), ("pro", 250, 0), ("premium", 2000, 0), ("enterprise", 120_000, 60_000)]
)
def test_a_holding_is_what_is_held_and_staked_at_the_price_of_the_feed(
    wallets: Mapping[str, Wallet], name: str, usd: int, staked: int
) -> None:
    assert held_by(wallets[name]) == Holdings(usd=Decimal(usd), staked=Decimal(staked))


def test_a_price_without_a_feed_is_the_fixed_one(settings: Settings, wallets: Mapping[str, Wallet]) -> None:
    settings.TOKEN_PRICE_FEED, settings.TOKEN_PRICE_USD = "", Decimal("0.123456789")
    assert held_by(wallets["pro"]) == Holdings(usd=Decimal("15.432098"), staked=Decimal(0))


def test_the_smallest_part_below_a_threshold_stays_below_it(settings: Settings, wallets: Mapping[str, Wallet]) -> None:
    settings.TOKEN_PRICE_FEED, settings.TOKEN_PRICE_USD = "", Decimal("0.799999999999999999")
    assert held_by(wallets["pro"]).usd == Decimal("99.999999")


def test_without_a_token_nothing_is_held_and_nothing_asked(settings: Settings, wallets: Mapping[str, Wallet]) -> None:
    settings.TOKEN_ADDRESS, settings.RPC_URL = "", "http://127.0.0.1:1"
    assert held_by(wallets["pro"]) == Holdings(usd=Decimal(0), staked=Decimal(0))


@pytest.mark.parametrize("answer", [0, 2**256 - 1, 10**18])
def test_a_feed_that_names_no_price_that_can_be_is_not_believed(
    wallets: Mapping[str, Wallet], feed: Wallet, answer: int, caplog: pytest.LogCaptureFixture
) -> None:
    send(feed, PRICE_FEED, "set(int256)", answer)
    with pytest.raises(FeedSilent):
        held_by(wallets["enterprise"])
    errors = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    assert len(errors) == 1
    assert errors[0].startswith("the price feed says ")


def test_a_feed_that_has_been_silent_for_more_than_a_day_or_speaks_of_tomorrow_is_not_believed(
    wallets: Mapping[str, Wallet], feed: Wallet
) -> None:
    now = datetime.now(UTC)
    send(feed, PRICE_FEED, "setAsOf(int256,uint256)", 3 * 10**8, int(now.timestamp()))
    pro = wallets["pro"].address
    assert reads.holdings(pro, now=now + timedelta(hours=24, minutes=59)).usd == 375
    assert reads.holdings(pro, now=now - timedelta(seconds=58)).usd == 375
    for then in (now + timedelta(hours=25, seconds=1), now - timedelta(seconds=62)):
        with pytest.raises(FeedSilent):
            reads.holdings(pro, now=then)


def test_who_holds_nothing_needs_no_price(wallets: Mapping[str, Wallet], feed: Wallet) -> None:
    send(feed, PRICE_FEED, "set(int256)", 0)
    assert held_by(wallets["free"]) == Holdings(usd=Decimal(0), staked=Decimal(0))


def test_an_address_that_is_no_contract_cannot_be_read(settings: Settings, wallets: Mapping[str, Wallet]) -> None:
    settings.TOKEN_ADDRESS = NOBODY
    with pytest.raises(rpc.RpcError):
        held_by(wallets["pro"])


# Transfers
def test_a_transfer_to_us_names_payer_amount_and_moment(shop: str, payer: Wallet) -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    tx_hash = pay(payer, shop, "0.012345")
    (found,) = reads.transfers(tx_hash)
    assert found == Transfer(
        payer=payer.address,
        amount=Decimal("0.012345"),
        tx_hash=tx_hash,
        log_index=found.log_index,
        block=int(rpc.call("eth_getTransactionReceipt", tx_hash)["blockNumber"], 16),
        mined_at=found.mined_at,
    )
    assert before <= found.mined_at <= before + timedelta(minutes=5)


@pytest.mark.usefixtures("shop")
def test_a_transaction_that_the_chain_does_not_know_has_brought_nothing() -> None:
    assert reads.transfers("0x" + 32 * "ab") == []


@pytest.mark.usefixtures("shop")
def test_a_transfer_to_somebody_else_is_no_payment(payer: Wallet) -> None:
    with pytest.raises(NotAPayment, match="moves no USDC to 0x"):
        reads.transfers(pay(payer, NOBODY, "1"))


@pytest.mark.usefixtures("shop")
def test_a_transfer_of_another_token_is_no_payment(settings: Settings, wallets: Mapping[str, Wallet]) -> None:
    hashed = send(wallets["pro"], settings.TOKEN_ADDRESS, "transfer(address,uint256)", settings.PAY_TO, 0)
    with pytest.raises(NotAPayment, match="moves no USDC"):
        reads.transfers(hashed)


def test_a_transaction_that_was_reverted_is_no_payment(shop: str, payer: Wallet) -> None:
    with pytest.raises(NotAPayment, match="reverted"):
        reads.transfers(pay(payer, shop, "1000000"))


def test_money_that_was_minted_to_us_is_no_payment(shop: str, payer: Wallet) -> None:
    with pytest.raises(NotAPayment, match="moves no USDC"):
        reads.transfers(send(payer, ours().asset, "mint(address,uint256)", shop, 10**6))


def test_a_transfer_of_nothing_is_no_payment(shop: str, payer: Wallet) -> None:
    with pytest.raises(NotAPayment, match="moves no USDC"):
        reads.transfers(pay(payer, shop, "0"))


def test_several_transfers_in_one_transaction_are_counted_for_each_payer(
    shop: str, payer: Wallet, wallets: Mapping[str, Wallet]
) -> None:
    pro = wallets["pro"]
    transaction = together((payer, shop, 2000), (payer, NOBODY, 10), (pro, shop, 4000), (payer, shop, 3000))
    found = reads.transfers(transaction)
    assert [(each.payer, each.amount) for each in found] == [
        (payer.address, Decimal("0.005")),
        (pro.address, Decimal("0.004")),
    ]
    assert found[0].log_index < found[1].log_index


def test_more_usdc_than_there_is_is_counted_to_the_last_unit(shop: str, payer: Wallet) -> None:
    send(payer, ours().asset, "mint(address,uint256)", payer.address, 10**40)
    (found,) = reads.transfers(send(payer, ours().asset, "transfer(address,uint256)", shop, 10**40 + 1))
    assert str(found.amount) == "1" + "0" * 34 + ".000001"


def test_a_block_that_the_node_does_not_show_yet_is_a_node_that_is_away(
    shop: str, payer: Wallet, settings: Settings
) -> None:
    transaction = pay(payer, shop, "0.002")
    with serving(node_that_says({"eth_getBlockByNumber": None})) as server:
        settings.RPC_URL = server.url
        with pytest.raises(rpc.RpcError):
            reads.transfers(transaction)


# Authorizations
def test_an_authorization_is_found_by_its_nonce_once_it_was_used(
    shop: str, payer: Wallet, wallets: Mapping[str, Wallet]
) -> None:
    nonce = secrets.token_bytes(32)
    arguments = authorize(payer, to=shop, value=2000, nonce=nonce)
    assert (reads.authorization_used(payer.address, nonce), reads.authorization_is_spent(payer.address, nonce)) == (
        None,
        False,
    )
    tx_hash = send(wallets["pro"], ours().asset, TRANSFER, *arguments)
    found = reads.authorization_used(payer.address, nonce)
    assert found is not None
    assert (found.payer, found.amount, found.tx_hash) == (payer.address, Decimal("0.002"), tx_hash)
    assert reads.authorization_is_spent(payer.address, nonce)
    assert reads.authorization_used(wallets["pro"].address, nonce) is None


def test_a_transaction_that_used_an_authorization_is_not_paid_with_by_its_hash_too(shop: str, payer: Wallet) -> None:
    arguments = authorize(payer, to=shop, value=2000, nonce=secrets.token_bytes(32))
    with pytest.raises(NotAPayment, match="used an authorization"):
        reads.transfers(send(payer, ours().asset, TRANSFER, *arguments))


@pytest.mark.usefixtures("shop")
def test_an_authorization_that_was_cancelled_is_spent_and_has_paid_nothing(payer: Wallet) -> None:
    nonce = secrets.token_bytes(32)
    send(payer, ours().asset, CANCEL, *cancellation(payer, nonce))
    assert reads.authorization_is_spent(payer.address, nonce)
    with pytest.raises(NotAPayment, match="cancelled"):
        reads.authorization_used(payer.address, nonce)


@pytest.mark.usefixtures("shop")
def test_an_authorization_that_paid_another_has_paid_us_nothing(payer: Wallet) -> None:
    nonce = secrets.token_bytes(32)
    send(payer, ours().asset, TRANSFER, *authorize(payer, to=NOBODY, value=2000, nonce=nonce))
    assert reads.authorization_is_spent(payer.address, nonce)
    with pytest.raises(NotAPayment, match="somebody else"):
        reads.authorization_used(payer.address, nonce)


def test_an_authorization_that_moved_nothing_has_paid_us_nothing(shop: str, payer: Wallet) -> None:
    nonce = secrets.token_bytes(32)
    send(payer, ours().asset, TRANSFER, *authorize(payer, to=shop, value=0, nonce=nonce))
    with pytest.raises(NotAPayment, match="or nothing"):
        reads.authorization_used(payer.address, nonce)


def cancellation(payer: Wallet, nonce: bytes) -> tuple[Arguments, ...]:
    """The arguments of cancelAuthorization, signed by the payer."""
    deed = evm.keccak(
        evm.keccak(b"CancelAuthorization(address authorizer,bytes32 nonce)") + evm.packed(payer.address) + nonce
    )
    digest = evm.keccak(b"\x19\x01" + evm.domain(ours()) + deed)
    made = PrivateKey(bytes.fromhex(payer.private_key[2:])).sign_recoverable(digest, hasher=None)
    return payer.address, nonce, made[64] + 27, made[:32], made[32:64]
