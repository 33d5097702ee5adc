"""Sales on the overview: by day and hour beside those of a week before, best sellers and channels."""

import re
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Venue
from orders import reports
from tests.support import builders, users
from tests.support.query_counts import costing

NOW = datetime(2031, 5, 7, 18, 0, tzinfo=UTC)


@pytest.fixture
def osteria(db: None) -> Venue:
    return builders.venue("Osteria", timezone="UTC", currency="EUR")


def sell(venue: Venue, at: datetime, *, quantity: int = 1, channel: str | None = None) -> None:
    with time_machine.travel(at, tick=False):
        items = [{"menu_item_id": "margherita", "quantity": quantity}]
        builders.order(venue, status="completed", now=at, items=items, channel=channel)


def bars_of(page: str) -> list[str]:
    """What the bars of the charts say."""
    return list(re.findall("<title>([^<]+)</title>", page))


@pytest.mark.exhaustive
def test_sales_are_beside_those_of_a_week_before(osteria: Venue) -> None:
    builders.menu(osteria)
    sell(osteria, NOW - timedelta(hours=1), quantity=2, channel="web")
    sell(osteria, NOW - timedelta(days=1), channel="web")
    sell(osteria, NOW - timedelta(days=7, hours=3), quantity=3)
    sell(osteria, NOW - timedelta(days=20))
    with time_machine.travel(NOW, tick=False):
        page = users.member(osteria).get(f"/dashboard/{osteria.public_id}/reports/week").content.decode()
    bars = bars_of(page)
    assert bars[5:7] == [
        "Tuesday 6 May: €9.50, a week before €0.00",
        "Wednesday 7 May: €19.00, a week before €28.50",
    ]
    assert bars[7:] == [
        "15:00: €0.00, a week before €28.50",
        "16:00: €0.00, a week before €0.00",
        "17:00: €19.00, a week before €0.00",
    ]
    assert len(re.findall('class="before" x=', page)) == 2
    assert re.findall('<li><bdi>([^<]+)</bdi> <span class="number">([0-9]+)', page) == [
        ("Margherita", "3"),
        ("web", "2"),
    ]


def test_the_hours_of_today_are_compared_up_to_now(osteria: Venue) -> None:
    builders.menu(osteria)
    sell(osteria, NOW - timedelta(hours=1))
    for hours in (3, -2):
        sell(osteria, NOW - timedelta(days=7, hours=hours))
    with time_machine.travel(NOW, tick=False):
        page = users.member(osteria).get(f"/dashboard/{osteria.public_id}/reports/week").content.decode()
    assert "a week before: €19.00, until now €9.50" in page
    assert "20:00: €0.00, a week before €9.50" in page
    # Of the bars by day only that of today is lighter: the day is not over.
    assert page.count('class="a unfinished"') == 1


def test_a_venue_without_orders_sees_no_empty_charts(osteria: Venue) -> None:
    page = users.member(osteria).get(f"/dashboard/{osteria.public_id}/reports/week").content.decode()
    assert page.count("Nothing in these two weeks.") == 1
    assert "Sales by hour today" not in page
    assert page.count("No completed orders.") == 2


def test_open_orders_of_today_are_said_to_count_later(osteria: Venue) -> None:
    with time_machine.travel(NOW, tick=False):
        for days_ago in (0, 0, 1):
            builders.order(osteria, now=NOW - timedelta(days=days_ago))
        page = users.member(osteria).get(f"/dashboard/{osteria.public_id}/reports/week").content.decode()
    assert "2 open orders of today count when they are completed." in page


def test_sales_of_the_week_cost_five_queries(osteria: Venue) -> None:
    owner = users.member(osteria)
    path = f"/dashboard/{osteria.public_id}/reports/week"
    owner.get(path)
    # The session, the user, the venue and the membership are four more.
    with costing(9):
        owner.get(path)


def test_a_role_without_the_right_to_see_sales_gets_none(osteria: Venue) -> None:
    assert users.member(osteria, "kitchen").get(f"/dashboard/{osteria.public_id}/reports/week").status_code == 403
    assert (
        f"/dashboard/{osteria.public_id}/reports/week"
        not in users.member(osteria, "kitchen").get(f"/dashboard/{osteria.public_id}").content.decode()
    )


@pytest.mark.exhaustive
def test_channels_are_counted_with_their_share(osteria: Venue) -> None:
    for channel in ("web", "web", None):
        sell(osteria, NOW, channel=channel)
    assert reports.count_channels(osteria, reports.Period(NOW.date(), NOW.date())) == [("web", 2, 67), ("", 1, 33)]


def test_the_database_returns_the_ten_channels_with_the_most_orders(
    osteria: Venue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reports, "MAX_CHANNELS", 1)
    for channel in ("web", "web", None):
        sell(osteria, NOW, channel=channel)
    with CaptureQueriesContext(connection) as captured:
        assert reports.count_channels(osteria, reports.Period(NOW.date(), NOW.date())) == [("web", 2, 67)]
    assert [query["sql"].endswith("LIMIT 1") for query in captured.captured_queries] == [True]
