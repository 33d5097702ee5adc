"""Random stories of faults (tests/payments/faults.py): no answer is served unpaid, and no charge is lost.

After each story: every answer came in time; each payment has bought one answer at most; what was served has arrived,
or a facilitator has lied about it and the payment is flagged (the lie costs us one answer); what has arrived was
served, or is served to its payer, or its refund is due; and the sum of the ledger is what has arrived on the chain.
"""

import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import timedelta
from decimal import Decimal

import pytest
from django.conf import settings
from django.db import connection
from django.db.models import F, QuerySet, Sum
from django.test import override_settings
from django.utils import timezone

from payments.devchain.wallets import Wallet
from payments.ledger import reconcile, transitions
from payments.models import Payment, PaymentEvent
from tests.payments.buyer import aged, signed_by, with_quote
from tests.payments.facilitators import hangs_up, serving
from tests.payments.faults import Story, later
from tests.payments.short_timeouts import TIMEOUT_S
from tests.security.live_product import CONTEXT, MAX_RESPONSE_S, Shop, opened, stocked
from tests.support.wallets import fresh_wallet, usdc_balance

pytestmark = pytest.mark.django_db(transaction=True)

HURRIED = "tests.payments.short_timeout_app:application"
# What an answer takes besides waiting for the facilitator, on a machine that has other work.
BESIDES_S = MAX_RESPONSE_S - 8.0 + 3.0


def run_stories(shop: Shop, numbers: range, wallet: Wallet, friend: Wallet) -> list[Story]:
    """The stories of these numbers, one after the other."""
    try:
        return [Story(number, shop, wallet, friend).run() for number in numbers]
    finally:
        connection.close()


def reconciled() -> None:
    """Let the sweeps of the next quarter of an hour pass."""
    aged()
    now = timezone.now()
    for by in (timedelta(0), timedelta(minutes=2), timedelta(minutes=13)):
        # The chain's clock goes on as ours does.
        with serving(later(by)) as node, override_settings(RPC_URL=node.url):
            reconcile.sweep(now=now + by)
            # A sweep takes fifty at a time; there are more in the long run.
            while Payment.objects.filter(state__in=["claimed", "unknown"]).exists() and by:
                aged()
                if not reconcile.sweep(now=now + by):
                    break


def check(stories: list[Story], *, before: Decimal) -> None:
    """What has to hold."""
    reconciled()
    while confirmable().exists():
        left = confirmable().count()
        reconcile.sweep(now=timezone.now() + timedelta(minutes=13))
        if confirmable().count() == left:
            break
    wrong = [f"{complaint}, in {story}" for story in stories for complaint in story.wrongs()]
    assert not wrong, "\n\n".join(wrong)
    assert not Payment.objects.filter(state__in=["claimed", "unknown"]).exists()
    moves = PaymentEvent.objects.exclude(before=F("after")).values_list("before", "after").distinct()
    assert [move for move in moves if move[1] not in transitions.ALLOWED[move[0]]] == []
    assert max(story.max_duration_s for story in stories) < TIMEOUT_S + BESIDES_S
    paid = Payment.objects.filter(state__in=Payment.PAID)
    found_out = paid.filter(block=None).exclude(error="")
    lied = [payment for story in stories for payment in story.payments if payment.is_lied_about]
    assert found_out.count() <= len(lied)
    in_ledger = paid.exclude(pk__in=found_out.values("pk")).aggregate(total=Sum("amount_usdc"))["total"]
    assert usdc_balance(settings.PAY_TO) - before == (in_ledger or 0)


def confirmable() -> QuerySet[Payment]:
    """The lines that only a facilitator's word stands for."""
    return Payment.objects.filter(state__in=["settled", "delivered"], block=None, error="")


@pytest.mark.usefixtures("prices")
@pytest.mark.parametrize(
    ("stories", "shops"),
    [pytest.param(12, 1, marks=pytest.mark.stack), pytest.param(200, 4, marks=pytest.mark.deep)],
    ids=["12", "200"],
)
def test_no_fault_serves_an_unpaid_request_or_charges_for_nothing(
    wallets: Mapping[str, Wallet], tmp_path_factory: pytest.TempPathFactory, stories: int, shops: int
) -> None:
    stocked()
    before = usdc_balance(settings.PAY_TO)
    with ExitStack() as held:
        at: list[Shop] = []
        for number in range(shops):
            # Every other one has a second facilitator, which does not fail.
            second = {"FACILITATOR_FALLBACK_URL": settings.FACILITATOR_URL} if number % 2 else {}
            directory = tmp_path_factory.mktemp("faults")
            at.append(held.enter_context(opened(directory, processes=1, application=HURRIED, **second)))
        with ThreadPoolExecutor(shops) as threads:
            work = [
                threads.submit(run_stories, shop, range(number, stories, shops), fresh_wallet(), fresh_wallet())
                for number, shop in enumerate(at)
            ]
            every = [story for one in work for story in one.result()]
        assert len(every) == stories
        check(every, before=before)


@pytest.mark.deep
def test_with_full_timeouts_an_answer_takes_at_most_eight_and_a_half_seconds(
    attacked: Shop, wallets: Mapping[str, Wallet]
) -> None:
    def hangs(_: bytes) -> None:
        time.sleep(12)

    for node in (attacked.node.script, hangs_up, hangs):
        attacked.mend()
        attacked.facilitator.script, attacked.node.script = hangs, node
        # Each request comes from another address: the secret of the 402 shows that they are of one client.
        headers = with_quote(signed_by(wallets["free"]))
        for web in range(2):
            began = time.monotonic()
            answer = attacked.ask(CONTEXT, headers, web=web)
            assert time.monotonic() - began < MAX_RESPONSE_S
            assert answer.status_code == 503
    attacked.mend()
    Payment.objects.update(state=Payment.State.EXPIRED)
