"""Bodies and records of webhook endpoints and their deliveries."""

from typing import Any

from rest_framework import serializers

from accounts.models import EventType, WebhookDelivery, WebhookEndpoint
from accounts.webhooks.ssrf_guard import MAX_URL_LENGTH
from framework.api.fields import (
    ConstantField,
    PublicIdField,
    StrictChoiceField,
    StrictListField,
    StrictSerializer,
    TextField,
)
from framework.api.pagination.page_number import MAX_LIMIT
from framework.api.query_params.declarations import ChoiceParam, DateTimeParam, IntegerParam, ListParam, QueryParams
from framework.public_ids import pattern

# Pings are sent to one endpoint, whatever its types are.
TYPES = [kind.value for kind in EventType if kind != EventType.WEBHOOK_PING]
URL_HELP = "`https` or `http`, of a public host."
TYPES_HELP = "The types of events to deliver. Empty: all, also those that are added later."


def types_field(**options: Any) -> StrictListField:
    return StrictListField(
        child=StrictChoiceField(choices=TYPES), max_length=len(TYPES), required=False, help_text=TYPES_HELP, **options
    )


class NewWebhook(StrictSerializer):
    """What is needed to create an endpoint."""

    url = TextField(min_length=1, max_length=MAX_URL_LENGTH, help_text=URL_HELP)
    description = TextField(max_length=200, allow_blank=True, default="", help_text="For your reference.")
    types = types_field(default=list)


class WebhookChanges(StrictSerializer):
    """What is to be changed, at least one field; what is not sent stays as it is."""

    url = TextField(min_length=1, max_length=MAX_URL_LENGTH, required=False, help_text=URL_HELP)
    description = TextField(max_length=200, allow_blank=True, required=False)
    types = types_field()
    status = StrictChoiceField(
        choices=WebhookEndpoint.Status.choices,
        required=False,
        help_text="`disabled`: nothing is sent, and pending deliveries fail.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not attrs:
            raise serializers.ValidationError(f"Name at least one of: {', '.join(self.fields)}.")
        return attrs


class FailedSince(StrictSerializer):
    """Which failed deliveries are resent."""

    since = DateTimeParam(help_text="Those that failed at this moment or later, RFC 3339.")


class WebhookRecord(serializers.ModelSerializer[WebhookEndpoint]):
    """A webhook endpoint: a URL of yours that receives events."""

    id = PublicIdField("whk")
    object = ConstantField("webhook_endpoint")
    url = serializers.URLField()
    types = serializers.ListField(child=serializers.ChoiceField(choices=TYPES), help_text="Empty: all types.")
    status = serializers.ChoiceField(choices=WebhookEndpoint.Status.choices)
    disabled_reason = serializers.ChoiceField(
        choices=[reason.value for reason in WebhookEndpoint.DisabledReason],
        allow_null=True,
        help_text="`staff`: by a person or a key. `gone`: your server answered 410. `failing`: for five days.",
    )
    failing_since = serializers.DateTimeField(help_text="No delivery has succeeded since then.", allow_null=True)
    previous_secret_expires_at = serializers.DateTimeField(
        source="old_secret_until",
        allow_null=True,
        help_text="After a rotation: until then deliveries are signed with the previous secret, too.",
    )

    class Meta:
        model = WebhookEndpoint
        fields = [
            *("id", "object", "url", "description", "types", "status", "disabled_reason", "disabled_at"),
            *("failing_since", "previous_secret_expires_at", "created_at"),
        ]
        read_only_fields = fields


class WebhookWithSecret(WebhookRecord):
    """A webhook endpoint with its new secret, which no other answer has."""

    secret = serializers.CharField(
        allow_null=True,
        help_text="`whsec_` and base64. Null in a stored answer, which has `Idempotent-Replayed: true`.",
    )

    class Meta(WebhookRecord.Meta):
        fields = [*WebhookRecord.Meta.fields, "secret"]
        read_only_fields = fields


class DeliveryRecord(serializers.ModelSerializer[WebhookDelivery]):
    """The delivery of an event to an endpoint, which has one of each event."""

    event_id = serializers.RegexField(
        pattern("evt"), source="event.public_id", help_text="The `webhook-id`; it names the delivery."
    )
    object = ConstantField("webhook_delivery")
    type = serializers.ChoiceField(choices=EventType.choices, source="event.type")
    state = serializers.ChoiceField(choices=WebhookDelivery.State.choices)
    attempts = serializers.IntegerField(min_value=0, help_text="Since it was made or resent.")
    last_status = serializers.IntegerField(allow_null=True, help_text="The status of your server's last answer.")
    last_response = serializers.CharField(help_text="The first kilobyte of that answer.")
    last_error = serializers.CharField(help_text="Why the last attempt failed without an answer.")

    class Meta:
        model = WebhookDelivery
        fields = [
            *("event_id", "object", "type", "state", "attempts", "last_status", "last_response", "last_error"),
            *("created_at", "last_attempt_at", "next_attempt_at", "delivered_at", "failed_at"),
        ]
        read_only_fields = fields


class DeliveryPagination(serializers.Serializer[Any]):
    """The position of a page in its list."""

    limit = serializers.IntegerField(min_value=1)
    has_more = serializers.BooleanField()
    next_cursor = serializers.CharField(
        allow_null=True, help_text="Give it as `cursor` for what comes next; null on the last page."
    )


class ResentRecord(serializers.Serializer[Any]):
    """How many deliveries are resent."""

    resent = serializers.IntegerField(min_value=0)
    has_more = serializers.BooleanField(help_text="There may be more: call again with the same `since`.")


class DeliveryParams(QueryParams):
    """The parameters of the list of deliveries."""

    state = ChoiceParam(
        choices=WebhookDelivery.State.values, required=False, help_text="Only deliveries in this state."
    )
    type = ListParam(
        required=False,
        of="|".join(kind.replace(".", r"\.") for kind in EventType.values),
        max_length=400,
        hint=f"These must be some of: {', '.join(EventType.values)}, with commas between them.",
        help_text="Only deliveries of events of these types, with commas between them.",
    )
    limit = IntegerParam(
        required=False, min_value=1, max_value=MAX_LIMIT, default=20, help_text="Deliveries on a page."
    )
    cursor = TextField(required=False, max_length=400, help_text="`next_cursor` of the answer before.")
