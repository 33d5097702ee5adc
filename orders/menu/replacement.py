"""Replacement of a whole menu by a document: what it changes, and its application, all or nothing.

Rows are matched by their ids, categories by their names. Nothing is renamed.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import IntegrityError, models, transaction

from accounts.models import Venue
from framework.api.error_handler import invalid_request
from framework.db.read_snapshot import read_snapshot
from framework.errors import Problem, ServiceUnavailable
from framework.timezones import zone
from orders import pricing
from orders.menu import documents, editing, group_rules, photos, stock
from orders.menu.serializers import MAX_DISHES
from orders.models import ItemModifierGroup, Menu, MenuCategory, MenuItem, Modifier, ModifierGroup, VersionConflict

# The values of members that are left out. The stock of a dish stays, and so does until when it is sold out.
CATEGORY_DEFAULTS: Mapping[str, Any] = {"served_from": None, "served_until": None, "translations": {}}
ITEM_DEFAULTS: Mapping[str, Any] = {
    "description": "",
    "tax_percent": Decimal(0),
    "takeaway_tax_percent": None,
    "allergens": (),
    "diets": (),
    "is_available": True,
    "station": "",
    "prep_minutes": None,
    "translations": {},
    "modifier_groups": (),
}
GROUP_DEFAULTS: Mapping[str, Any] = {"min_choices": 0, "max_choices": 1, "translations": {}}
MODIFIER_DEFAULTS: Mapping[str, Any] = {
    "price": Decimal(0),
    "is_default": False,
    "is_available": True,
    "allergens": (),
    "menu_item_id": None,
    "modifier_group": None,
    "translations": {},
}
# Fields of the document whose attributes have other names: those of `documents` and of the models.
ATTRIBUTES = {
    "category": "category_name",
    "modifier_groups": "group_refs",
    "group": "group_ref",
    "price": "price_delta",
    "menu_item_id": "item_ref",
    "modifier_group": "nested_group_ref",
}
Values = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Content:
    """The rows of a document in their order, by id: the values of their fields. Positions are those of the order."""

    is_published: bool | None
    categories: Values
    items: Values
    modifier_groups: Values
    modifiers: Values


@dataclass(frozen=True, slots=True)
class RowChanges:
    """The changes of one kind of row: ids, and the changed fields by id."""

    added: Sequence[str]
    changed: Mapping[str, Sequence[str]]
    removed: Sequence[str]

    def to_json(self) -> dict[str, Any]:
        return {"added": self.added, "changed": self.changed, "removed": self.removed}


class Current:
    """The rows of the stored menu by id, in their order, with `sold_out_until` as the menu shows it. Four queries."""

    def __init__(self, menu: Menu, *, now: datetime) -> None:
        named = models.F("category__name")
        in_order = ("category__position", "category__name", "position", "name", "id")
        items = documents.items_with_groups().filter(menu=menu.pk).annotate(category_name=named).order_by(*in_order)
        modifiers = documents.modifiers_with_refs().annotate(group_ref=models.F("group__ref"))
        categories = MenuCategory.objects.filter(menu=menu.pk).order_by("position", "name", "id")
        self.categories = {category.name: category for category in categories}
        self.items = {item.ref: item for item in items}
        at = now.astimezone(zone(menu.venue.timezone))
        for item in self.items.values():
            item.sold_out_until = item.get_sold_out_until(at)
        self.modifier_groups = {
            group.ref: group for group in ModifierGroup.objects.filter(menu=menu.pk).order_by("ref")
        }
        self.modifiers = {modifier.ref: modifier for modifier in modifiers.filter(menu=menu.pk)}

    def compare(self, content: Content) -> dict[str, RowChanges]:
        return {
            "categories": compare(self.categories, content.categories, {}, parent=""),
            "items": compare(
                self.items,
                content.items,
                {name: ATTRIBUTES[name] for name in ("category", "modifier_groups")},
                parent="category",
            ),
            "modifier_groups": compare(self.modifier_groups, content.modifier_groups, {}, parent=None),
            "modifiers": compare(
                self.modifiers,
                content.modifiers,
                {name: ATTRIBUTES[name] for name in ("group", "price", "menu_item_id", "modifier_group")},
                parent="group",
            ),
        }


def compare(
    rows: Mapping[str, Any], wanted: Values, attributes: Mapping[str, str], *, parent: str | None
) -> RowChanges:
    """Compare stored rows with those of the document. `parent` is the field within which the rows have an order."""
    changed: dict[str, list[str]] = {}
    for ref in wanted.keys() & rows.keys():
        row = rows[ref]
        fields = [name for name, value in wanted[ref].items() if getattr(row, attributes.get(name, name)) != value]
        if fields:
            changed[ref] = fields
    if parent is not None:
        attribute = attributes.get(parent, parent)
        stored = [(getattr(rows[ref], attribute, ""), ref) for ref in rows if ref in wanted]
        asked = [(wanted[ref].get(parent, ""), ref) for ref in wanted if ref in rows]
        for ref in find_moved(stored, asked):
            changed.setdefault(ref, []).append("position")
    return RowChanges(
        added=[ref for ref in wanted if ref not in rows],
        changed={ref: changed[ref] for ref in wanted if ref in changed},
        removed=[ref for ref in rows if ref not in wanted],
    )


def find_moved(stored: Sequence[tuple[str, str]], asked: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield the rows that have another place among those that stay with their parent; both are (parent, id)."""
    staying = {*stored} & {*asked}
    places = []
    for rows in (stored, asked):
        counter: Counter[str] = Counter()
        place = {}
        for parent, ref in rows:
            if (parent, ref) in staying:
                place[ref] = counter[parent]
                counter[parent] += 1
        places.append(place)
    yield from (ref for ref, place in places[1].items() if places[0][ref] != place)


def preview(
    venue: Venue, document: Mapping[str, Any], *, tags: frozenset[str] | None, now: datetime
) -> tuple[dict[str, Any], str]:
    """Return what the document would change (MenuChanges), and the entity tag of the menu that it would change.

    Raises InvalidRequest, VersionConflict.
    """
    with read_snapshot():
        tag = check_tags(venue, tags, now=now)
        menu = Menu.objects.filter(venue=venue).select_related("venue").first() or Menu(venue=venue)
        current = Current(menu, now=now)
    content = read_content(venue, document, menu, current, now=now)
    is_published = menu.is_published if content.is_published is None else content.is_published
    changes = {kind: rows.to_json() for kind, rows in current.compare(content).items()}
    return {"object": "menu_changes", "is_published": is_published, **changes}, tag


def replace_menu(
    venue: Venue, document: Mapping[str, Any], *, tags: frozenset[str] | None, actor: str, now: datetime
) -> tuple[bytes, str]:
    """Store the document as the menu; return the new menu as `documents.render_menu` does.

    `tags` are the entity tags that the present menu may have, None for any. Locks the menu and its dishes, so that of
    two calls the second sees the result of the first, and no order takes a portion in between. Raises InvalidRequest
    with every problem, VersionConflict, and ServiceUnavailable if a row that goes was just used.
    """
    try:
        with transaction.atomic():
            menu = editing.lock_menu(venue.pk)
            # In the order of their ids, the lock order of dishes.
            list(MenuItem.objects.select_for_update().filter(menu=menu).order_by("pk").values_list("pk"))
            if tags is not None:
                check_tags(venue, tags, now=now)
            current = Current(menu, now=now)
            content = read_content(menu.venue, document, menu, current, now=now)
            changes = current.compare(content)
            with stock.recording_sold_out(menu.items.all(), actor=actor, now=now):
                write(menu, content, current, changes)
            publishes = content.is_published not in (None, menu.is_published)
            if publishes:
                Menu.objects.filter(pk=menu.pk).update(is_published=content.is_published)
            if publishes or any(rows.added or rows.changed or rows.removed for rows in changes.values()):
                editing.record_updated(menu, actor=actor, now=now)
            return documents.render_menu(menu.venue, now=now)
    except (IntegrityError, models.RestrictedError) as error:
        raise ServiceUnavailable("The menu was changed at the same moment. Nothing was written: try again.") from error


def check_tags(venue: Venue, tags: frozenset[str] | None, *, now: datetime) -> str:
    """Return the entity tag of the menu. Raises VersionConflict if it is none of `tags`."""
    _, tag = documents.render_menu(venue, now=now)
    if tags is not None and tag.strip('"') not in tags:
        raise VersionConflict("The menu has changed since you read it. Read it again.")
    return tag


# Reading a document
def read_content(venue: Venue, document: Mapping[str, Any], menu: Menu, current: Current, *, now: datetime) -> Content:
    """Return the rows of the document. Raises InvalidRequest with every problem that concerns several of them."""
    problems: list[Problem] = []
    for name in ("currency", "prices_include_tax"):
        if name in document and document[name] != getattr(venue, name):
            value = str(getattr(venue, name)).lower() if name != "currency" else venue.currency
            problems.append(Problem(name, f"This is `{value}` at this venue; it is a setting of the venue."))
    dishes = [
        (f"categories[{nth}].items[{number}]", category["name"], item)
        for nth, category in enumerate(document["categories"])
        for number, item in enumerate(category["items"])
    ]
    groups = [(f"modifier_groups[{nth}]", group) for nth, group in enumerate(document.get("modifier_groups", ()))]
    choices = [
        (f"{param}.modifiers[{number}]", param, modifier)
        for param, group in groups
        for number, modifier in enumerate(group["modifiers"])
    ]
    if len(dishes) > MAX_DISHES:
        raise invalid_request([Problem("categories", f"A menu can have at most {MAX_DISHES:,} dishes here.")])
    problems += find_category_problems(document["categories"])
    dish_refs, problem_list = assign_refs([(param, item) for param, _, item in dishes], default="dish")
    problems += problem_list
    group_refs, problem_list = assign_refs(groups, default="group")
    problems += problem_list
    choice_refs, problem_list = assign_refs([(param, modifier) for param, _, modifier in choices], default="modifier")
    problems += problem_list
    ref_of_group = {param: ref for ref, (param, _) in zip(group_refs, groups, strict=True)}
    content = Content(
        is_published=document.get("is_published"),
        categories={
            category["name"]: {name: category.get(name, default) for name, default in CATEGORY_DEFAULTS.items()}
            for category in document["categories"]
        },
        items={
            ref: read_item(item, category, current.items.get(ref), now=now)
            for ref, (_, category, item) in zip(dish_refs, dishes, strict=True)
        },
        modifier_groups={
            ref: read_row(group, GROUP_DEFAULTS, leaves_out=("id", "modifiers"))
            for ref, (_, group) in zip(group_refs, groups, strict=True)
        },
        modifiers={
            ref: read_row(modifier, MODIFIER_DEFAULTS) | {"group": ref_of_group[group]}
            for ref, (_, group, modifier) in zip(choice_refs, choices, strict=True)
        },
    )
    problems += find_price_problems(venue, [(param, item) for param, _, item in dishes])
    problems += find_price_problems(venue, [(param, modifier) for param, _, modifier in choices])
    problems += find_reference_problems(
        content,
        [(param, item) for param, _, item in dishes],
        [(ref_of_group[group], param, modifier) for param, group, modifier in choices],
    )
    problems += find_group_problems(groups)
    will_be_published = menu.is_published if content.is_published is None else content.is_published
    if will_be_published and not dishes and (current.items or not menu.is_published):
        problems.append(Problem("categories", "A published menu needs a dish; otherwise every order is rejected."))
    if problems:
        raise invalid_request(problems)
    return content


def read_row(
    row: Mapping[str, Any], defaults: Mapping[str, Any], *, leaves_out: Sequence[str] = ("id",)
) -> dict[str, Any]:
    values = {**defaults, **{name: value for name, value in row.items() if name not in leaves_out}}
    for name in ("allergens", "diets", "modifier_groups"):
        if name in values:
            values[name] = list(dict.fromkeys(values[name]))
    return values


def read_item(item: Mapping[str, Any], category: str, stored: MenuItem | None, *, now: datetime) -> dict[str, Any]:
    values = read_row(item, ITEM_DEFAULTS, leaves_out=("id", "photo", "is_sold_out"))
    # The moment may have passed since the document was read.
    if (until := values.get("sold_out_until")) and until <= now:
        values["sold_out_until"] = None
    kept = {name: getattr(stored, name, None) for name in ("stock", "sold_out_until")}
    return kept | values | {"category": category}


def assign_refs(rows: Sequence[tuple[str, Mapping[str, Any]]], *, default: str) -> tuple[list[str], list[Problem]]:
    """Return the id of each row, derived from its name if it has none, and the problems of ids that stand twice."""
    places: dict[str, str] = {}
    problems = []
    for param, row in rows:
        if "id" in row and (first := places.setdefault(row["id"], param)) != param:
            problems.append(Problem(f"{param}.id", f"`{row['id']}` is the id of `{first}`, too."))
    refs = []
    numbers: dict[str, int] = {}
    for param, row in rows:
        ref = row.get("id") or editing.derive_ref(row["name"], places, default=default, numbers=numbers)
        places.setdefault(ref, param)
        refs.append(ref)
    return refs, problems


def find_category_problems(categories: Sequence[Mapping[str, Any]]) -> Iterator[Problem]:
    seen: set[str] = set()
    for nth, category in enumerate(categories):
        start, end = category.get("served_from"), category.get("served_until")
        if category["name"] in seen:
            yield Problem(f"categories[{nth}].name", "Another category has this name.")
        seen.add(category["name"])
        if (start is None) != (end is None) or (start is not None and start == end):
            yield Problem(f"categories[{nth}].served_until", "Give two different times, or none.")


def find_price_problems(venue: Venue, rows: Sequence[tuple[str, Mapping[str, Any]]]) -> Iterator[Problem]:
    for param, row in rows:
        if message := pricing.find_decimals_error(row.get("price"), venue.currency):
            yield Problem(f"{param}.price", message)


def find_reference_problems(
    content: Content,
    dishes: Sequence[tuple[str, Mapping[str, Any]]],
    choices: Sequence[tuple[str, str, Mapping[str, Any]]],
) -> Iterator[Problem]:
    """Yield the problems of ids that name no dish or group of the document, or a group that asks again.

    `choices` have the id of their group, their parameter and their members.
    """
    groups = content.modifier_groups
    asking = {group for group, _, modifier in choices if modifier.get("modifier_group")}
    for param, dish in dishes:
        for number, ref in enumerate(dish.get("modifier_groups", ())):
            if ref not in groups:
                yield Problem(f"{param}.modifier_groups[{number}]", f"There is no modifier group `{ref}`.")
    for group, param, modifier in choices:
        item, nested = modifier.get("menu_item_id"), modifier.get("modifier_group")
        if item and item not in content.items:
            yield Problem(f"{param}.menu_item_id", f"There is no dish `{item}`.")
        if nested and nested not in groups:
            yield Problem(f"{param}.modifier_group", f"There is no modifier group `{nested}`.")
        elif nested and (nested in asking or nested == group):
            yield Problem(f"{param}.modifier_group", f"The modifiers of `{nested}` ask for a group themselves.")


def find_group_problems(groups: Sequence[tuple[str, Mapping[str, Any]]]) -> Iterator[Problem]:
    """Yield the problems of groups from which nobody can choose as they ask."""
    for param, group in groups:
        least, most = (group.get(name, GROUP_DEFAULTS[name]) for name in ("min_choices", "max_choices"))
        choices = group["modifiers"]
        defaults = sum(bool(modifier.get("is_default")) for modifier in choices)
        if problem := group_rules.find_number_problem(least, most, choices=len(choices), defaults=defaults):
            field, message = problem
            yield Problem(f"{param}.{field}", message)


# Writing
def write(menu: Menu, content: Content, current: Current, changes: Mapping[str, RowChanges]) -> None:
    """Store the content. Requires the locks of `replace_menu`."""
    categories = save_rows(MenuCategory, menu, "name", current.categories, content.categories, {}, parent="")
    by_name = {name: row.pk for name, row in categories.items()}
    groups = save_rows(ModifierGroup, menu, "ref", current.modifier_groups, content.modifier_groups, {}, parent=None)
    group_ids = {ref: row.pk for ref, row in groups.items()}
    dishes = {
        ref: {name: value for name, value in values.items() if name != "modifier_groups"}
        for ref, values in content.items.items()
    }
    items = save_rows(
        MenuItem, menu, "ref", current.items, dishes, {"category": ("category_id", by_name)}, parent="category"
    )
    # Another moment also replaces the day.
    marked = [ref for ref, fields in changes["items"].changed.items() if "sold_out_until" in fields]
    if marked:
        MenuItem.objects.filter(menu=menu, ref__in=marked).update(sold_out_on=None)
    item_ids = {ref: row.pk for ref, row in items.items()}
    columns = {
        "group": ("group_id", group_ids),
        "menu_item_id": ("item_id", item_ids),
        "modifier_group": ("nested_group_id", group_ids),
    }
    chosen = {
        ref: {"price_delta" if name == "price" else name: value for name, value in values.items()}
        for ref, values in content.modifiers.items()
    }
    save_rows(Modifier, menu, "ref", current.modifiers, chosen, columns, parent="group")
    save_links(menu, content, item_ids, group_ids)
    removed = {kind: [getattr(current, kind)[ref] for ref in rows.removed] for kind, rows in changes.items()}
    photos.discard_on_commit(item.photo_id for item in removed["items"])
    # What is named last: modifiers name dishes and groups, dishes name categories.
    models_of: dict[str, Any] = {
        "modifiers": Modifier,
        "modifier_groups": ModifierGroup,
        "items": MenuItem,
        "categories": MenuCategory,
    }
    for kind, model in models_of.items():
        model.objects.filter(pk__in=[row.pk for row in removed[kind]]).delete()


def save_rows(
    model: Any,
    menu: Menu,
    key: str,
    stored: Mapping[str, Any],
    wanted: Values,
    references: Mapping[str, tuple[str, Mapping[str, Any]]],
    *,
    parent: str | None,
) -> dict[str, Any]:
    """Insert the new rows and update the changed ones; return all of them by id.

    `references` has the columns of fields that name other rows by id, with the keys of those rows.
    """
    places: Counter[str] = Counter()
    rows: dict[str, Any] = {}
    added, changed = [], []
    columns: set[str] = set()
    for ref, fields in wanted.items():
        values = {}
        for name, value in fields.items():
            column, keys = references.get(name, (name, None))
            values[column] = keys[value] if keys is not None and value is not None else value
        if parent is not None:
            within = fields.get(parent, "")
            values["position"] = places[within]
            places[within] += 1
        row = rows[ref] = stored.get(ref)
        if row is None:
            rows[ref] = model(menu=menu, **{key: ref}, **values)
            added.append(rows[ref])
            continue
        different = {name: value for name, value in values.items() if getattr(row, name) != value}
        if different:
            for name, value in different.items():
                setattr(row, name, value)
            changed.append(row)
            columns |= different.keys()
    model.objects.bulk_create(added, batch_size=500)
    if changed:
        model.objects.bulk_update(changed, [name.removesuffix("_id") for name in sorted(columns)], batch_size=250)
    return rows


def save_links(menu: Menu, content: Content, items: Mapping[str, Any], groups: Mapping[str, Any]) -> None:
    """Store which groups are asked for which dishes."""
    wanted = {
        (items[ref], groups[group]): position
        for ref, values in content.items.items()
        for position, group in enumerate(values["modifier_groups"])
    }
    links = {(link.item_id, link.group_id): link for link in ItemModifierGroup.objects.filter(menu=menu)}
    moved = []
    for pair, link in links.items():
        if pair in wanted and link.position != wanted[pair]:
            link.position = wanted[pair]
            moved.append(link)
    ItemModifierGroup.objects.filter(pk__in=[link.pk for pair, link in links.items() if pair not in wanted]).delete()
    ItemModifierGroup.objects.bulk_update(moved, ["position"], batch_size=500)
    ItemModifierGroup.objects.bulk_create(
        [
            ItemModifierGroup(menu=menu, item_id=item, group_id=group, position=position)
            for (item, group), position in wanted.items()
            if (item, group) not in links
        ],
        batch_size=500,
    )
