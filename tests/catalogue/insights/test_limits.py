"""Where an insight ends: no window of a place that is closed, no name in a text that is too short for it."""

import pytest

from catalogue.hours import Hours
from catalogue.insights.analysis import best_time
from catalogue.insights.guardrails import citation_audit
from catalogue.insights.providers.base import Claim
from tests.catalogue import builders


@pytest.mark.parametrize(("opens", "closes"), [("06:30", "10:30"), ("06:00", "11:00")])
def test_a_place_that_closes_before_lunch_has_no_window_for_it(opens: str, closes: str) -> None:
    advice = {"lunch": Claim("lunch", mentions=2, positive=2, citations=("rev_1", "rev_2"))}
    best = best_time.find_best_time(
        advice, crowds={}, hours=Hours.from_json(builders.week(opens, closes)), discounts=()
    )
    assert best is not None
    assert (best.text, best.windows) == ("Guests advise coming for lunch (2 reviews).", ())


def test_a_text_that_is_shorter_than_a_name_does_not_name_it() -> None:
    assert not citation_audit.mentions_dish("o", "calzone")
    assert citation_audit.mentions_dish("A fine Calz\u00f3ne!", "calzone")
