"""Commands on webhook endpoints: create, update, rotate, enable, disable, delete, test and resend."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from accounts import mail_outbox
from accounts.models import Event, EventType, OAuthGrant, Venue, WebhookDelivery, WebhookEndpoint
from accounts.tasks import enqueue_webhook_delivery
from accounts.webhooks import delivery_queue, signing_secrets, ssrf_guard
from framework.encryption import CannotDecrypt
from framework.errors import ApiError, ErrorCode, NotFound

# How long deliveries are signed with the previous secret too.
OVERLAP = timedelta(hours=24)
# Of one venue, also disabled ones: each gets a request for each order.
MAX_ENDPOINTS = 20


# What one call of the API resends, so that it takes a bounded time: about a second on a small server.
MAX_RESENT = 4 * delivery_queue.BATCH


class TooManyEndpoints(ApiError):
    """The venue has MAX_ENDPOINTS endpoints."""

    code = ErrorCode.TOO_MANY_WEBHOOKS


class SecretRotationInProgress(ApiError):
    """The previous secret is still valid; a third secret would invalidate it early."""

    code = ErrorCode.SECRET_ROTATION_IN_PROGRESS


class EndpointDisabled(ApiError):
    """The endpoint is disabled, so nothing is sent to it."""

    code = ErrorCode.WEBHOOK_DISABLED


class EndpointNotFound(NotFound):
    """There is no such endpoint, or it was deleted in the meantime."""

    def __init__(self) -> None:
        super().__init__("There is no such webhook endpoint.")


def create(
    venue: Venue, *, url: str, types: Collection[str] = (), description: str = "", grant: OAuthGrant | None = None
) -> tuple[WebhookEndpoint, str]:
    """Store an endpoint; return it with its secret. Raises InvalidWebhookUrl and TooManyEndpoints.

    The endpoint of an app has its `grant`, which the caller has locked (accounts.oauth.access.lock_grant).

    Only the syntax of the URL is checked here; the addresses of its host are checked on each attempt.
    """
    ssrf_guard.parse_url(url)
    secret = signing_secrets.generate()
    with transaction.atomic():
        # Locks the venue, which placing an order does not wait for.
        Venue.objects.select_for_update(no_key=True).get(pk=venue.pk)
        if WebhookEndpoint.objects.filter(venue=venue).count() >= MAX_ENDPOINTS:
            message = _("A restaurant can have at most %(number)s webhook endpoints.") % {"number": MAX_ENDPOINTS}
            raise TooManyEndpoints(message)
        endpoint = WebhookEndpoint.objects.create(
            venue=venue,
            grant=grant,
            url=url,
            types=sorted({*types}),
            description=description,
            secret=signing_secrets.encrypt(secret),
        )
    return endpoint, secret


def lock(key: UUID) -> WebhookEndpoint:
    """Return the endpoint with its venue, locked for the rest of the transaction. Raises EndpointNotFound.

    Orders do not wait for it, and other commands on the endpoint do.
    """
    rows = WebhookEndpoint.objects.select_for_update(no_key=True, of=("self",)).select_related("venue")
    endpoint = rows.filter(pk=key).first()
    if endpoint is None:
        raise EndpointNotFound
    return endpoint


def update(
    endpoint: WebhookEndpoint,
    *,
    url: str | None = None,
    types: Collection[str] | None = None,
    description: str | None = None,
) -> None:
    """Update what is given of an endpoint; a new URL resets its failures. Raises InvalidWebhookUrl.

    Two that change different fields at once both take effect. Pending deliveries go to the URL at the time of the
    attempt.
    """
    changes: dict[str, Any] = {} if description is None else {"description": description}
    if types is not None:
        changes["types"] = sorted({*types})
    rows = WebhookEndpoint.objects.filter(pk=endpoint.pk)
    if url is not None:
        ssrf_guard.parse_url(url)
        changes["url"] = url
        rows.exclude(url=url).update(failing_since=None, is_slow=False)
    if changes:
        rows.update(**changes)
    endpoint.refresh_from_db()


def rotate_secret(endpoint: WebhookEndpoint, *, now: datetime) -> str:
    """Replace the secret and return the new one; the previous one stays valid for OVERLAP.

    Raises SecretRotationInProgress during the overlap, unless one of the two secrets cannot be decrypted.
    """
    secret = signing_secrets.generate()
    with transaction.atomic():
        row = lock(endpoint.pk)
        until = row.old_secret_until
        is_readable = row.old_secret and all(map(signing_secrets.is_readable, (row.secret, row.old_secret)))
        if until and now < until and is_readable:
            raise SecretRotationInProgress(
                _(
                    "The previous secret is still valid until %(time)s UTC: rotate after that. If the current one is"
                    " compromised, create another endpoint and delete this one."
                )
                % {"time": f"{until:%Y-%m-%d %H:%M}"}
            )
        row.old_secret, row.old_secret_until = row.secret, now + OVERLAP
        row.secret = signing_secrets.encrypt(secret)
        row.save(update_fields=["secret", "old_secret", "old_secret_until"])
    endpoint.refresh_from_db()
    return secret


def disable(endpoint: WebhookEndpoint, *, now: datetime) -> bool:
    """Disable the endpoint and fail its pending deliveries; False if it was disabled, which keeps its reason."""
    with transaction.atomic():
        return delivery_queue.disable_endpoint(endpoint.pk, reason=WebhookEndpoint.DisabledReason.STAFF, now=now)


def enable(endpoint: WebhookEndpoint, *, grant: OAuthGrant | None = None) -> bool:
    """Enable the endpoint and reset its failures; False if it was enabled. Failed deliveries can be resent.

    With the locked `grant` of an app it stands on that one. Without, it is the restaurant's from then on if what its
    app was granted has ended.
    """
    with transaction.atomic():
        row = lock(endpoint.pk)
        if row.disabled_at is None:
            return False
        # Whatever ends the grant changes the reason of all its endpoints: what ends it now waits for this row.
        if grant is not None or row.disabled_reason == WebhookEndpoint.DisabledReason.APP_ENDED:
            row.grant = grant
        row.disabled_at = row.disabled_reason = row.failing_since = None
        row.is_slow = False
        row.save(update_fields=["grant", "disabled_at", "disabled_reason", "failing_since", "is_slow"])
        # Unsent mail says that the endpoint is disabled.
        mail_outbox.cancel(endpoint.public_id)
    return True


def delete(endpoint: WebhookEndpoint) -> None:
    """Delete the endpoint with its deliveries; the events stay. Does nothing if it was deleted before.

    Locks the endpoint first, so that concurrent orders skip it (accounts/webhooks/outbox.py) and do not wait.
    """
    with transaction.atomic():
        WebhookEndpoint.objects.select_for_update().filter(pk=endpoint.pk).first()
        WebhookDelivery.objects.filter(endpoint=endpoint.pk).delete()
        WebhookEndpoint.objects.filter(pk=endpoint.pk).delete()
        mail_outbox.cancel(endpoint.public_id)


def send_test_event(endpoint: WebhookEndpoint, *, actor: str, now: datetime) -> UUID:
    """Send `webhook.ping` to this endpoint only; return the id of the delivery. Raises EndpointDisabled."""
    with transaction.atomic():
        row = lock(endpoint.pk)
        if row.disabled_at is not None:
            raise EndpointDisabled(_("This endpoint is disabled. Enable it before you send a test event."))
        record = {"id": row.public_id, "object": "webhook_endpoint", "url": row.url, "types": row.types}
        event = Event.objects.create(
            venue=row.venue, type=EventType.WEBHOOK_PING, actor=actor, record=record, created_at=now
        )
        delivery = WebhookDelivery.objects.create(event=event, endpoint=row, next_attempt_at=now, created_at=now)
        transaction.on_commit(enqueue_webhook_delivery)
    return delivery.pk


def resend(delivery: WebhookDelivery, *, now: datetime) -> bool:
    """Restart the retry schedule of a delivery, with the same webhook-id, also of a delivered one.

    False while a worker holds its lease. Raises EndpointDisabled.
    """
    return bool(_requeue(delivery.endpoint_id, now=now, only=delivery.pk))


def resend_failed(
    endpoint: WebhookEndpoint,
    *,
    since: datetime,
    now: datetime,
    types: Collection[str] | None = None,
    limit: int | None = None,
) -> int:
    """Resend the deliveries that failed since this time, the earliest first; return how many. Raises EndpointDisabled.

    Of events of these types, None for all. In batches, each a transaction, so that workers do not wait. It stops at
    the `limit`, which is of whole batches: if the result is the limit, there may be more.
    """
    total = 0
    while limit is None or total < limit:
        requeued = _requeue(endpoint.pk, now=now, since=since, types=types)
        total += requeued
        if requeued < delivery_queue.BATCH:
            break
    return total


def _requeue(
    endpoint: UUID,
    *,
    now: datetime,
    only: UUID | None = None,
    since: datetime | None = None,
    types: Collection[str] | None = None,
) -> int:
    with transaction.atomic():
        if lock(endpoint).disabled_at is not None:
            raise EndpointDisabled(_("The endpoint is disabled. Enable it before you resend deliveries."))
        requeued = delivery_queue.requeue(endpoint, now=now, only=only, since=since, types=types)
        if requeued:
            transaction.on_commit(enqueue_webhook_delivery)
    return requeued


def reencrypt_secrets() -> int:
    """Encrypt every secret with the current SECRET_KEY; return how many cannot be decrypted with any key."""
    unreadable = 0
    for key in WebhookEndpoint.objects.order_by("pk").values_list("pk", flat=True):
        with transaction.atomic():
            row = WebhookEndpoint.objects.select_for_update(no_key=True).filter(pk=key).first()
            if row is None:
                continue
            try:
                row.secret = signing_secrets.encrypt(signing_secrets.decrypt(row.secret))
                if row.old_secret is not None:
                    row.old_secret = signing_secrets.encrypt(signing_secrets.decrypt(row.old_secret))
            except CannotDecrypt:
                unreadable += 1
            else:
                row.save(update_fields=["secret", "old_secret"])
    return unreadable
