"""Request and response schemas of orders."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
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
from orders import pricing
from orders.models import Order, OrderItem
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
