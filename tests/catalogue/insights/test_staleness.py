"""An insight whose reviews, hours or discounts are others by now says so at once, and is written anew."""

import threading
import time
from collections.abc import Callable
from datetime import time as clock
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction

from catalogue import field_groups, insights
from catalogue.admin.insight_sheet import sheet
from catalogue.insights.guardrails import citation_audit
from catalogue.insights.providers.base import Context, InsightDraft
from catalogue.models import FlowRule, Insight, Restaurant, Review
from tests.catalogue import builders
from tests.catalogue.builders import NOW
from tests.catalogue.insights.test_refresh import HOUR, Counting, of, refresh, reviewed

Change = Callable[[Restaurant], object]


def weekly(place: Restaurant) -> FlowRule:
    return FlowRule.objects.create(restaurant=place, weekdays=[4, 5], time=clock(21), percent=15)


def move(place: Restaurant) -> None:
    """Another place takes one of its reviews."""
    other = reviewed(0)
    Review.objects.filter(pk=place.reviews.all()[0].pk).update(restaurant=other)


CHANGES: dict[str, Change] = {
    "a review is gone": lambda place: place.reviews.all()[0].delete(),
    "a review is of another place": move,
    "words": lambda place: place.reviews.update(text="The gyoza was delicious and the staff were kind."),
    "stars": lambda place: place.reviews.update(stars=1),
    "a language": lambda place: place.reviews.update(lang="de"),
    "hours": lambda place: Restaurant.objects.filter(pk=place.pk).update(hours=builders.week("10:00", "14:00")),
    "a discount is withdrawn": lambda place: place.flow_rules.update(active=False),
    "a discount is another": lambda place: place.flow_rules.update(percent=20),
    "a discount is gone": lambda place: place.flow_rules.all().delete(),
    "a discount is new": weekly,
}


def detail(place: Restaurant, *, after: timedelta = HOUR) -> dict[str, Any]:
    result = field_groups.read_record(place.slug, groups=["ai_insight"], now=NOW + after).values["ai_insight_detail"]
    assert isinstance(result, dict)
    return result


@pytest.mark.exhaustive
@pytest.mark.django_db
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_change_of_any_input_makes_an_insight_stale_until_it_is_rewritten(change: Change) -> None:
    place, other = reviewed(40), reviewed(40)
    weekly(place)
    assert refresh() == 2
    assert [detail(each)["stale"] for each in (place, other)] == [False, False]
    before = of(place).input_hash
    change(place)
    assert [detail(each)["stale"] for each in (place, other)] == [True, False]
    assert list(insights.due_restaurants(now=NOW + HOUR)) == [place]
    assert [refresh(after=HOUR), refresh(after=2 * HOUR)] == [1, 0]
    assert of(place).input_hash != before
    assert detail(place)["stale"] is False
    assert list(citation_audit.audit_citations()) == []


@pytest.mark.django_db
def test_withdrawn_discount_is_not_served_to_a_buyer() -> None:
    place = reviewed(6)
    rule = weekly(place)
    refresh()
    assert "Discounts of up to 15 %" in of(place).text
    FlowRule.objects.filter(pk=rule.pk).update(active=False)
    assert insights.write_or_queue(place, now=NOW + HOUR) is insights.OnDemandResult.WRITTEN
    assert "Discount" not in of(place).text


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_what_no_insight_is_written_from_makes_none_stale() -> None:
    place = reviewed(40)
    weekly(place)
    refresh()
    before = of(place).updated_at
    Review.objects.update(helpful_count=7, owner_reply="Thanks.", owner_replied_at=NOW, text=of_text(place))
    FlowRule.objects.update(seats=20, terms="Not on holidays.")
    Restaurant.objects.filter(pk=place.pk).update(name="Renamed", phone="+4533000000")
    assert detail(place)["stale"] is False
    assert (refresh(after=HOUR), of(place).updated_at) == (0, before)


def of_text(place: Restaurant) -> str:
    return str(place.reviews.all()[0].text)


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_what_changed_and_changed_back_is_confirmed_and_not_written_again() -> None:
    place = reviewed(40)
    provider = Counting()
    refresh(provider)
    rule = weekly(place)
    rule.delete()
    assert of(place).is_outdated
    assert [refresh(provider, after=HOUR), refresh(provider, after=2 * HOUR)] == [1, 0]
    assert len(provider.requests) == 1


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_staleness_is_described_to_staff() -> None:
    place = reviewed(40)
    refresh()
    weekly(place)
    assert sheet(of(place), now=NOW + HOUR)["stale"] == ["reviews, hours or discounts changed since"]


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_first", [True, False])
def test_a_review_that_goes_while_its_insight_is_written_makes_it_stale(is_first: bool) -> None:
    place = reviewed(40)
    if not is_first:
        refresh()
        insights.invalidate(Insight.objects.all())
    review = Review.objects.filter(restaurant=place).order_by("pk")[0]

    def remove() -> None:
        try:
            with transaction.atomic():
                review.delete()
        finally:
            connection.close()

    thread = threading.Thread(target=remove)

    class Slow(Counting):
        def generate(self, context: Context) -> InsightDraft:
            thread.start()
            until = time.monotonic() + 2
            with connection.cursor() as cursor:
                while time.monotonic() < until:
                    cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
                    if cursor.fetchone()[0]:
                        break
                    time.sleep(0.02)
            return super().generate(context)

    assert refresh(Slow(), after=HOUR) == 1
    thread.join()
    assert of(place).review_count == 40
    assert of(place).is_outdated
    assert refresh(Counting(), after=2 * HOUR) == 1
    assert (of(place).review_count, of(place).is_outdated) == (39, False)
