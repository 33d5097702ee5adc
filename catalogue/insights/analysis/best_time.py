"""The best time to visit: the advice of reviews within the opening hours, and the times of discounts."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from catalogue.hours import Hours
from catalogue.hours.serialization import format_time
from catalogue.insights.providers.base import BestTime, Claim, Discount, Window

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
# In minutes from midnight. A period is open for lunch if it opens before LUNCH_LATEST_START.
LUNCH_START, LUNCH_LATEST_START, LUNCH_END = 11 * 60, 14 * 60, 15 * 60
DINNER_START = 16 * 60
EIGHT_PM = 20 * 60
EARLY_MINUTES = 90

ADVICE = {
    "early": "coming early",
    "lunch": "coming for lunch",
    "before_eight": "coming before eight",
    "weekend": "booking ahead for a weekend",
}


# Full and empty days: what contradicts each, and its words.
CROWDS = {
    "busy weekend": ("calm weekend", "weekends busy"),
    "calm weekday": ("busy weekday", "weekdays quiet"),
}
# More than so many times as many reviews must say so as say the contrary.
MIN_CROWD_RATIO = 2
# From Monday to Thursday.
WEEKDAYS = range(4)


def find_best_time(
    advice: Mapping[str, Claim], *, crowds: Mapping[str, Claim], hours: Hours | None, discounts: Sequence[Discount]
) -> BestTime | None:
    """The best time by the advice of reviews (keys of ADVICE), full and empty days (keys of CROWDS) and discounts.

    None without any of them.
    """
    names = [name for name in ADVICE if name in advice]
    windows_by_name = {name: list(_windows(name, advice[name], hours)) for name in names}
    windows = [window for name in names for window in windows_by_name[name]]
    days = [name for name in CROWDS if name in crowds]
    if "calm weekday" in days:
        windows += _windows("calm weekday", crowds["calm weekday"], hours)
    offers = [
        Window(days=discount.weekdays, start=f"{discount.time:%H:%M}", until=None, basis=("offers",))
        for discount in sorted(discounts, key=lambda discount: (-discount.percent, discount.time, discount.weekdays))
    ]
    if not names and not days and not offers:
        return None
    sentences = []
    if names:
        phrases = []
        for name in names:
            when = f", {_describe_window(windows_by_name[name][0])}" if windows_by_name[name] else ""
            phrases.append(f"{ADVICE[name]} ({advice[name].mentions} reviews{when})")
        sentences.append(f"Guests advise {join_names(phrases, ' and ')}.")
    if days:
        phrases = [f"{CROWDS[name][1]} ({crowds[name].mentions} reviews)" for name in days]
        sentences.append(f"Guests find {join_names(phrases, ' and ')}.")
    if offers:
        max_percent = max(discount.percent for discount in discounts)
        sentences.append(f"Discounts of up to {max_percent} % are on offer at {_describe_window(offers[0])}.")
    claims = [*(advice[name] for name in names), *(crowds[name] for name in days)]
    evidence = [("reviews", claims), ("hours", windows), ("offers", offers)]
    return BestTime(
        text=" ".join(sentences),
        windows=(*windows, *offers),
        basis=tuple(basis for basis, items in evidence if items),
        citations=tuple(dict.fromkeys(review for claim in claims for review in claim.citations)),
    )


def clear_crowds(crowds: Mapping[str, Claim], counts: Mapping[str, int]) -> dict[str, Claim]:
    """The claims about full and empty days that few reviews contradict; `counts` are the reviews of all of them."""
    return {
        name: claim
        for name, claim in crowds.items()
        if name in CROWDS and claim.mentions > MIN_CROWD_RATIO * counts.get(CROWDS[name][0], 0)
    }


def _windows(name: str, claim: Claim, hours: Hours | None) -> Iterator[Window]:
    """The windows of an advice within the opening hours; days with the same window are grouped."""
    if hours is None or not hours.known:
        return
    days_by_span: dict[tuple[int, int], list[int]] = defaultdict(list)
    for period in hours.periods:
        for day, opens, closes in period.split_by_day():
            span = _span(name, opens, closes)
            if name == "calm weekday" and day not in WEEKDAYS:
                continue
            if span and day not in days_by_span[span]:
                days_by_span[span].append(day)
    for (start, end), days in sorted(days_by_span.items(), key=lambda item: (-len(item[1]), item[0])):
        yield Window(
            days=tuple(sorted(days)),
            start=format_time(start),
            until=format_time(end),
            basis=("reviews", "hours"),
            citations=claim.citations,
        )


def _span(name: str, opens: int, closes: int) -> tuple[int, int] | None:
    """The part of an opening period that fits the advice, in minutes from midnight."""
    if name == "lunch" and opens < LUNCH_LATEST_START and closes > LUNCH_START:
        return max(opens, LUNCH_START), min(closes, LUNCH_END)
    if name == "early" and opens >= DINNER_START:
        return opens, min(closes, opens + EARLY_MINUTES)
    if name == "calm weekday":
        return opens, closes
    if name == "before_eight" and opens < EIGHT_PM < closes:
        return max(opens, DINNER_START), EIGHT_PM
    return None


def _describe_window(window: Window) -> str:
    until = f" to {window.until}" if window.until else ""
    return f"{window.start}{until} {describe_days(window.days)}"


def describe_days(days: Sequence[int]) -> str:
    """Weekdays as text: "every day", "from Monday to Thursday", "on Friday and Sunday"."""
    days = sorted(days)
    if len(days) == len(DAYS):
        return "every day"
    if len(days) > 2 and days[-1] - days[0] == len(days) - 1:
        return f"from {DAYS[days[0]]} to {DAYS[days[-1]]}"
    return f"on {join_names([DAYS[day] for day in days], ' and ')}"


def join_names(names: Sequence[str], last_separator: str) -> str:
    """Join names with commas, and the last one with its own separator."""
    return last_separator.join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
