"""The wallets that tests pay with."""

from collections.abc import Mapping
from decimal import Decimal

from payments.devchain.wallets import Wallet
from tests.support.wallets import fresh_wallet, transfer_usdc, usdc_balance


def test_the_demo_wallets_are_one_of_each_tier_and_have_usdc(wallets: Mapping[str, Wallet]) -> None:
    assert list(wallets) == ["free", "pro", "premium", "enterprise"]
    assert [usdc_balance(wallet.address) > 100 for wallet in wallets.values()] == [True, True, True, True]


def test_a_fresh_wallet_has_what_it_was_given_and_can_pass_it_on() -> None:
    rich, poor = fresh_wallet(Decimal("2.50")), fresh_wallet(Decimal(0))
    transfer_usdc(rich, poor.address, Decimal("0.75"))
    assert (usdc_balance(rich.address), usdc_balance(poor.address)) == (Decimal("1.75"), Decimal("0.75"))
