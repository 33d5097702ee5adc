"""Addresses of customers that are told of events: made, changed, given a new secret, switched on and off, tried."""

from collections.abc import Collection
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction

from accounts.models import Event, EventType, Venue, WebhookDelivery, WebhookEndpoint, WebhookLetter
from accounts.tasks.webhooks import enqueue_webhook_delivery
from accounts.webhooks import delivery_queue, signing_secrets, ssrf_guard
from framework.errors import InvalidRequest

# So long the old secret signs beside the new one.
OVERLAP = timedelta(hours=24)


class StillRotating(InvalidRequest):
    """A third secret would end the first before its day is over."""


class SwitchedOff(InvalidRequest):
    """Nothing is sent to an endpoint that is switched off."""


def create(
    venue: Venue, *, url: str, types: Collection[str] = (), description: str = ""
) -> tuple[WebhookEndpoint, str]:
    """Store an endpoint; return it with its secret, which is shown this once. Raises BadDestination.

    The address is judged by its looks; where its name leads is judged on each try.
    """
    ssrf_guard.read(url)
    secret = signing_secrets.generate()
    endpoint = WebhookEndpoint.objects.create(
        venue=venue, url=url, types=sorted(types), description=description, secret=signing_secrets.encrypt(secret)
    )
    return endpoint, secret


def change(endpoint: WebhookEndpoint, *, url: str, types: Collection[str], description: str) -> None:
    """Store what people may change of it. Raises BadDestination.

    Another address has not failed yet. Events that wait go to where the endpoint leads when they are sent.
    """
    ssrf_guard.read(url)
    rows = WebhookEndpoint.objects.filter(pk=endpoint.pk)
    rows.exclude(url=url).update(failing_since=None, is_slow=False)
    rows.update(url=url, types=sorted(types), description=description)
    endpoint.refresh_from_db()


def rotate(endpoint: WebhookEndpoint, *, now: datetime) -> str:
    """Give it a new secret, which is returned this once; the old one signs too for a day. Raises StillRotating.

    Where one of the two that sign cannot be read, a rotation mends it at any time.
    """
    secret = signing_secrets.generate()
    with transaction.atomic():
        row = WebhookEndpoint.objects.select_for_update(no_key=True).get(pk=endpoint.pk)
        until = row.old_secret_until
        if (
            row.old_secret
            and until
            and now < until
            and all(map(signing_secrets.is_readable, (row.secret, row.old_secret)))
        ):
            raise StillRotating(
                f"The previous secret is still valid until {until:%Y-%m-%d %H:%M} UTC: rotate after that. If"
                " the current one is compromised, create another endpoint and delete this one."
            )
        row.old_secret, row.old_secret_until = row.secret, now + OVERLAP
        row.secret = signing_secrets.encrypt(secret)
        row.save(update_fields=["secret", "old_secret", "old_secret_until"])
    endpoint.refresh_from_db()
    return secret


def disable(endpoint: WebhookEndpoint, *, now: datetime) -> bool:
    """Switch it off; what waits for it is given up. False where it was off already, which keeps its reason."""
    with transaction.atomic():
        return delivery_queue.switch_off(endpoint.pk, reason=WebhookEndpoint.DisabledReason.STAFF, now=now)


def enable(endpoint: WebhookEndpoint) -> bool:
    """Switch it on, with its failures forgotten. False where it was on. What was given up can be replayed."""
    with transaction.atomic():
        rows = WebhookEndpoint.objects.filter(pk=endpoint.pk, disabled_at__isnull=False)
        if not rows.update(disabled_at=None, disabled_reason=None, failing_since=None, is_slow=False):
            return False
        # What they would say is not true any more.
        WebhookLetter.objects.filter(endpoint=endpoint.pk).delete()
    return True


def remove(endpoint: WebhookEndpoint) -> None:
    """Delete it with its deliveries; the events stay.

    It is locked first: an order that is placed meanwhile passes it over (accounts/webhooks/outbox.py), and none waits
    for us.
    """
    with transaction.atomic():
        WebhookEndpoint.objects.select_for_update().get(pk=endpoint.pk)
        WebhookDelivery.objects.filter(endpoint=endpoint.pk).delete()
        WebhookEndpoint.objects.filter(pk=endpoint.pk).delete()


def ping(endpoint: WebhookEndpoint, *, actor: str, now: datetime) -> UUID:
    """Send a test event to this endpoint alone; return the key of its delivery. Raises SwitchedOff."""
    with transaction.atomic():
        row = WebhookEndpoint.objects.select_for_update(no_key=True).select_related("venue").get(pk=endpoint.pk)
        if row.disabled_at is not None:
            raise SwitchedOff("This endpoint is disabled. Enable it before you send a test event.")
        record = {"id": row.public_id, "object": "webhook_endpoint", "url": row.url, "types": row.types}
        event = Event.objects.create(
            venue=row.venue, type=EventType.WEBHOOK_PING, actor=actor, record=record, created_at=now
        )
        delivery = WebhookDelivery.objects.create(event=event, endpoint=row, next_try_at=now, created_at=now)
        transaction.on_commit(enqueue_webhook_delivery)
    return delivery.pk


def replay(delivery: WebhookDelivery, *, now: datetime) -> bool:
    """Send it once more from the beginning of the schedule, with the same webhook-id, also where it had arrived.

    False where a worker has it in hand. Raises SwitchedOff.
    """
    return bool(_replay(delivery.endpoint_id, now=now, only=delivery.pk))


def replay_failed(endpoint: WebhookEndpoint, *, since: datetime, now: datetime) -> int:
    """Send once more all that failed at this moment or later; return how many. Raises SwitchedOff.

    In batches, each a transaction: workers wait for none of them.
    """
    replayed = begun = _replay(endpoint.pk, now=now, since=since)
    while begun == delivery_queue.BATCH:
        begun = _replay(endpoint.pk, now=now, since=since)
        replayed += begun
    return replayed


def _replay(endpoint: UUID, *, now: datetime, only: UUID | None = None, since: datetime | None = None) -> int:
    with transaction.atomic():
        row = WebhookEndpoint.objects.select_for_update(no_key=True).get(pk=endpoint)
        if row.disabled_at is not None:
            raise SwitchedOff("The endpoint is disabled. Enable it before you resend deliveries.")
        begun = delivery_queue.begin_again(endpoint, now=now, only=only, since=since)
        if begun:
            transaction.on_commit(enqueue_webhook_delivery)
    return begun


def reencrypt_secrets() -> int:
    """Encrypt every secret under SECRET_KEY as it is now; return how many were left, as no key of ours opens them."""
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
            except signing_secrets.SecretUnreadable:
                unreadable += 1
            else:
                row.save(update_fields=["secret", "old_secret"])
    return unreadable
