"""Insights by a model: asked outside of transactions, written if nothing has changed, else counted by us."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.db import connection

from catalogue import insights
from catalogue import places as catalogue_places
from catalogue.insights.pipeline import batch_job, cost_budget
from catalogue.insights.providers.base import InsightDraft, Reply, TokenUsage
from catalogue.models import Insight, InsightCall, InsightDemand, Restaurant
from tests.catalogue import builders
from tests.catalogue.builders import NOW
from tests.catalogue.insights.fake_llm import COST, RESERVED, USED, FakeLLM, Outcome, reply_without_draft, set_prices
from tests.catalogue.insights.test_refresh import HOUR, Counting, of, reviewed
from tests.support.live_server import database_url

DAY = timedelta(days=1)
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _prices(settings: Any) -> None:
    set_prices(settings)


def refresh(model: Any, *, after: timedelta = timedelta(0), **asked: Any) -> int:
    return insights.refresh(now=NOW + after, max_reviews=100, provider=model, **asked)


def test_a_model_writes_the_insight_and_its_cost_is_noted() -> None:
    place = reviewed()
    model = FakeLLM()
    assert [refresh(model), refresh(model, after=HOUR)] == [1, 0]
    insight, call = of(place), InsightCall.objects.get()
    assert (insight.text, insight.cost_usd) == ("A model has read 5 reviews.", COST)
    assert (insight.provider, insight.provider_version, insight.model) == ("anthropic", "1", "small")
    assert (insight.failed_at, insight.detail["disclosure"]) == (None, "By a model.")
    assert (call.outcome, call.cost_usd, call.input_tokens, call.output_tokens) == ("written", COST, 500, 50)
    assert (call.provider, call.provider_version, call.model) == ("anthropic", "1", "small")
    assert call.input_hash == insight.input_hash
    assert call.started_at <= call.ended_at < call.started_at + HOUR  # type: ignore[operator]
    assert model.requests == [place.name]


def test_the_same_input_is_never_paid_for_twice() -> None:
    place = reviewed()
    model = FakeLLM()
    refresh(model)
    assert refresh(model, after=timedelta(days=91)) == 1
    assert len(model.requests) == 1
    assert of(place).generated_at >= NOW + timedelta(days=91)
    assert of(place).cost_usd == COST
    assert refresh(model, after=timedelta(days=91, hours=1)) == 0


@pytest.mark.django_db(transaction=True)
def test_model_is_called_outside_of_transactions_after_its_reservation_is_committed() -> None:
    reviewed()
    seen = []

    def look(_: Any) -> None:
        def elsewhere() -> Any:
            try:
                return InsightCall.objects.values_list("outcome", "cost_usd").get()
            finally:
                connection.close()

        with ThreadPoolExecutor(1) as thread:
            seen.append((connection.in_atomic_block, thread.submit(elsewhere).result()))

    refresh(FakeLLM(on_request=look))
    assert seen == [(False, ("pending", RESERVED))]


@pytest.mark.exhaustive
@pytest.mark.parametrize("outcome", [Outcome.REFUSED, Outcome.REJECTED, Outcome.FAILED])
def test_after_a_failed_call_the_fallback_writes_and_the_model_is_not_called_again_that_day(outcome: Outcome) -> None:
    place = reviewed()
    model = FakeLLM(reply_without_draft(outcome))
    assert [refresh(model), refresh(model, after=HOUR)] == [1, 0]
    insight, call = of(place), InsightCall.objects.get()
    assert (insight.provider, insight.provider_version, insight.model) == ("extractive", insights.FALLBACK.version, "")
    assert "tonkotsu ramen" in insight.text
    assert insight.cost_usd == 0
    assert insight.failed_at is not None
    assert (call.outcome, call.reason, call.cost_usd) == (outcome, "It would not.", COST)
    # What is served is of now, so it is not called stale.
    assert not Insight.objects.filter(
        insights.stale_condition(model, now=NOW + HOUR, restaurant="restaurant__")
    ).exists()


@pytest.mark.exhaustive
@pytest.mark.parametrize(("outcome", "asked"), [(Outcome.REFUSED, 1), (Outcome.REJECTED, 1), (Outcome.FAILED, 2)])
def test_after_a_day_the_same_input_is_retried_only_if_the_call_failed(outcome: Outcome, asked: int) -> None:
    reviewed()
    model = FakeLLM(reply_without_draft(outcome))
    refresh(model)
    assert [refresh(model, after=DAY + HOUR), refresh(model, after=DAY + 2 * HOUR)] == [asked - 1, 0]
    assert len(model.requests) == asked


@pytest.mark.exhaustive
def test_declined_input_is_requested_again_after_the_reviews_changed() -> None:
    place = reviewed()
    model = FakeLLM(reply_without_draft(Outcome.REJECTED))
    refresh(model)
    for _ in range(5):
        builders.review(place, "And the gyoza.")
    Restaurant.objects.filter(pk=place.pk).update(review_count=10)
    assert refresh(model, after=DAY + HOUR) == 1
    assert len(model.requests) == 2


def test_a_count_above_what_can_have_been_used_is_doubted(settings: Any) -> None:
    settings.INSIGHT_INPUT_USD = settings.INSIGHT_OUTPUT_USD = Decimal(600)
    settings.INSIGHT_DAILY_BUDGET_USD = Decimal(10)
    place = reviewed()
    draft = InsightDraft(text="Read with care.", disclosure="")
    refresh(FakeLLM(Reply(outcome=Outcome.WRITTEN, draft=draft, usage=TokenUsage(1_000_000_000, 1_000_000_000))))
    call = InsightCall.objects.get()
    assert (call.outcome, call.cost_usd, call.input_tokens) == ("written", Decimal("0.660000"), None)
    assert of(place).text == "Read with care."


@pytest.mark.exhaustive
def test_what_a_model_has_declined_is_not_written_again_each_day() -> None:
    place = reviewed()
    model = FakeLLM(reply_without_draft(Outcome.REJECTED))
    refresh(model)
    before = of(place)
    assert [refresh(model, after=days * DAY + HOUR) for days in (1, 2, 3)] == [0, 0, 0]
    assert (of(place).updated_at, of(place).failed_at) == (before.updated_at, before.failed_at)
    builders.review(place, "And the gyoza.")
    assert refresh(FakeLLM(), after=4 * DAY) == 1
    assert of(place).text == "A model has read 6 reviews."


def test_invalidated_insight_is_requested_again_although_it_was_declined() -> None:
    place = reviewed()
    refresh(FakeLLM(reply_without_draft(Outcome.REJECTED)))
    insights.invalidate(Insight.objects.all())
    assert refresh(FakeLLM(), after=HOUR) == 1
    assert of(place).text == "A model has read 5 reviews."


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (Reply(outcome=Outcome.WRITTEN, usage=USED), "failed"),
        (Reply(outcome=Outcome.WRITTEN, draft=InsightDraft(text="a" * 601, disclosure=""), usage=USED), "rejected"),
        (Reply(outcome=Outcome.REJECTED, draft=InsightDraft(text="Buy here!", disclosure=""), usage=USED), "rejected"),
    ],
    ids=["no-draft", "too-long", "rejected-with-a-draft"],
)
def test_a_reply_that_is_no_insight_is_never_written(reply: Reply, outcome: str) -> None:
    place = reviewed()
    refresh(FakeLLM(reply))
    assert (of(place).provider, InsightCall.objects.get().outcome) == ("extractive", outcome)


def test_a_provider_that_raises_closes_its_call_and_keeps_its_reserve(caplog: pytest.LogCaptureFixture) -> None:
    place = reviewed()

    def fail(_: Any) -> None:
        raise ZeroDivisionError

    assert refresh(FakeLLM(on_request=fail)) == 1
    call = InsightCall.objects.get()
    assert (call.outcome, call.reason, call.cost_usd) == ("failed", "ZeroDivisionError", RESERVED)
    assert of(place).provider == "extractive"
    assert [record.getMessage() for record in caplog.records] == [f"No reply about restaurant {place.slug}"]


@pytest.mark.exhaustive
@pytest.mark.parametrize("change", ["review", "forget", "other", "erase"])
def test_what_has_changed_while_the_model_wrote_drops_its_text(change: str) -> None:
    place = reviewed()
    builders.insight(place, "Of before.", provider_version="0")

    def happen(_: Any) -> None:
        match change:
            case "review":
                builders.review(place, "The soup was cold.", stars=1)
            case "forget":
                insights.invalidate(Insight.objects.all())
            case "other":
                Insight.objects.update(text="Of another worker.", generated_at=NOW + HOUR)
            case "erase":
                catalogue_places.erase(place, actor="staff:7", now=NOW)

    refresh(FakeLLM(on_request=happen))
    call = InsightCall.objects.get()
    assert (call.outcome, call.cost_usd) == ("dropped", COST)
    texts = {"other": ["Of another worker."], "erase": []}.get(change, ["Of before."])
    assert list(Insight.objects.values_list("text", flat=True)) == texts


@pytest.mark.exhaustive
def test_a_model_that_gives_no_answers_is_left_alone_for_a_while(caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(6):
        reviewed()
    model = FakeLLM(reply_without_draft(Outcome.FAILED))
    assert refresh(model) == 6
    assert len(model.requests) == cost_budget.MAX_FAILURES
    assert set(Insight.objects.values_list("provider", flat=True)) == {"extractive"}
    assert "The model does not answer and rests" in caplog.text
    refresh(model, after=timedelta(minutes=9))
    assert len(model.requests) == cost_budget.MAX_FAILURES
    refresh(model, after=timedelta(minutes=11))
    # One more shows that it is still away.
    assert len(model.requests) == cost_budget.MAX_FAILURES + 1


def test_a_restaurant_that_has_fewer_reviews_than_it_counts_costs_nothing() -> None:
    place = reviewed(3)
    Restaurant.objects.filter(pk=place.pk).update(review_count=40)
    model = FakeLLM()
    assert [refresh(model), refresh(model, after=HOUR)] == [1, 0]
    assert (model.requests, of(place).text) == ([], "")


@pytest.mark.exhaustive
def test_requested_insight_is_written_first_and_its_request_is_deleted() -> None:
    places = {number: reviewed(number, name=f"With {number}") for number in (5, 6, 7)}
    for place, asked in ((places[5], 3), (places[6], 9)):
        InsightDemand.objects.create(
            restaurant=place, request_count=asked, first_requested_at=NOW, last_requested_at=NOW
        )
    model = FakeLLM()
    assert refresh(model, requested_only=True) == 2
    assert model.requests == ["With 6", "With 5"]
    assert not InsightDemand.objects.exists()
    assert refresh(model) == 1


def test_local_provider_writes_requested_insights_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_job, "BATCH_REVIEWS", 5)
    places = [reviewed(number, name=f"With {number}") for number in (5, 6, 7)]
    InsightDemand.objects.create(restaurant=places[0], first_requested_at=NOW, last_requested_at=NOW)
    provider = Counting()
    assert insights.refresh(now=NOW, max_reviews=1, provider=provider) == 1
    assert provider.requests == ["With 5"]
    assert not InsightDemand.objects.exists()
    assert refresh(provider, requested_only=True) == 0


def test_demand_that_could_not_be_met_is_forgotten_after_a_month() -> None:
    place = reviewed(2)
    InsightDemand.objects.create(restaurant=place, first_requested_at=NOW, last_requested_at=NOW)
    assert insights.delete_old_requests(now=NOW + timedelta(days=30)) == 0
    assert insights.delete_old_requests(now=NOW + timedelta(days=31)) == 1


WORKER = """
import os, signal
from datetime import datetime
from catalogue import insights
from catalogue.insights.pipeline import persistence
from tests.catalogue.insights.fake_llm import FakeLLM

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def charged(_):
    with open({ledger!r}, "a") as ledger:
        ledger.write("charged\\n")
    if {where!r} == "asking":
        die()

if {where!r} == "writing":
    persistence.upsert_rows = die
insights.refresh(now=datetime.fromisoformat({now!r}), max_reviews=100, provider=FakeLLM(on_request=charged))
"""


@pytest.mark.stack
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("where", ["asking", "writing"])
def test_killed_worker_loses_nothing_and_costs_at_most_one_extra_call(where: str, tmp_path: Any) -> None:
    place = reviewed()
    ledger = tmp_path / "ledger"

    code = WORKER.format(ledger=str(ledger), where=where, now=NOW.isoformat())
    prices = {"INSIGHT_INPUT_USD": "1", "INSIGHT_OUTPUT_USD": "2", "INSIGHT_DAILY_BUDGET_USD": "1"}
    killed = subprocess.run(
        [sys.executable, "manage.py", "shell", "-v", "0", "-c", code],
        cwd=django_settings.BASE_DIR,
        env={**os.environ, "DATABASE_URL": database_url(), **prices},
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    assert ledger.read_text() == "charged\n"
    assert not Insight.objects.exists()
    call = InsightCall.objects.get()
    assert (call.outcome, call.cost_usd) == ("pending", RESERVED)
    # While its worker could still be alive nobody asks again.
    assert refresh(FakeLLM(on_request=lambda _: pytest.fail("asked twice")), after=timedelta(seconds=60)) == 0
    model = FakeLLM()
    assert refresh(model, after=cost_budget.CALL_TIMEOUT + timedelta(seconds=1)) == 1
    assert of(place).text == "A model has read 5 reviews."
    lost, done = InsightCall.objects.order_by("started_at")
    assert (lost.outcome, lost.cost_usd, done.outcome, done.cost_usd) == ("failed", RESERVED, "written", COST)
    assert refresh(model, after=HOUR) == 0
    assert len(model.requests) == 1


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_concurrent_workers_request_each_insight_once() -> None:
    for _ in range(8):
        reviewed()
    model = FakeLLM()

    def work() -> None:
        try:
            while refresh(model):
                pass
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        for each in [threads.submit(work) for _ in range(4)]:
            each.result()
    refresh(model)
    assert len(model.requests) == InsightCall.objects.filter(outcome="written").count() == 8
    assert Insight.objects.filter(provider="anthropic").count() == 8
