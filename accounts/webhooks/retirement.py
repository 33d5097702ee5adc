"""Switches off endpoints that have failed for days, and tells the owners of the account."""

import logging
from datetime import datetime, timedelta
from smtplib import SMTPException

from django.core.mail import send_mail
from django.db import transaction

from accounts.models import Membership, User, WebhookEndpoint
from accounts.webhooks import deliveries
from config.api.addresses import public_url

logger = logging.getLogger("tablewire.worker")

PATIENCE = timedelta(days=5)
# A mail server that is away so much longer does not keep a dead endpoint alive.
PATIENCE_WITHOUT_MAIL = PATIENCE + timedelta(days=1)

TEXT = """\
Hello,

we have switched off the webhook endpoint

    {url}

of {venue}. Every try since {since:%d %B %Y, %H:%M} UTC has failed, which is more than five days. The last one:
{why}

Nothing is lost: the events are kept for a while. When your receiver is well again, switch the endpoint on and replay
what it has missed:

    {page}
"""


def sweep(*, now: datetime) -> int:
    """Retire what has failed for five days without any success; return how many were switched off.

    The mail goes first. Who dies between the two sends it again, and nobody's endpoint is off without a word; a mail
    server that is away is asked again by the next sweep, for a day.
    """
    overdue = WebhookEndpoint.objects.filter(disabled_at__isnull=True, failing_since__lte=now - PATIENCE)
    retired = 0
    for endpoint in overdue.select_related("venue").order_by("failing_since", "pk"):
        try:
            tell(endpoint)
        except (SMTPException, OSError) as error:
            logger.warning("Endpoint %s fails, and its owners could not be told: %s", endpoint.public_id, error)
            if endpoint.failing_since is not None and endpoint.failing_since > now - PATIENCE_WITHOUT_MAIL:
                continue
        retired += retire(endpoint, now=now)
    return retired


def retire(endpoint: WebhookEndpoint, *, now: datetime) -> bool:
    """Switch it off, unless it had a success meanwhile."""
    with transaction.atomic():
        rows = WebhookEndpoint.objects.select_for_update(no_key=True)
        if not rows.filter(pk=endpoint.pk, failing_since__lte=now - PATIENCE).exists():
            return False
        return deliveries.switch_off(endpoint.pk, reason=WebhookEndpoint.DisabledReason.FAILING, now=now)


def tell(endpoint: WebhookEndpoint) -> None:
    """Mail the owners of the account. Raises SMTPException and OSError."""
    owners = User.objects.filter(
        is_active=True, memberships__account=endpoint.venue.account_id, memberships__role=Membership.Role.OWNER
    )
    addresses = list(owners.order_by("email").values_list("email", flat=True))
    if not addresses:
        return
    last = next(iter(deliveries.recent(endpoint.pk, most=1)), None)
    why = "we know no more" if last is None else last.last_error or f"it answered {last.last_status}"
    text = TEXT.format(
        url=endpoint.url,
        venue=endpoint.venue.name,
        since=endpoint.failing_since,
        why=why,
        page=public_url(f"/admin/accounts/webhookendpoint/{endpoint.pk}/change/"),
    )
    # Each for themselves: owners need not see each other's addresses.
    for address in addresses:
        send_mail(f"A webhook endpoint of {endpoint.venue.name} is switched off", text, None, [address])
