"""Menus from files: what a file would change is shown first, and then applied as a whole to that very menu."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from hashlib import sha256
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Max

from accounts.models import Venue
from framework.errors import InvalidRequest
from orders.menu import csv_format
from orders.menu.csv_format import COLUMNS, CONTROL, Fault, Row, Sheet
from orders.models import Menu, MenuCategory, MenuItem, MenuUpload
from orders.pricing import written

# So long a file waits to be applied, and so many of one venue do.
KEPT = timedelta(days=1)
MOST_KEPT = 20
NUMBER = re.compile(r"[0-9]{1,7}(\.[0-9]{1,3})?")
# Where cells are not separated by commas, a comma in a number can only be that of its decimals; with three digits
# behind it, it may stand between thousands.
WITH_COMMA = re.compile(r"[0-9]{1,7},[0-9]{1,2}")
YES, NO = ("yes", "true", "1"), ("no", "false", "0")
DEFAULTS = {"tax_percent": "0", "description": "", "available": "yes"}


class MenuChanged(InvalidRequest):
    """The menu is not the one any more that the preview spoke of."""


class Faulty(InvalidRequest):
    """Some lines cannot be applied, so none is."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A dish that is on the menu and in the file, with what would change: column, old, new."""

    line: int
    ref: str
    name: str
    cells: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """What applying a file would do to the menu as it is. `version` names that menu; `notes` say how it was read."""

    added: tuple[Row, ...]
    changed: tuple[Difference, ...]
    unchanged: int
    missing: tuple[MenuItem, ...]
    faults: tuple[Fault, ...]
    notes: tuple[str, ...]
    version: str

    @property
    def does_something(self) -> bool:
        """Whether anything would change, with or without removing what is missing."""
        return bool(self.added or self.changed or self.missing)


def keep(venue: Venue, *, content: bytes, file_name: str, now: datetime) -> MenuUpload:
    """Read a file and keep it for its preview. Raises BadFile. Older ones of the venue go."""
    sheet = csv_format.read(content)
    mine = MenuUpload.objects.filter(venue=venue)
    with transaction.atomic():
        mine.filter(created_at__lt=now - KEPT).delete()
        newest = mine.order_by("-created_at", "-pk").values("pk")[: MOST_KEPT - 1]
        mine.exclude(pk__in=list(newest.values_list("pk", flat=True))).delete()
        return MenuUpload.objects.create(
            venue=venue, file_name=CONTROL.sub("", file_name)[-200:], content=sheet.stored(), created_at=now
        )


def in_order(menu: Menu | None) -> list[MenuItem]:
    """What is on the menu, as it is shown. One query."""
    items = MenuItem.objects.filter(menu=menu).select_related("category")
    return list(items.order_by("category__position", "category__name", "position", "name", "id")) if menu else []


def cells_of(item: MenuItem, currency: str) -> dict[str, str]:
    """A dish as a file has it."""
    return {
        "id": item.ref,
        "name": item.name,
        "category": item.category.name,
        "price": written(item.price, currency),
        "tax_percent": short(item.tax_percent),
        "description": item.description,
        "available": "yes" if item.is_available else "no",
    }


def tidy(text: str) -> str:
    """A text as it would be read from a file."""
    return text.replace("\r\n", "\n").strip()


def short(number: Decimal) -> str:
    """10 for 10.000."""
    return f"{number.normalize():f}"


def version_of(items: Sequence[MenuItem], venue: Venue) -> str:
    """A name for the menu as far as files speak of it; whether a dish is sold out today is not among that."""
    known = sorted([str(item.pk), *cells_of(item, venue.currency).values()] for item in items)
    return sha256(json.dumps([venue.currency, known]).encode()).hexdigest()


def plan(venue: Venue, sheet: Sheet) -> Plan:
    """What applying the file would do. Two queries."""
    menu = Menu.objects.filter(venue=venue).first()
    return compare(venue, sheet, in_order(menu))


def compare(venue: Venue, sheet: Sheet, items: Sequence[MenuItem]) -> Plan:
    """Hold the file against what is on the menu; no query."""
    known = {item.ref: item for item in items}
    faults = list(sheet.faults)
    added, changed, unchanged = [], [], 0
    seen: dict[str, int] = {}
    commas = 0
    for row in sheet.rows:
        values = dict(row.values)
        if sheet.delimiter != ",":
            for column in ("price", "tax_percent"):
                if WITH_COMMA.fullmatch(values.get(column, "")):
                    values[column] = values[column].replace(",", ".")
                    commas += 1
        wrong = list(faults_of(venue, row.line, values))
        if (first := seen.setdefault(values["id"], row.line)) != row.line and values["id"]:
            wrong.append(Fault(row.line, "id", f"“{values['id'][:64]}” is already in line {first}."))
        if wrong:
            faults += wrong
            continue
        item = known.get(values["id"])
        if item is None:
            added.append(Row(row.line, normal(DEFAULTS | values, venue.currency)))
            continue
        old = cells_of(item, venue.currency)
        new = old | normal(values, venue.currency)
        cells = tuple((name, old[name], new[name]) for name in COLUMNS if tidy(old[name]) != new[name])
        if cells:
            changed.append(Difference(row.line, item.ref, item.name, cells))
        else:
            unchanged += 1
    notes = [f"{commas} number(s) with a decimal comma were converted: 9,50 to 9.50."] if commas else []
    return Plan(
        added=tuple(added),
        changed=tuple(changed),
        unchanged=unchanged,
        missing=tuple(item for item in items if item.ref not in seen),
        faults=tuple(sorted(faults, key=lambda fault: fault.line)),
        notes=tuple(notes),
        version=version_of(items, venue),
    )


def normal(values: Mapping[str, str], currency: str) -> dict[str, str]:
    """The cells of a faultless row as `cells_of` would write them."""
    written_so = dict(values)
    written_so["price"] = written(Decimal(values["price"]), currency)
    if "tax_percent" in values:
        written_so["tax_percent"] = short(Decimal(values["tax_percent"]))
    if "available" in values:
        written_so["available"] = "yes" if values["available"].lower() in YES else "no"
    return written_so


def faults_of(venue: Venue, line: int, values: Mapping[str, str]) -> Iterator[Fault]:
    """What is wrong with a row, by the rules of the model."""
    is_readable = True
    for column, text in values.items():
        if column != "description" and not text:
            is_readable = False
            yield Fault(line, column, "The value is missing.")
        elif CONTROL.search(text) or (column != "description" and re.search(r"[\t\r\n]", text)):
            is_readable = False
            yield Fault(line, column, "The value contains a control character.")
        elif column in ("price", "tax_percent") and not NUMBER.fullmatch(text):
            is_readable = False
            yield Fault(line, column, f"“{text[:40]}” is not a valid number. Use the format 9.50.")
        elif column == "available" and text.lower() not in (*YES, *NO):
            yield Fault(line, column, f"“{text[:40]}” is not yes or no.")
    if not is_readable:
        return
    if Decimal(values.get("tax_percent", "0")) > 100:
        yield Fault(line, "tax_percent", "A tax is 0 to 100 percent.")
    if len(values["category"]) > 100:
        yield Fault(line, "category", "A name can have at most 100 characters.")
    try:
        item = dish(Menu(venue=venue), values)
        item.clean_fields(exclude=["menu", "category"])
        item.clean()
    except ValidationError as error:
        columns = {"ref": "id"}
        for name, messages in error.message_dict.items():
            yield Fault(line, columns.get(name, name), " ".join(messages))


def dish(menu: Menu, values: Mapping[str, str]) -> MenuItem:
    """A dish with these cells, in no category yet."""
    item = MenuItem(menu=menu, ref=values["id"])
    fill(item, values)
    return item


def fill(item: MenuItem, values: Mapping[str, str]) -> None:
    """Write the cells into the dish, but for its category."""
    item.name, item.price = values["name"], Decimal(values["price"])
    item.tax_percent = Decimal(values.get("tax_percent", "0"))
    item.description = values.get("description", "")
    item.is_available = values.get("available", "yes").lower() in YES


def apply(upload: MenuUpload, *, version: str, removes_missing: bool, now: datetime) -> Plan | None:
    """Apply a file to the menu that `version` names, whole; None where it has been applied before.

    The dishes are locked while they are held against the file, so that of two who apply at once the second is told
    of the first. Raises MenuChanged and Faulty, and then nothing is written.
    """
    with transaction.atomic():
        if not MenuUpload.objects.filter(pk=upload.pk, applied_at=None).update(applied_at=now):
            return None
        Menu.objects.get_or_create(venue_id=upload.venue_id)
        menu = Menu.objects.select_for_update().get(venue=upload.venue_id)
        # Read only now: the currency stays while the menu is held.
        venue = menu.venue
        # In the order of their keys, as everybody takes them.
        list(MenuItem.objects.select_for_update().filter(menu=menu).order_by("pk").values_list("pk"))
        items = in_order(menu)
        wanted = compare(venue, Sheet.restored(upload.content), items)
        if wanted.version != version:
            raise MenuChanged(
                "The menu was changed after this preview was made. Nothing was applied: look at what the file would"
                " do now."
            )
        if wanted.faults:
            raise Faulty("Nothing was applied: some lines have errors. Correct the file and upload it again.")
        write(menu, wanted, {item.ref: item for item in items}, removes_missing=removes_missing)
    return wanted


def write(menu: Menu, wanted: Plan, known: Mapping[str, MenuItem], *, removes_missing: bool) -> None:
    """Store what is wanted. Call it while holding the menu and its dishes."""
    # New categories come last, in the order in which the file names them; so do dishes in theirs.
    named = [(row.line, row.values["category"]) for row in wanted.added]
    named += [(one.line, new) for one in wanted.changed for column, _, new in one.cells if column == "category"]
    places = places_of(menu, [name for _, name in sorted(named)])
    ends: dict[UUID, int] = dict(
        MenuItem.objects.filter(menu=menu).values_list("category").annotate(last=Max("position"))
    )

    def put(item: MenuItem, category: str) -> None:
        item.category = places[category]
        item.position = ends[item.category.pk] = ends.get(item.category.pk, -1) + 1

    fresh = []
    for row in wanted.added:
        item = dish(menu, row.values)
        put(item, row.values["category"])
        fresh.append(item)
    MenuItem.objects.bulk_create(fresh, batch_size=500)
    touched = []
    for one in wanted.changed:
        item = known[one.ref]
        cells: dict[str, Any] = {column: new for column, _, new in one.cells}
        fill(item, cells_of(item, menu.venue.currency) | cells)
        if "category" in cells:
            put(item, cells["category"])
        touched.append(item)
    columns = ["name", "price", "tax_percent", "description", "is_available", "category", "position"]
    MenuItem.objects.bulk_update(touched, columns, batch_size=250)
    if removes_missing:
        MenuItem.objects.filter(pk__in=[item.pk for item in wanted.missing]).delete()


def places_of(menu: Menu, names: Sequence[str]) -> dict[str, MenuCategory]:
    """The categories of the menu by name; those of these names that are missing are made."""
    places = {category.name: category for category in menu.categories.all()}
    last = max((category.position for category in places.values()), default=-1)
    fresh = [name for name in dict.fromkeys(names) if name not in places]
    for position, name in enumerate(fresh, last + 1):
        places[name] = menu.categories.create(name=name, position=min(position, 32_767))
    return places
