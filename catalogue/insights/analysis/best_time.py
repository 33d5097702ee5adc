"""The best time to go: what guests advise, put on the clock of the opening hours, and the times of discounts."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from catalogue.hours import Hours
from catalogue.hours.serialization import format_time
from catalogue.insights.providers.base import BestTime, Claim, Discount, Window

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
# Minutes of the day: lunch is in what opens before the first of its two, and over by the other.
LUNCH_FROM = 11 * 60
LUNCH = (14 * 60, 15 * 60)
DINNER_FROM = 16 * 60
EIGHT = 20 * 60
EARLY_FOR = 90

ADVICE = {
    "early": "coming early",
    "lunch": "coming for lunch",
    "before_eight": "coming before eight",
    "weekend": "booking ahead for a weekend",
}


def best(advice: Mapping[str, Claim], *, hours: Hours | None, discounts: Sequence[Discount]) -> BestTime | None:
    """When to go, by the advice of guests (keys of ADVICE) and the discounts; None where nothing speaks for a time."""
    given = [name for name in ADVICE if name in advice]
    on_the_clock = {name: list(_windows(name, advice[name], hours)) for name in given}
    windows = [window for name in given for window in on_the_clock[name]]
    parts = []
    if given:
        words = listed([_advised(name, advice[name], on_the_clock[name]) for name in given], " and ")
        parts.append(f"Guests advise {words}.")
    offers = [
        Window(days=each.weekdays, start=f"{each.time:%H:%M}", until=None, basis=("offers",))
        for each in sorted(discounts, key=lambda each: (-each.percent, each.time, each.weekdays))
    ]
    if offers:
        most = max(each.percent for each in discounts)
        parts.append(f"Discounts of up to {most} % are on offer at {_when(offers[0])}.")
    if not parts:
        return None
    basis = [("reviews", given), ("hours", windows), ("offers", offers)]
    return BestTime(
        text=" ".join(parts),
        windows=(*windows, *offers),
        basis=tuple(name for name, found in basis if found),
        citations=tuple(dict.fromkeys(review for name in given for review in advice[name].citations)),
    )


def _advised(name: str, claim: Claim, windows: Sequence[Window]) -> str:
    """An advice, how many give it, and when that is on most days."""
    when = f", {_when(windows[0])}" if windows else ""
    return f"{ADVICE[name]} ({claim.mentions} reviews{when})"


def _windows(name: str, claim: Claim, hours: Hours | None) -> Iterator[Window]:
    """Where the advice falls in the week, equal days together."""
    if hours is None or not hours.known:
        return
    days: dict[tuple[int, int], list[int]] = defaultdict(list)
    for period in hours.periods:
        for day, opens, closes in period.split_by_day():
            span = _span(name, opens, closes)
            if span and day not in days[span]:
                days[span].append(day)
    for (start, until), on in sorted(days.items(), key=lambda found: (-len(found[1]), found[0])):
        if on:
            yield Window(
                days=tuple(sorted(on)),
                start=format_time(start),
                until=format_time(until),
                basis=("reviews", "hours"),
                citations=claim.citations,
            )


def _span(name: str, opens: int, closes: int) -> tuple[int, int] | None:
    """The part of an opening that the advice means, in minutes from midnight."""
    if name == "lunch" and opens < LUNCH[0] and closes > LUNCH_FROM:
        return max(opens, LUNCH_FROM), min(closes, LUNCH[1])
    if name == "early" and opens >= DINNER_FROM:
        return opens, min(closes, opens + EARLY_FOR)
    if name == "before_eight" and opens < EIGHT < closes:
        return max(opens, DINNER_FROM), EIGHT
    return None


def _when(window: Window) -> str:
    until = f" to {window.until}" if window.until else ""
    return f"{window.start}{until} {in_words(window.days)}"


def in_words(days: Sequence[int]) -> str:
    """Weekdays as people write them: "every day", "from Monday to Thursday", "on Friday and Sunday"."""
    days = sorted(days)
    if len(days) == len(DAYS):
        return "every day"
    if len(days) > 2 and days[-1] - days[0] == len(days) - 1:
        return f"from {DAYS[days[0]]} to {DAYS[days[-1]]}"
    return f"on {listed([DAYS[day] for day in days], ' and ')}"


def listed(names: Sequence[str], last: str) -> str:
    """Names with commas between them, the last behind its own word."""
    return last.join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
