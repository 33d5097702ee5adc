"""The serializers of a payer's payments."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from framework import public_ids
from framework.api.fields import ConstantField, StrictSerializer, TextField
from framework.api.pagination.schema import CursorPageRecord, DateTimeField
from payments.chain.networks import NETWORKS
from payments.ledger import payment_history
from payments.models import Payment, Refund
from payments.models.payments import PREFIX
from payments.serializers.amounts import Address, Amount, Tier
from payments.x402.purchase import TOOL_CALL

HASH = "^0x[0-9a-f]{64}$"


class ResourceRecord(serializers.Serializer[Payment]):
    """The request that was paid for; null for money that arrived without a request."""

    def get_attribute(self, instance: Payment) -> Payment | None:
        return instance if instance.resource else None

    method = serializers.ChoiceField(choices=["GET", "POST", TOOL_CALL], help_text=f"`{TOOL_CALL}` of MCP.")
    url = serializers.CharField(source="resource")


class Channel(serializers.ChoiceField):
    """The API of the request; null for money that arrived without a request."""

    def get_attribute(self, instance: Payment) -> str | None:
        return instance.channel if instance.resource else None


class RefundRecord(serializers.Serializer[Refund]):
    """A refund."""

    amount = Amount(decimal_places=6, source="amount_usdc")
    transaction = serializers.RegexField(HASH, source="tx_hash")
    at = DateTimeField(source="created_at", help_text="When it was recorded.")
    confirmed_at = DateTimeField(allow_null=True, help_text="When it was found on the chain; null until then.")


class State(serializers.ChoiceField):
    """The public name of the state."""

    def __init__(self) -> None:
        super().__init__(
            choices=list(payment_history.STATES),
            help_text="`pending`: the settlement is not known yet. `settled`: the money has arrived, the answer can"
            " still be fetched. `delivered`: the answer was sent. `refund_due`: a refund is due. `refunded`: the"
            " refund was sent. `expired`: no money moved.",
        )

    def to_representation(self, value: Any) -> str:
        return payment_history.NAMES[Payment.State(value)]


class PaymentRecord(serializers.Serializer[Payment]):
    """A payment, and the answer that it bought."""

    id = serializers.RegexField(public_ids.pattern(PREFIX), source="public_id")
    object = ConstantField("payment")
    state = State()
    amount = Amount(decimal_places=6, source="amount_usdc")
    asset = serializers.SerializerMethodField()
    asset_address = Address(source="asset")
    network = serializers.CharField(help_text="CAIP-2.")
    payer = Address()
    pay_to = Address()
    products = serializers.ListField(child=serializers.CharField())
    channel = Channel(
        choices=Payment.Channel.values, allow_null=True, help_text="The API through which it was requested."
    )
    resource = ResourceRecord(source="*", allow_null=True)
    tier = Tier(help_text="Of the payer when paying.")
    form = serializers.ChoiceField(
        choices=Payment.Form.values, help_text="How it was paid: by x402 of version 2 or 1, or by a transaction."
    )
    transaction = serializers.RegexField(HASH, source="tx_hash", allow_null=True)
    block = serializers.IntegerField(allow_null=True, help_text="Null until it was found on the chain.")
    payment_identifier = serializers.SerializerMethodField(help_text="Chosen by the payer; null without.")
    created_at = DateTimeField()
    settled_at = DateTimeField(allow_null=True, help_text="When the money arrived.")
    delivered_at = DateTimeField(allow_null=True, help_text="When the answer was sent.")
    readable_until = DateTimeField(
        allow_null=True,
        help_text="Until then the same request with the same payment is served again; null if it buys no answer.",
    )
    refund = RefundRecord(allow_null=True)
    refund_requested_at = DateTimeField(allow_null=True, help_text="When you asked for the money back; null if not.")
    refund_declined_at = DateTimeField(allow_null=True, help_text="When our staff declined that; null if not.")
    reason = serializers.SerializerMethodField(help_text="Why a refund is due, or why it was not settled: a code.")
    detail = serializers.SerializerMethodField(help_text="A sentence about the reason; null without one.")

    def get_asset(self, row: Payment) -> str:
        network = NETWORKS.get(row.network)
        return network.asset_name if network else "USDC"

    def get_payment_identifier(self, row: Payment) -> str | None:
        return row.payment_identifier or None

    def get_reason(self, row: Payment) -> str | None:
        return payment_history.get_reason(row)[0]

    def get_detail(self, row: Payment) -> str | None:
        return payment_history.get_reason(row)[1]


class NewRefundRequest(StrictSerializer):
    """Why the money should come back."""

    reason = TextField(min_length=1, max_length=500, lines=True, help_text="What was wrong with the answer.")


@extend_schema_serializer(many=False)
class PaymentAnswer(serializers.Serializer[Any]):
    """A page of payments."""

    data = PaymentRecord(many=True, source="rows")  # type: ignore[assignment]  # a name of the contract
    pagination = CursorPageRecord(source="*")
