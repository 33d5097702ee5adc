"""Disables endpoints that have failed for days, and notifies the owners of the account."""

from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction

from accounts import mail_outbox
from accounts.models import Membership, User, WebhookDelivery, WebhookEndpoint, on_clock_of
from accounts.webhooks import delivery_queue
from framework.api.urls import public_url

FAILURE_PERIOD = timedelta(days=5)
# An endpoint without an attempt in this time is not failing: the longest retry delay is 24 hours and a tenth.
RECENT_ATTEMPT = timedelta(hours=30)


def disable_failing_endpoints(*, now: datetime, venue: UUID | None = None) -> int:
    """Disable the endpoints without a success in FAILURE_PERIOD; return how many.

    Those of this venue, or of all without a clock of their own.
    """
    failing = WebhookEndpoint.objects.filter(
        on_clock_of(venue), disabled_at__isnull=True, failing_since__lte=now - FAILURE_PERIOD
    )
    keys = failing.order_by("failing_since").values_list("pk", flat=True)
    return sum(disable_failing_endpoint(key, now=now) for key in keys)


def disable_failing_endpoint(key: UUID, *, now: datetime) -> bool:
    """Disable an endpoint and enqueue a mail to each owner; False after a success or without a recent attempt."""
    with transaction.atomic():
        rows = WebhookEndpoint.objects.select_for_update(no_key=True, of=("self",)).select_related("venue")
        endpoint = rows.filter(pk=key, failing_since__lte=now - FAILURE_PERIOD).first()
        recent = WebhookDelivery.objects.filter(endpoint=key, last_attempt_at__gte=now - RECENT_ATTEMPT)
        last = recent.order_by("-last_attempt_at").first()
        if endpoint is None or last is None:
            return False
        if not delivery_queue.disable_endpoint(key, reason=WebhookEndpoint.DisabledReason.FAILING, now=now):
            return False
        context = {
            "endpoint": endpoint,
            "reason": last.last_error
            or (f"response status {last.last_status}" if last.last_status else "no response yet"),
            "page": public_url(f"/admin/accounts/webhookendpoint/{key}/change/"),
        }
        owners = User.objects.filter(
            is_active=True, memberships__account=endpoint.venue.account_id, memberships__role=Membership.Role.OWNER
        )
        # Mail to members goes by the real time.
        ahead = endpoint.venue.clock_offset()
        # One mail each, so that owners do not see each other's addresses.
        for address in owners.values_list("email", flat=True).distinct():
            template, topic = "accounts/mail/endpoint_disabled", endpoint.public_id
            mail_outbox.enqueue(template, context, address=address, now=now - ahead, topic=topic)
    return True
