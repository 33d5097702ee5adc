"""Request and response schemas of orders."""

from typing import Any

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from accounts.models.venues import PAYMENT_LABEL
from framework.api.fields import (
    ConstantField,
    MetadataField,
    PublicIdField,
    StrictChoiceField,
    StrictIntegerField,
    StrictListField,
    StrictSerializer,
    TextField,
)
from framework.api.urls import public_url
from orders import pricing
from orders.menu.photos import thumbnail_path
from orders.models import Allergen, Menu, MenuCategory, MenuItem, Order, OrderItem
from orders.order_json import FIELDS

AMOUNT = r"^\d+(\.\d+)?$"


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
    metadata = MetadataField(required=False, help_text="Your own notes on the order.")

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

    def __init__(self) -> None:
        super().__init__(read_only=True, allow_null=True)

    def get_attribute(self, instance: Any) -> str | None:
        return pricing.format_if_priced(super().get_attribute(instance), instance.currency)

    def to_representation(self, value: str) -> str:
        return value


class OrderItemRecord(serializers.ModelSerializer[OrderItem]):
    """A line of an order; name and money are null where the venue has no menu."""

    unit_price = Money()
    line_total = Money()

    class Meta:
        model = OrderItem
        fields = ["menu_item_id", "name", "quantity", "notes", "unit_price", "line_total"]
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
    subtotal = Money()
    tax = Money()
    total = Money()
    metadata = MetadataField(read_only=True)

    class Meta:
        model = Order
        fields = FIELDS
        read_only_fields = fields


class MenuItemRecord(serializers.ModelSerializer[MenuItem]):
    """A dish or a drink. The context has the `currency` of the menu, and `today` at the venue."""

    id = serializers.CharField(source="ref", read_only=True, help_text="The `menu_item_id` by which it is ordered.")
    price = serializers.SerializerMethodField(help_text="In the currency of the menu.")
    tax_percent = serializers.SerializerMethodField()
    allergens = serializers.ListField(child=serializers.ChoiceField(choices=Allergen.choices), read_only=True)
    photo = serializers.SerializerMethodField(help_text="URLs of its photo at most 400 and 1200 pixels wide, or null.")
    is_sold_out = serializers.SerializerMethodField(help_text="Today, by the venue's clock.")

    class Meta:
        model = MenuItem
        fields = [
            *("id", "name", "description", "price", "tax_percent", "allergens", "photo"),
            *("is_available", "is_sold_out"),
        ]
        read_only_fields = fields

    @extend_schema_field({"type": "string", "pattern": AMOUNT})
    def get_price(self, item: MenuItem) -> str:
        return pricing.format_amount(item.price, self.context["currency"])

    @extend_schema_field({"type": "string", "pattern": AMOUNT})
    def get_tax_percent(self, item: MenuItem) -> str:
        return pricing.format_percent(item.tax_percent)

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
        return bool(item.sold_out_on == self.context["today"])


class MenuCategoryRecord(serializers.ModelSerializer[MenuCategory]):
    """A category with its dishes; the times from which and until which it is served, or null for always."""

    served_from = serializers.TimeField(format="%H:%M", read_only=True, allow_null=True)
    served_until = serializers.TimeField(format="%H:%M", read_only=True, allow_null=True)
    items = MenuItemRecord(many=True, read_only=True)

    class Meta:
        model = MenuCategory
        fields = ["name", "served_from", "served_until", "items"]
        read_only_fields = fields


@extend_schema_serializer(many=False)
class MenuRecord(serializers.ModelSerializer[Menu]):
    """The menu of a venue, with its categories and dishes in their order."""

    object = ConstantField("menu")
    currency = serializers.CharField(source="venue.currency", read_only=True)
    prices_include_tax = serializers.BooleanField(source="venue.prices_include_tax", read_only=True)
    categories = serializers.SerializerMethodField()

    class Meta:
        model = Menu
        fields = ["object", "is_published", "currency", "prices_include_tax", "categories"]
        read_only_fields = fields

    @extend_schema_field(MenuCategoryRecord(many=True))
    def get_categories(self, menu: Menu) -> Any:
        # A menu that is not stored stands for a venue without one.
        categories = () if menu._state.adding else menu.categories.all()
        return MenuCategoryRecord(categories, many=True, context=self.context).data
