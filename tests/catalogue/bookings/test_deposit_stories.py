"""Random stories of deposits (deposit_stories.py): nobody is out of a table and out of money, whatever fails.

After each story book, ledger and chain agree: what has arrived on the chain is in the ledger; each deposit that
arrived is held for a confirmed reservation with its table, is kept for a reason, or goes back; no guest has two tables
or has paid twice; and no booking that was acknowledged is missing.
"""

from decimal import Decimal

import pytest
from django.utils import timezone

from framework.consistency import all_checks
from tests.catalogue.bookings import deposit_builders
from tests.catalogue.bookings.deposit_stories import Story, opened
from tests.reservations import consistency
from tests.support.wallets import fresh_wallet

pytestmark = pytest.mark.django_db(transaction=True)

PARTS = 20


def check_stories(numbers: range) -> None:
    wallets = [fresh_wallet(Decimal(100_000)) for _ in range(3)]
    with opened(wallets, fresh_wallet()) as shop:
        for number in numbers:
            story = Story(number, shop).run()
            wrong = [*story.complaints, *deposit_builders.problems(arrived=shop.arrived)]
            wrong += [str(each) for each in consistency.problems()]
            assert not wrong, "\n".join([*wrong, str(story)])
    findings = [finding for check in all_checks(now=timezone.now()).values() for finding in check]
    assert findings == []


@pytest.mark.usefixtures("prices")
def test_no_fault_costs_a_guest_the_table_and_the_money() -> None:
    check_stories(range(4))


@pytest.mark.usefixtures("prices")
@pytest.mark.exhaustive
def test_no_fault_of_twelve_stories_costs_a_guest_the_table_and_the_money() -> None:
    check_stories(range(4, 16))


@pytest.mark.usefixtures("prices")
@pytest.mark.deep
@pytest.mark.parametrize("part", range(PARTS))
def test_no_fault_of_2000_stories_costs_a_guest_the_table_and_the_money(part: int) -> None:
    check_stories(range(100 + 100 * part, 200 + 100 * part))
