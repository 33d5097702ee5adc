"""Import of menu files: a preview of the changes, then their application, all or nothing, to the previewed menu."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from difflib import get_close_matches
from hashlib import sha256
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Max, RestrictedError, TextChoices
from django.utils.translation import gettext, ngettext

from accounts.models import Venue
from framework.errors import InvalidRequest
from framework.languages import format_number
from orders.menu import csv_format, editing, photos
from orders.menu.csv_format import COLUMNS, CONTROL, Row, RowError, Sheet
from orders.menu.decimals import convert_decimal_comma
from orders.menu.documents import items_with_groups
from orders.menu.serializers import DAY_MINUTES, MAX_STOCK
from orders.menu.stock import recording_sold_out
from orders.models import Allergen, Diet, ItemModifierGroup, Menu, MenuCategory, MenuItem, MenuUpload, ModifierGroup
from orders.pricing import format_amount, format_percent

# Uploads are deleted after this time, and beyond this number per venue.
UPLOAD_LIFETIME = timedelta(days=1)
MAX_UPLOADS = 20
NUMBER = re.compile(r"[0-9]{1,7}(\.[0-9]{1,3})?")
YES, NO = ("yes", "true", "1"), ("no", "false", "0")
PERCENTS = ("tax_percent", "takeaway_tax_percent")
DECIMALS = ("price", *PERCENTS)
# Whole numbers with their bounds.
WHOLE = {"prep_minutes": (1, DAY_MINUTES), "stock": (0, MAX_STOCK)}
WORDS: Mapping[str, Any] = {"allergens": Allergen, "diets": Diet}
MAY_BE_EMPTY = ("id", "takeaway_tax_percent", "description", *WORDS, "station", *WHOLE, "modifier_groups")
DEFAULTS = dict.fromkeys(MAY_BE_EMPTY, "") | {"tax_percent": "0", "available": "yes"}
# Spaces are written, because commas, semicolons and tabs may separate cells.
BETWEEN_WORDS = re.compile(r"[\s,;]+")


class MenuChanged(InvalidRequest):
    """The menu was changed after the preview."""


class FileHasErrors(InvalidRequest):
    """Some lines have errors, so none is applied."""


class DishInUse(InvalidRequest):
    """A modifier uses a dish that is not in the file."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A dish of the menu that the file changes. `cells` are (column, old, new)."""

    line: int
    ref: str
    name: str
    cells: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """The changes that a file makes to the current menu, which `version` identifies. `notes` are for the user."""

    added: tuple[Row, ...]
    changed: tuple[Difference, ...]
    unchanged: int
    missing: tuple[MenuItem, ...]
    errors: tuple[RowError, ...]
    notes: tuple[str, ...]
    version: str

    @property
    def has_changes(self) -> bool:
        """Whether the file changes anything, with or without deleting missing dishes."""
        return bool(self.added or self.changed or self.missing)


def store_upload(venue: Venue, *, content: bytes, file_name: str, now: datetime) -> MenuUpload:
    """Parse and store a file, and delete older uploads of the venue. Raises UnreadableFile."""
    sheet = csv_format.read(content)
    stock = MenuItem.objects.filter(menu__venue=venue, stock__isnull=False).values_list("ref", "stock")
    uploads = MenuUpload.objects.filter(venue=venue)
    with transaction.atomic():
        uploads.filter(created_at__lt=now - UPLOAD_LIFETIME).delete()
        newest = uploads.order_by("-created_at", "-pk").values("pk")[: MAX_UPLOADS - 1]
        uploads.exclude(pk__in=list(newest.values_list("pk", flat=True))).delete()
        return MenuUpload.objects.create(
            venue=venue,
            file_name=CONTROL.sub("", file_name)[-200:],
            content=asdict(sheet) | {"stock": dict(stock)},
            created_at=now,
        )


def list_items(menu: Menu | None) -> list[MenuItem]:
    items = items_with_groups().filter(menu=menu).select_related("category")
    return list(items.order_by("category__position", "category__name", "position", "name", "id")) if menu else []


def format_item(item: Any, currency: str) -> dict[str, str]:
    """Return the cells of a dish of `list_items`."""
    takeaway = item.takeaway_tax_percent
    return {
        "id": item.ref,
        "name": item.name,
        "category": item.category.name,
        "price": format_amount(item.price, currency),
        "tax_percent": format_percent(item.tax_percent),
        "takeaway_tax_percent": "" if takeaway is None else format_percent(takeaway),
        "description": item.description,
        "allergens": " ".join(item.allergens),
        "diets": " ".join(item.diets),
        "available": "yes" if item.is_available else "no",
        "station": item.station,
        "prep_minutes": format_whole(item.prep_minutes),
        "stock": format_whole(item.stock),
        "modifier_groups": " ".join(item.group_refs),
    }


def format_whole(number: int | None) -> str:
    return "" if number is None else str(number)


def compute_version(items: Sequence[MenuItem], venue: Venue) -> str:
    """Return a hash of the menu's columns in files, without the stock, which every order changes."""
    rows = sorted([str(item.pk), *(format_item(item, venue.currency) | {"stock": ""}).values()] for item in items)
    return sha256(json.dumps([venue.currency, rows]).encode()).hexdigest()


def plan_import(venue: Venue, sheet: Sheet, *, stock: Mapping[str, int] | None = None) -> Plan:
    """Compare the file with the current menu, and its stock with that at the time of the upload. Three queries."""
    menu = Menu.objects.filter(venue=venue).first()
    return compare(venue, sheet, list_items(menu), groups=read_group_ids(menu), stock=stock)


def read_group_ids(menu: Menu | None) -> dict[str, UUID]:
    """Return the keys of the modifier groups by their ids."""
    return dict(ModifierGroup.objects.filter(menu=menu).values_list("ref", "pk")) if menu else {}


def compare(
    venue: Venue,
    sheet: Sheet,
    items: Sequence[MenuItem],
    *,
    groups: Collection[str],
    stock: Mapping[str, int] | None = None,
) -> Plan:
    """Compare the file with the dishes of the menu, which has these modifier groups. No query.

    `stock` is that of the dishes when the file was uploaded: portions ordered since then are no change of the file.
    """
    known = {item.ref: item for item in items}
    used = {row.values["id"] for row in sheet.rows if row.values.get("id")}
    errors = list(sheet.errors)
    added, changed, unchanged = [], [], 0
    seen: dict[str, int] = {}
    numbers: dict[str, int] = {}
    commas = 0
    for row in sheet.rows:
        values = dict(row.values)
        for column in values.keys() & DECIMALS:
            number = convert_decimal_comma(values[column])
            commas += number != values[column]
            values[column] = number
        if not values.get("id"):
            values["id"] = editing.derive_ref(values["name"], used, default="dish", numbers=numbers)
            used.add(values["id"])
        row_errors = list(find_errors(venue, row.line, values, groups))
        if (first := seen.setdefault(values["id"], row.line)) != row.line:
            message = gettext("“%(id)s” is already in line %(line)s.")
            row_errors.append(RowError(row.line, "id", message % {"id": values["id"][:64], "line": first}))
        if row_errors:
            errors += row_errors
            continue
        item = known.get(values["id"])
        if item is None:
            added.append(Row(row.line, normalise(DEFAULTS | values, venue.currency)))
            continue
        old = format_item(item, venue.currency)
        if stock is not None:
            old["stock"] = format_whole(stock.get(item.ref))
        new = old | normalise(values, venue.currency)
        cells = tuple(
            (name, old[name], new[name]) for name in COLUMNS if old[name].replace("\r\n", "\n").strip() != new[name]
        )
        if cells:
            changed.append(Difference(row.line, item.ref, item.name, cells))
        else:
            unchanged += 1
    note = ngettext(
        "%(count)s number with a decimal comma was converted: 9,50 to 9.50.",
        "%(count)s numbers with a decimal comma were converted: 9,50 to 9.50.",
        commas,
    )
    notes = [note % {"count": commas}] if commas else []
    return Plan(
        added=tuple(added),
        changed=tuple(changed),
        unchanged=unchanged,
        missing=tuple(item for item in items if item.ref not in seen),
        errors=tuple(sorted(errors, key=lambda error: error.line)),
        notes=tuple(notes),
        version=compute_version(items, venue),
    )


def normalise(values: Mapping[str, str], currency: str) -> dict[str, str]:
    """Return the cells of a valid row in the format of `format_item`."""
    cells = dict(values)
    cells["price"] = format_amount(Decimal(values["price"]), currency)
    for column in values.keys() & PERCENTS:
        cells[column] = format_percent(Decimal(values[column])) if values[column] else ""
    for column in values.keys() & WHOLE:
        cells[column] = str(int(values[column])) if values[column] else ""
    for column, choices in WORDS.items():
        if column in values:
            cells[column] = " ".join(parse_words(values[column], choices))
    if "modifier_groups" in values:
        cells["modifier_groups"] = " ".join(dict.fromkeys(values["modifier_groups"].split()))
    if "available" in values:
        cells["available"] = "yes" if values["available"].lower() in YES else "no"
    return cells


def find_errors(venue: Venue, line: int, values: Mapping[str, str], groups: Collection[str]) -> Iterator[RowError]:
    """Yield the errors of a row, including those of the model's validation."""
    is_readable = True
    for column, text in values.items():
        if column not in MAY_BE_EMPTY and not text:
            is_readable = False
            yield RowError(line, column, gettext("The value is missing."))
        elif CONTROL.search(text) or (column != "description" and re.search(r"[\t\r\n]", text)):
            is_readable = False
            yield RowError(line, column, gettext("The value contains a control character."))
        elif column in DECIMALS and text and not NUMBER.fullmatch(text):
            is_readable = False
            message = gettext("“%(text)s” is not a valid number. Use the format 9.50.")
            yield RowError(line, column, message % {"text": text[:40]})
        elif column in WHOLE and text and not is_within(text, *WHOLE[column]):
            is_readable = False
            least, most = WHOLE[column]
            message = gettext("“%(text)s” is not a whole number from %(least)s to %(most)s.")
            bounds = {"text": text[:40], "least": least, "most": format_number(most)}
            yield RowError(line, column, message % bounds)
        elif column in WORDS and (unknown := find_unknown_word(text, WORDS[column])):
            is_readable = False
            yield RowError(line, column, describe_unknown_word(unknown, WORDS[column]))
        elif column == "modifier_groups" and (missing := [ref for ref in text.split() if ref not in groups]):
            message = gettext("There is no modifier group “%(id)s”.")
            yield RowError(line, column, message % {"id": missing[0][:64]})
        elif column == "available" and text.lower() not in (*YES, *NO):
            yield RowError(line, column, gettext("“%(text)s” is not yes or no.") % {"text": text[:40]})
    if not is_readable:
        return
    for column in PERCENTS:
        if Decimal(values.get(column) or "0") > 100:
            yield RowError(line, column, gettext("A tax is 0 to 100 percent."))
    if len(values["category"]) > 100:
        yield RowError(line, "category", gettext("A name can have at most 100 characters."))
    try:
        item = set_cells(MenuItem(menu=Menu(venue=venue), ref=values["id"]), values)
        item.clean_fields(exclude=["menu", "category"])
        item.clean()
    except ValidationError as error:
        for name, messages in error.message_dict.items():
            yield RowError(line, "id" if name == "ref" else name, " ".join(messages))


def set_cells(item: MenuItem, values: Mapping[str, str]) -> MenuItem:
    """Set the attributes of the dish, except its category, and return it."""
    item.name, item.price = values["name"], Decimal(values["price"])
    item.tax_percent = Decimal(values.get("tax_percent", "0"))
    item.takeaway_tax_percent = Decimal(takeaway) if (takeaway := values.get("takeaway_tax_percent")) else None
    item.description = values.get("description", "")
    item.allergens = parse_words(values.get("allergens", ""), Allergen)
    item.diets = parse_words(values.get("diets", ""), Diet)
    item.is_available = values.get("available", "yes").lower() in YES
    item.station = values.get("station", "")
    item.prep_minutes = int(minutes) if (minutes := values.get("prep_minutes")) else None
    item.stock = int(stock) if (stock := values.get("stock")) else None
    return item


def is_within(text: str, least: int, most: int) -> bool:
    return re.fullmatch(r"[0-9]{1,7}", text) is not None and least <= int(text) <= most


def split_words(text: str) -> list[str]:
    return [word for word in BETWEEN_WORDS.split(text.lower()) if word]


def parse_words(text: str, choices: type[TextChoices]) -> list[str]:
    """Return the words of a cell, each once and in the order of the choices: of allergens, that of the law."""
    words = split_words(text)
    return [choice.value for choice in choices if choice.value in words]


def find_unknown_word(text: str, choices: type[TextChoices]) -> str | None:
    return next((word for word in split_words(text) if word not in choices.values), None)


def describe_unknown_word(word: str, choices: type[TextChoices]) -> str:
    near = get_close_matches(word[:40], choices.values, n=1, cutoff=0.6)
    if choices is Allergen:
        message = gettext("“%(word)s” is not an allergen. The allergens are: %(known)s.")
        guess = gettext("“%(word)s” is not an allergen. Did you mean %(near)s? The allergens are: %(known)s.")
    else:
        message = gettext("“%(word)s” is not a diet. The diets are: %(known)s.")
        guess = gettext("“%(word)s” is not a diet. Did you mean %(near)s? The diets are: %(known)s.")
    values = {"word": word[:40], "near": "".join(near), "known": ", ".join(choices.values)}
    return (guess if near else message) % values


def apply_upload(upload: MenuUpload, *, version: str, removes_missing: bool, actor: str, now: datetime) -> Plan | None:
    """Apply a file to the previewed version of the menu, all or nothing; None if it was already applied.

    Locks the dishes, so that the second of two concurrent calls sees the changes of the first. Raises MenuChanged,
    FileHasErrors.
    """
    with transaction.atomic():
        if not MenuUpload.objects.filter(pk=upload.pk, applied_at=None).update(applied_at=now):
            return None
        menu = editing.lock_menu(upload.venue_id)
        # Read after the lock on the menu, which prevents a change of the currency.
        venue = menu.venue
        # In the order of their ids, the lock order of dishes.
        list(MenuItem.objects.select_for_update().filter(menu=menu).order_by("pk").values_list("pk"))
        items, groups = list_items(menu), read_group_ids(menu)
        sheet = Sheet.from_json(upload.content)
        plan = compare(venue, sheet, items, groups=groups, stock=upload.content.get("stock"))
        if plan.version != version:
            message = gettext(
                "The menu was changed after this preview was made. Nothing was applied: check the new preview."
            )
            raise MenuChanged(message)
        if plan.errors:
            message = gettext("Nothing was applied: some lines have errors. Correct the file and upload it again.")
            raise FileHasErrors(message)
        with recording_sold_out(menu.items.all(), actor=actor, now=now):
            write_plan(menu, plan, {item.ref: item for item in items}, groups, removes_missing=removes_missing)
        if plan.added or plan.changed or (removes_missing and plan.missing):
            editing.record_updated(menu, actor=actor, now=now)
    return plan


def write_plan(
    menu: Menu, plan: Plan, current: Mapping[str, MenuItem], groups: Mapping[str, UUID], *, removes_missing: bool
) -> None:
    """Store the changes of the plan. Requires the locks on the menu and its dishes."""
    # New categories are appended in the order of the file, and so are dishes in their category.
    used = [(row.line, row.values["category"]) for row in plan.added]
    used += [
        (changed.line, new) for changed in plan.changed for column, _, new in changed.cells if column == "category"
    ]
    categories = get_or_create_categories(menu, [name for _, name in sorted(used)])
    last_positions: dict[UUID, int] = dict(
        MenuItem.objects.filter(menu=menu).values_list("category").annotate(last=Max("position"))
    )

    def append(item: MenuItem, category: str) -> None:
        item.category = categories[category]
        item.position = last_positions[item.category.pk] = last_positions.get(item.category.pk, -1) + 1

    new_items = []
    for row in plan.added:
        item = set_cells(MenuItem(menu=menu, ref=row.values["id"]), row.values)
        append(item, row.values["category"])
        new_items.append(item)
    MenuItem.objects.bulk_create(new_items, batch_size=500)
    changed_items = []
    for changed in plan.changed:
        item = current[changed.ref]
        cells: dict[str, Any] = {column: new for column, _, new in changed.cells}
        set_cells(item, format_item(item, menu.venue.currency) | cells)
        if "category" in cells:
            append(item, cells["category"])
        changed_items.append(item)
    columns = [
        *("name", "price", "tax_percent", "takeaway_tax_percent", "description", "allergens", "diets", "is_available"),
        *("station", "prep_minutes", "stock", "category", "position"),
    ]
    MenuItem.objects.bulk_update(changed_items, columns, batch_size=250)
    asked = [(item, row.values["modifier_groups"]) for item, row in zip(new_items, plan.added, strict=True)]
    asked += [
        (current[changed.ref], new)
        for changed in plan.changed
        for column, _, new in changed.cells
        if column == "modifier_groups"
    ]
    ItemModifierGroup.objects.filter(item__in=[item for item, _ in asked]).delete()
    ItemModifierGroup.objects.bulk_create(
        ItemModifierGroup(menu=menu, item=item, group_id=groups[ref], position=position)
        for item, refs in asked
        for position, ref in enumerate(refs.split())
    )
    if removes_missing:
        photos.discard_on_commit(item.photo_id for item in plan.missing)
        try:
            MenuItem.objects.filter(pk__in=[item.pk for item in plan.missing]).delete()
        except RestrictedError as error:
            restricted: Any = error.restricted_objects
            names = ", ".join(sorted({str(modifier.item) for modifier in restricted})[:5])
            message = gettext("Nothing was applied: modifiers use %(names)s. Keep these dishes in the file.")
            raise DishInUse(message % {"names": names}) from error


def get_or_create_categories(menu: Menu, names: Sequence[str]) -> dict[str, MenuCategory]:
    """Return the categories of the menu by name, after creating the missing ones."""
    categories = {category.name: category for category in menu.categories.all()}
    last = max((category.position for category in categories.values()), default=-1)
    missing = [name for name in dict.fromkeys(names) if name not in categories]
    for position, name in enumerate(missing, last + 1):
        categories[name] = menu.categories.create(name=name, position=min(position, 32_767))
    return categories
