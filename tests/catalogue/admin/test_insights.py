"""Insights in the admin: beside the reviews they cite, approved, hidden, written anew; and what models cost."""

import html
import re
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

import tests.support.builders
from catalogue import field_groups, insights
from catalogue.models import Insight, InsightCall, InsightDemand, Restaurant, Review
from tests.catalogue import builders
from tests.catalogue.builders import NOW
from tests.catalogue.html import address
from tests.catalogue.insights.fake_llm import FakeLLM, reply_without_draft, set_prices
from tests.support.builders import messages_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff() -> Client:
    """A superuser who is signed in."""
    return tests.support.builders.staff()


@pytest.fixture
def place() -> Restaurant:
    """A restaurant with an insight."""
    made = builders.restaurant()
    for number in range(5):
        builders.review(made, f"The gyoza was good & the staff kind, I am number {number} <3")
    builders.review(made, "Of no claim.")
    insights.refresh(now=NOW, max_reviews=100)
    return made


@pytest.fixture
def by_model(settings: Any) -> None:
    """A model writes insights; nobody asks it here."""
    settings.INSIGHT_PROVIDER, settings.INSIGHT_MODEL, settings.INSIGHT_API_KEY = "openai", "small", "secret"
    set_prices(settings)


def act(staff: Client, name: str, **more: str) -> Any:
    """Choose all insights and an action on them."""
    chosen = [str(pk) for pk in Insight.objects.values_list("pk", flat=True)]
    return staff.post(address(Insight, "changelist"), {"action": name, "_selected_action": chosen, **more})


def page_of(staff: Client, place: Restaurant) -> str:
    return str(staff.get(address(Insight, "change", place.pk)).content.decode())


def served(place: Restaurant) -> tuple[str | None, str | None, tuple[str, ...]]:
    """The text, the reason without one, and what is sold."""
    record = field_groups.read_record(place.slug, groups=["ai_insight"], now=NOW)
    return record.values["ai_insight"], record.values["ai_insight_reason"], record.sold


def test_an_insight_stands_beside_the_reviews_that_it_cites(staff: Client, place: Restaurant) -> None:
    page = page_of(staff, place)
    assert "<b>gyoza</b><br>5 reviews, 100% positive" in page
    assert "The gyoza was good &amp; the staff kind, I am number 4 &lt;3" in page
    assert "5 of 5 stars" in page
    assert "Of no claim." not in page
    assert of_row().detail["disclosure"] in page


def of_row() -> Insight:
    return Insight.objects.get()


def test_claims_lead_to_their_reviews_and_back(staff: Client, place: Restaurant) -> None:
    page = page_of(staff, place)
    links, anchors = set(re.findall(r'href="#([a-z]+-\d+)"', page)), set(re.findall(r'id="([a-z]+-\d+)"', page))
    assert {f"review-{number}" for number in range(1, 6)} <= links <= anchors
    assert "claim-1" in links


def test_a_review_that_is_gone_is_reported_of(staff: Client, place: Restaurant) -> None:
    last = Review.objects.filter(restaurant=place, text__contains="number 4").get()
    Review.objects.filter(pk=last.pk).delete()
    assert "1 cited review deleted." in page_of(staff, place)


def test_the_page_tells_age_staleness_demand_languages_and_calls(
    staff: Client, place: Restaurant, settings: Any
) -> None:
    set_prices(settings)
    reply = reply_without_draft(InsightCall.Outcome.REJECTED)
    insights.invalidate(Insight.objects.all())
    insights.refresh(now=NOW, max_reviews=100, provider=FakeLLM(reply))
    Insight.objects.update(generated_at=timezone.now() - timedelta(days=100))
    Restaurant.objects.filter(pk=place.pk).update(review_count=20)
    InsightDemand.objects.create(restaurant=place, request_count=3, first_requested_at=NOW, last_requested_at=NOW)
    page = page_of(staff, place)
    assert "100 days" in page
    assert "14 reviews more since; 100 days old" in page
    assert "3 times, last" in page
    assert "anthropic 1 small" in page
    assert "text not supported by the reviews" in page
    assert "It would not." in page
    assert "0.000600" in page


def test_a_page_costs_the_same_queries_however_much_it_cites(
    staff: Client, place: Restaurant, django_assert_max_num_queries: Any
) -> None:
    # Session, user; the insight with its restaurant; reviews, calls, demand, why it is stale; and who may see what.
    with django_assert_max_num_queries(8):
        page_of(staff, place)
    # A list of its own time costs three more: the time, and this test's savepoint around it.
    with django_assert_max_num_queries(11):
        staff.get(address(Insight, "changelist"))
    with django_assert_max_num_queries(11):
        staff.get(address(InsightCall, "changelist"))


def test_a_hidden_insight_is_withheld_and_free_until_it_is_served_again(staff: Client, place: Restaurant) -> None:
    text = Insight.objects.get().text
    act(staff, "hide", confirmed="yes")
    assert served(place) == (None, "withheld", ())
    act(staff, "serve_again", confirmed="yes")
    assert served(place) == (text, None, ("ai_insight",))


def test_saving_the_form_writes_the_decision_and_nothing_else(staff: Client, place: Restaurant) -> None:
    response = staff.post(address(Insight, "change", place.pk), {"hidden": "on", "text": "Mine", "review_count": "9"})
    assert response.status_code == 302
    insight = Insight.objects.get()
    assert (insight.hidden, insight.review_count, insight.approved_at) == (True, 6, None)
    assert "the gyoza (5 of 6 reviews)" in insight.text


def test_staff_approve_from_the_list_and_from_the_page(staff: Client, place: Restaurant, settings: Any) -> None:
    settings.INSIGHT_APPROVAL = "all"
    assert served(place) == (None, "awaiting_approval", ())
    assert "waiting for approval" in page_of(staff, place)
    requested = act(staff, "approve").content.decode()
    assert Insight.objects.get().text in html.unescape(requested)
    assert served(place)[1] == "awaiting_approval"
    act(staff, "approve", confirmed="1", read=f"{place.pk} {NOW.isoformat()}")
    assert served(place)[1] is None
    assert Insight.objects.get().approved_by == "staff@example.com"
    Insight.objects.update(approved_at=None)
    staff.post(address(Insight, "change", place.pk), {"_approve": "1", "generated_at": NOW.isoformat()})
    assert served(place)[1] is None
    assert Insight.objects.get().hidden is False


def test_a_text_that_was_rewritten_while_staff_read_is_not_approved(
    staff: Client, place: Restaurant, settings: Any
) -> None:
    settings.INSIGHT_APPROVAL = "all"
    read = (NOW - timedelta(hours=1)).isoformat()
    answer = staff.post(address(Insight, "change", place.pk), {"_approve": "1", "generated_at": read})
    assert any(
        "Not approved: the text was regenerated since you opened the page." in message
        for message in messages_of(answer)
    )
    assert served(place) == (None, "awaiting_approval", ())


@pytest.mark.sample(2)
@pytest.mark.parametrize("read", ["", "2026-13-45T99:00:00", "2026-11-21", "2026-11-21T10:00:00", "x"])
def test_who_cannot_say_what_was_read_approves_nothing(
    staff: Client, place: Restaurant, settings: Any, read: str
) -> None:
    settings.INSIGHT_APPROVAL = "all"
    answer = staff.post(address(Insight, "change", place.pk), {"_approve": "1", "generated_at": read})
    assert answer.status_code == 302
    act(staff, "approve", confirmed="1", read=f"{place.pk} {read}")
    act(staff, "approve", confirmed="1", read=read)
    assert served(place) == (None, "awaiting_approval", ())


def test_from_the_list_only_the_texts_that_were_shown_are_approved(
    staff: Client, place: Restaurant, settings: Any
) -> None:
    settings.INSIGHT_APPROVAL = "all"
    shown = act(staff, "approve").content.decode()
    (read,) = re.findall(r'name="read" value="([^"]+)"', shown)
    insights.invalidate(Insight.objects.all())
    insights.refresh(now=NOW + timedelta(hours=1), max_reviews=100)
    answer = act(staff, "approve", confirmed="1", read=html.unescape(read))
    assert messages_of(answer) == ["0 insights approved."]
    assert served(place) == (None, "awaiting_approval", ())


def test_an_insight_can_be_hidden_and_approved_at_once(staff: Client, place: Restaurant, settings: Any) -> None:
    settings.INSIGHT_APPROVAL = "all"
    form = {"_approve": "1", "hidden": "on", "generated_at": NOW.isoformat()}
    staff.post(address(Insight, "change", place.pk), form)
    insight = Insight.objects.get()
    assert (insight.hidden, insight.approved_by) == (True, "staff@example.com")


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("state", "fields"),
    [
        ("waiting", {}),
        ("hidden", {"hidden": True}),
        ("stale", {"provider_version": "0"}),
        ("failed", {"failed_at": NOW}),
        ("silent", {"text": ""}),
    ],
)
def test_the_list_finds_what_staff_have_to_look_at(
    staff: Client, settings: Any, state: str, fields: dict[str, Any]
) -> None:
    settings.INSIGHT_APPROVAL = "models" if state == "waiting" else "none"
    found = builders.insight(builders.restaurant(review_count=6), **{"generated_at": timezone.now(), **fields})
    other = builders.insight(builders.restaurant(review_count=6), generated_at=timezone.now())
    if state == "waiting":
        Insight.objects.filter(pk=found.pk).update(provider="anthropic")
    answer = staff.get(address(Insight, "changelist"), {"state": state})
    assert [row.pk for row in answer.context["cl"].result_list] == [found.pk]
    assert other.pk != found.pk
    by_us = staff.get(address(Insight, "changelist"), {"provider": "anthropic"})
    assert len(by_us.context["cl"].result_list) == (state == "waiting")


def test_writing_again_marks_and_rings_after_the_commit(
    staff: Client, place: Restaurant, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    Insight.objects.update(text="Nonsense.")
    with django_capture_on_commit_callbacks() as enqueued:
        act(staff, "regenerate", confirmed="1")
    assert len(enqueued) == 1
    assert insights.refresh(now=NOW, max_reviews=100) == 1
    assert "the gyoza (5 of 6 reviews)" in Insight.objects.get().text


@pytest.mark.usefixtures("by_model")
def test_before_a_model_writes_again_staff_are_reported_how_many_and_what_it_may_cost(
    staff: Client, place: Restaurant
) -> None:
    before = Insight.objects.values().get()
    requested = act(staff, "regenerate")
    output = requested.content.decode()
    assert "The model small will regenerate 1 insight" in output
    (maximum,) = re.findall(r"at most ([0-9.]+) USD", output)
    assert 0 < Decimal(maximum) < 1
    assert Insight.objects.values().get() == before
    assert act(staff, "regenerate", confirmed="1").status_code == 302
    assert Insight.objects.get().provider_version == ""


def test_the_calls_of_models_are_read_below_what_the_day_has_cost(
    staff: Client, place: Restaurant, settings: Any
) -> None:
    empty = staff.get(address(InsightCall, "changelist")).content.decode()
    assert "only free models are used" in empty
    set_prices(settings, budget="0.002")
    insights.invalidate(Insight.objects.all())
    insights.refresh(now=timezone.now(), max_reviews=100, provider=FakeLLM())
    page = staff.get(address(InsightCall, "changelist")).content.decode()
    assert "0.000600 USD spent, of 0.002 USD;" in page
    assert "1 call." in page
    assert re.search(r'<progress max="0.002000" value="0.000600"', page)
    call = InsightCall.objects.get()
    assert staff.get(address(InsightCall, "change", call.pk)).status_code == 200
    assert staff.post(address(InsightCall, "change", call.pk), {"cost_usd": "0"}).status_code in (302, 403)
    assert InsightCall.objects.get().cost_usd == call.cost_usd
    assert staff.get(address(InsightCall, "add")).status_code == 403


def test_an_insight_is_neither_added_nor_deleted_by_hand(staff: Client, place: Restaurant) -> None:
    assert staff.get(address(Insight, "add")).status_code == 403
    assert staff.post(address(Insight, "delete", place.pk), {"post": "yes"}).status_code == 403
