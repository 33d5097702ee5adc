"""Reads of the development chain: what wallets hold, and which payments have arrived."""

import logging
import secrets
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from coincurve import PrivateKey
from django.conf import settings as project
from pytest_django import Settings

from payments.chain import evm, reads, rpc
from payments.chain.networks import payment_network
from payments.chain.reads import Holdings, NotAPayment, PriceFeedUnavailable, Transfer
from payments.devchain.addresses import PRICE_FEED
from payments.devchain.wallets import Wallet, from_key
from tests.payments.facilitators import node_answering, serving
from tests.payments.transfers import CANCEL, TRANSFER, Arguments, authorize, send, together

OTHER_ADDRESS = "0x" + 20 * "0b"


@pytest.fixture
def shop(settings: Settings) -> str:
    """A new PAY_TO for this test: its payments are in no ledger."""
    settings.PAY_TO = from_key("shop", secrets.token_bytes(32)).address
    return str(settings.PAY_TO)


@pytest.fixture
def payer(wallets: Mapping[str, Wallet]) -> Wallet:
    """A wallet with USDC and gas."""
    return wallets["free"]


@pytest.fixture
def feed(payer: Wallet) -> Iterator[Wallet]:
    """A wallet that sets the price of the token; the test ends with 2 USD again."""
    yield payer
    send(payer, PRICE_FEED, "set(int256)", 2 * 10**8)


def held_by(wallet: Wallet) -> Holdings:
    return reads.read_holdings({wallet.address: None}, now=datetime.now(UTC))[0].now


def pay(payer: Wallet, to: str, amount: str) -> str:
    return send(
        payer, payment_network().asset, "transfer(address,uint256)", to, payment_network().to_atomic(Decimal(amount))
    )


# Holdings
@pytest.mark.parametrize(
    ("name", "usd", "staked"), [("free", 0, 0), ("pro", 250, 0), ("premium", 2000, 0), ("enterprise", 120_000, 60_000)]
)
def test_holdings_are_valued_at_the_price_of_the_feed(
    wallets: Mapping[str, Wallet], name: str, usd: int, staked: int
) -> None:
    assert held_by(wallets[name]) == Holdings(usd=Decimal(usd), staked=Decimal(staked))


def test_without_a_feed_holdings_are_valued_at_the_fixed_price(
    settings: Settings, wallets: Mapping[str, Wallet]
) -> None:
    settings.TOKEN_PRICE_FEED, settings.TOKEN_PRICE_USD = "", Decimal("0.123456789")
    assert held_by(wallets["pro"]) == Holdings(usd=Decimal("15.432098"), staked=Decimal(0))


def test_a_value_just_below_a_threshold_is_not_rounded_up(settings: Settings, wallets: Mapping[str, Wallet]) -> None:
    settings.TOKEN_PRICE_FEED, settings.TOKEN_PRICE_USD = "", Decimal("0.799999999999999999")
    assert held_by(wallets["pro"]).usd == Decimal("99.999999")


def test_without_a_token_holdings_are_empty_and_cost_no_request(
    settings: Settings, wallets: Mapping[str, Wallet]
) -> None:
    settings.TOKEN_ADDRESS, settings.RPC_URL = "", "http://127.0.0.1:1"
    assert held_by(wallets["pro"]) == Holdings(usd=Decimal(0), staked=Decimal(0))


@pytest.mark.parametrize("answer", [0, 2**256 - 1, 10**18])
def test_a_feed_with_an_impossible_price_is_rejected(
    wallets: Mapping[str, Wallet], feed: Wallet, answer: int, caplog: pytest.LogCaptureFixture
) -> None:
    send(feed, PRICE_FEED, "set(int256)", answer)
    with pytest.raises(PriceFeedUnavailable):
        held_by(wallets["enterprise"])
    errors = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    assert len(errors) == 1
    assert errors[0].startswith("the price feed is not valid: price ")


def test_a_feed_with_an_old_or_future_price_is_rejected(wallets: Mapping[str, Wallet], feed: Wallet) -> None:
    now = datetime.now(UTC)
    send(feed, PRICE_FEED, "setAsOf(int256,uint256)", 3 * 10**8, int(now.timestamp()))
    pro = wallets["pro"].address
    assert reads.read_holdings({pro: None}, now=now + timedelta(hours=24, minutes=59))[0].now.usd == 375
    assert reads.read_holdings({pro: None}, now=now - timedelta(seconds=58))[0].now.usd == 375
    for then in (now + timedelta(hours=25, seconds=1), now - timedelta(seconds=62)):
        with pytest.raises(PriceFeedUnavailable):
            reads.read_holdings({pro: None}, now=then)


def test_an_empty_holding_needs_no_price(wallets: Mapping[str, Wallet], feed: Wallet) -> None:
    send(feed, PRICE_FEED, "set(int256)", 0)
    assert held_by(wallets["free"]) == Holdings(usd=Decimal(0), staked=Decimal(0))


def test_reading_an_address_without_a_contract_is_an_error(settings: Settings, wallets: Mapping[str, Wallet]) -> None:
    settings.TOKEN_ADDRESS = OTHER_ADDRESS
    with pytest.raises(rpc.RpcError):
        held_by(wallets["pro"])


# Transfers
def test_a_transfer_to_us_has_payer_amount_and_time(shop: str, payer: Wallet) -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    tx_hash = pay(payer, shop, "0.012345")
    (found,) = reads.find_plain_transfers(tx_hash, receivers={project.PAY_TO})
    assert found == Transfer(
        payer=payer.address,
        pay_to=shop,
        amount=Decimal("0.012345"),
        tx_hash=tx_hash,
        log_index=found.log_index,
        block=int(rpc.call("eth_getTransactionReceipt", tx_hash)["blockNumber"], 16),
        mined_at=found.mined_at,
    )
    assert before <= found.mined_at <= before + timedelta(minutes=5)


@pytest.mark.usefixtures("shop")
def test_an_unknown_transaction_has_no_transfers() -> None:
    assert reads.find_plain_transfers("0x" + 32 * "ab", receivers={project.PAY_TO}) == []


@pytest.mark.usefixtures("shop")
def test_a_transfer_to_another_address_is_no_payment(payer: Wallet) -> None:
    with pytest.raises(NotAPayment, match="moves no USDC to 0x"):
        reads.find_plain_transfers(pay(payer, OTHER_ADDRESS, "1"), receivers={project.PAY_TO})


@pytest.mark.usefixtures("shop")
def test_a_transfer_of_another_token_is_no_payment(settings: Settings, wallets: Mapping[str, Wallet]) -> None:
    hashed = send(wallets["pro"], settings.TOKEN_ADDRESS, "transfer(address,uint256)", settings.PAY_TO, 0)
    with pytest.raises(NotAPayment, match="moves no USDC"):
        reads.find_plain_transfers(hashed, receivers={project.PAY_TO})


def test_a_reverted_transaction_is_no_payment(shop: str, payer: Wallet) -> None:
    with pytest.raises(NotAPayment, match="reverted"):
        reads.find_plain_transfers(pay(payer, shop, "1000000"), receivers={project.PAY_TO})


def test_minted_money_is_no_payment(shop: str, payer: Wallet) -> None:
    with pytest.raises(NotAPayment, match="moves no USDC"):
        reads.find_plain_transfers(
            send(payer, payment_network().asset, "mint(address,uint256)", shop, 10**6), receivers={shop}
        )


def test_a_transfer_of_0_is_no_payment(shop: str, payer: Wallet) -> None:
    with pytest.raises(NotAPayment, match="moves no USDC"):
        reads.find_plain_transfers(pay(payer, shop, "0"), receivers={project.PAY_TO})


def test_several_transfers_in_one_transaction_are_summed_by_payer(
    shop: str, payer: Wallet, wallets: Mapping[str, Wallet]
) -> None:
    pro = wallets["pro"]
    transaction = together((payer, shop, 2000), (payer, OTHER_ADDRESS, 10), (pro, shop, 4000), (payer, shop, 3000))
    found = reads.find_plain_transfers(transaction, receivers={project.PAY_TO})
    assert [(each.payer, each.amount) for each in found] == [
        (payer.address, Decimal("0.005")),
        (pro.address, Decimal("0.004")),
    ]
    assert found[0].log_index < found[1].log_index


def test_amounts_of_35_digits_are_exact(shop: str, payer: Wallet) -> None:
    send(payer, payment_network().asset, "mint(address,uint256)", payer.address, 10**40)
    (found,) = reads.find_plain_transfers(
        send(payer, payment_network().asset, "transfer(address,uint256)", shop, 10**40 + 1), receivers={shop}
    )
    assert str(found.amount) == "1" + "0" * 34 + ".000001"


def test_a_block_that_the_node_does_not_have_yet_is_an_error(shop: str, payer: Wallet, settings: Settings) -> None:
    transaction = pay(payer, shop, "0.002")
    with serving(node_answering({"eth_getBlockByNumber": None})) as server:
        settings.RPC_URL = server.url
        with pytest.raises(rpc.RpcError):
            reads.find_plain_transfers(transaction, receivers={project.PAY_TO})


# Authorizations
def test_a_used_authorization_is_found_by_its_nonce(shop: str, payer: Wallet, wallets: Mapping[str, Wallet]) -> None:
    nonce = secrets.token_bytes(32)
    arguments = authorize(payer, to=shop, value=2000, nonce=nonce)
    assert (
        reads.find_authorization_transfer(payer.address, nonce, receivers={project.PAY_TO}),
        reads.is_authorization_spent(payer.address, nonce),
    ) == (
        None,
        False,
    )
    tx_hash = send(wallets["pro"], payment_network().asset, TRANSFER, *arguments)
    found = reads.find_authorization_transfer(payer.address, nonce, receivers={project.PAY_TO})
    assert found is not None
    assert (found.payer, found.amount, found.tx_hash) == (payer.address, Decimal("0.002"), tx_hash)
    assert reads.is_authorization_spent(payer.address, nonce)
    assert reads.find_authorization_transfer(wallets["pro"].address, nonce, receivers={project.PAY_TO}) is None


def test_the_hash_of_a_transaction_that_used_an_authorization_is_no_second_payment(shop: str, payer: Wallet) -> None:
    arguments = authorize(payer, to=shop, value=2000, nonce=secrets.token_bytes(32))
    with pytest.raises(NotAPayment, match="used an authorization"):
        reads.find_plain_transfers(
            send(payer, payment_network().asset, TRANSFER, *arguments), receivers={project.PAY_TO}
        )


@pytest.mark.usefixtures("shop")
def test_a_cancelled_authorization_is_spent_and_is_no_payment(payer: Wallet) -> None:
    nonce = secrets.token_bytes(32)
    send(payer, payment_network().asset, CANCEL, *cancellation(payer, nonce))
    assert reads.is_authorization_spent(payer.address, nonce)
    with pytest.raises(NotAPayment, match="cancelled"):
        reads.find_authorization_transfer(payer.address, nonce, receivers={project.PAY_TO})


@pytest.mark.usefixtures("shop")
def test_an_authorization_that_paid_another_address_is_no_payment(payer: Wallet) -> None:
    nonce = secrets.token_bytes(32)
    send(payer, payment_network().asset, TRANSFER, *authorize(payer, to=OTHER_ADDRESS, value=2000, nonce=nonce))
    assert reads.is_authorization_spent(payer.address, nonce)
    with pytest.raises(NotAPayment, match="another address"):
        reads.find_authorization_transfer(payer.address, nonce, receivers={project.PAY_TO})


def test_an_authorization_over_0_is_no_payment(shop: str, payer: Wallet) -> None:
    nonce = secrets.token_bytes(32)
    send(payer, payment_network().asset, TRANSFER, *authorize(payer, to=shop, value=0, nonce=nonce))
    with pytest.raises(NotAPayment, match="or nothing"):
        reads.find_authorization_transfer(payer.address, nonce, receivers={project.PAY_TO})


def cancellation(payer: Wallet, nonce: bytes) -> tuple[Arguments, ...]:
    """The arguments of cancelAuthorization, signed by the payer."""
    struct_hash = evm.keccak(
        evm.keccak(b"CancelAuthorization(address authorizer,bytes32 nonce)") + evm.encode_word(payer.address) + nonce
    )
    digest = evm.keccak(b"\x19\x01" + evm.domain_separator(payment_network()) + struct_hash)
    made = PrivateKey(bytes.fromhex(payer.private_key[2:])).sign_recoverable(digest, hasher=None)
    return payer.address, nonce, made[64] + 27, made[:32], made[32:64]
