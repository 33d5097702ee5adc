"""The spending limit of an account: refused before the settlement, exact when many pay at once, and mailed once.

After each test what we have received on the chain is the sum of the ledger.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts import mail_outbox
from accounts.models import OutgoingMail, Venue
from framework.encryption import decrypt
from framework.errors import ApiError
from payments.checkout.spending_limit import SpendingLimitReached
from payments.devchain.wallets import Wallet as Key
from payments.ledger import transitions
from payments.models import Billing, Payment, Wallet
from payments.x402.receipts import Receipt
from tests.payments.buyer import STRANGER, at_once, buy, paid_by, refused, settled_by_third_party
from tests.support import users
from tests.support.wallets import usdc_balance

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("ledger_matches_chain")]
Limit = Callable[..., Billing]


@pytest.fixture
def key(wallets: Mapping[str, Key], venue: Venue) -> Key:
    """A wallet that is linked to the account of the venue, whose owner is owner@example.com."""
    users.membership(venue, person=users.user("owner@example.com"))
    users.membership(venue, "manager")
    Wallet.objects.create(address=wallets["free"].address, account=venue.account)
    return wallets["free"]


@pytest.fixture
def limit(venue: Venue) -> Limit:
    def create(usdc: str, *, percents: tuple[int, ...] = ()) -> Billing:
        return Billing.objects.create(
            account=venue.account, monthly_limit_usdc=Decimal(usdc), alert_percents=list(percents)
        )

    return create


def subjects() -> list[tuple[str, str]]:
    return list(OutgoingMail.objects.order_by("pk").values_list("address", "subject"))


@pytest.mark.exhaustive
def test_a_payment_over_the_limit_is_refused_and_not_charged(key: Key, limit: Limit) -> None:
    limit("0.005")
    first = paid_by(key)
    buy(first)
    buy(paid_by(key))
    before = usdc_balance(key.address)
    error = refused(paid_by(key))
    assert (error.code, error.status) == ("spending_limit_reached", 403)
    assert (error.extra["limit_usdc"], error.extra["spent_usdc"]) == ("0.005", "0.004")
    assert error.extra["resets_at"].endswith("-01T00:00:00Z")
    assert "0.005 USDC a month, of which 0.001 are left. Nothing was charged." in error.message
    assert (usdc_balance(key.address), Payment.objects.count()) == (before, 2)
    # What was bought before is served again.
    assert isinstance(buy(first), Receipt)


@pytest.mark.exhaustive
def test_forty_payments_at_once_never_exceed_the_limit(
    key: Key, limit: Limit, venue: Venue, wallets: Mapping[str, Key]
) -> None:
    other = wallets["pro"]
    Wallet.objects.create(address=other.address, account=venue.account)
    limit("0.01", percents=(50, 80, 100))
    payments = iter([paid_by(payer) for payer in (key, other) for _ in range(20)])
    results = at_once(40, lambda: buy(next(payments)))
    counted = Counter(type(result) for result in results)
    # Others may be refused because too many settle at a time.
    assert (counted[Receipt], counted.total()) == (5, 40)
    assert counted[SpendingLimitReached] >= 30
    assert sum(payment.amount_usdc for payment in Payment.objects.all()) == Decimal("0.01")
    # At most once for each threshold, however many reach it at once.
    assert subjects() == [
        ("owner@example.com", "Trattoria Ltd has used 50 % of its spending limit"),
        ("owner@example.com", "Trattoria Ltd has used 80 % of its spending limit"),
        ("owner@example.com", "Trattoria Ltd has reached its spending limit"),
    ]


@pytest.mark.exhaustive
def test_a_payer_without_a_limit_costs_no_query_more(key: Key, limit: Limit) -> None:
    def count() -> int:
        headers = paid_by(key)
        with CaptureQueriesContext(connection) as queries:
            buy(headers)
        return len(queries)

    buy(paid_by(key))
    before = count()
    billing = limit("5")
    assert count() == before + 4  # BEGIN and COMMIT of the claim, the lock, the sum
    Billing.objects.filter(pk=billing.pk).update(monthly_limit_usdc=None)
    assert count() == before


@pytest.mark.exhaustive
def test_a_threshold_is_mailed_once_a_month(key: Key, limit: Limit) -> None:
    limit("0.004", percents=(50, 100))
    for _ in range(2):
        buy(paid_by(key))
    for _ in range(2):
        assert isinstance(refused(paid_by(key)), SpendingLimitReached)
    assert [subject for _, subject in subjects()] == [
        "Trattoria Ltd has used 50 % of its spending limit",
        "Trattoria Ltd has reached its spending limit",
    ]
    # A month later.
    Payment.objects.update(created_at=timezone.now() - timedelta(days=40))
    Billing.objects.update(alerted_month=timezone.now().date() - timedelta(days=40))
    buy(paid_by(key))
    assert len(subjects()) == 3


def test_a_refusal_below_the_limit_is_mailed_as_such_once_a_month(key: Key, limit: Limit) -> None:
    limit("0.003", percents=(90, 100))
    buy(paid_by(key))
    assert subjects() == []
    for _ in range(2):
        assert isinstance(refused(paid_by(key)), SpendingLimitReached)
    refusal = "A payment of Trattoria Ltd would exceed its spending limit and was refused"
    assert [subject for _, subject in subjects()] == [refusal]
    text = decrypt(OutgoingMail.objects.get().text, purpose=mail_outbox.PURPOSE)
    assert "a payment of 0.002 USDC was refused and not charged" in text
    assert "have paid 0.002 of 0.003 USDC" in text
    # The limit is reached later, and then that is mailed.
    Billing.objects.update(monthly_limit_usdc=Decimal("0.004"))
    buy(paid_by(key))
    assert [subject for _, subject in subjects()] == [refusal, "Trattoria Ltd has reached its spending limit"]


def test_money_that_goes_back_leaves_the_limit_free(key: Key, limit: Limit) -> None:
    limit("0.002")
    receipt = buy(paid_by(key))
    assert isinstance(refused(paid_by(key)), SpendingLimitReached)
    Payment.objects.update(block=1)
    transitions.mark_refund_due(receipt.payment, reason=Payment.RefundReason.GOODWILL, by="finance")
    assert isinstance(buy(paid_by(key)), Receipt)


def test_money_that_was_sent_already_is_not_refused_and_counts(key: Key, limit: Limit) -> None:
    limit("0.002")
    buy(paid_by(key))
    headers = paid_by(key)
    settled_by_third_party(headers)
    # Its payer is not proven, so it is kept for them.
    error = refused(headers, caller=STRANGER)
    assert isinstance(error, ApiError)
    assert error.code == "payment_rejected"
    assert Payment.objects.filter(state=Payment.State.REFUND_DUE).count() == 1


def test_the_account_at_the_time_of_a_payment_counts(key: Key, limit: Limit, venue: Venue) -> None:
    Wallet.objects.update(account=None)
    buy(paid_by(key))
    limit("0.002")
    Wallet.objects.update(account=venue.account)
    # What the wallet has paid before does not count.
    buy(paid_by(key))
    assert isinstance(refused(paid_by(key)), SpendingLimitReached)
    # Other payers have no limit.
    Wallet.objects.update(account=None)
    assert isinstance(buy(paid_by(key)), Receipt)
    # What it has paid for the account still counts.
    Wallet.objects.update(account=venue.account)
    assert isinstance(refused(paid_by(key)), SpendingLimitReached)
    accounts = [payment.account_id for payment in Payment.objects.order_by("created_at")]
    assert accounts == [None, venue.account.pk, None]
