"""What a member is alerted of at a venue, and the browsers that show notifications."""

import base64
import binascii
from collections.abc import Collection
from datetime import datetime, time

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Least

from accounts.alerts import web_push
from accounts.alerts.delivery import LEASE
from accounts.alerts.kinds import RIGHTS
from accounts.models import AlertKind, AlertSubscription, Membership, PushDevice, User
from accounts.tenancy.permissions import Access

# The oldest ones give way.
MAX_DEVICES = 8
Channel = AlertSubscription.Channel


def list_kinds(access: Access) -> list[tuple[str, str]]:
    """Return the kinds that the member has the right to see, with their names."""
    return [(kind.value, str(kind.label)) for kind in AlertKind if access.may_view(RIGHTS[kind])]


def list_subscriptions(access: Access) -> dict[str, AlertSubscription]:
    """Return the member's subscriptions at the venue by channel. One query."""
    rows = AlertSubscription.objects.filter(
        membership__user=access.user, membership__account=access.account, venue=access.venue
    )
    return {row.channel: row for row in rows}


def save(
    access: Access,
    *,
    mail: Collection[str],
    push: Collection[str],
    quiet_from: time | None,
    quiet_until: time | None,
    now: datetime,
) -> None:
    """Store what the member is alerted of. Alerts that wait follow the new quiet hours.

    A worker that is sending at this moment keeps its lease.
    """
    with transaction.atomic():
        # A removal of the member at the same time waits, or was first: then nothing is stored.
        members = Membership.objects.select_for_update(no_key=True)
        membership = members.get(account=access.account, user=access.user)
        for channel, kinds in ((Channel.MAIL, mail), (Channel.PUSH, push)):
            chosen = {"kinds": sorted(kinds), "quiet_from": quiet_from, "quiet_until": quiet_until}
            AlertSubscription.objects.update_or_create(
                membership=membership,
                venue=access.venue,
                channel=channel,
                defaults=chosen | {"next_send_at": Least(F("next_send_at"), now + LEASE)},
                create_defaults=chosen | {"next_send_at": now},
            )


def add_device(
    user: User, *, endpoint: str, public_key: str, auth_secret: str, name: str, now: datetime
) -> PushDevice:
    """Store a browser with the keys of its PushSubscription (base64url); the newest MAX_DEVICES stay.

    Raises InvalidWebhookUrl, InvalidPushDevice.
    """
    web_push.parse_endpoint(endpoint)
    keys = decode(public_key, param="p256dh"), decode(auth_secret, param="auth")
    web_push.check_keys(*keys)
    with transaction.atomic():
        # Who signs in to a browser takes it over.
        device, _is_new = PushDevice.objects.update_or_create(
            endpoint=endpoint,
            defaults={
                "user": user,
                "public_key": keys[0],
                "auth_secret": keys[1],
                "server_key": web_push.public_key(),
                "name": name[:100],
                "created_at": now,
            },
        )
        newest = PushDevice.objects.filter(user=user).order_by("-created_at", "-pk").values("pk")[:MAX_DEVICES]
        PushDevice.objects.filter(user=user).exclude(pk__in=newest).delete()
    return device


def decode(text: str, *, param: str) -> bytes:
    """Decode base64url without padding. Raises InvalidPushDevice."""
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as error:
        raise web_push.InvalidPushDevice("This is not base64url.", param=param) from error
