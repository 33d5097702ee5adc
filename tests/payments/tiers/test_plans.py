"""Terms that staff have agreed on with somebody: whose they are, when they hold, and what is paid on them.

After each test what we have received on the chain is the sum of the ledger.
"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from threading import Barrier
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.test import RequestFactory
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Account
from payments.checkout.context import TierRequired
from payments.devchain.wallets import Wallet as Key
from payments.identity import caller as identity_caller
from payments.identity.caller import Caller
from payments.models import Payment, Plan, Wallet
from payments.tiers import holdings, terms
from payments.tiers.definitions import ENTERPRISE, FREE, PREMIUM, PRO
from payments.tiers.terms import Terms
from tests.payments import buyer
from tests.payments.buyer import ANONYMOUS, REVIEWS, at_once, buy, paid_by, purchase_for, reason, refused, signed_by
from tests.payments.signing import client_of
from tests.support import builders
from tests.support.live_server import NOWHERE
from tests.support.wallets import fresh_wallet, usdc_balance

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("ledger_matches_chain")]

EIGHT = Decimal("0.8")


def agreed_with(key: Key, *, since: timedelta = timedelta(days=1), **fields: Any) -> Plan:
    """A plan of this wallet."""
    wallet, _ = Wallet.objects.get_or_create(address=key.address)
    return made(wallet=wallet, since=since, **fields)


def made(*, since: timedelta = timedelta(days=1), **fields: Any) -> Plan:
    """A plan that began a while ago, of a fifth off."""
    return Plan.objects.create(
        **({"name": "Contract 7", "price_factor": EIGHT, "valid_from": timezone.now() - since} | fields)
    )


def unsaved(wallet: Wallet, **fields: Any) -> Plan:
    """A plan of this wallet that is still to be agreed on."""
    return Plan(**{"name": "Contract 8", "wallet": wallet, "valid_from": timezone.now()} | fields)


@pytest.mark.exhaustive
def test_of_plans_that_wait_for_each_other_one_is_agreed_on_and_the_other_refused() -> None:
    wallets = [Wallet.objects.create(address=fresh_wallet().address) for _ in range(2)]
    both_have_begun = Barrier(2)

    def agree(first: Wallet, second: Wallet) -> str:
        try:
            with transaction.atomic():
                terms.save_plan(unsaved(first))
                both_have_begun.wait(10)
                terms.save_plan(unsaved(second))
        except terms.PlansOverlap as refusal:
            return refusal.message
        finally:
            connection.close()
        return "agreed"

    with ThreadPoolExecutor(2) as threads:
        ends = sorted(threads.map(agree, wallets, reversed(wallets)))
    assert ends == ["Somebody has just written another plan for that time.", "agreed"]
    assert Plan.objects.count() == 2


def test_a_plan_that_cannot_be_is_not_called_one_that_overlaps() -> None:
    wallet = Wallet.objects.create(address=fresh_wallet().address)
    with pytest.raises(IntegrityError, match="plan_price_factor_is_not_below_zero"):
        terms.save_plan(unsaved(wallet, price_factor=-1))


def keyed(account: Account) -> Caller:
    """Who calls with a key of this account."""
    key = builders.key(
        Account.objects.get(pk=account.pk).venues.create(name="A", timezone="Europe/Rome", currency="EUR")
    )
    request = RequestFactory().get("/v1/me", headers={"authorization": f"Bearer {key.text}"})
    return identity_caller.identify_caller(request, now=timezone.now())


def asked_for(refusal: Any) -> str:
    """The price in the challenge of a 402, in millionths."""
    return str(refusal.body_override["accepts"][0]["maxAmountRequired"])


def nothing_charged(key: Key, before: Decimal) -> bool:
    return usdc_balance(key.address) == before and not Payment.objects.exists()


# What is paid
def test_a_plan_of_a_fifth_off_pays_exactly_eight_tenths_of_committed(wallets: Mapping[str, Key]) -> None:
    plan, key = agreed_with(wallets["free"]), wallets["free"]
    assert holdings.load_terms(key.address, now=timezone.now()) == Terms(
        tier=ENTERPRISE, per_minute=6000, factor=EIGHT, plan=plan.pk
    )
    before = usdc_balance(key.address)
    # Nobody has signed in: the payment names its payer.
    buy(signed_by(key, value=800), purchase_for(fields="reviews"), products=REVIEWS)
    assert before - usdc_balance(key.address) == Decimal("0.0008")
    assert (Payment.objects.get().amount_usdc, Payment.objects.get().tier) == (Decimal("0.0008"), "enterprise")


def test_a_wallet_with_a_plan_is_quoted_its_price_and_has_its_rate(wallets: Mapping[str, Key]) -> None:
    agreed_with(wallets["free"], per_minute=77)
    api = client_of(wallets["free"])
    answer = api.get("/v1/markets")
    assert (answer["X-Tier"], answer["X-RateLimit-Limit"]) == ("enterprise", "77")
    now = timezone.now()
    request = RequestFactory().get("/v1/me", headers={"authorization": api.defaults["HTTP_AUTHORIZATION"]})
    caller = identity_caller.identify_caller(request, now=now)
    refusal = refused({}, purchase_for(fields="reviews"), products=REVIEWS, caller=caller)
    assert refusal.body_override is not None
    assert refusal.body_override["accepts"][0]["maxAmountRequired"] == "800"


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("factor", "amount"), [("0.3333", "0.000167"), ("0.0001", "0.000001"), ("1", "0.0005"), ("1.5", "0.00075")]
)
def test_what_a_factor_leaves_is_rounded_up_to_a_millionth(
    wallets: Mapping[str, Key], factor: str, amount: str
) -> None:
    agreed_with(wallets["free"], price_factor=Decimal(factor))
    exact = int(Decimal(amount) * 10**6)
    if exact > 1:
        assert reason(refused(signed_by(wallets["free"], value=exact - 1))) == "wrong_amount"
    buy(signed_by(wallets["free"], value=exact))
    assert Payment.objects.get().amount_usdc == Decimal(amount)


def test_another_wallet_does_not_pay_the_price_of_a_plan(wallets: Mapping[str, Key]) -> None:
    agreed_with(wallets["free"])
    before = usdc_balance(wallets["enterprise"].address)
    refusal = refused(signed_by(wallets["enterprise"], value=800), purchase_for(fields="reviews"), products=REVIEWS)
    assert reason(refusal) == "wrong_amount"
    assert nothing_charged(wallets["enterprise"], before)


def test_a_plan_below_the_tier_of_the_holding_changes_nothing(wallets: Mapping[str, Key]) -> None:
    agreed_with(wallets["premium"], tier="pro", per_minute=1, price_factor=Decimal("0.5"))
    assert holdings.load_terms(wallets["premium"].address, now=timezone.now()) == terms.tier_terms(PREMIUM)


def test_a_plan_of_the_tier_of_the_holding_counts(wallets: Mapping[str, Key]) -> None:
    plan = agreed_with(wallets["premium"], tier="premium", per_minute=900)
    assert holdings.load_terms(wallets["premium"].address, now=timezone.now()) == Terms(PREMIUM, 900, EIGHT, plan.pk)


def test_what_a_plan_gives_it_gives_without_the_chain(settings: Settings, wallets: Mapping[str, Key]) -> None:
    plan = agreed_with(wallets["free"])
    settings.RPC_URL, real = f"http://{NOWHERE}", settings.RPC_URL
    found = holdings.load_terms(wallets["free"].address, now=timezone.now())
    buy(signed_by(wallets["free"], value=800), purchase_for(fields="reviews"), products=REVIEWS)
    settings.RPC_URL = real
    assert found == Terms(tier=ENTERPRISE, per_minute=6000, factor=EIGHT, plan=plan.pk)


def test_a_plan_costs_no_query_of_its_own(settings: Settings, wallets: Mapping[str, Key]) -> None:
    settings.TIER_CACHE_S = 600
    agreed_with(wallets["free"])
    Wallet.objects.update(read_at=timezone.now(), account=Account.objects.create(name="Guides Ltd"))
    with CaptureQueriesContext(connection) as queries:
        assert holdings.load_terms(wallets["free"].address, now=timezone.now()).tier == ENTERPRISE
    assert len(queries) == 1


# Of an account
def test_the_plan_of_an_account_holds_for_its_key_and_whichever_wallet_pays(wallets: Mapping[str, Key]) -> None:
    account = Account.objects.create(name="Guides Ltd")
    made(account=account)
    caller = keyed(account)
    assert (caller.terms.tier, caller.terms.factor) == (ENTERPRISE, EIGHT)
    key = wallets["free"]
    buy(
        paid_by(key, purchase_for(fields="reviews"), products=REVIEWS, caller=caller),
        purchase_for(),
        products=REVIEWS,
        caller=caller,
    )
    assert (Payment.objects.get().amount_usdc, Payment.objects.get().tier) == (Decimal("0.0008"), "enterprise")


@pytest.mark.exhaustive
def test_the_plan_of_an_account_holds_for_any_payer_also_once_a_linked_wallet_has_better_terms(
    wallets: Mapping[str, Key],
) -> None:
    account = Account.objects.create(name="Guides Ltd")
    made(account=account, tier="premium", price_factor=Decimal("0.5"))
    wallet = Wallet.objects.create(address=wallets["pro"].address, account=account)
    made(wallet=wallet, tier="premium", price_factor=Decimal("0.4"))
    caller, key = keyed(account), wallets["free"]
    assert caller.terms.factor == Decimal("0.4")
    before = usdc_balance(key.address)
    content = refused(paid_by(key, products=REVIEWS, caller=caller), products=REVIEWS, caller=caller)
    assert (reason(content), asked_for(content)) == ("wrong_amount", "1000")
    assert nothing_charged(key, before)
    buy(signed_by(key, value=1000), products=REVIEWS, caller=caller)
    assert (before - usdc_balance(key.address), Payment.objects.get().tier) == (Decimal("0.001"), "premium")
    buy(signed_by(wallets["pro"], value=800), purchase_for("geranium"), products=REVIEWS, caller=caller)


def test_what_the_plan_of_an_account_gives_to_any_payer_it_gives_without_the_chain(
    settings: Settings, wallets: Mapping[str, Key]
) -> None:
    account = Account.objects.create(name="Guides Ltd")
    made(account=account)
    caller = keyed(account)
    headers = signed_by(wallets["free"], value=800)
    settings.RPC_URL, real = f"http://{NOWHERE}", settings.RPC_URL
    buy(headers, products=REVIEWS, caller=caller)
    settings.RPC_URL = real
    assert Payment.objects.get().tier == "enterprise"


@pytest.mark.exhaustive
@pytest.mark.parametrize(("payer", "wrong"), [("free", 1000), ("free", 7), ("pro", 500)])
def test_an_unproven_payer_is_quoted_an_acceptable_price_without_its_terms(
    wallets: Mapping[str, Key], payer: str, wrong: int
) -> None:
    agreed_with(wallets["pro"], price_factor=Decimal("0.1"))
    caller = buyer.proven(wallets["premium"], PREMIUM)
    refusal = refused(signed_by(wallets[payer], value=wrong), caller=caller)
    assert (reason(refusal), asked_for(refusal)) == ("wrong_amount", "2000")
    assert refusal.message == (
        f"The payment is of {(Decimal(wrong) / 10**6).normalize():f} USDC, the price is 0.002."
        " You have not proven the wallet that pays, so it is asked for the standard price. Nothing was charged."
    )
    assert not Payment.objects.exists()
    buy(signed_by(wallets[payer], value=2000), caller=caller)


def test_without_its_key_no_wallet_pays_the_price_of_an_account(wallets: Mapping[str, Key]) -> None:
    made(account=Account.objects.create(name="Guides Ltd"))
    before = usdc_balance(wallets["pro"].address)
    others = keyed(Account.objects.create(name="Bistro Ltd"))
    for caller in (ANONYMOUS, others, replace(ANONYMOUS, wallet=wallets["pro"].address)):
        assert reason(refused(signed_by(wallets["pro"], value=800), products=REVIEWS, caller=caller)) == "wrong_amount"
    assert nothing_charged(wallets["pro"], before)


def test_the_plan_of_an_account_holds_for_the_wallets_that_are_linked_to_it(wallets: Mapping[str, Key]) -> None:
    account = Account.objects.create(name="Guides Ltd")
    made(account=account)
    Wallet.objects.create(address=wallets["free"].address, account=account)
    buy(signed_by(wallets["free"], value=800), products=REVIEWS)
    assert Payment.objects.get().amount_usdc == Decimal("0.0008")
    assert reason(refused(signed_by(wallets["pro"], value=800), products=REVIEWS)) == "wrong_amount"


@pytest.mark.parametrize(
    ("own", "of_account", "tier", "factor"),
    [
        ({"tier": "premium"}, {"tier": "enterprise"}, ENTERPRISE, "0.9"),
        ({"tier": "enterprise"}, {"tier": "premium"}, ENTERPRISE, "0.5"),
        ({"tier": "pro"}, {"tier": "pro"}, PRO, "0.5"),
    ],
)
def test_of_two_plans_the_better_holds(
    wallets: Mapping[str, Key], own: dict[str, Any], of_account: dict[str, Any], tier: Any, factor: str
) -> None:
    account = Account.objects.create(name="Guides Ltd")
    wallet = Wallet.objects.create(address=wallets["free"].address, account=account)
    made(wallet=wallet, price_factor=Decimal("0.5"), **own)
    made(account=account, price_factor=Decimal("0.9"), **of_account)
    found = holdings.load_terms(wallet.address, now=timezone.now())
    assert (found.tier, found.factor) == (tier, Decimal(factor))


# When it holds
def test_a_plan_holds_from_its_first_moment_until_its_last(wallets: Mapping[str, Key]) -> None:
    begins = timezone.now()
    ends = begins + timedelta(days=1)
    agreed_with(wallets["free"], valid_from=begins, valid_until=ends)
    moment = timedelta(microseconds=1)

    def tier(at: datetime) -> Any:
        return holdings.load_terms(wallets["free"].address, now=at).tier

    assert [tier(at) for at in (begins - moment, begins, ends - moment, ends)] == [FREE, ENTERPRISE, ENTERPRISE, FREE]


def test_a_plan_that_staff_end_ends_at_once_and_charges_no_pending_payment(wallets: Mapping[str, Key]) -> None:
    plan, before = agreed_with(wallets["free"]), usdc_balance(wallets["free"].address)
    reviews, context = signed_by(wallets["free"], value=800), signed_by(wallets["free"], value=400)
    Plan.objects.filter(pk=plan.pk).update(valid_until=timezone.now())
    # It was quoted on terms that are over: the caller is told the new ones.
    refusal = refused(reviews, purchase_for(fields="reviews"), products=REVIEWS)
    assert reason(refusal) == "wrong_amount"
    assert reason(refused(context)) == "wrong_amount"
    assert isinstance(refused(signed_by(wallets["free"], value=4000), products=REVIEWS), TierRequired)
    assert nothing_charged(wallets["free"], before)


def test_what_was_quoted_before_a_plan_began_is_taken_after(wallets: Mapping[str, Key]) -> None:
    quoted = signed_by(wallets["pro"], value=3000)
    agreed_with(wallets["pro"])
    buy(quoted, purchase_for(fields="reviews"), products=REVIEWS)
    assert Payment.objects.get().amount_usdc == Decimal("0.003")


def test_a_wallet_has_one_plan_at_a_time(wallets: Mapping[str, Key]) -> None:
    begins = timezone.now()
    plan = agreed_with(wallets["free"], valid_from=begins, valid_until=begins + timedelta(days=2))
    for since, until in ((1, 3), (-1, 1), (0, 1), (-1, None), (1, None)):
        ends = None if until is None else begins + timedelta(days=until)
        later = Plan(name="2", wallet=plan.wallet, valid_from=begins + timedelta(days=since), valid_until=ends)
        with pytest.raises(ValidationError, match="This wallet has another plan at that time"):
            later.full_clean()
        with pytest.raises(IntegrityError, match="one_plan_of_a_wallet_at_a_time"), transaction.atomic():
            later.save()
    # One may follow right after another, and what is of others is no matter.
    agreed_with(wallets["free"], valid_from=begins + timedelta(days=2))
    agreed_with(wallets["pro"], valid_from=begins)
    assert Plan.objects.count() == 3


def test_of_two_plans_that_are_made_at_once_one_is_refused() -> None:
    account = Account.objects.create(name="Guides Ltd")

    def make_one() -> Plan | str:
        try:
            return made(account=account)
        except DatabaseError as error:
            # Each may find the other's row: then the database ends one of the two.
            return str(error)

    found = at_once(2, make_one)
    assert sorted(type(each).__name__ for each in found) == ["Plan", "str"]
    assert Plan.objects.count() == 1


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"price_factor": -1}, "A price factor is not below zero."),
        ({"per_minute": 0}, "At least one request a minute"),
        ({"valid_until": "2020-01-01T00:00Z"}, "A plan ends after it begins."),
        ({"account": None}, "A plan is either of a wallet or of an account."),
    ],
)
def test_a_plan_that_means_nothing_is_refused(wrong: dict[str, Any], why: str) -> None:
    account = Account.objects.create(name="Guides Ltd")
    fields = {"name": "1", "account": account, "valid_from": timezone.now()} | wrong
    with pytest.raises(ValidationError, match=why):
        Plan(**fields).full_clean()


def test_a_plan_keeps_its_holding_growing_below_it(settings: Settings) -> None:
    settings.TIER_UPGRADE_AGE_S = 600
    key = fresh_wallet(tokens=Decimal(500))
    agreed_with(key, tier="pro")
    found = holdings.load_terms(key.address, now=timezone.now())
    assert found.pending_tier is not None
    assert (found.tier, found.factor, found.pending_tier.tier) == (PRO, EIGHT, PREMIUM)
