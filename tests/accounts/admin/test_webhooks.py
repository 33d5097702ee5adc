"""The back office of webhooks: secrets that are shown once, deliveries that are sent again, events to read."""

import re

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from accounts.models import Event, EventType, User, Venue, WebhookDelivery, WebhookEndpoint
from accounts.webhooks import delivery_queue, endpoints, outbox, signing_secrets
from accounts.webhooks.http_client import Outcome
from framework.public_ids import encode, new_id
from tests.support import builders

ENDPOINTS = "/admin/accounts/webhookendpoint/"
DELIVERIES = "/admin/accounts/webhookdelivery/"
EVENTS = "/admin/accounts/event/"
URL = "https://hooks.example.com/"


@pytest.fixture
def staff(db: None) -> Client:
    """A superuser in the back office."""
    return builders.staff()


@pytest.fixture
def endpoint(venue: Venue) -> WebhookEndpoint:
    """An endpoint for all events."""
    return endpoints.create(venue, url=URL)[0]


def happens(venue: Venue, *, name: str = "Ada") -> None:
    """Something happens at the venue."""
    record = {"id": "ord_1", "customer_name": name}
    outbox.record_event(
        venue, EventType.ORDER_CREATED, record=record, subject=None, actor="key:rk_live_abcd", now=timezone.now()
    )


def act(staff: Client, page: str, action: str, key: object) -> str:
    """What the back office says to an action on this row."""
    response = staff.post(page, {"action": action, "_selected_action": [str(key)], "confirmed": "yes"})
    assert response.status_code == 302
    return builders.messages_of(response)[-1]


@pytest.mark.exhaustive
@pytest.mark.parametrize("model", ["webhookendpoint", "webhookdelivery", "event"])
def test_the_pages_open_within_their_budget(
    staff: Client, endpoint: WebhookEndpoint, model: str, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    happens(endpoint.venue)
    row = {"webhookendpoint": endpoint, "webhookdelivery": WebhookDelivery.objects.get(), "event": Event.objects.get()}
    listed = reverse(f"admin:accounts_{model}_changelist")
    words = ["trattoria", "hooks.example", Event.objects.get().public_id, endpoint.public_id, "ord_" + "0" * 26]
    pages = [listed, *(f"{listed}?q={word}" for word in words)]
    for page in [*pages, reverse(f"admin:accounts_{model}_change", args=[row[model].pk])]:
        with django_assert_max_num_queries(9):
            assert staff.get(page).status_code == 200


@pytest.mark.exhaustive
@pytest.mark.parametrize(("page", "queries"), [(ENDPOINTS, 6), (DELIVERIES, 9), (EVENTS, 9)])
def test_a_list_costs_the_same_for_one_and_for_forty(
    staff: Client, page: str, queries: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in (1, 39):
        for _ in range(number):
            venue = builders.venue()
            endpoints.create(venue, url=URL)
            happens(venue)
        # Session, user, count, rows, saved filters, assignees of endpoints; long lists are estimated first, and
        # within a time limit and the test's savepoint.
        with django_assert_num_queries(queries):
            staff.get(page)


def test_a_new_endpoint_shows_its_secret_once(staff: Client, venue: Venue) -> None:
    form = {"venue": str(venue.pk), "url": URL, "description": "Till", "types": ["order.created", "order.cancelled"]}
    response = staff.post(f"{ENDPOINTS}add/", form)
    assert response.status_code == 302
    shown = next(text for text in builders.messages_of(response) if "shown only once" in text)
    found = re.search(r"whsec_[A-Za-z0-9+/=]{44}", shown)
    assert found is not None
    endpoint = WebhookEndpoint.objects.get()
    assert signing_secrets.decrypt(endpoint.secret) == found[0]
    assert (endpoint.url, endpoint.description, endpoint.types) == (URL, "Till", ["order.cancelled", "order.created"])
    staff.get(ENDPOINTS)
    assert "whsec_" not in staff.get(f"{ENDPOINTS}{endpoint.pk}/change/").content.decode()


def test_an_address_that_no_webhook_may_have_is_refused_in_the_form(staff: Client, venue: Venue) -> None:
    response = staff.post(f"{ENDPOINTS}add/", {"venue": str(venue.pk), "url": "http://10.0.0.1/"})
    assert response.status_code == 200
    assert "This IP address is not on the public internet." in response.content.decode()
    assert WebhookEndpoint.objects.count() == 0


def test_an_endpoint_is_changed_and_keeps_its_secret(staff: Client, endpoint: WebhookEndpoint) -> None:
    form = {"url": f"{URL}new", "description": "", "types": ["reservation.created"]}
    assert staff.post(f"{ENDPOINTS}{endpoint.pk}/change/", form).status_code == 302
    changed = WebhookEndpoint.objects.get()
    assert (changed.url, changed.types) == (f"{URL}new", ["reservation.created"])
    assert bytes(changed.secret) == endpoint.secret


def test_the_list_tells_which_endpoints_answer_slowly(staff: Client, endpoint: WebhookEndpoint) -> None:
    assert "slow responses" not in staff.get(ENDPOINTS).content.decode()
    WebhookEndpoint.objects.update(is_slow=True)
    assert '<span class="badge warn">slow responses</span>' in staff.get(ENDPOINTS).content.decode()


def test_rotating_shows_the_new_secret_once(staff: Client, endpoint: WebhookEndpoint) -> None:
    message = act(staff, ENDPOINTS, "rotate_secret", endpoint.pk)
    endpoint.refresh_from_db()
    assert signing_secrets.decrypt(endpoint.secret) in message
    assert endpoint.old_secret_until is not None
    assert "is still valid until" in act(staff, ENDPOINTS, "rotate_secret", endpoint.pk)


def test_an_endpoint_is_switched_off_and_on_and_says_so(staff: Client, endpoint: WebhookEndpoint) -> None:
    assert act(staff, ENDPOINTS, "disable", endpoint.pk) == "1 disabled."
    assert "disabled manually" in staff.get(ENDPOINTS).content.decode()
    assert (
        act(staff, ENDPOINTS, "send_test_event", endpoint.pk)
        == f"{URL}: This endpoint is disabled. Enable it before you send a test event."
    )
    assert act(staff, ENDPOINTS, "enable", endpoint.pk) == "1 enabled."
    assert act(staff, ENDPOINTS, "send_test_event", endpoint.pk) == f"A test event is being sent to {URL}."
    event = Event.objects.get()
    assert (event.type, event.actor) == ("webhook.ping", "staff:staff@example.com")


def test_the_list_tells_what_fails_and_how_much_arrived(staff: Client, endpoint: WebhookEndpoint) -> None:
    assert "no deliveries" in staff.get(ENDPOINTS).content.decode()
    now = timezone.now()
    for arrived in (True, True, True, False):
        happens(endpoint.venue)
        (delivery,) = delivery_queue.claim_due(limit=1, now=timezone.now())
        delivery_queue.record_outcome(delivery, Outcome(status=200 if arrived else 410), now=now)
    page = staff.get(ENDPOINTS).content.decode()
    assert '<meter max="100" value="75">75 %</meter> 75 % of 4' in page
    assert "the server answered 410" in page
    WebhookEndpoint.objects.update(disabled_at=None, disabled_reason=None)
    assert (
        f'<span class="badge bad">failing</span> since {now:%Y-%m-%d %H:%M} UTC'
        in staff.get(ENDPOINTS).content.decode()
    )


def test_a_failed_delivery_is_sent_again(staff: Client, endpoint: WebhookEndpoint) -> None:
    happens(endpoint.venue)
    delivery = WebhookDelivery.objects.get()
    WebhookDelivery.objects.update(state="failed", next_attempt_at=None, attempts=10)
    name = delivery.event.public_id
    assert act(staff, DELIVERIES, "resend", delivery.pk) == f"{name} is being resent."
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts) == ("pending", 0)
    delivery_queue.claim_due(limit=1, now=timezone.now())
    assert act(staff, DELIVERIES, "resend", delivery.pk) == f"{name} is being sent right now."
    WebhookDelivery.objects.update(state="failed", next_attempt_at=None, leased_until=None)
    assert act(staff, ENDPOINTS, "resend_failed", endpoint.pk) == f"1 deliveries are being resent to {URL}."


def test_a_delivery_shows_what_is_sent_and_what_came_back_and_runs_none_of_it(
    staff: Client, endpoint: WebhookEndpoint, settings: Settings
) -> None:
    happens(endpoint.venue, name="<script>alert(1)</script>")
    WebhookDelivery.objects.update(last_response="<b>no</b>", last_status=500)
    page = f"{DELIVERIES}{WebhookDelivery.objects.get().pk}/change/"
    shown = staff.get(page).content.decode()
    assert f"webhook-id: {Event.objects.get().public_id}" in shown
    assert "webhook-signature: v1," in shown
    assert "&lt;b&gt;no&lt;/b&gt;" in shown
    assert "<script>alert" not in shown
    assert "<script>alert" not in staff.get(f"{EVENTS}{Event.objects.get().pk}/change/").content.decode()
    settings.SECRET_KEY_FALLBACKS = []
    WebhookEndpoint.objects.update(secret=b"lost")
    assert "The request cannot be signed: the stored secret cannot be decrypted" in staff.get(page).content.decode()


def test_an_endpoint_is_deleted_after_a_question_that_names_what_goes(
    staff: Client, endpoint: WebhookEndpoint, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(30):
        happens(endpoint.venue)
    page = f"{ENDPOINTS}{endpoint.pk}/delete/"
    with django_assert_max_num_queries(6):
        asked = staff.get(page).content.decode()
    assert "Webhook deliveries: 30" in asked
    assert WebhookEndpoint.objects.count() == 1
    assert staff.post(page, {"post": "yes"}).status_code == 302
    assert (WebhookEndpoint.objects.count(), WebhookDelivery.objects.count(), Event.objects.count()) == (0, 0, 30)


@pytest.mark.parametrize("page", [DELIVERIES, EVENTS])
def test_history_is_neither_added_nor_changed_nor_deleted(staff: Client, endpoint: WebhookEndpoint, page: str) -> None:
    happens(endpoint.venue)
    row = WebhookDelivery.objects.get() if page == DELIVERIES else Event.objects.get()
    before = (list(WebhookDelivery.objects.values()), list(Event.objects.values()))
    assert staff.post(f"{page}add/").status_code == 403
    assert staff.post(f"{page}{row.pk}/change/", {"state": "delivered", "type": "x"}).status_code == 403
    assert staff.post(f"{page}{row.pk}/delete/", {"post": "yes"}).status_code == 403
    assert (list(WebhookDelivery.objects.values()), list(Event.objects.values())) == before


def test_who_may_only_look_cannot_act(endpoint: WebhookEndpoint) -> None:
    user = User.objects.create_user("viewer@example.com", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__startswith="view_webhook"))
    viewer = Client()
    viewer.force_login(user)
    before = bytes(endpoint.secret)
    viewer.post(ENDPOINTS, {"action": "rotate_secret", "_selected_action": [str(endpoint.pk)], "confirmed": "yes"})
    endpoint.refresh_from_db()
    assert (bytes(endpoint.secret), endpoint.old_secret) == (before, None)


def test_an_event_of_an_account_says_so_and_is_found_by_the_export_it_is_about(staff: Client, venue: Venue) -> None:
    subject = new_id()
    outbox.record_account_event(
        venue.account_id,
        EventType.EXPORT_FINISHED,
        record={"id": "ex_1"},
        subject=subject,
        actor="system",
        now=timezone.now(),
    )
    happens(venue)
    page = staff.get(EVENTS, {"q": encode("ex", subject)}).content.decode()
    assert f"{venue.account} (account)" in page
    assert "export.finished" in page
    assert page.count('<th class="field-short_id') == 1
