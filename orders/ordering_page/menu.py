"""The menu of the ordering page, in the guest's language."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Protocol

from django.db.models import Prefetch
from django.utils.translation import gettext as _

from framework.languages import format_money, translate
from orders.menu.photos import thumbnail_path
from orders.models import ChargeRule, Diet, ItemModifierGroup, Menu, MenuItem, Modifier, ModifierGroup, Order
from orders.models.menus import name_allergens
from orders.pricing import round_amount

# The names of the fields of questions that modifiers ask begin so.
NESTED = "nested-"


@dataclass(frozen=True, slots=True)
class Dish:
    """A dish as guests read it. `obstacle` says why it cannot be had now; `is_orderable` if it can be, or later."""

    ref: str
    name: str
    description: str
    price: str
    allergens: str
    full_allergens: str
    diets: Sequence[str]
    photo: str
    obstacle: str
    is_orderable: bool
    has_groups: bool


@dataclass(frozen=True, slots=True)
class Choice:
    """A modifier that can be chosen; `question` is the one that it asks itself."""

    ref: str
    name: str
    price: str
    allergens: str
    full_allergens: str
    is_chosen: bool
    is_available: bool
    question: "Question | None" = None


@dataclass(slots=True)
class Question:
    """A modifier group of a dish, or of one of its modifiers. `field_name` is its name in the form."""

    field_name: str
    name: str
    min_choices: int
    max_choices: int
    choices: list[Choice] = field(default_factory=list)
    error: str = ""

    @property
    def is_single(self) -> bool:
        return self.min_choices == self.max_choices == 1

    @property
    def hint(self) -> str:
        """How many to choose."""
        least, most = self.min_choices, self.max_choices
        if least == most:
            return _("Choose %(count)s.") % {"count": most}
        if not least:
            return _("Choose up to %(count)s.") % {"count": most}
        return _("Choose %(least)s to %(most)s.") % {"least": least, "most": most}


def load_categories(menu: Menu, *, times: Sequence[datetime]) -> list[tuple[str, list[Dish]]]:
    """Return the categories that have dishes. Three queries.

    `times` are those for which orders are taken, at the venue; the first is now.
    """
    items = MenuItem.objects.order_by("position", "name", "id")
    categories = menu.categories.order_by("position", "name", "id").prefetch_related(Prefetch("items", items))
    asking = set(ItemModifierGroup.objects.filter(menu=menu).values_list("item", flat=True))
    found = []
    for category in categories:
        dishes = []
        for item in category.items.all():
            item.category = category
            dishes.append(describe_dish(item, menu, times=times, has_groups=item.pk in asking))
        if dishes:
            found.append((translate(category.translations, "name", category.name), dishes))
    return found


class Answers(Protocol):
    """The answers to the questions of a dish, such as a submitted form: the refs of the chosen modifiers."""

    def getlist(self, key: str, /) -> Sequence[str]: ...


@dataclass(frozen=True, slots=True)
class ChosenBefore:
    """The answers of a line: its modifiers as the API takes them."""

    modifiers: Sequence[Mapping[str, Any]]

    def getlist(self, key: str, /) -> Sequence[str]:
        """Return the refs for the field of a question. Refs are unique on a menu, so groups need not be told apart."""
        if not key.startswith(NESTED):
            return [each["id"] for each in self.modifiers]
        chosen = (each for each in self.modifiers if f"{NESTED}{each['id']}" == key)
        return [inner["id"] for each in chosen for inner in each.get("modifiers", ())]


def find_dish(menu: Menu, ref: str) -> MenuItem | None:
    """Return the dish with its category. One query."""
    return menu.items.select_related("category").filter(ref=ref).first()


def is_orderable(item: MenuItem, times: Sequence[datetime]) -> bool:
    """Return whether the item can be ordered for one of these times."""
    return not all(item.find_obstacle(at) for at in times)


def describe_dish(item: MenuItem, menu: Menu, *, times: Sequence[datetime], has_groups: bool) -> Dish:
    return Dish(
        ref=item.ref,
        name=translate(item.translations, "name", item.name),
        description=translate(item.translations, "description", item.description),
        price=format_money(round_amount(item.price, menu.venue.currency), menu.venue.currency),
        allergens=item.short_allergen_names,
        full_allergens=item.allergen_names,
        diets=[_(diet.label) for diet in Diet if diet in item.diets],
        photo=thumbnail_path(item.photo_id, "small") if item.photo_id else "",
        obstacle=item.find_obstacle(times[0]) or "",
        is_orderable=is_orderable(item, times),
        has_groups=has_groups,
    )


def load_questions(item: MenuItem, post: Answers | None, *, times: Sequence[datetime]) -> list[Question]:
    """Return the questions of a dish, answered as given, or else by the defaults. At most five queries."""
    nested = Prefetch("modifiers__nested_group", ModifierGroup.objects.prefetch_related(modifiers_in_order()))
    groups = ModifierGroup.objects.filter(item_modifier_groups__item=item)
    groups = groups.prefetch_related(modifiers_in_order(), nested).order_by("item_modifier_groups__position", "ref")
    currency = item.menu.venue.currency
    return [build_question(group, f"group-{group.ref}", post, currency=currency, times=times) for group in groups]


def modifiers_in_order() -> Prefetch[Any]:
    rows = Modifier.objects.select_related("item__category").order_by("position", "name", "id")
    return Prefetch("modifiers", rows)


def build_question(
    group: ModifierGroup,
    name: str,
    post: Answers | None,
    *,
    currency: str,
    times: Sequence[datetime],
    is_nested: bool = False,
) -> Question:
    question = Question(
        field_name=name,
        name=translate(group.translations, "name", group.name),
        min_choices=group.min_choices,
        max_choices=group.max_choices,
    )
    submitted = None if post is None else post.getlist(name)
    for modifier in group.modifiers.all():
        is_available = modifier.is_available and (modifier.item is None or is_orderable(modifier.item, times))
        inner = None
        if modifier.nested_group and not is_nested:
            inner = build_question(
                modifier.nested_group, f"{NESTED}{modifier.ref}", post, currency=currency, times=times, is_nested=True
            )
        is_chosen = modifier.is_default if submitted is None else modifier.ref in submitted
        price = format_money(round_amount(modifier.price_delta, currency), currency) if modifier.price_delta else ""
        question.choices.append(
            Choice(
                ref=modifier.ref,
                name=translate(modifier.translations, "name", modifier.name),
                price=f"+{price}" if modifier.price_delta > 0 else price,
                allergens=name_allergens(modifier.allergens, is_short=True),
                full_allergens=name_allergens(modifier.allergens),
                is_chosen=is_chosen and is_available,
                is_available=is_available,
                question=inner,
            )
        )
    return question


def read_answers(questions: Sequence[Question]) -> tuple[list[dict[str, Any]], bool]:
    """Return the chosen modifiers as the API takes them, and whether all questions are answered; else set errors."""
    chosen: list[dict[str, Any]] = []
    is_valid = True
    for question in questions:
        answers = [choice for choice in question.choices if choice.is_chosen]
        if not question.min_choices <= len(answers) <= question.max_choices:
            question.error, is_valid = question.hint, False
        for choice in answers:
            inner, is_inner_valid = read_answers([choice.question] if choice.question else [])
            is_valid = is_valid and is_inner_valid
            chosen.append({"id": choice.ref} | ({"modifiers": inner} if inner else {}))
    return chosen, is_valid


def list_charges(order: Order) -> list[tuple[str, Decimal]]:
    """Return the charges of an order with their names and amounts. One query if it has some."""
    names = (
        ChargeRule.objects.filter(venue=order.venue_id).values_list("name", "translations") if order.charges else ()
    )
    translated = {name: translate(translations, "name", name) for name, translations in names}
    return [(translated.get(each["name"], each["name"]), Decimal(each["amount"])) for each in order.charges]


def load_names(menu: Menu, refs: Collection[str], modifiers: Collection[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the names of dishes and of modifiers by their ids, as far as they are on the menu. Two queries."""
    found = []
    for rows, wanted in ((menu.items, refs), (menu.modifiers, modifiers)):
        values = rows.filter(ref__in=wanted).values_list("ref", "name", "translations") if wanted else ()
        found.append({ref: translate(translations, "name", name) for ref, name, translations in values})
    return found[0], found[1]
