"""Insights that somebody wants to buy: written in the call, or noted for a worker; and those that wait for staff."""

import threading
import time
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
import redis
from django.conf import settings as django_settings
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from catalogue import field_groups, insights, responses
from catalogue.insights.pipeline import batch_job, refresh
from catalogue.models import Insight, InsightDemand, Restaurant
from payments.devchain.wallets import Wallet
from payments.models import Product
from tests.catalogue import builders
from tests.catalogue.builders import NOW
from tests.catalogue.insights.fake_llm import FakeLLM, set_prices
from tests.catalogue.insights.test_refresh import HOUR, of, reviewed
from tests.mcp.client import call
from tests.payments.buyer import signed_by
from tests.payments.signing import client_of

Wallets = Mapping[str, Wallet]
MINUTE = timedelta(minutes=1)


def enqueued_tasks() -> int:
    """How many tasks wait for a worker."""
    with redis.Redis.from_url(django_settings.CELERY_BROKER_URL) as broker:
        return int(broker.llen(django_settings.CELERY_TASK_DEFAULT_QUEUE))


def wanted(place: Restaurant, **rest: Any) -> Any:
    """What a buyer is told."""
    return responses.insight(place.slug, {"citations": 10}, now=rest.pop("now", NOW), is_buyer=lambda: True, **rest)


@pytest.fixture
def by_model(settings: Any) -> None:
    """Insights are by a model, which nobody asks here."""
    settings.INSIGHT_PROVIDER, settings.INSIGHT_MODEL, settings.INSIGHT_API_KEY = "anthropic", "small", "secret"
    set_prices(settings)


@pytest.fixture
def place(prices: None) -> Restaurant:
    """A restaurant whose insight nobody has written."""
    return reviewed(6)


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("path", ["/v1/restaurants/{}?fields=ai_insight", "/v1/restaurants/{}/insight"])
def test_insight_is_written_for_a_buyer_before_the_quote(place: Restaurant, wallets: Wallets, path: str) -> None:
    assert client_of(wallets["premium"]).get(path.format(place.slug)).status_code == 402
    assert "the tonkotsu ramen (6 of 6 reviews)" in of(place).text


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("tool", ["get_insight", "buy_parts"])
def test_a_model_that_could_buy_an_insight_has_it_written_too(place: Restaurant, wallets: Wallets, tool: str) -> None:
    arguments: dict[str, Any] = {"slug": place.slug}
    if tool == "buy_parts":
        arguments["fields"] = ["ai_insight"]
    assert call(client_of(wallets["premium"]), tool, **arguments)["isError"] is True
    assert of(place).text


@pytest.mark.django_db(transaction=True)
def test_a_payment_in_hand_makes_a_buyer(place: Restaurant, wallets: Wallets) -> None:
    answer = Client().get(f"/v1/restaurants/{place.slug}/insight", headers=signed_by(wallets["premium"], value=5))
    assert answer.status_code in (402, 403)
    assert of(place).text


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("who", ["nobody", "pro", "not sold"])
def test_nothing_is_written_or_queued_for_a_caller_who_cannot_buy(
    place: Restaurant, wallets: Wallets, who: str
) -> None:
    client = Client() if who == "nobody" else client_of(wallets["pro" if who == "pro" else "premium"])
    if who == "not sold":
        Product.objects.filter(pk="ai_insight").update(from_tier="enterprise")
    enqueued = enqueued_tasks()
    answer = client.get(f"/v1/restaurants/{place.slug}/insight")
    assert (answer.status_code, answer.json()["ai_insight_reason"]) == (200, "not_written_yet")
    assert not Insight.objects.exists()
    assert not InsightDemand.objects.exists()
    assert enqueued_tasks() == enqueued


@pytest.mark.django_db
def test_stale_insight_is_rewritten_for_a_buyer() -> None:
    place = reviewed(6)
    builders.insight(place, "Of the year before.", generated_at=NOW - timedelta(days=365))
    assert b"Of the year before." not in wanted(place).body
    assert of(place).generated_at == NOW


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_large_restaurant_is_queued_once_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refresh, "MAX_SYNC_REVIEWS", 5)
    place = reviewed(6)
    enqueued = enqueued_tasks()
    for after in (timedelta(0), timedelta(seconds=59), MINUTE, timedelta(seconds=90)):
        assert b"not_written_yet" in wanted(place, now=NOW + after).body
    row = InsightDemand.objects.get()
    assert (row.request_count, row.first_requested_at, row.last_requested_at) == (2, NOW, NOW + MINUTE)
    assert enqueued_tasks() == enqueued + 2
    assert insights.refresh(now=NOW, max_reviews=100, requested_only=True) == 1
    assert not InsightDemand.objects.exists()


@pytest.mark.django_db
@pytest.mark.usefixtures("by_model")
def test_remote_provider_is_queued_and_never_called_in_a_request() -> None:
    place = reviewed(6)
    assert wanted(place).sold == ()
    assert InsightDemand.objects.get().restaurant_id == place.pk
    assert not Insight.objects.exists()


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("who", "met"), [("a batch", insights.OnDemandResult.QUEUED), ("an erasure", insights.OnDemandResult.NOTHING)]
)
def test_locked_restaurant_is_not_waited_for(who: str, met: insights.OnDemandResult) -> None:
    place = reviewed(6)
    is_held, may_go = threading.Event(), threading.Event()

    def hold() -> None:
        try:
            with transaction.atomic():
                Restaurant.objects.select_for_update(no_key=who == "a batch").get(pk=place.pk)
                is_held.set()
                may_go.wait(20)
        finally:
            connection.close()

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        assert is_held.wait(20)
        began = time.monotonic()
        assert insights.write_or_queue(place, now=NOW) is met
        assert time.monotonic() - began < 10
    finally:
        may_go.set()
        thread.join()
    assert insights.write_or_queue(place, now=NOW) is insights.OnDemandResult.WRITTEN


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("by_model")
def test_what_cannot_be_noted_is_no_error() -> None:
    place = reviewed(6)
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")
    try:
        assert b"not_written_yet" in wanted(place).body
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SET default_transaction_read_only = off")
    assert not InsightDemand.objects.exists()


@pytest.mark.django_db
def test_what_failed_today_is_neither_tried_nor_noted() -> None:
    place = reviewed(6)
    builders.insight(place, "", failed_at=NOW, input_hash="")
    assert insights.write_or_queue(place, now=NOW + HOUR) is insights.OnDemandResult.NOTHING
    assert not InsightDemand.objects.exists()


@pytest.mark.django_db
def test_an_insight_that_is_there_costs_a_buyer_no_query_more(django_assert_num_queries: Any) -> None:
    place = reviewed(6)
    batch_job.write_now(place.pk, now=NOW, provider=insights.FALLBACK)
    with django_assert_num_queries(2):
        wanted(place)


# What waits for staff
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("approval", "provider", "is_served"),
    [
        ("none", "extractive", True),
        ("none", "anthropic", True),
        ("models", "extractive", True),
        ("models", "anthropic", False),
        ("all", "extractive", False),
        ("all", "anthropic", False),
    ],
)
def test_what_waits_for_staff_is_null_free_and_says_so(
    settings: Any, approval: str, provider: str, is_served: bool
) -> None:
    settings.INSIGHT_APPROVAL = approval
    place = builders.restaurant(review_count=6)
    builders.insight(place, "Fine.", provider=provider)
    record = field_groups.read_record(place.slug, groups=["ai_insight"], now=NOW)
    result = (record.values["ai_insight"], record.values["ai_insight_reason"], record.sold)
    assert result == (("Fine.", None, ("ai_insight",)) if is_served else (None, "awaiting_approval", ()))
    assert Insight.objects.filter(insights.pending_approval()).exists() is not is_served
    assert insights.approve(Insight.objects.all(), by="ann@example.com", now=NOW) == 1
    assert field_groups.read_record(place.slug, groups=["ai_insight"], now=NOW).values["ai_insight"] == "Fine."
    assert not Insight.objects.filter(insights.pending_approval()).exists()


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_another_text_has_to_be_approved_again_and_the_same_one_has_not(settings: Any) -> None:
    settings.INSIGHT_APPROVAL = "all"
    set_prices(settings)
    place = reviewed(6)
    insights.refresh(now=NOW, max_reviews=100, provider=FakeLLM())
    insights.approve(Insight.objects.all(), by="ann@example.com", now=NOW)
    insights.invalidate(Insight.objects.all())
    insights.refresh(now=NOW + HOUR, max_reviews=100, provider=FakeLLM())
    assert (of(place).approved_at, of(place).approved_by) == (NOW, "ann@example.com")
    for _ in range(6):
        builders.review(place, "And the gyoza.")
    Restaurant.objects.filter(pk=place.pk).update(review_count=12)
    insights.refresh(now=NOW + 2 * HOUR, max_reviews=100, provider=FakeLLM())
    assert (of(place).text, of(place).approved_at) == ("A model has read 12 reviews.", None)
    assert of(place).approved_by == ""


@pytest.mark.django_db
def test_the_same_words_and_claims_stay_approved() -> None:
    place = reviewed(6)
    builders.rule(place)
    insights.refresh(now=NOW, max_reviews=100)
    assert of(place).detail["dishes"]
    insights.approve(Insight.objects.all(), by="ann@example.com", now=NOW)
    insights.invalidate(Insight.objects.all())
    insights.refresh(now=NOW + HOUR, max_reviews=100)
    assert (of(place).generated_at, of(place).approved_at) == (NOW + HOUR, NOW)


@pytest.mark.django_db
def test_staff_approve_only_what_they_have_read() -> None:
    place = builders.restaurant(review_count=6)
    builders.insight(place, "Fine.")
    row = Insight.objects.filter(pk=place.pk)
    assert insights.approve(row, by="ann@example.com", now=NOW, generated_at=NOW - HOUR) == 0
    assert insights.approve(row, by="ann@example.com", now=NOW, generated_at=NOW) == 1


@pytest.mark.django_db
def test_insight_without_text_needs_no_approval(settings: Any) -> None:
    settings.INSIGHT_APPROVAL = "all"
    place = builders.restaurant(review_count=6)
    builders.insight(place, "")
    record = field_groups.read_record(place.slug, groups=["ai_insight"], now=NOW)
    assert record.values["ai_insight_reason"] == "nothing_to_say"
    assert insights.approve(Insight.objects.all(), by="ann@example.com", now=timezone.now()) == 0
