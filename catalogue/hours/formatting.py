"""Opening hours as text: English weekdays, 24-hour times."""

from itertools import groupby

from catalogue.hours.periods import DAY, Period
from catalogue.hours.serialization import format_time

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def format_hours(periods: tuple[Period, ...]) -> list[str]:
    """Return a line for each run of equal days, from Monday: "Mon-Thu 12:00-22:00", "Fri 12:00-02:00", "Sun
    closed".
    """
    week: list[list[tuple[int, int, str]]] = [[] for _ in range(7)]
    for period in periods:
        for day, opens, closes in period.split_by_day():
            week[day].append((opens, closes, " or later" if period.kind == "open_end" else ""))
    texts = [", ".join(_format_interval(*interval) for interval in sorted(day)) or "closed" for day in week]
    lines = []
    for text, run in groupby(range(7), key=lambda day: texts[day]):
        days = list(run)
        name = WEEKDAYS[days[0]] if len(days) == 1 else f"{WEEKDAYS[days[0]]}-{WEEKDAYS[days[-1]]}"
        lines.append(f"{'Every day' if len(days) == 7 else name} {text}")
    return lines


def _format_interval(opens: int, closes: int, ending: str) -> str:
    if (opens, closes) == (0, DAY):
        return "open 24 hours"
    until = "24:00" if closes == DAY else format_time(closes)
    return f"{format_time(opens)}-{until}{ending}"
