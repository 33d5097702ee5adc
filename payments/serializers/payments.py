"""The shapes of what a payer is told of their payments."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from framework import public_ids
from framework.api.fields import ConstantField
from framework.api.pagination.schema import CursorPageRecord, DateTimeField
from payments.chain import evm
from payments.chain.networks import NETWORKS
from payments.ledger import payment_history
from payments.models import Payment, Refund
from payments.models.payments import PREFIX
from payments.serializers.amounts import TIER_NAMES, Amount
from payments.x402.purchase import TOOL_CALL

HASH = "^0x[0-9a-f]{64}$"


class Address(serializers.RegexField):
    """An address with the capitals of EIP-55."""

    def __init__(self, **options: Any) -> None:
        super().__init__(evm.ADDRESS, **options)

    def to_representation(self, value: str) -> str:
        """The address."""
        return evm.to_checksum_address(value)


class ResourceRecord(serializers.Serializer[Payment]):
    """What was asked for; null where nobody had asked: the money was found on the chain."""

    def get_attribute(self, instance: Payment) -> Payment | None:
        """The payment, which says so; nothing of one that nobody has claimed."""
        return instance if instance.resource else None

    method = serializers.ChoiceField(choices=["GET", "POST", TOOL_CALL], help_text=f"`{TOOL_CALL}` of MCP.")
    url = serializers.CharField(source="resource")


class Channel(serializers.ChoiceField):
    """Through which it was asked for; null where nobody had asked."""

    def get_attribute(self, instance: Payment) -> str | None:
        """The API through which the payment came; null for money that bought nothing."""
        return instance.channel if instance.resource else None


class RefundRecord(serializers.Serializer[Refund]):
    """Money that was sent back."""

    amount = Amount(decimal_places=6, source="amount_usdc")
    transaction = serializers.RegexField(HASH, source="tx_hash")
    at = DateTimeField(source="created_at", help_text="When it was noted.")
    confirmed_at = DateTimeField(allow_null=True, help_text="When it was seen on the chain; null until then.")


class State(serializers.ChoiceField):
    """The state in the payer's words."""

    def __init__(self) -> None:
        super().__init__(
            choices=list(payment_history.STATES),
            help_text="`pending`: whether the money has moved is not known yet. `settled`: it has, and its answer may"
            " still be fetched. `delivered`: the answer was made. `refund_due`: we owe it back. `refunded`: it was"
            " sent back. `expired`: it never moved.",
        )

    def to_representation(self, value: Any) -> str:
        """The word."""
        return payment_history.NAMES[Payment.State(value)]


class PaymentRecord(serializers.Serializer[Payment]):
    """One payment, and the one answer that it has bought."""

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
    tier = serializers.ChoiceField(choices=TIER_NAMES, help_text="Of the payer when paying.")
    form = serializers.ChoiceField(
        choices=Payment.Form.values, help_text="How it was paid: by x402 of version 2 or 1, or by a transaction."
    )
    transaction = serializers.RegexField(HASH, source="tx_hash", allow_null=True)
    block = serializers.IntegerField(allow_null=True, help_text="Null until it was seen on the chain.")
    payment_identifier = serializers.SerializerMethodField(help_text="By which the payer has named it; null without.")
    created_at = DateTimeField()
    settled_at = DateTimeField(allow_null=True, help_text="When the money had arrived.")
    delivered_at = DateTimeField(allow_null=True, help_text="When the answer was made.")
    readable_until = DateTimeField(
        allow_null=True,
        help_text="Until then the same request with the same payment is served again; null where it buys no answer.",
    )
    refund = RefundRecord(allow_null=True)
    reason = serializers.SerializerMethodField(help_text="Why it is owed back or was not settled, for programs.")
    detail = serializers.SerializerMethodField(help_text="The same for people; null where there is no more to say.")

    def get_asset(self, row: Payment) -> str:
        """The name of the money."""
        network = NETWORKS.get(row.network)
        return network.asset_name if network else "USDC"

    def get_payment_identifier(self, row: Payment) -> str | None:
        """The payer's own name of it."""
        return row.payment_identifier or None

    def get_reason(self, row: Payment) -> str | None:
        """A word."""
        return payment_history.get_reason(row)[0]

    def get_detail(self, row: Payment) -> str | None:
        """A sentence."""
        return payment_history.get_reason(row)[1]


@extend_schema_serializer(many=False)
class PaymentAnswer(serializers.Serializer[Any]):
    """A page of payments."""

    data = PaymentRecord(many=True, source="rows")  # type: ignore[assignment]  # a name of the contract
    pagination = CursorPageRecord(source="*")
