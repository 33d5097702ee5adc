"""Switches off endpoints that have failed for days, and tells the owners of the account."""

import logging
import time
from datetime import datetime, timedelta
from uuid import UUID

from django.core.mail import send_mail
from django.db import transaction

from accounts.models import Membership, User, WebhookDelivery, WebhookEndpoint, WebhookLetter
from accounts.webhooks import delivery_queue
from framework.api.urls import public_url
from framework.db.locks import AdvisoryLock

logger = logging.getLogger("tablewire.worker")

RETIREMENT_LOCK = AdvisoryLock("webhook endpoint retirement")

PATIENCE = timedelta(days=5)
# Failing means tried: the longest pause between two tries is 24 hours and a tenth.
RECENT = timedelta(hours=30)
# So long a mail is tried again, by each sweep.
LETTERS_TRIED = timedelta(days=1)
# A run ends after a while and the next goes on.
RUN_S = 45.0

TEXT = """\
Hello,

we have disabled the webhook endpoint

    {url}

of {venue}, because all deliveries since {since:%d %B %Y, %H:%M} UTC have failed, for more than five days. Last error:
{why}

The events are stored for a while. When your server works again, enable the endpoint and resend the missed events:

    {page}
"""


def sweep(*, now: datetime) -> int:
    """Retire what has failed for five days without any success, and send the mail; return how many were retired."""
    with RETIREMENT_LOCK.session() as is_mine:
        if not is_mine:
            return 0
        overdue = WebhookEndpoint.objects.filter(disabled_at__isnull=True, failing_since__lte=now - PATIENCE)
        retired = sum(retire(key, now=now) for key in overdue.order_by("failing_since").values_list("pk", flat=True))
        post(now=now)
    return retired


def retire(key: UUID, *, now: datetime) -> bool:
    """Switch it off and write to the owners of the account, unless it had a success meanwhile or was not tried."""
    with transaction.atomic():
        rows = WebhookEndpoint.objects.select_for_update(no_key=True, of=("self",)).select_related("venue")
        endpoint = rows.filter(pk=key, failing_since__lte=now - PATIENCE).first()
        tried = WebhookDelivery.objects.filter(endpoint=key, last_try_at__gte=now - RECENT)
        last = tried.order_by("-last_try_at").first()
        if endpoint is None or last is None:
            return False
        if not delivery_queue.switch_off(key, reason=WebhookEndpoint.DisabledReason.FAILING, now=now):
            return False
        text = TEXT.format(
            url=endpoint.url,
            venue=endpoint.venue.name,
            since=endpoint.failing_since,
            why=last.last_error or (f"response status {last.last_status}" if last.last_status else "no response yet"),
            page=public_url(f"/admin/accounts/webhookendpoint/{key}/change/"),
        )
        owners = User.objects.filter(
            is_active=True, memberships__account=endpoint.venue.account_id, memberships__role=Membership.Role.OWNER
        )
        subject = f"A webhook endpoint of {endpoint.venue.name} was disabled"
        # Each for themselves: owners need not see each other's addresses.
        WebhookLetter.objects.bulk_create(
            WebhookLetter(endpoint=endpoint, address=address, subject=subject, text=text, created_at=now)
            for address in owners.values_list("email", flat=True).distinct()
        )
    return True


def post(*, now: datetime) -> None:
    """Send the mail that waits; what is refused is tried again for a day. Call it alone.

    Who dies between a mail and the deletion of its row sends it again. In no order: an address that takes long keeps
    nobody from being told.
    """
    until = time.monotonic() + RUN_S
    for letter in WebhookLetter.objects.order_by("?"):
        if time.monotonic() > until:
            return
        try:
            send_mail(letter.subject, letter.text, None, [letter.address])
        except (OSError, ValueError) as error:
            logger.warning("The owner of endpoint %s could not be told: %s", letter.endpoint_id, error)
            if letter.created_at >= now - LETTERS_TRIED:
                continue
        letter.delete()
