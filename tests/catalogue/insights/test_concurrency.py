"""Insights are written while others merge, erase and hide the same restaurants."""

import threading
import time

import pytest
from django.db import connection

from catalogue import insights, places
from catalogue.insights.pipeline import batch_job
from catalogue.insights.providers.base import Context, InsightDraft
from catalogue.models import Insight, Restaurant
from tests.catalogue.builders import NOW
from tests.catalogue.insights.test_refresh import HOUR, Counting, refresh, reviewed


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_restaurant_erased_or_merged_during_the_run_gets_no_insight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_job, "BATCH_REVIEWS", 5)
    first, erased, merged, stored = reviewed(8), reviewed(7), reviewed(6), reviewed(0)

    class Slow(Counting):
        def generate(self, context: Context) -> InsightDraft:
            if not self.requests:
                places.erase(erased, actor="staff:7", now=NOW)
                places.merge(merged, stored, actor="staff:7", now=NOW)
            return super().generate(context)

    for place, count in ((first, 8), (erased, 7), (merged, 6)):
        Restaurant.objects.filter(pk=place.pk).update(review_count=count)
    assert refresh(Slow()) == 1
    assert list(Insight.objects.values_list("restaurant", flat=True)) == [first.pk]


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("other", ["erase", "forget", "hide"])
def test_writers_of_insights_and_those_of_their_restaurants_wait_for_each_other_once(other: str) -> None:
    place = reviewed()
    refresh()
    insights.invalidate(Insight.objects.all())
    ends: list[BaseException | None] = []

    def act() -> None:
        if other == "erase":
            places.erase(place, actor="staff:7", now=NOW)
        elif other == "forget":
            insights.invalidate(Insight.objects.all())
        else:
            insights.set_hidden(Insight.objects.all(), hidden=True)

    def elsewhere() -> None:
        try:
            act()
            ends.append(None)
        except BaseException as error:  # noqa: BLE001  # looked at below
            ends.append(error)
        finally:
            connection.close()

    thread = threading.Thread(target=elsewhere)

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
    assert ends == [None]
    assert Insight.objects.count() == (0 if other == "erase" else 1)
