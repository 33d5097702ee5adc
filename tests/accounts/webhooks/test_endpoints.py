"""Endpoints of webhooks: what people do with them, and what happens to one that fails for days."""

from datetime import datetime, timedelta

import pytest
from django.core import mail
from django.core.management import CommandError, call_command
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from accounts import mail_outbox
from accounts.models import Event, EventType, Membership, OutgoingMail, User, Venue, WebhookDelivery, WebhookEndpoint
from accounts.webhooks import auto_disable, delivery_queue, dispatcher, endpoints, outbox, ssrf_guard
from accounts.webhooks.http_client import Outcome
from tests.accounts.webhook_receivers import receiving

URL = "https://hooks.example.com/"
DAY = timedelta(days=1)
ILL = Outcome(status=500, answer="no")


@pytest.fixture
def endpoint(venue: Venue) -> WebhookEndpoint:
    """An endpoint for all events."""
    return endpoints.create(venue, url=URL)[0]


def happens(venue: Venue) -> None:
    """Something happens at the venue."""
    outbox.record_event(
        venue, EventType.ORDER_CREATED, record={"id": "ord_1"}, subject=None, actor="system", now=timezone.now()
    )


@pytest.mark.django_db(transaction=True)
def test_a_test_event_goes_to_this_endpoint_alone(venue: Venue, settings: Settings) -> None:
    settings.WEBHOOKS_TO_LOOPBACK = True
    with receiving() as receiver, receiving() as other:
        endpoint, secret = endpoints.create(venue, url=receiver.url, types=["order.created"])
        endpoints.create(venue, url=other.url)
        endpoints.send_test_event(endpoint, actor="staff:ada@example.com", now=timezone.now())
        dispatcher.run(clock=timezone.now, claim_s=0.2)
        assert other.received == []
    (received,) = receiver.received
    content = received.verified(secret)
    assert content["type"] == "webhook.ping"
    assert content["data"] == {
        "id": endpoint.public_id,
        "object": "webhook_endpoint",
        "url": receiver.url,
        "types": ["order.created"],
    }
    assert Event.objects.get().actor == "staff:ada@example.com"


def test_an_endpoint_that_is_off_takes_no_test_event_and_no_replay(endpoint: WebhookEndpoint) -> None:
    happens(endpoint.venue)
    assert endpoints.disable(endpoint, now=timezone.now()) is True
    before = list(WebhookDelivery.objects.values())
    now = timezone.now()
    with pytest.raises(endpoints.EndpointDisabled):
        endpoints.send_test_event(endpoint, actor="system", now=now)
    with pytest.raises(endpoints.EndpointDisabled):
        endpoints.resend(WebhookDelivery.objects.get(), now=now)
    with pytest.raises(endpoints.EndpointDisabled):
        endpoints.resend_failed(endpoint, since=now - DAY, now=now)
    assert list(WebhookDelivery.objects.values()) == before
    assert Event.objects.count() == 1


def test_switching_off_twice_keeps_the_first_moment_and_switching_on_forgets_the_failures(
    endpoint: WebhookEndpoint,
) -> None:
    now = timezone.now()
    WebhookEndpoint.objects.update(failing_since=now - DAY)
    assert endpoints.disable(endpoint, now=now) is True
    assert endpoints.disable(endpoint, now=now + DAY) is False
    endpoint.refresh_from_db()
    assert (endpoint.disabled_at, endpoint.disabled_reason) == (now, "staff")
    assert endpoints.enable(endpoint) is True
    assert endpoints.enable(endpoint) is False
    endpoint.refresh_from_db()
    assert (endpoint.disabled_at, endpoint.disabled_reason, endpoint.failing_since) == (None, None, None)


def test_a_replay_begins_again_with_the_same_event_and_not_while_it_is_under_way(
    endpoint: WebhookEndpoint, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    happens(endpoint.venue)
    now = timezone.now()
    (delivery,) = delivery_queue.claim_due(limit=1, now=now)
    with django_capture_on_commit_callbacks() as enqueued:
        assert endpoints.resend(delivery, now=now) is False
    assert enqueued == []
    delivery_queue.record_outcome(delivery, Outcome(status=200), now=now)
    with django_capture_on_commit_callbacks() as enqueued:
        assert endpoints.resend(delivery, now=now) is True
    assert len(enqueued) == 1
    again = WebhookDelivery.objects.get()
    assert (again.pk, again.event_id) == (delivery.pk, delivery.event_id)
    assert (again.state, again.attempts, again.next_attempt_at, again.delivered_at) == ("pending", 0, now, None)


def test_all_that_failed_since_a_moment_is_replayed_for_one_endpoint(
    endpoint: WebhookEndpoint, other_venue: Venue
) -> None:
    endpoints.create(other_venue, url=URL)
    now = timezone.now()
    for venue in (endpoint.venue, endpoint.venue, endpoint.venue, other_venue):
        happens(venue)
    WebhookDelivery.objects.update(state="failed", next_attempt_at=None)
    old, done, *_ = endpoint.deliveries.order_by("-created_at", "-pk")[:3]
    WebhookDelivery.objects.filter(pk=old.pk).update(created_at=now - 2 * DAY)
    WebhookDelivery.objects.filter(pk=done.pk).update(state="delivered", delivered_at=now)
    assert endpoints.resend_failed(endpoint, since=now - DAY, now=now) == 1
    assert WebhookDelivery.objects.filter(state="pending").count() == 1


def test_what_failed_is_replayed_by_the_moment_when_it_failed_and_not_by_when_it_was_made(
    endpoint: WebhookEndpoint,
) -> None:
    """Two are eight days old: one was tried until three days ago, one waited until the endpoint went off."""
    happens(endpoint.venue)
    happens(endpoint.venue)
    now = timezone.now()
    WebhookDelivery.objects.update(attempts=9, created_at=now - 8 * DAY, next_attempt_at=now - 3 * DAY)
    delivery_queue.record_outcome(delivery_queue.claim_due(limit=1, now=now - 3 * DAY)[0], ILL, now=now - 3 * DAY)
    endpoints.disable(endpoint, now=now - 3 * DAY)
    endpoints.enable(endpoint)
    assert WebhookDelivery.objects.filter(state="failed").count() == 2
    assert endpoints.resend_failed(endpoint, since=now - 2 * DAY, now=now) == 0
    assert endpoints.resend_failed(endpoint, since=now - 7 * DAY, now=now) == 2
    assert list(WebhookDelivery.objects.values_list("state", "failed_at")) == [("pending", None)] * 2


def test_a_secret_is_not_rotated_again_while_the_one_before_still_signs(
    endpoint: WebhookEndpoint, settings: Settings
) -> None:
    now = timezone.now()
    endpoints.rotate_secret(endpoint, now=now)
    before = WebhookEndpoint.objects.values().get()
    with pytest.raises(endpoints.SecretRotationInProgress, match="is still valid until"):
        endpoints.rotate_secret(endpoint, now=now + timedelta(hours=23))
    assert WebhookEndpoint.objects.values().get() == before
    endpoints.rotate_secret(endpoint, now=now + timedelta(hours=24))
    # What nobody can read signs nothing, and a rotation mends it at once.
    settings.SECRET_KEY = "another" * 8
    endpoints.rotate_secret(endpoint, now=now + timedelta(hours=25))


def test_another_address_has_not_failed_yet(endpoint: WebhookEndpoint) -> None:
    now = timezone.now()
    WebhookEndpoint.objects.update(failing_since=now)
    endpoints.update(endpoint, url=URL, types=["order.created"], description="Till")
    assert (endpoint.failing_since, endpoint.types, endpoint.description) == (now, ["order.created"], "Till")
    endpoints.update(endpoint, url=f"{URL}new", types=[], description="")
    assert (endpoint.failing_since, endpoint.url) == (None, f"{URL}new")
    with pytest.raises(ssrf_guard.InvalidWebhookUrl):
        endpoints.update(endpoint, url="http://10.0.0.1/", types=[], description="")
    endpoint.refresh_from_db()
    assert endpoint.url == f"{URL}new"


def owner(venue: Venue, email: str, *, role: str = "owner") -> None:
    """Somebody of the account."""
    Membership.objects.create(account=venue.account, user=User.objects.create_user(email), role=role)


def fails(endpoint: WebhookEndpoint, *, days: float) -> None:
    """Its last success is so many days ago."""
    happens(endpoint.venue)
    now = timezone.now()
    delivery_queue.record_outcome(delivery_queue.claim_due(limit=1, now=now)[0], ILL, now=now)
    WebhookEndpoint.objects.filter(pk=endpoint.pk).update(failing_since=now - days * DAY)


def disable_and_notify(*, now: datetime) -> int:
    """Disable the failing endpoints and send the mail that is due."""
    number = auto_disable.disable_failing_endpoints(now=now)
    mail_outbox.send_due()
    return number


def test_endpoint_is_disabled_after_five_days_of_failures_and_the_owners_are_notified(
    endpoint: WebhookEndpoint, other_venue: Venue
) -> None:
    owner(endpoint.venue, "ada@example.com")
    owner(endpoint.venue, "bob@example.com")
    owner(endpoint.venue, "cook@example.com", role="kitchen")
    owner(other_venue, "stranger@example.com")
    fails(endpoint, days=5.01)
    now = timezone.now()
    assert disable_and_notify(now=now) == 1
    endpoint.refresh_from_db()
    assert (endpoint.disabled_at, endpoint.disabled_reason) == (now, "failing")
    assert WebhookDelivery.objects.get().state == "failed"
    assert sorted(message.to for message in mail.outbox) == [["ada@example.com"], ["bob@example.com"]]
    assert mail.outbox[0].subject == "A webhook endpoint of Trattoria was disabled"
    assert URL in mail.outbox[0].body
    assert "response status 500" in mail.outbox[0].body
    assert disable_and_notify(now=now) == 0
    assert len(mail.outbox) == 2


def test_less_than_five_days_or_a_success_in_between_keep_it_on(endpoint: WebhookEndpoint) -> None:
    owner(endpoint.venue, "ada@example.com")
    fails(endpoint, days=4.99)
    assert disable_and_notify(now=timezone.now()) == 0
    happens(endpoint.venue)
    now = timezone.now()
    delivery_queue.record_outcome(delivery_queue.claim_due(limit=1, now=now)[0], Outcome(status=200), now=now)
    assert disable_and_notify(now=now + 2 * DAY) == 0
    endpoint.refresh_from_db()
    assert (endpoint.disabled_at, endpoint.failing_since, mail.outbox) == (None, None, [])


def test_what_was_not_tried_for_a_day_is_not_switched_off(endpoint: WebhookEndpoint) -> None:
    owner(endpoint.venue, "ada@example.com")
    fails(endpoint, days=5.5)
    later = timezone.now() + 1.5 * DAY
    assert disable_and_notify(now=later) == 0
    endpoint.refresh_from_db()
    assert (endpoint.disabled_at, mail.outbox) == (None, [])
    WebhookDelivery.objects.update(last_attempt_at=later - DAY)
    assert disable_and_notify(now=later) == 1


def test_the_mail_tells_of_the_last_try_and_not_of_what_was_never_tried(endpoint: WebhookEndpoint) -> None:
    owner(endpoint.venue, "ada@example.com")
    fails(endpoint, days=5.5)
    happens(endpoint.venue)
    assert disable_and_notify(now=timezone.now()) == 1
    assert "Last error: response status 500\n" in mail.outbox[0].body


def away(settings: Settings) -> None:
    """Nobody listens where the mail server should."""
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1


def test_mail_server_that_is_down_is_retried(endpoint: WebhookEndpoint, settings: Settings) -> None:
    owner(endpoint.venue, "ada@example.com")
    fails(endpoint, days=5.5)
    usual, now = settings.EMAIL_BACKEND, timezone.now()
    away(settings)
    assert disable_and_notify(now=now) == 1
    endpoint.refresh_from_db()
    assert endpoint.disabled_reason == "failing"
    settings.EMAIL_BACKEND = usual
    OutgoingMail.objects.update(next_attempt_at=now)
    assert disable_and_notify(now=now + DAY) == 0
    assert [message.to for message in mail.outbox] == [["ada@example.com"]]
    assert "response status 500" in mail.outbox[0].body
    disable_and_notify(now=now + DAY)
    assert len(mail.outbox) == 1


def test_enabling_an_endpoint_cancels_its_mail_and_unsent_mail_expires(
    endpoint: WebhookEndpoint, other_venue: Venue, settings: Settings
) -> None:
    other, _ = endpoints.create(other_venue, url=URL)
    for one in (endpoint, other):
        owner(one.venue, f"{one.pk}@example.com")
        fails(one, days=5.5)
    now = timezone.now()
    away(settings)
    assert disable_and_notify(now=now) == 2
    assert endpoints.enable(endpoint) is True
    assert [queued.topic for queued in OutgoingMail.objects.all()] == [other.public_id]
    OutgoingMail.objects.update(created_at=now - 1.1 * DAY, next_attempt_at=now)
    mail_outbox.send_due()
    assert (mail.outbox, OutgoingMail.objects.count()) == ([], 0)


def test_rejected_mail_address_does_not_prevent_or_repeat_mail_to_others(
    endpoint: WebhookEndpoint,
) -> None:
    """The first address cannot be written into a mail at all."""
    owner(endpoint.venue, "aaa@example.com\nBcc: eve@example.com")
    owner(endpoint.venue, "ada@example.com")
    owner(endpoint.venue, "bob@example.com")
    fails(endpoint, days=5.5)
    now = timezone.now()
    for _ in range(3):
        disable_and_notify(now=now)
    endpoint.refresh_from_db()
    assert endpoint.disabled_reason == "failing"
    assert sorted(message.to for message in mail.outbox) == [["ada@example.com"], ["bob@example.com"]]


def test_an_operator_seals_all_secrets_again_and_hears_of_those_that_are_lost(
    endpoint: WebhookEndpoint, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another" * 8
    call_command("webhook", "reseal")
    assert capsys.readouterr().out == (
        "All secrets are encrypted under SECRET_KEY. SECRET_KEY_FALLBACKS is not needed for them.\n"
    )
    sealed = bytes(WebhookEndpoint.objects.get().secret)
    assert sealed != bytes(endpoint.secret)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "a third" * 8, []
    with pytest.raises(CommandError, match="1 could not be opened"):
        call_command("webhook", "reseal")
    assert bytes(WebhookEndpoint.objects.get().secret) == sealed
