"""What is free at a venue, in the management API."""

from datetime import UTC, date, datetime
from typing import Any

import pytest
import time_machine
from django.test import Client

from accounts.models import Venue
from reservations.booking import slot_states
from reservations.models import Area, Closure
from tests.support import builders
from tests.support.query_counts import costing

AVAILABILITY = "/api/v1/availability"
SATURDAY = date(2026, 11, 28)
NOON = datetime(2026, 11, 28, 11, 0, tzinfo=UTC)

pytestmark = pytest.mark.usefixtures("at_noon")


@pytest.fixture
def at_noon() -> Any:
    with time_machine.travel(NOON, tick=False):
        yield


@pytest.fixture
def osteria(venue: Venue) -> Venue:
    """A venue with a table for four and one for two, and three times in the evening."""
    builders.table(venue, "T1")
    builders.table(venue, "T2", seats_max=2)
    builders.period(venue, first="19:00", last="20:00", slot_min=30)
    return venue


def ask(api: Client, **params: Any) -> Any:
    asked: dict[str, Any] = {"date": SATURDAY.isoformat(), "party_size": 4}
    return api.get(AVAILABILITY, asked | params)


def states(api: Client, **params: Any) -> list[tuple[str, str, str | None]]:
    """Time, state and reason of the slots of the first day."""
    return [(slot["time"], slot["state"], slot["reason"]) for slot in ask(api, **params).json()["days"][0]["slots"]]


def book(api: Client, **changes: Any) -> Any:
    body = builders.reservation_body(date=SATURDAY.isoformat(), **changes)
    return api.post("/api/v1/reservations", body, content_type="application/json")


def test_a_free_evening_is_answered_whole(osteria: Venue, api: Client) -> None:
    assert ask(api, party_size=4).json() == {
        "party_size": 4,
        "area": None,
        "timezone": "Europe/Rome",
        "areas": [],
        "days": [
            {
                "date": "2026-11-28",
                "state": "free",
                "message": "",
                "slots": [
                    {
                        "time": time,
                        "starts_at": f"2026-11-28T{start}Z",
                        "ends_at": f"2026-11-28T{end}Z",
                        "state": "free",
                        "reason": None,
                        "period": "Dinner",
                        "terms": None,
                    }
                    for time, start, end in (
                        ("19:00", "18:00:00", "19:45:00"),
                        ("19:30", "18:30:00", "20:15:00"),
                        ("20:00", "19:00:00", "20:45:00"),
                    )
                ],
            }
        ],
    }


@pytest.mark.exhaustive
def test_each_time_has_the_state_that_a_reservation_gets(osteria: Venue, api: Client) -> None:
    assert book(api, time="20:00").json()["tables"] == ["T1"]
    full = ("full", "no_table")
    assert states(api) == [("19:00", *full), ("19:30", *full), ("20:00", *full)]
    assert states(api, party_size=2) == [(time, "free", None) for time in ("19:00", "19:30", "20:00")]
    assert states(api, party_size=5) == [(time, "full", "party_size") for time in ("19:00", "19:30", "20:00")]
    assert states(api, party_size=9) == [(time, "request", "large_party") for time in ("19:00", "19:30", "20:00")]
    osteria.service_periods.update(pacing_covers=5)
    assert states(api, party_size=2)[2] == ("20:00", "full", "pacing")
    Venue.objects.update(when_full="waitlist")
    assert states(api)[0] == ("19:00", "waitlist", "no_table")
    assert states(api, party_size=5)[0] == ("19:00", "full", "party_size")


@pytest.mark.exhaustive
@pytest.mark.parametrize("party_size", [1, 2, 3, 4, 5, 9])
@pytest.mark.parametrize("when_full", ["refuse", "waitlist"])
def test_a_reservation_gets_what_availability_says(
    osteria: Venue, api: Client, party_size: int, when_full: str
) -> None:
    osteria.service_periods.update(pacing_covers=7)
    Venue.objects.update(when_full=when_full)
    book(api, time="19:00", party_size=4)
    book(api, time="20:00", party_size=2)
    for time, state, reason in states(api, party_size=party_size):
        answer = book(api, time=time, party_size=party_size)
        if state == "full":
            assert answer.json()["error"]["code"] == "slot_unavailable", (time, reason)
            continue
        expected = {"free": None, "request": "large_party", "waitlist": "waitlist"}[state]
        assert (answer.status_code, answer.json()["pending_reason"]) == (201, expected), (time, reason)
        api.delete(f"/api/v2/reservations/{answer.json()['id']}")


def test_a_held_table_is_not_free(osteria: Venue, api: Client) -> None:
    body = {"date": SATURDAY.isoformat(), "time": "19:30", "party_size": 4}
    assert api.post("/api/v1/holds", body, content_type="application/json").status_code == 201
    assert states(api)[1] == ("19:30", "full", "no_table")


def test_several_days_with_a_closed_one(osteria: Venue, api: Client) -> None:
    Closure.objects.create(
        venue=osteria, first_date=date(2026, 11, 29), last_date=date(2026, 11, 29), reason="a wedding"
    )
    days = ask(api, until="2026-11-30").json()["days"]
    assert [(day["date"], day["state"], day["message"], len(day["slots"])) for day in days] == [
        ("2026-11-28", "free", "", 3),
        ("2026-11-29", "closed", "No guests are seated on 2026-11-29: a wedding.", 0),
        ("2026-11-30", "free", "", 3),
    ]


def test_days_after_the_last_that_can_be_booked_are_left_out(osteria: Venue, api: Client) -> None:
    Venue.objects.update(max_days_ahead=1)
    assert [day["date"] for day in ask(api, until="2026-12-05").json()["days"]] == ["2026-11-28", "2026-11-29"]


@pytest.mark.parametrize(
    "params",
    [{"date": "2027-11-29"}, {"date": "9999-12-31"}, {"date": "9999-12-20", "until": "9999-12-31"}],
)
def test_a_date_after_the_last_that_can_be_booked_is_refused(
    osteria: Venue, api: Client, params: dict[str, str]
) -> None:
    answer = ask(api, **params)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["param"]) == (400, "invalid_request", "date")
    assert error["message"] == "Reservations are taken at most 365 days ahead."


@pytest.mark.exhaustive
def test_a_day_has_the_best_state_of_its_times(osteria: Venue, api: Client) -> None:
    def day(**params: Any) -> tuple[str, str]:
        found = ask(api, **params).json()["days"][0]
        return found["state"], found["message"]

    assert day() == ("free", "")
    assert day(party_size=9) == ("request", "")
    assert book(api, time="19:30").json()["tables"] == ["T1"]
    assert day() == ("full", "No table for 4 is available on this day.")
    Venue.objects.update(when_full="waitlist")
    assert day() == ("waitlist", "No table for 4 is available on this day.")


def test_without_tables_each_time_is_a_request(venue: Venue, api: Client) -> None:
    assert ask(api).json()["days"] == [{"date": "2026-11-28", "state": "on_request", "message": "", "slots": []}]
    builders.period(venue, first="19:00", last="19:00")
    assert states(api) == [("19:00", "request", "manual")]


def test_an_area_is_asked_for_by_its_name(osteria: Venue, api: Client) -> None:
    terrace = Area.objects.create(venue=osteria, name="Terrace")
    Area.objects.create(venue=osteria, name="Cellar without tables")
    builders.table(osteria, "T3", area=terrace)
    answer = ask(api, area="terrace").json()
    assert (answer["area"], answer["areas"]) == ("Terrace", ["Terrace"])
    assert book(api, time="19:30", area="Terrace").json()["area"] == "Terrace"
    assert states(api, area="Terrace")[1] == ("19:30", "full", "no_table")
    assert states(api)[1] == ("19:30", "free", None)


@pytest.mark.parametrize(
    ("params", "param", "message"),
    [
        (
            {"date": "2026-11-27"},
            "date",
            "2026-11-27 is in the past. The current date at the restaurant is 2026-11-28.",
        ),
        ({"date": "28.11.2026"}, "date", "`date` must be a day of the calendar written YYYY-MM-DD."),
        ({"until": "2026-11-27"}, "until", "`until` must be 0 to 30 days after `date`."),
        ({"until": "2026-12-29"}, "until", "`until` must be 0 to 30 days after `date`."),
        ({"party_size": "0"}, "party_size", "`party_size` must be a whole number from 1 to 500."),
        ({"area": "Roof"}, "area", "The restaurant has no such area. It has none."),
        ({"day": "2026-11-28"}, "day", "Unknown parameter `day`. Known: date, until, party_size, area."),
    ],
)
def test_what_is_wrong_is_named(osteria: Venue, api: Client, params: dict[str, str], param: str, message: str) -> None:
    assert builders.problems_of(ask(api, **params)) == [(param, message)]


@pytest.mark.parametrize("missing", ["date", "party_size"])
def test_the_date_and_the_party_size_are_needed(osteria: Venue, api: Client, missing: str) -> None:
    params = {"date": "2026-11-28", "party_size": "4"}
    del params[missing]
    assert builders.problems_of(api.get(AVAILABILITY, params)) == [(missing, f"Send `{missing}`.")]


def test_a_month_costs_as_many_queries_as_a_day(osteria: Venue) -> None:
    for last in (SATURDAY, date(2026, 12, 28)):
        with costing(6):
            days = slot_states.list_days(osteria, SATURDAY, last, party_size=2, now=NOON)
    assert len(days) == 31
