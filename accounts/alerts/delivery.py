"""Sends the alerts that wait: what a subscription has gathered is one message.

A worker leases a subscription, outside of quiet hours, and sends all of its pending alerts at once. The next message
follows a minute later at the earliest, so that twenty orders in a minute are not twenty messages, and what happens in
quiet hours is sent when they end. Mail goes to the outbox of mail in the transaction that marks the alerts sent. Web
push is at-least-once: a worker that crashes after sending and before storing the result sends the message twice.
"""

import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from functools import partial
from typing import cast
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.urls import reverse
from django.utils import translation
from django.utils.translation import ngettext

from accounts import mail_outbox
from accounts.alerts import web_push
from accounts.alerts.kinds import RIGHTS, describe, find_kind
from accounts.models import Alert, AlertSubscription, PushDevice
from accounts.tenancy.permissions import Access, get_access
from accounts.tenancy.team import mail_topic
from accounts.webhooks.http_client import Outcome
from framework.api.urls import public_url
from framework.public_ids import encode

logger = logging.getLogger("tablewire.worker")

Channel, State = AlertSubscription.Channel, Alert.State
MIN_INTERVAL = timedelta(minutes=1)
# A worker that has not finished by then has crashed.
LEASE = timedelta(minutes=2)
# Nothing waits longer than for the end of quiet hours.
MAX_WAIT = timedelta(days=1)
# After each failed attempt. After the last one the alerts have failed.
RETRY_DELAYS = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 15, 60))
MAX_ATTEMPTS = len(RETRY_DELAYS) + 1
BATCH_SIZE = 10
THREADS = 16
# A run ends after this time; the next one continues.
RUN_S = 45.0
# Lines of a mail and of a notification. The rest is counted.
MAX_MAIL_LINES, MAX_PUSH_LINES = 50, 4
MAX_ALERTS = 500


def send_due(*, clock: Callable[[], datetime]) -> int:
    """Send what is due; return how many messages were sent. Any number of workers may run at once."""
    until, sent = time.monotonic() + RUN_S, 0
    while time.monotonic() < until and (claimed := claim_due(now=clock())):
        pushes = []
        for subscription in claimed:
            try:
                alerts = list_current(subscription, now=clock())
                if not alerts:
                    continue
                if subscription.channel == Channel.MAIL:
                    sent += send_mail(subscription, alerts, now=clock())
                else:
                    pushes.append((subscription, alerts))
            # A defect of one must not hold the others up: it is tried again after the lease.
            except Exception:
                logger.exception("Alerts of subscription %s cannot be sent", subscription.pk)
        sent += send_pushes(pushes, now=clock())
    return sent


def claim_due(*, now: datetime) -> list[AlertSubscription]:
    """Lease subscriptions that are due and have pending alerts, those that wait longest first."""
    pending = Alert.objects.filter(subscription=OuterRef("pk"), state=State.PENDING)
    # Nothing is due so late, unless it was stored while the clock was ahead.
    is_due = Q(next_send_at__lte=now) | Q(next_send_at__gt=now + 2 * MAX_WAIT)
    due = AlertSubscription.objects.filter(is_due, Exists(pending)).order_by("next_send_at", "pk")
    with transaction.atomic():
        rows = list(due.select_for_update(skip_locked=True, no_key=True)[:BATCH_SIZE])
        keys = [row.pk for row in rows]
        AlertSubscription.objects.filter(pk__in=keys).update(next_send_at=now + LEASE)
    loaded = AlertSubscription.objects.select_related("membership__user", "venue")
    return list(loaded.filter(pk__in=keys).order_by("pk"))


def list_current(subscription: AlertSubscription, *, now: datetime) -> list[Alert]:
    """Return the pending alerts, oldest first; none in quiet hours, whose end then is the next time to send.

    Drops those that the member does not want or may not see any more, or has caused.
    """
    if quiet_end := subscription.find_quiet_end(now=now):
        AlertSubscription.objects.filter(pk=subscription.pk).update(next_send_at=quiet_end)
        return []
    user = subscription.membership.user
    access = get_access(user, subscription.venue_id) if user.is_active else None
    pending = subscription.alerts.filter(state=State.PENDING).select_related("event").order_by("event_id")
    alerts = list(pending[:MAX_ALERTS])
    current = [alert for alert in alerts if access and is_for(access, subscription, alert)]
    dropped = [alert.pk for alert in alerts if alert not in current]
    if dropped:
        Alert.objects.filter(pk__in=dropped, state=State.PENDING).update(state=State.DROPPED)
    if not current:
        finish(subscription, [], State.DROPPED, next_send_at=now)
    return current


def is_for(access: Access, subscription: AlertSubscription, alert: Alert) -> bool:
    """Whether the member wants the alert, may see the event, and did not cause it."""
    kind = find_kind(alert.event.type, alert.event.record, actor=alert.event.actor)
    if kind is None or kind not in subscription.kinds:
        return False
    return access.may_view(RIGHTS[kind]) and alert.event.actor != access.actor


def finish(
    subscription: AlertSubscription, alerts: Sequence[Alert], state: Alert.State, *, next_send_at: datetime
) -> int:
    """Store the state of pending alerts, and when the next message may follow; return how many were pending."""
    pending = Alert.objects.filter(pk__in=[alert.pk for alert in alerts], state=State.PENDING)
    AlertSubscription.objects.filter(pk=subscription.pk).update(next_send_at=next_send_at, attempts=0)
    return pending.update(state=state)


def send_mail(subscription: AlertSubscription, alerts: Sequence[Alert], *, now: datetime) -> bool:
    """Store the mail; return whether this worker did. The outbox of mail sends it, and retries for a day."""
    with transaction.atomic():
        if finish(subscription, alerts, State.SENT, next_send_at=now + MIN_INTERVAL) < len(alerts):
            # Another worker has sent some of them after the lease had ended.
            transaction.set_rollback(True)
            return False
        context = {
            # Called by the template, in its language.
            "title": partial(build_title, subscription, alerts),
            "lines": partial(build_lines, subscription, alerts[:MAX_MAIL_LINES]),
            "more": len(alerts[MAX_MAIL_LINES:]),
            "venue": subscription.venue,
            "page": build_url(subscription, "alerts"),
        }
        address = subscription.membership.user.email
        topic = mail_topic(subscription.membership_id)
        mail_outbox.enqueue("accounts/mail/alert", context, address=address, now=now, topic=topic)
    return True


def send_pushes(pushes: Sequence[tuple[AlertSubscription, Sequence[Alert]]], *, now: datetime) -> int:
    """Send messages to all browsers at once, and store the outcomes; return how many members got theirs."""
    users = [subscription.membership.user_id for subscription, _alerts in pushes]
    devices: dict[int, list[PushDevice]] = {}
    for device in PushDevice.objects.filter(user__in=users).order_by("pk"):
        devices.setdefault(device.user_id, []).append(device)
    sent = 0
    with ThreadPoolExecutor(THREADS, thread_name_prefix="push") as threads:
        attempts = []
        for subscription, alerts in pushes:
            try:
                with translation.override(subscription.membership.user.language or None):
                    message = build_message(subscription, alerts)
            except Exception:
                logger.exception("Alerts of subscription %s cannot be sent", subscription.pk)
                continue
            of_user = devices.get(subscription.membership.user_id, [])
            futures = [threads.submit(web_push.send, device, message, now=now) for device in of_user]
            attempts.append((subscription, alerts, of_user, futures))
        for subscription, alerts, of_user, futures in attempts:
            try:
                outcomes = [future.result() for future in futures]
                sent += record_push(subscription, alerts, of_user, outcomes, now=now)
            except Exception:
                logger.exception("Alerts of subscription %s cannot be sent", subscription.pk)
    return sent


def record_push(
    subscription: AlertSubscription,
    alerts: Sequence[Alert],
    devices: Sequence[PushDevice],
    outcomes: Sequence[Outcome],
    *,
    now: datetime,
) -> bool:
    """Store what came of a message to the browsers of a member; return whether one of them has accepted it."""
    results = list(zip(devices, outcomes, strict=True))
    gone = [device.pk for device, outcome in results if web_push.is_gone(device, outcome)]
    PushDevice.objects.filter(pk__in=gone).delete()
    postponed = [outcome.postponed_for for outcome in outcomes if outcome.postponed_for is not None]
    failed = [
        outcome
        for device, outcome in results
        if not outcome.is_delivered and outcome.postponed_for is None and device.pk not in gone
    ]
    with transaction.atomic():
        if any(outcome.is_delivered for outcome in outcomes):
            finish(subscription, alerts, State.SENT, next_send_at=now + MIN_INTERVAL)
            return True
        if postponed and not failed:
            # No attempt was made.
            rows = AlertSubscription.objects.filter(pk=subscription.pk)
            rows.update(next_send_at=now + max(postponed))
            return False
        if not failed:
            # No browser of the member shows notifications.
            finish(subscription, alerts, State.DROPPED, next_send_at=now)
            return False
        logger.warning("Push to subscription %s failed: %s", subscription.pk, failed[0].error or failed[0].status)
        if subscription.attempts + 1 >= MAX_ATTEMPTS:
            finish(subscription, alerts, State.FAILED, next_send_at=now)
            return False
        delay = max(RETRY_DELAYS[subscription.attempts], *(outcome.retry_after or MIN_INTERVAL for outcome in failed))
        AlertSubscription.objects.filter(pk=subscription.pk).update(
            attempts=subscription.attempts + 1, next_send_at=now + min(delay, MAX_WAIT)
        )
    return False


def build_message(subscription: AlertSubscription, alerts: Sequence[Alert]) -> dict[str, str]:
    """Return what the service worker shows (accounts/static/accounts/alerts_worker.js)."""
    lines = [text for text, _url in build_lines(subscription, alerts)]
    first = alerts[0]
    return {
        "title": subscription.venue.name if len(alerts) == 1 else build_title(subscription, alerts),
        "body": "\n".join(lines[:MAX_PUSH_LINES]),
        "url": build_record_url(subscription, first) if len(alerts) == 1 else build_url(subscription, "overview"),
    }


def build_title(subscription: AlertSubscription, alerts: Sequence[Alert]) -> str:
    """Return the subject: what has happened, or how much."""
    venue = subscription.venue.name
    if len(alerts) == 1:
        return f"{venue}: {build_lines(subscription, alerts)[0][0]}"
    count = len(alerts)
    text = ngettext("%(venue)s: %(count)d event", "%(venue)s: %(count)d events", count)
    return text % {"venue": venue, "count": count}


def build_lines(subscription: AlertSubscription, alerts: Sequence[Alert]) -> list[tuple[str, str]]:
    """Return what has happened in one line, and the address of the order or reservation, for each alert."""
    lines = []
    for alert in alerts:
        event = alert.event
        kind = find_kind(event.type, event.record, actor=event.actor)
        lines.append((describe(kind, event.record) if kind else "", build_record_url(subscription, alert)))
    return lines


def build_record_url(subscription: AlertSubscription, alert: Alert) -> str:
    key = cast("UUID", alert.event.subject)
    if alert.event.type.startswith("order."):
        return build_url(subscription, "order", order=encode("ord", key))
    return build_url(subscription, "reservation", reservation=encode("res", key))


def build_url(subscription: AlertSubscription, name: str, **kwargs: str) -> str:
    return public_url(reverse(name, kwargs={"venue": subscription.venue.public_id, **kwargs}))
