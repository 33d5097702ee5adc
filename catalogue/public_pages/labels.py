"""Words of the pages in the language of the guest: attributes, prices, distances and opening states."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from framework.languages import format_clock, format_clock_or_date, format_number, format_weekday

# Of an attribute that has no translation, the English label of the back office is shown.
ATTRIBUTES: Mapping[str, Any] = {
    "air_conditioning": gettext_lazy("Air conditioning"),
    "delivery": gettext_lazy("Delivery"),
    "dog": gettext_lazy("Dogs welcome"),
    "drive_through": gettext_lazy("Drive-through"),
    "highchair": gettext_lazy("High chairs"),
    "indoor_seating": gettext_lazy("Indoor seating"),
    "internet_access": gettext_lazy("Internet access"),
    "live_music": gettext_lazy("Live music"),
    "outdoor_seating": gettext_lazy("Outdoor seating"),
    "reservation": gettext_lazy("Takes reservations"),
    "takeaway": gettext_lazy("Takeaway"),
    "toilets_wheelchair": gettext_lazy("Wheelchair-accessible toilet"),
    "wheelchair": gettext_lazy("Wheelchair access"),
    "diet_gluten_free": gettext_lazy("gluten-free"),
    "diet_halal": gettext_lazy("halal"),
    "diet_kosher": gettext_lazy("kosher"),
    "diet_lactose_free": gettext_lazy("lactose-free"),
    "diet_vegan": gettext_lazy("vegan"),
    "diet_vegetarian": gettext_lazy("vegetarian"),
}
LIMITED = "limited"
# Values that need no word beside the label, and those of what a place does not have.
PLAIN, ABSENT = (True, "yes", "only"), (False, None, "", "no")

# The drawing of a card by a cuisine of the restaurant (catalogue/static/catalogue/dishes.svg).
DRAWINGS: Mapping[str, str] = {
    **dict.fromkeys(("sushi", "japanese", "izakaya", "poke", "hawaiian", "tempura"), "sushi"),
    **dict.fromkeys(("seafood", "fish-and-chips", "nordic", "danish", "portuguese"), "fish"),
    **dict.fromkeys(("pizza", "italian"), "pizza"),
    **dict.fromkeys(("cafe", "coffee-shop", "tea", "breakfast", "brunch"), "cup"),
    **dict.fromkeys(("burger", "american", "sandwich", "hot-dog", "chicken", "fried-chicken"), "burger"),
    **dict.fromkeys(("bar", "wine-bar", "pub", "tapas", "spanish", "irish", "juice"), "glass"),
    **dict.fromkeys(("vegan", "vegetarian", "salad"), "leaf"),
    **dict.fromkeys(("barbecue", "steak-house", "kebab", "turkish", "argentinian", "brazilian", "yakitori"), "flame"),
    **dict.fromkeys(("bakery", "cake", "dessert", "ice-cream", "donut", "bagel", "crepe", "pancake"), "cake"),
    **dict.fromkeys(
        ("ramen", "noodle", "udon", "thai", "vietnamese", "chinese", "korean", "asian", "dumplings", "dim-sum",
         "curry", "hotpot", "pasta", "indian", "nepalese", "taiwanese", "malaysian", "indonesian"),
        "bowl",
    ),
}  # fmt: skip
# The colours of a card and its pin on the map: of a kind of kitchen, so that a map shows what is where.
TONES: Mapping[str, int] = {
    "pizza": 0, "burger": 0, "leaf": 1, "fish": 2, "sushi": 2, "cup": 3, "cake": 4, "glass": 5, "bowl": 6, "flame": 7,
    "plate": 3,
}  # fmt: skip
# Longer distances have no decimals.
MIN_WHOLE_KILOMETRES_M = 100_000
SOON, WEEK = timedelta(hours=12), timedelta(days=6)


def label_attributes(attributes: Mapping[str, Any], *, known: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return what a place has: `label`, `detail`, and whether each is English for want of a translation.

    `known` are the English labels of all attributes.
    """
    found = []
    for key, value in sorted(attributes.items()):
        if key == "kind" or key not in known or value in ABSENT:
            continue
        detail = ""
        if value == LIMITED:
            detail = _("limited")
        elif value not in PLAIN:
            detail = str(value).replace("_", " ")
        found.append(
            {
                "label": label_attribute(key, known),
                "is_english": key not in ATTRIBUTES,
                "detail": detail,
                "is_detail_english": value != LIMITED,
            }
        )
    return found


def label_attribute(key: str, known: Mapping[str, str]) -> str:
    return str(capfirst(ATTRIBUTES[key])) if key in ATTRIBUTES else known.get(key, key)


def format_distance(metres: int) -> str:
    """Format a distance: `350 m`, `1.2 km`, `479 km`."""
    if metres < 1000:
        return f"{metres} m"
    if metres >= MIN_WHOLE_KILOMETRES_M:
        return f"{format_number(round(metres / 1000))} km"
    return f"{format_number(Decimal(metres).scaleb(-3).quantize(Decimal('0.1')))} km"


def format_rating(rating: Decimal | None) -> str:
    """Format a rating with one decimal, so that those of a list are as wide: `4.0`; "" without one."""
    return format_number(rating, decimals=1) if rating else ""


def web_address(text: str | None) -> str:
    """Return an address that a page may link, else ""; sources may state anything."""
    return text if text and text.startswith(("https://", "http://")) else ""


def price_sign(level: int | None) -> str:
    return "$" * (level or 0)


def format_state(open_now: bool | None, next_change: datetime | None, *, now: datetime) -> str:
    """Return whether a place is open, and until when: `Open until 22:00`. `next_change` is in its time zone."""
    change = next_change and _format_change(next_change, now=now)
    if open_now:
        return _("Open until %(time)s") % {"time": change} if change else _("Open now")
    if open_now is None:
        return _("Hours not known")
    return _("Closed, opens %(time)s") % {"time": change} if change else _("Closed now")


def _format_change(moment: datetime, *, now: datetime) -> str:
    """Write the time, after the day of the week unless it is soon: `Sat 08:00`; after a week with the date."""
    if moment - now < SOON:
        return format_clock(moment)
    if moment - now < WEEK:
        return f"{format_weekday(moment.date())} {format_clock(moment)}"
    return format_clock_or_date(moment, today=now.astimezone(moment.tzinfo).date())


def parse_moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def choose_drawing(cuisines: list[str]) -> dict[str, Any]:
    """Return the drawing and the colours of a restaurant with these cuisines."""
    drawing = next((DRAWINGS[cuisine] for cuisine in cuisines if cuisine in DRAWINGS), "plate")
    return {"drawing": drawing, "tone": TONES[drawing]}
