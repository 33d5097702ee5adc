"""Request schemas of menus. Their fields are those of the records (orders.serializers), so that a menu can be sent
back as it was read.
"""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from framework.api.fields import (
    StrictBooleanField,
    StrictChoiceField,
    StrictIntegerField,
    StrictListField,
    StrictSerializer,
    TextField,
    TimeField,
)
from framework.api.query_params.declarations import DateTimeParam
from orders.models import Allergen, Diet, menus, modifiers, translations
from orders.models.refs import validate_group_ref, validate_ref
from orders.serializers import TRANSLATIONS, AmountField

MAX_DISHES = 2_000
MAX_STOCK = 1_000_000
DAY_MINUTES = 1_440


class SignedAmountField(TextField):
    """An amount as a decimal string that may be negative, parsed to Decimal."""

    def __init__(self, **options: Any) -> None:
        hint = 'This must be an amount as text, with a point: "2.50" or "-2.50".'
        super().__init__(pattern=r"^-?\d{1,7}(\.\d{1,3})?$", hint=hint, **options)

    def to_internal_value(self, data: Any) -> Any:
        return Decimal(super().to_internal_value(data))


class PercentField(TextField):
    """A percentage as a decimal string, parsed to Decimal."""

    def __init__(self, **options: Any) -> None:
        hint = 'This must be a percentage from 0 to 100 as text, with a point: "10" or "5.5".'
        super().__init__(pattern=r"^(100(\.0{1,3})?|\d{1,2}(\.\d{1,3})?)$", hint=hint, **options)

    def to_internal_value(self, data: Any) -> Any:
        return Decimal(super().to_internal_value(data))


@extend_schema_field(TRANSLATIONS)
class TranslationsField(serializers.Field[dict[str, Any], Any, dict[str, Any], Any]):
    """Texts by language (orders.models.translations)."""

    def __init__(self, lengths: Mapping[str, int]) -> None:
        self.lengths = lengths
        super().__init__(required=False)

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if problems := list(translations.find_problems(data, self.lengths)):
            raise serializers.ValidationError({path or "non_field_errors": [message] for path, message in problems})
        return dict(data)


@extend_schema_field({"type": ["object", "null"]})
class IgnoredPhotoField(serializers.Field[Any, Any, Any, Any]):
    """The photo of a record, which the document cannot change."""

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, Mapping):
            raise serializers.ValidationError("This must be an object or null.")
        return None


MAX_MODIFIERS = 5_000


def ref_field(validate: Callable[[str], None] = validate_ref, **options: Any) -> TextField:
    return TextField(min_length=1, max_length=64, validators=[validate], **options)


def choices_field(choices: Any) -> StrictListField:
    return StrictListField(child=StrictChoiceField(choices=choices), max_length=50, required=False)


class MenuItemDocument(StrictSerializer):
    """A dish. Members that are left out have their defaults; `stock` stays as it is."""

    id = ref_field(required=False, help_text="Left out: derived from the name.")
    name = TextField(max_length=200, help_text="As guests read it.")
    description = TextField(max_length=500, required=False, allow_blank=True, lines=True, help_text="What it is.")
    price = AmountField(help_text="In the currency of the venue.")
    tax_percent = PercentField(required=False, help_text="Left out: 0.")
    takeaway_tax_percent = PercentField(
        required=False, allow_null=True, help_text="For pick-up and delivery; null: `tax_percent` too."
    )
    allergens = choices_field(Allergen.choices)
    diets = choices_field(Diet.choices)
    photo = IgnoredPhotoField(required=False, allow_null=True, help_text="Ignored: a dish keeps its photo.")
    is_available = StrictBooleanField(required=False, help_text="Left out: true.")
    is_sold_out = StrictBooleanField(required=False, help_text="Ignored: see `sold_out_until` and `stock`.")
    sold_out_until = DateTimeParam(
        required=False, allow_null=True, help_text="When it is available again by itself; left out: it stays."
    )
    station = TextField(max_length=40, required=False, allow_blank=True, help_text="Where it is made.")
    prep_minutes = StrictIntegerField(min_value=1, max_value=DAY_MINUTES, required=False, allow_null=True)
    stock = StrictIntegerField(
        min_value=0,
        max_value=MAX_STOCK,
        required=False,
        allow_null=True,
        help_text="Portions left, whatever they were; null: not counted. Left out: it stays.",
    )
    translations = TranslationsField(menus.LENGTHS)
    modifier_groups = StrictListField(
        child=ref_field(), max_length=20, required=False, help_text="Ids of groups of this document."
    )


class MenuCategoryDocument(StrictSerializer):
    """A category with its dishes, in their order."""

    name = TextField(max_length=100, help_text="Unique on the menu.")
    served_from = TimeField(required=False, allow_null=True, help_text="In the venue's time zone; null: always.")
    served_until = TimeField(required=False, allow_null=True, help_text="May be on the next day.")
    translations = TranslationsField(menus.CATEGORY_LENGTHS)
    items = StrictListField(child=MenuItemDocument(), max_length=MAX_DISHES, help_text="The dishes.")


class ModifierDocument(StrictSerializer):
    """A choice of a group."""

    id = ref_field(required=False, help_text="Left out: derived from the name. Unique on the menu.")
    name = TextField(max_length=100, help_text="As guests read it.")
    price = SignedAmountField(required=False, help_text="Added to the price of the dish; left out: 0.")
    is_default = StrictBooleanField(required=False, help_text="Chosen if nothing else is; left out: false.")
    is_available = StrictBooleanField(required=False, help_text="Left out: true.")
    allergens = choices_field(Allergen.choices)
    menu_item_id = ref_field(required=False, allow_null=True, help_text="A dish of which it takes a portion.")
    modifier_group = ref_field(required=False, allow_null=True, help_text="A group that is asked for it.")
    translations = TranslationsField(modifiers.LENGTHS)


class ModifierGroupDocument(StrictSerializer):
    """A question about dishes, with its choices in their order."""

    id = ref_field(
        validate_group_ref, required=False, help_text="Without white space. Left out: derived from the name."
    )
    name = TextField(max_length=100, help_text="As guests read it.")
    min_choices = StrictIntegerField(
        min_value=0, max_value=modifiers.MAX_CHOICES, required=False, help_text="Left out: 0."
    )
    max_choices = StrictIntegerField(
        min_value=1, max_value=modifiers.MAX_CHOICES, required=False, help_text="Left out: 1."
    )
    translations = TranslationsField(modifiers.LENGTHS)
    modifiers = StrictListField(child=ModifierDocument(), max_length=100, help_text="The choices.")


class MenuDocument(StrictSerializer):
    """A whole menu, as `GET /menu` returns it."""

    object = StrictChoiceField(choices=["menu"], required=False)
    is_published = StrictBooleanField(required=False, help_text="Left out: it stays.")
    currency = TextField(max_length=3, required=False, help_text="If given, that of the venue.")
    prices_include_tax = StrictBooleanField(required=False, help_text="If given, that of the venue.")
    categories = StrictListField(child=MenuCategoryDocument(), max_length=500, help_text="The categories.")
    modifier_groups = StrictListField(
        child=ModifierGroupDocument(), max_length=500, required=False, help_text="Left out: none."
    )

    def validate_modifier_groups(self, groups: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if sum(len(group["modifiers"]) for group in groups) > MAX_MODIFIERS:
            raise serializers.ValidationError(f"A menu can have at most {MAX_MODIFIERS:,} modifiers here.")
        return groups


class MenuItemChanges(StrictSerializer):
    """The columns of a dish to set; at least one."""

    price = AmountField(required=False, help_text="In the currency of the venue.")
    is_available = StrictBooleanField(required=False, help_text="False: it cannot be ordered.")
    stock = StrictIntegerField(
        min_value=0,
        max_value=MAX_STOCK,
        required=False,
        allow_null=True,
        help_text="Portions left from now on, whatever they were; null: not counted.",
    )
    sold_out = StrictChoiceField(
        choices=["today"], required=False, allow_null=True, help_text="`today`, by the venue's clock, or null."
    )

    sold_out_until = DateTimeParam(
        required=False, allow_null=True, help_text="A moment after which it is available again by itself, or null."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not attrs:
            raise serializers.ValidationError(f"Name at least one of: {', '.join(self.fields)}.")
        if attrs.keys() >= {"sold_out", "sold_out_until"}:
            raise serializers.ValidationError({"sold_out_until": ["Give `sold_out` or `sold_out_until`, not both."]})
        if "sold_out" in attrs:
            attrs["is_sold_out"] = attrs.pop("sold_out") is not None
        return attrs


class RowChanges(serializers.Serializer[Any]):
    """Changes of one kind of row, by id; of categories, by name."""

    added = serializers.ListField(child=serializers.CharField())
    changed = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField()), help_text="The changed fields by id."
    )
    removed = serializers.ListField(child=serializers.CharField())


class MenuChanges(serializers.Serializer[Any]):
    """What a document would change."""

    object = serializers.ChoiceField(choices=["menu_changes"])
    is_published = serializers.BooleanField(help_text="As it would be.")
    categories = RowChanges()
    items = RowChanges()
    modifier_groups = RowChanges()
    modifiers = RowChanges()
