"""Request and response schemas of orders."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from accounts.models.venues import PAYMENT_LABEL
from framework.api.fields import (
    ConstantField,
    EmailField,
    MetadataField,
    PhoneField,
    PublicIdField,
    StrictChoiceField,
    StrictIntegerField,
    StrictListField,
    StrictSerializer,
    TextField,
    TimeField,
)
from framework.api.query_params.declarations import DateTimeParam
from framework.api.urls import public_url
from orders import pricing
from orders.menu.photos import thumbnail_path
from orders.models import (
    Allergen,
    ChargeRule,
    Diet,
    Fulfilment,
    Menu,
    MenuCategory,
    MenuItem,
    Modifier,
    ModifierGroup,
    Order,
    OrderItem,
)
from orders.order_json import FIELDS, serialize_fulfilment, serialize_payment

MAX_MODIFIERS = 300
AMOUNT = r"^\d+(\.\d+)?$"
SIGNED_AMOUNT = r"^-?\d+(\.\d+)?$"


class AmountField(TextField):
    """An amount as a decimal string, parsed to Decimal."""

    def __init__(self, **options: Any) -> None:
        hint = 'This must be an amount as text, with a point: "2.50".'
        super().__init__(pattern=r"^\d{1,7}(\.\d{1,3})?$", hint=hint, **options)

    def to_internal_value(self, data: Any) -> Any:
        return Decimal(super().to_internal_value(data))


def count_modifiers(lines: Any) -> int:
    """Return the number of modifiers in these lines or modifiers, whatever else they hold."""
    found = [line.get("modifiers") for line in lines if isinstance(line, Mapping)] if isinstance(lines, list) else []
    return sum(len(each) + count_modifiers(each) for each in found if isinstance(each, list))


class NestedModifier(StrictSerializer):
    """A modifier of a modifier."""

    id = TextField(min_length=1, max_length=64, help_text="Identifies a modifier of that modifier.")


class NewModifier(StrictSerializer):
    """A modifier of a dish: a size, an extra, a part of a combo."""

    id = TextField(min_length=1, max_length=64, help_text="Identifies a modifier of the dish.")
    modifiers = StrictListField(
        child=NestedModifier(), max_length=20, required=False, help_text="Its own modifiers, if it has any."
    )


class NewOrderItem(StrictSerializer):
    """A line to order."""

    menu_item_id = TextField(
        min_length=1,
        max_length=64,
        help_text="Identifies an item of the venue's menu; any id where it publishes none.",
    )
    quantity = StrictIntegerField(min_value=1, max_value=999, help_text="Count of that item.")
    notes = TextField(
        max_length=500, required=False, default="", allow_blank=True, lines=True, help_text="Free text for the line."
    )
    modifiers = StrictListField(
        child=NewModifier(),
        max_length=20,
        required=False,
        help_text="Sizes and extras; left out, the defaults of what must be chosen. Any where there is no menu.",
    )


class NewContact(StrictSerializer):
    """Whom to call about an order."""

    name = TextField(max_length=200, required=False, allow_null=True, help_text="Their name.")
    phone = PhoneField(required=False, allow_null=True, help_text="International format with leading plus.")
    email = EmailField(required=False, allow_null=True, help_text="Their email address.")


class NewFulfilment(StrictSerializer):
    """How an order reaches the guest."""

    type = StrictChoiceField(choices=Fulfilment.choices, help_text="`delivery` needs a `delivery_address`.")
    requested_at = DateTimeParam(
        required=False, allow_null=True, help_text="When the guest wants it; left out: as soon as possible."
    )
    table = TextField(max_length=40, required=False, allow_null=True, help_text="The table, for `dine_in` only.")
    contact = NewContact(required=False, help_text="Whom to call.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs.get("table") and attrs["type"] != Fulfilment.DINE_IN:
            raise serializers.ValidationError({"table": ["Only an order of the type `dine_in` has a table."]})
        return attrs


class NewOrder(StrictSerializer):
    """The body that places an order."""

    customer_id = TextField(min_length=1, max_length=64, help_text="Identifies the customer; opaque to us.")
    items = StrictListField(child=NewOrderItem(), min_length=1, max_length=100, help_text="The lines.")
    delivery_address = TextField(
        max_length=500,
        required=False,
        allow_null=True,
        allow_blank=True,
        lines=True,
        help_text="Left out, null or empty: pick-up.",
    )
    payment_method = TextField(
        pattern=PAYMENT_LABEL,
        min_length=1,
        max_length=40,
        hint="This must be a label of small letters, digits, _ and -, beginning with a letter: `card`.",
        help_text="A label, never a charge. Well-known: cash, card, credit_card, debit_card, online, wallet,"
        " bank_transfer, voucher, usdc. A venue may take some of them only.",
    )
    fulfilment = NewFulfilment(
        required=False,
        help_text="How it reaches the guest; left out: delivery if there is an address, otherwise pick-up.",
    )
    tip = AmountField(required=False, allow_null=True, help_text="In the currency of the venue; added to the total.")
    channel = TextField(
        pattern=PAYMENT_LABEL,
        max_length=40,
        required=False,
        allow_null=True,
        hint="This must be a label of small letters, digits, _ and -, beginning with a letter: `pos`.",
        help_text="Where it was placed: a label, such as pos, kiosk or website.",
    )
    metadata = MetadataField(required=False, help_text="Your own notes on the order.")

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """Count the modifiers first: validating tens of thousands would take seconds."""
        if isinstance(data, Mapping) and count_modifiers(data.get("items")) > MAX_MODIFIERS:
            raise serializers.ValidationError({"items": [f"An order has at most {MAX_MODIFIERS} modifiers."]})
        return super().to_internal_value(data)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if fulfilment := attrs.get("fulfilment"):
            has_address = bool(attrs.get("delivery_address"))
            if has_address and fulfilment["type"] != Fulfilment.DELIVERY:
                raise serializers.ValidationError(
                    {"fulfilment": {"type": ["An order with a `delivery_address` is of the type `delivery`."]}}
                )
            if not has_address and fulfilment["type"] == Fulfilment.DELIVERY:
                raise serializers.ValidationError({"delivery_address": ["A delivery needs an address."]})
        return attrs

    def validate_delivery_address(self, address: str | None) -> str | None:
        """Normalise pick-up to null."""
        return address if address and address.strip() else None


class NewStatus(StrictSerializer):
    """The requested status of an order."""

    status = StrictChoiceField(choices=Order.Status.choices, help_text="`completed` and `cancelled` are final.")


class NewStage(StrictSerializer):
    """The requested stage of an order."""

    stage = StrictChoiceField(
        choices=Order.Stage.choices,
        help_text="The current stage or a later one; stages can be skipped. `handed_over` completes the order.",
    )


@extend_schema_field({"type": "string", "pattern": AMOUNT})
class Money(serializers.Field[Any, Any, str, Any]):
    """An amount with the decimals of the row's currency; null if the order has no prices."""

    def __init__(self, **options: Any) -> None:
        super().__init__(read_only=True, allow_null=True, **options)

    def get_attribute(self, instance: Any) -> str | None:
        return pricing.format_if_priced(super().get_attribute(instance), instance.currency)

    def to_representation(self, value: str) -> str:
        return value


@extend_schema_field({"type": ["string", "null"], "pattern": AMOUNT})
class StoredMoney(serializers.CharField):
    """An amount that is stored as it is shown; null if the order has no prices."""


class NestedModifierRecord(serializers.Serializer[Any]):
    """A modifier of a modifier; name and price are null where the venue has no menu."""

    id = serializers.CharField()
    name = serializers.CharField(allow_null=True)
    price = StoredMoney(allow_null=True, help_text="Added to the price of the dish; it may be negative.")
    menu_item_id = serializers.CharField(allow_null=True, help_text="The dish of which it takes a portion.")


class ModifierRecord(NestedModifierRecord):
    """A modifier of a line; name and price are null where the venue has no menu."""

    modifiers = NestedModifierRecord(many=True)


class ChargeRecord(serializers.Serializer[Any]):
    """A charge that the venue adds."""

    name = serializers.CharField()
    type = serializers.ChoiceField(choices=ChargeRule.Type.choices)
    amount = StoredMoney()


class ContactRecord(serializers.Serializer[Any]):
    """Whom to call about an order."""

    name = serializers.CharField(allow_null=True)
    phone = serializers.CharField(allow_null=True)
    email = serializers.CharField(allow_null=True)


class FulfilmentRecord(serializers.Serializer[Any]):
    """How an order reaches the guest."""

    type = serializers.ChoiceField(choices=Fulfilment.choices)
    requested_at = serializers.DateTimeField(allow_null=True, help_text="Null: as soon as possible.")
    table = serializers.CharField(allow_null=True)
    contact = ContactRecord(allow_null=True)


class OrderPaymentRecord(serializers.Serializer[Any]):
    """The payment of an order in USDC."""

    state = serializers.ChoiceField(
        choices=Order.PaymentState.choices, help_text="`due` may also be paid at the counter; `refund_due` goes back."
    )
    amount = serializers.CharField(help_text="A decimal string with at most six decimals.")
    currency = ConstantField("USDC")


class OrderItemRecord(serializers.ModelSerializer[OrderItem]):
    """A line of an order; name and money are null where the venue has no menu."""

    modifiers = ModifierRecord(many=True, read_only=True)
    unit_price = Money(help_text="With its modifiers.")
    line_total = Money()

    class Meta:
        model = OrderItem
        fields = ["menu_item_id", "name", "quantity", "notes", "modifiers", "unit_price", "line_total"]
        read_only_fields = fields


class OrderRecord(serializers.ModelSerializer[Order]):
    """An order, the same from POST, PUT, GET and events. Moments are RFC 3339 in UTC; money is a decimal string with
    the digits of its currency, null where the venue has no menu.
    """

    id = PublicIdField("ord")
    object = ConstantField("order")
    stage = serializers.ChoiceField(
        choices=Order.Stage.choices,
        read_only=True,
        help_text="How far the kitchen is. The moments of stages that were skipped are null; that of `handed_over` is"
        " `completed_at`.",
    )
    items = OrderItemRecord(many=True, read_only=True)
    fulfilment = serializers.SerializerMethodField()
    subtotal = Money(help_text="The lines and charges without tax.")
    tax = Money()
    charges = ChargeRecord(many=True, read_only=True)
    tip = Money()
    total = Money(help_text="`subtotal`, `tax` and `tip`.")
    payment = serializers.SerializerMethodField(
        help_text="Of an order of the ordering page that can be paid in USDC; null for all others."
    )
    metadata = MetadataField(read_only=True)

    class Meta:
        model = Order
        fields = FIELDS
        read_only_fields = fields

    @extend_schema_field(FulfilmentRecord)
    def get_fulfilment(self, order: Order) -> dict[str, Any]:
        return serialize_fulfilment(order)

    @extend_schema_field(OrderPaymentRecord(allow_null=True))
    def get_payment(self, order: Order) -> dict[str, Any] | None:
        return serialize_payment(order)


TRANSLATIONS = {
    "type": "object",
    "description": "By language.",
    "additionalProperties": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "description": {"type": "string"}},
    },
}


class MenuItemRecord(serializers.ModelSerializer[MenuItem]):
    """A dish or a drink, from `orders.menu.documents.items_with_groups`. The context has the `currency` of the menu,
    and `at`, the time at the venue.
    """

    id = serializers.CharField(source="ref", read_only=True, help_text="The `menu_item_id` by which it is ordered.")
    price = serializers.SerializerMethodField(help_text="In the currency of the menu.")
    tax_percent = serializers.SerializerMethodField()
    takeaway_tax_percent = serializers.SerializerMethodField(
        help_text="For pick-up and delivery; null: `tax_percent` too."
    )
    allergens = serializers.ListField(child=serializers.ChoiceField(choices=Allergen.choices), read_only=True)
    diets = serializers.ListField(child=serializers.ChoiceField(choices=Diet.choices), read_only=True)
    photo = serializers.SerializerMethodField(help_text="URLs of its photo at most 400 and 1200 pixels wide, or null.")
    is_sold_out = serializers.SerializerMethodField(
        help_text="Marked as sold out at the moment, or no portion is left."
    )
    sold_out_until = serializers.SerializerMethodField(
        help_text="When the mark ends by itself; null: it is not marked. `stock` has no such end."
    )
    prep_minutes = serializers.IntegerField(
        read_only=True, allow_null=True, help_text="If it takes longer than the venue's orders do."
    )
    stock = serializers.IntegerField(read_only=True, allow_null=True, help_text="Portions left; null: not counted.")
    translations = serializers.SerializerMethodField()
    modifier_groups = serializers.SerializerMethodField(help_text="Ids of the groups that are asked for it, in order.")

    class Meta:
        model = MenuItem
        fields = [
            *("id", "name", "description", "price", "tax_percent", "takeaway_tax_percent", "allergens", "diets"),
            *("photo", "is_available", "is_sold_out", "sold_out_until", "station", "prep_minutes", "stock"),
            *("translations", "modifier_groups"),
        ]
        read_only_fields = fields

    @extend_schema_field({"type": "string", "pattern": AMOUNT})
    def get_price(self, item: MenuItem) -> str:
        return pricing.format_amount(item.price, self.context["currency"])

    @extend_schema_field({"type": "string", "pattern": AMOUNT})
    def get_tax_percent(self, item: MenuItem) -> str:
        return pricing.format_percent(item.tax_percent)

    @extend_schema_field({"type": ["string", "null"], "pattern": AMOUNT})
    def get_takeaway_tax_percent(self, item: MenuItem) -> str | None:
        percent = item.takeaway_tax_percent
        return None if percent is None else pricing.format_percent(percent)

    @extend_schema_field(
        {
            "type": ["object", "null"],
            "properties": {size: {"type": "string", "format": "uri"} for size in ("small", "large")},
            "required": ["small", "large"],
        }
    )
    def get_photo(self, item: MenuItem) -> dict[str, str] | None:
        photo = item.photo_id
        return {size: public_url(thumbnail_path(photo, size)) for size in ("small", "large")} if photo else None

    def get_is_sold_out(self, item: MenuItem) -> bool:
        return item.is_sold_out(self.context["at"])

    @extend_schema_field({"type": ["string", "null"], "format": "date-time"})
    def get_sold_out_until(self, item: MenuItem) -> str | None:
        until = item.get_sold_out_until(self.context["at"])
        return serializers.DateTimeField().to_representation(until) if until else None

    @extend_schema_field(TRANSLATIONS)
    def get_translations(self, item: MenuItem) -> dict[str, Any]:
        return dict(item.translations)

    def get_modifier_groups(self, item: MenuItem) -> list[str]:
        refs: list[str] = item.group_refs  # type: ignore[attr-defined]
        return refs


class MenuCategoryRecord(serializers.ModelSerializer[MenuCategory]):
    """A category with its dishes; the times from which and until which it is served, or null for always."""

    served_from = TimeField(read_only=True, allow_null=True)
    served_until = TimeField(read_only=True, allow_null=True)
    translations = serializers.SerializerMethodField()
    items = MenuItemRecord(many=True, read_only=True)

    class Meta:
        model = MenuCategory
        fields = ["name", "served_from", "served_until", "translations", "items"]
        read_only_fields = fields

    @extend_schema_field(TRANSLATIONS)
    def get_translations(self, category: MenuCategory) -> dict[str, Any]:
        return dict(category.translations)


class MenuModifierRecord(serializers.ModelSerializer[Modifier]):
    """A choice of a group."""

    id = serializers.CharField(source="ref", read_only=True, help_text="The `id` by which an order chooses it.")
    price = serializers.SerializerMethodField(help_text="Added to the price of the dish; it may be negative.")
    allergens = serializers.ListField(child=serializers.ChoiceField(choices=Allergen.choices), read_only=True)
    menu_item_id = serializers.CharField(
        source="item_ref", read_only=True, allow_null=True, help_text="The dish of which it takes a portion."
    )
    modifier_group = serializers.CharField(
        source="nested_group_ref", read_only=True, allow_null=True, help_text="The group that is asked for it."
    )
    translations = serializers.SerializerMethodField()

    class Meta:
        model = Modifier
        fields = [
            *("id", "name", "price", "is_default", "is_available", "allergens", "menu_item_id", "modifier_group"),
            "translations",
        ]
        read_only_fields = fields

    @extend_schema_field({"type": "string", "pattern": SIGNED_AMOUNT})
    def get_price(self, modifier: Modifier) -> str:
        return pricing.format_amount(modifier.price_delta, self.context["currency"])

    @extend_schema_field(TRANSLATIONS)
    def get_translations(self, modifier: Modifier) -> dict[str, Any]:
        return dict(modifier.translations)


class ModifierGroupRecord(serializers.ModelSerializer[ModifierGroup]):
    """A question about dishes, with its choices in their order."""

    id = serializers.CharField(source="ref", read_only=True)
    translations = serializers.SerializerMethodField()
    modifiers = MenuModifierRecord(many=True, read_only=True)

    class Meta:
        model = ModifierGroup
        fields = ["id", "name", "min_choices", "max_choices", "translations", "modifiers"]
        read_only_fields = fields

    @extend_schema_field(TRANSLATIONS)
    def get_translations(self, group: ModifierGroup) -> dict[str, Any]:
        return dict(group.translations)


@extend_schema_serializer(many=False)
class MenuRecord(serializers.ModelSerializer[Menu]):
    """The menu of a venue, with its categories and dishes in their order, and its modifier groups by their ids."""

    object = ConstantField("menu")
    currency = serializers.CharField(source="venue.currency", read_only=True)
    prices_include_tax = serializers.BooleanField(source="venue.prices_include_tax", read_only=True)
    categories = serializers.SerializerMethodField()
    modifier_groups = serializers.SerializerMethodField()

    class Meta:
        model = Menu
        fields = ["object", "is_published", "currency", "prices_include_tax", "categories", "modifier_groups"]
        read_only_fields = fields

    # A menu that is not stored stands for a venue without one.
    @extend_schema_field(MenuCategoryRecord(many=True))
    def get_categories(self, menu: Menu) -> Any:
        categories = () if menu._state.adding else menu.categories.all()
        return MenuCategoryRecord(categories, many=True, context=self.context).data

    @extend_schema_field(ModifierGroupRecord(many=True))
    def get_modifier_groups(self, menu: Menu) -> Any:
        groups = () if menu._state.adding else menu.modifier_groups.all()
        return ModifierGroupRecord(groups, many=True, context=self.context).data


class PublishedMenuItemRecord(MenuItemRecord):
    """A dish or a drink, without what concerns the kitchen alone."""

    class Meta(MenuItemRecord.Meta):
        fields = [name for name in MenuItemRecord.Meta.fields if name not in ("station", "prep_minutes", "stock")]
        read_only_fields = fields


class PublishedMenuCategoryRecord(MenuCategoryRecord):
    """A category of a published menu."""

    items = PublishedMenuItemRecord(many=True, read_only=True)


@extend_schema_serializer(many=False)
class PublishedMenuRecord(MenuRecord):
    """The published menu of a restaurant with its prices."""

    class Meta(MenuRecord.Meta):
        fields = ["currency", "prices_include_tax", "categories", "modifier_groups"]
        read_only_fields = fields

    @extend_schema_field(PublishedMenuCategoryRecord(many=True))
    def get_categories(self, menu: Menu) -> Any:
        return super().get_categories(menu)
