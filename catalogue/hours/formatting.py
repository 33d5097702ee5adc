"""Opening hours in words for people: English days, 24-hour clock."""

from itertools import groupby

from catalogue.hours.periods import DAY, Period
from catalogue.hours.serialization import clock_time

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def lines(periods: tuple[Period, ...]) -> list[str]:
    """One line for each run of equal days, Monday first: "Mon-Thu 12:00-22:00", "Fri 12:00-02:00", "Sun closed"."""
    week: list[list[tuple[int, int, str]]] = [[] for _ in range(7)]
    for period in periods:
        for day, opens, closes in period.by_day():
            week[day].append((opens, closes, " or later" if period.kind == "open_end" else ""))
    words = [", ".join(_span(*span) for span in sorted(spans)) or "closed" for spans in week]
    runs = [(said, [day for day, _ in run]) for said, run in groupby(enumerate(words), key=lambda line: line[1])]
    if len(runs) == 1:
        return [f"Every day {words[0]}"]
    return [f"{_days(days)} {said}" for said, days in runs]


def _days(run: list[int]) -> str:
    return _DAYS[run[0]] if len(run) == 1 else f"{_DAYS[run[0]]}-{_DAYS[run[-1]]}"


def _span(opens: int, closes: int, ending: str) -> str:
    if (opens, closes) == (0, DAY):
        return "open 24 hours"
    until = "24:00" if closes == DAY else clock_time(closes)
    return f"{clock_time(opens)}-{until}{ending}"
