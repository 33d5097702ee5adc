"""New York's restaurant inspections as CSV: a row for each violation, the restaurant named by its `camis`."""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from string import capwords
from typing import Any, BinaryIO

from catalogue.importers.parsing import text_cleaning
from catalogue.importers.parsing.category_mapping import label
from catalogue.importers.parsing.parsed_place import Place, Sketch, read_location
from catalogue.importers.row_errors import RejectedError, UnreadableFileError, check_storable, digest_of
from catalogue.models import Market, Restaurant
from catalogue.places.slugs import slugify
from catalogue.search.geocoding.distance import Location

SOURCE = "dohmh"
IS_COMPLETE = True
IS_WORLDWIDE = False
# All rows of one restaurant are read together, wherever they stand.
IS_GROUPED = True

# Part of every digest: raise it when this module reads more than before, and the next import reads all rows anew.
VERSION = 1

MARKET = "new-york"
READ = ("dba", "boro", "building", "street", "zipcode", "phone", "cuisine_description")
INSPECTED = ("inspection_date", "action", "grade")
COLUMNS = ("camis", *READ, *INSPECTED)
# The day of a restaurant that nobody has inspected yet: whether it has opened is not known.
NEVER = "1900-01-01"
GRADES = frozenset("ABC")

# Labels that are no cuisine, or one of ours under another name.
CUISINES: dict[str, tuple[str, ...]] = {
    "Asian/Asian Fusion": ("asian", "fusion"),
    "Bagels/Pretzels": ("bagel",),
    "Bakery Products/Desserts": ("bakery", "dessert"),
    "Barbecue": ("barbecue",),
    "Bottled Beverages": (),
    "Chinese/Japanese": ("chinese", "japanese"),
    "Chinese/Cuban": ("chinese", "cuban"),
    "Coffee/Tea": ("coffee-shop", "tea"),
    "Continental": ("international",),
    "Donuts": ("donut",),
    "English": ("british",),
    "Frozen Desserts": ("ice-cream",),
    "Fruits/Vegetables": (),
    "Hamburgers": ("burger",),
    "Hotdogs": ("hot-dog",),
    "Hotdogs/Pretzels": ("hot-dog",),
    "Iranian": ("persian",),
    "Jewish/Kosher": ("jewish",),
    "Juice, Smoothies, Fruit Salads": ("juice",),
    "New American": ("american",),
    "New French": ("french",),
    "Not Listed/Not Applicable": (),
    "Nuts/Confectionary": (),
    "Other": (),
    "Pancakes/Waffles": ("pancake",),
    "Salads": ("salad",),
    "Sandwiches": ("sandwich",),
    "Sandwiches/Salads/Mixed Buffet": ("sandwich", "salad"),
    "Soul Food": ("southern",),
    "Soups": ("soup",),
    "Soups/Salads/Sandwiches": ("soup", "salad", "sandwich"),
    "Steakhouse": ("steak-house",),
}


def rows(stream: BinaryIO) -> Iterator[dict[str, Any] | csv.Error]:
    """The lines by column, or what is wrong with one. Raises UnreadableFileError."""
    # A broken byte becomes half a surrogate pair, and its row is refused; the others are read.
    text = io.TextIOWrapper(stream, encoding="utf-8", errors="surrogateescape", newline="")
    reader = csv.reader(text)
    try:
        header = [re.sub(r"\W+", "_", name.strip().casefold()) for name in next(reader, [])]
        missing = [column for column in COLUMNS if column not in header]
        if missing:
            raise UnreadableFileError(f"These are no inspections of New York: {', '.join(missing)} is missing.")
        yield from _lines(reader, header)
    except csv.Error as error:
        raise UnreadableFileError(f"The header is no CSV: {error}.") from error
    finally:
        text.detach()


def sketch(content: Any) -> Sketch | None:
    """Which restaurant a row speaks of. Raises RejectedError."""
    if isinstance(content, csv.Error):
        raise RejectedError(f"The line is no CSV: {content}.")
    if None in content.values():
        raise RejectedError("The line has not as many fields as the header.")
    record = content["camis"].strip()
    if not re.fullmatch("[0-9]{1,12}", record, re.ASCII):
        raise RejectedError(f"camis: {record!r:.40} is no number.")
    read = {name: content[name].strip() for name in (*READ, *INSPECTED)}
    check_storable(read)
    if not text_cleaning.fitting(read["dba"], 200):
        raise RejectedError("The place has no name, or one that is longer than 200 characters or no line.")
    location = _location(content.get("latitude"), content.get("longitude"))
    place = (location.lat, location.lng) if location else None
    return Sketch(
        record=record,
        digest=digest_of(VERSION, read, place),
        location=location,
        market=MARKET,
        content=read,
    )


def read(sketch: Sketch, *, market: Market, on: date) -> Place:  # nothing of it is dated
    """What the rows of one restaurant say together: `content` is the list of them."""
    parts: Sequence[Mapping[str, str]] = sorted(sketch.content, key=lambda part: part["inspection_date"])
    newest = parts[-1]
    cuisines = _cuisines(newest["cuisine_description"])
    grade = next((part["grade"] for part in reversed(parts) if part["grade"] in GRADES), None)
    street = f"{newest['building']} {_spoken(newest['street'])}".strip()
    return Place(
        record=sketch.record,
        digest=sketch.digest,
        name=_spoken(newest["dba"]),
        status=_status(parts),
        market_id=market.slug,
        line1=text_cleaning.fitting(street, 200) if newest["street"] else None,
        locality=text_cleaning.fitting(newest["boro"], 120) if newest["boro"] != "0" else None,
        region="NY",
        postal_code=text_cleaning.fitting(newest["zipcode"], 20),
        country=market.country,
        latitude=sketch.location.lat if sketch.location else None,
        longitude=sketch.location.lng if sketch.location else None,
        phone=text_cleaning.first_phone([newest["phone"]], country=market.country),
        cuisines=cuisines,
        cuisine_labels={slug: label(slug) for slug in cuisines},
        attributes={"inspection_grade": grade} if grade else {},
        external_ids={"camis": sketch.record},
    )


def _lines(reader: Iterator[list[str]], header: Sequence[str]) -> Iterator[dict[str, Any] | csv.Error]:
    """Each line by column: one that is no CSV costs itself, and the next is read."""
    while True:
        try:
            line = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield error
        else:
            if line:
                is_whole = len(line) == len(header)
                yield dict(zip(header, line, strict=True)) if is_whole else dict.fromkeys(header)


def _location(latitude: str | None, longitude: str | None) -> Location | None:
    """The city writes 0, 0 where it does not know. Raises RejectedError."""
    try:
        lat, lng = float(latitude or 0), float(longitude or 0)
    except ValueError:
        raise RejectedError("The coordinates are not two numbers.") from None
    return read_location(lat, lng) if lat or lng else None


def _status(parts: Sequence[Mapping[str, str]]) -> str:
    """Closed by the inspectors until they say that it is open again; unverified until they have been there."""
    day = parts[-1]["inspection_date"]
    if day.startswith(NEVER) or not day:
        return Restaurant.Status.UNVERIFIED
    actions = [part["action"].casefold() for part in parts if part["inspection_date"] == day]
    is_closed = any("closed by dohmh" in action for action in actions)
    is_open = any("re-opened" in action for action in actions)
    return Restaurant.Status.TEMPORARILY_CLOSED if is_closed and not is_open else Restaurant.Status.OPEN


def _cuisines(words_of_city: str) -> list[str]:
    """ "Tex-Mex" is tex-mex; of what has a slash, each half is one."""
    if words_of_city in CUISINES:
        return list(CUISINES[words_of_city])
    return list(dict.fromkeys(slugify(part)[:60].rstrip("-") for part in words_of_city.split("/") if part.strip()))


def _spoken(text: str) -> str:
    """The city shouts most names: those get small letters."""
    return capwords(text) if text.isupper() else " ".join(text.split())
