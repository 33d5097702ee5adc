"""The dishes of the published menus of restaurants that have joined, as the field group `menu` shows them."""

from catalogue.exports.datasets.base import VISIBLE_RESTAURANT, Dataset
from catalogue.exports.datasets.fields import Column, Field, describe_rows, value
from orders.order_json import DECIMALS_SQL

DECIMALS = DECIMALS_SQL.replace("placed.currency", "venue.currency")


def format_amount(sql: str) -> str:
    """The SQL of an amount with the decimals of the venue's currency."""
    return f"round({sql}, {DECIMALS})::text"


def describe_group(group: str, choice: str, nested: str) -> str:
    """The SQL of a modifier group with its modifiers; `nested` is that of the group that a modifier asks for."""
    return f"""json_build_object(
    'id', {group}.ref, 'name', {group}.name, 'min_choices', {group}.min_choices, 'max_choices', {group}.max_choices,
    'translations', {group}.translations, 'modifiers', coalesce((
        SELECT json_agg(json_build_object(
            'id', {choice}.ref, 'name', {choice}.name, 'price', {format_amount(f"{choice}.price_delta")},
            'is_default', {choice}.is_default, 'is_available', {choice}.is_available,
            'allergens', {choice}.allergens, 'menu_item_id', part.ref, 'modifier_group', {nested},
            'translations', {choice}.translations
        ) ORDER BY {choice}.position, {choice}.name, {choice}.id)
        FROM orders_modifier AS {choice} LEFT JOIN orders_menuitem AS part ON part.id = {choice}.item_id
        WHERE {choice}.group_id = {group}.id
    ), '[]')
)"""  # noqa: S608  # of constants


# The modifiers of a group that a modifier asks for ask for none.
NESTED = f"""(
    SELECT {describe_group("inner_group", "inner_choice", "null")}
    FROM orders_modifiergroup AS inner_group WHERE inner_group.id = choice.nested_group_id
)"""  # noqa: S608  # of constants
GROUPS = f"""coalesce((
    SELECT json_agg({describe_group("asked", "choice", NESTED)} ORDER BY link.position, asked.ref)
    FROM orders_itemmodifiergroup AS link JOIN orders_modifiergroup AS asked ON asked.id = link.group_id
    WHERE link.item_id = item.id
), '[]')::text"""  # noqa: S608  # of constants

DATASET = Dataset(
    key="item.id",
    key_type="uuid",
    rows="""orders_menuitem AS item
JOIN orders_menucategory AS category ON category.id = item.category_id
JOIN orders_menu AS menu ON menu.id = item.menu_id AND menu.is_published
JOIN accounts_venue AS venue ON venue.id = menu.venue_id
JOIN catalogue_listing AS listing ON listing.venue_id = menu.venue_id AND listing.is_active
JOIN catalogue_restaurant AS restaurant ON restaurant.id = listing.restaurant_id""",
    matches=VISIBLE_RESTAURANT,
    # Not used: an export of menus is always whole, because listings and menus do not say since when they are shown.
    changed="true",
    removed=None,
    **describe_rows(
        *value("id", "public_id('itm', item.id)", "string", "Of this row.", is_plain=True),
        *value("restaurant", "restaurant.slug", "string", "Slug of the restaurant.", is_plain=True),
        *value("menu_item_id", "item.ref", "string", "Unique on the menu."),
        *value("category", "category.name", "string"),
        *value("served_from", "to_char(category.served_from, 'HH24:MI')", "string or null", "Local; null: always."),
        *value("served_until", "to_char(category.served_until, 'HH24:MI')", "string or null"),
        *value("name", "item.name", "string"),
        *value("description", "item.description", "string"),
        *value("price", format_amount("item.price"), "string", "With the decimals of the currency.", is_plain=True),
        *value("currency", "venue.currency", "string", "ISO 4217.", is_plain=True),
        *value("prices_include_tax", "venue.prices_include_tax", "boolean"),
        *value("tax_percent", "trim_scale(item.tax_percent)::text", "string", is_plain=True),
        *value(
            "takeaway_tax_percent",
            "trim_scale(item.takeaway_tax_percent)::text",
            "string or null",
            "For pick-up and delivery; null: `tax_percent` too.",
        ),
        *value("allergens", "item.allergens", "array of string", "Regulation (EU) 1169/2011; empty: none declared."),
        *value("diets", "item.diets", "array of string"),
        *value("is_available", "item.is_available", "boolean", "Without regard to the moment."),
        Field("translations", "item.translations::text", "object"),
        Column("translations", "item.translations::text", "string", "JSON: name and description by language."),
        Field("modifier_groups", GROUPS, "array of object"),
        Column("modifier_groups", GROUPS, "string", "JSON: what can be chosen, with prices."),
    ),
    sources="ARRAY[]::text[]",
    versions=(
        *("item.xmin", "category.xmin", "menu.xmin", "venue.xmin", "listing.xmin", "restaurant.xmin"),
        # Each change of a menu has an event, also that of a modifier.
        """(SELECT event.xmin FROM accounts_event AS event WHERE event.subject = menu.id
            ORDER BY age(event.xmin) LIMIT 1)""",
    ),
    filters=("market", "status"),
)
