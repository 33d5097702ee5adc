"""What models may cost in a day: never more, however many ask at once."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from threading import Barrier
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from catalogue import insights
from catalogue.insights.pipeline import cost_budget
from catalogue.insights.pipeline import refresh as pipeline_refresh
from catalogue.insights.pipeline.cost_budget import JobResult
from catalogue.insights.providers.base import TokenUsage
from catalogue.insights.providers.registry import ProviderVersion
from catalogue.models import Insight, InsightCall, InsightDemand, Restaurant
from tests.catalogue import builders
from tests.catalogue.builders import NOW
from tests.catalogue.insights.fake_llm import COST, RESERVED, FakeLLM, set_prices
from tests.catalogue.insights.test_refresh import HOUR, of, reviewed

AUTHOR = ProviderVersion("anthropic", "1", "small")
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _prices(settings: Any) -> None:
    set_prices(settings)
    pipeline_refresh._warn_budget_spent.cache_clear()  # noqa: SLF001  # said once a day in each process


def reserve(place: Restaurant, *, max_cost: Decimal = RESERVED, now: datetime = NOW) -> InsightCall | JobResult:
    return cost_budget.reserve(place.pk, version=AUTHOR, digest="0" * 64, max_cost_usd=max_cost, now=now)


def refresh(model: FakeLLM, *, after: timedelta = timedelta(0), **asked: Any) -> int:
    return insights.refresh(now=NOW + after, max_reviews=100, provider=model, **asked)


def test_a_cost_is_rounded_up(settings: Any) -> None:
    settings.INSIGHT_INPUT_USD = settings.INSIGHT_OUTPUT_USD = Decimal("0.25")
    assert cost_budget.cost_usd(TokenUsage(input=1, output=0)) == Decimal("0.000001")
    assert cost_budget.cost_usd(TokenUsage(input=4_000_000, output=400_000)) == Decimal("1.100000")
    assert cost_budget.cost_usd(TokenUsage(input=0, output=0)) == 0


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_eight_workers_at_once_never_exceed_the_budget_of_a_day(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cost_budget, "MAX_OPEN_CALLS", 100)
    settings.INSIGHT_DAILY_BUDGET_USD = 11 * RESERVED
    places = [builders.restaurant() for _ in range(40)]
    start = Barrier(8)

    def work(number: int) -> list[InsightCall | JobResult]:
        try:
            start.wait()
            return [reserve(place) for place in places[number::8]]
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        made = [call for each in threads.map(work, range(8)) for call in each]
    assert sum(isinstance(call, InsightCall) for call in made) == InsightCall.objects.count() == 11
    assert {call for call in made if not isinstance(call, InsightCall)} == {JobResult.BUSY}
    assert cost_budget.daily_spending(NOW).total == settings.INSIGHT_DAILY_BUDGET_USD


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_eight_workers_spend_a_budget_to_the_last_call_that_fits(settings: Any) -> None:
    settings.INSIGHT_DAILY_BUDGET_USD = 5 * COST + RESERVED
    for _ in range(20):
        reviewed()
    model = FakeLLM()

    def work(_: int) -> None:
        try:
            while refresh(model):
                pass
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(8)))
    while refresh(model):
        pass
    today = cost_budget.daily_spending(NOW)
    # Whoever reserves leaves no room for one more, although half of it comes back.
    assert len(model.requests) == today.calls == 6
    assert (today.spent, today.reserved) == (6 * COST, Decimal(0))
    assert Insight.objects.count() == 20


def test_what_others_have_reserved_may_come_back_so_they_are_waited_for(settings: Any) -> None:
    settings.INSIGHT_DAILY_BUDGET_USD = RESERVED
    first, second = builders.restaurant(), builders.restaurant()
    call = reserve(first)
    assert isinstance(call, InsightCall)
    assert reserve(second) is JobResult.BUSY
    assert cost_budget.settle(call, outcome="written", reason="", usage=TokenUsage(500, 50), now=NOW)
    assert reserve(second) is JobResult.BUDGET_SPENT
    assert InsightCall.objects.count() == 1


def test_a_call_is_settled_once_and_one_of_a_dead_worker_keeps_its_reserve() -> None:
    call, lost = reserve(builders.restaurant()), reserve(builders.restaurant())
    assert isinstance(call, InsightCall)
    assert isinstance(lost, InsightCall)
    assert cost_budget.settle(call, outcome="failed", reason="x" * 900, usage=None, now=NOW)
    assert not cost_budget.settle(call, outcome="written", reason="", usage=TokenUsage(1, 1), now=NOW)
    call.refresh_from_db()
    assert (call.outcome, len(call.reason), call.cost_usd) == ("failed", 500, RESERVED)
    assert cost_budget.close_abandoned_calls(now=NOW + cost_budget.CALL_TIMEOUT) == 0
    assert cost_budget.close_abandoned_calls(now=NOW + cost_budget.CALL_TIMEOUT + timedelta(seconds=1)) == 1
    assert cost_budget.daily_spending(NOW).spent == 2 * RESERVED


def test_of_a_restaurant_one_call_is_open_and_of_all_a_few() -> None:
    place = builders.restaurant()
    reserve(place)
    assert reserve(place) is JobResult.SUPERSEDED
    with pytest.raises(IntegrityError, match="unique_open_insight_call"), transaction.atomic():
        InsightCall.objects.create(restaurant=place, provider="x", model="y", cost_usd=0, started_at=NOW)
    for _ in range(cost_budget.MAX_OPEN_CALLS - 1):
        assert isinstance(reserve(builders.restaurant()), InsightCall)
    assert reserve(builders.restaurant()) is JobResult.BUSY


def test_a_day_is_one_of_utc(settings: Any) -> None:
    settings.INSIGHT_DAILY_BUDGET_USD = RESERVED
    late = datetime(2026, 11, 21, 23, 59, 59, tzinfo=UTC)
    call = reserve(builders.restaurant(), now=late)
    assert isinstance(call, InsightCall)
    cost_budget.settle(call, outcome="failed", reason="", usage=None, now=late)
    assert reserve(builders.restaurant(), now=late) is JobResult.BUDGET_SPENT
    assert isinstance(reserve(builders.restaurant(), now=late + timedelta(seconds=1)), InsightCall)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("price", "is_asked"), [("0", True), ("1", False)])
def test_without_a_budget_only_a_free_model_is_called(settings: Any, price: str, is_asked: bool) -> None:
    settings.INSIGHT_INPUT_USD = settings.INSIGHT_OUTPUT_USD = Decimal(price)
    settings.INSIGHT_DAILY_BUDGET_USD = Decimal(0)
    place = reviewed()
    model = FakeLLM()
    assert [refresh(model), refresh(model, after=HOUR)] == [1, 0]
    assert bool(model.requests) is is_asked
    assert of(place).provider == ("anthropic" if is_asked else "extractive")
    assert InsightCall.objects.count() == is_asked


@pytest.mark.exhaustive
def test_when_the_budget_is_spent_our_own_program_writes_and_the_next_day_the_model_does(
    settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.INSIGHT_DAILY_BUDGET_USD = RESERVED
    first, second = reviewed(6), reviewed(5)
    InsightDemand.objects.create(restaurant=second, first_requested_at=NOW, last_requested_at=NOW)
    model = FakeLLM()
    # Midday of a day, so that an hour later is the same one.
    noon = NOW.replace(hour=12) - NOW
    assert [refresh(model, after=noon), refresh(model, after=noon + HOUR)] == [2, 0]
    assert (of(second).provider, of(first).provider) == ("anthropic", "extractive")
    rows = [record.getMessage() for record in caplog.records]
    assert rows == [f"The insight budget of {NOW:%Y-%m-%d} is spent; insights are counted by our own program."]
    assert refresh(model, after=noon + timedelta(days=1)) == 1
    assert (of(first).provider, len(model.requests)) == ("anthropic", 2)


@pytest.mark.exhaustive
def test_without_budget_the_text_of_a_model_is_served_until_it_is_stale(settings: Any) -> None:
    place = reviewed(6)
    model = FakeLLM()
    refresh(model)
    settings.INSIGHT_DAILY_BUDGET_USD = Decimal(0)
    reviewed(5)
    assert refresh(model, after=HOUR) == 1
    assert of(place).text == "A model has read 6 reviews."


@pytest.mark.exhaustive
def test_request_remains_after_the_fallback_wrote_the_insight(settings: Any) -> None:
    settings.INSIGHT_DAILY_BUDGET_USD = Decimal(0)
    place = reviewed()
    InsightDemand.objects.create(restaurant=place, first_requested_at=NOW, last_requested_at=NOW)
    model = FakeLLM()
    assert [refresh(model, requested_only=True), refresh(model, requested_only=True)] == [1, 0]
    assert InsightDemand.objects.get().restaurant_id == place.pk
    settings.INSIGHT_DAILY_BUDGET_USD = Decimal(1)
    assert refresh(model, requested_only=True) == 1
    assert not InsightDemand.objects.exists()
