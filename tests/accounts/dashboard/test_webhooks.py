"""Webhooks on the dashboard: endpoints, their secrets, and what was sent."""

import re
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import EventType, Venue, WebhookDelivery, WebhookEndpoint
from accounts.webhooks import endpoints
from tests.support import builders, users

URL = "https://hooks.example.com/tablewire"
NASTY = "<script>alert(1)</script>"


def root(venue: Venue) -> str:
    """Where the venue's webhooks are."""
    return f"/dashboard/{venue.public_id}/webhooks"


def endpoint(venue: Venue, url: str = URL, **fields: Any) -> WebhookEndpoint:
    """An endpoint of the venue."""
    return endpoints.create(venue, url=url, **fields)[0]


def page_of(row: WebhookEndpoint) -> str:
    """Where an endpoint is."""
    return f"{root(row.venue)}/{row.public_id}"


def text(response: Any) -> str:
    """The page."""
    content: str = response.content.decode()
    return content


def queries(client: Client, path: str) -> int:
    """How many statements a page costs."""
    with CaptureQueriesContext(connection) as captured:
        assert client.get(path).status_code == 200
    return len(captured)


@pytest.fixture
def developer(venue: Venue) -> Client:
    """The owner, signed in."""
    return users.member(venue)


@pytest.mark.exhaustive
def test_lists_cost_the_same_for_one_and_for_many(developer: Client, venue: Venue) -> None:
    first = endpoint(venue)
    builders.event(venue)
    # Session, user, venue, part; the endpoints, the newest deliveries; other venues.
    assert queries(developer, root(venue)) == 7
    # The same, with the endpoint and its deliveries.
    assert queries(developer, page_of(first)) == 7
    for number in range(8):
        endpoint(venue, f"{URL}/{number}")
    builders.event(venue, times=8)
    assert queries(developer, root(venue)) == 7
    assert queries(developer, page_of(first)) == 7


def test_page_of_a_venue_without_endpoints_explains_webhooks(developer: Client, venue: Venue) -> None:
    page = text(developer.get(root(venue)))
    assert "No endpoints yet" in page
    assert "Add the URL of your server to be notified of every order and reservation." in page


def test_list_says_how_much_was_delivered_and_enables_what_is_disabled(developer: Client, venue: Venue) -> None:
    row, now = endpoint(venue, types=["order.created", "order.updated", "order.completed"]), timezone.now()
    builders.event(venue, times=4)
    deliveries = list(WebhookDelivery.objects.order_by("pk"))
    WebhookDelivery.objects.filter(pk__in=[each.pk for each in deliveries[:3]]).update(
        state="delivered", next_attempt_at=None, delivered_at=now
    )
    page = text(developer.get(root(venue)))
    # One is pending, and does not count.
    assert '100 % <span class="quiet small">of the last 3</span>' in page
    assert "order.completed, order.created, order.updated" in page
    assert "Enable" not in page
    WebhookDelivery.objects.filter(pk=deliveries[3].pk).update(state="failed", next_attempt_at=None, failed_at=now)
    endpoints.disable(row, now=now)
    page = text(developer.get(root(venue)))
    assert '75 % <span class="quiet small">of the last 4</span>' in page
    assert page.count("disabled</span>") == 1
    assert f'action="{page_of(row)}/switch"' in page
    # Who has disabled it knows why.
    assert "disabled manually" not in text(developer.get(page_of(row)))


def test_the_newest_deliveries_of_all_endpoints_are_listed_and_failed_ones_stand_out(
    developer: Client, venue: Venue
) -> None:
    rows = [endpoint(venue, f"{URL}/{number}") for number in range(2)]
    builders.event(venue, times=6)
    newest = WebhookDelivery.objects.order_by("-created_at", "-pk")
    failed = newest[0]
    WebhookDelivery.objects.filter(pk=failed.pk).update(
        state="failed", next_attempt_at=None, failed_at=timezone.now(), attempts=5, last_error="connection refused"
    )
    response = developer.get(root(venue))
    shown = list(response.context["deliveries"])
    assert shown == list(newest[:10])
    assert {delivery.endpoint for delivery in shown} == set(rows)
    page = text(response)
    assert f'<tr class="failed"><td class="title"><a href="{page_of(failed.endpoint)}/{failed.pk}">' in page
    assert "connection refused" in page


@pytest.mark.exhaustive
def test_a_new_endpoint_shows_its_secret_once(developer: Client, venue: Venue) -> None:
    answer = developer.post(
        f"{root(venue)}/new", {"url": URL, "types": ["order.created"], "description": NASTY}, follow=True
    )
    row = WebhookEndpoint.objects.get()
    assert (row.url, row.types, row.description, row.venue) == (URL, ["order.created"], NASTY, venue)
    shown = text(answer)
    assert re.search(r"whsec_[A-Za-z0-9+/=]{44}", shown)
    assert NASTY not in shown
    assert "&lt;script&gt;" in shown
    for path in (page_of(row), root(venue)):
        assert "whsec_" not in text(developer.get(path))


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("ftp://example.com/", "A URL starts with https:// or http://."),
        ("http://10.0.0.1/", "This IP address is not on the public internet."),
        ("https://a:b@example.com/", "A URL must not contain a user or password: verify the signature instead."),
        ("https://example.com/\0", "Null characters are not allowed."),
        ("", "This field is required."),
    ],
    ids=["scheme", "private", "user", "nul", "empty"],
)
def test_an_address_that_no_webhook_may_have_is_refused_at_its_field(
    developer: Client, venue: Venue, url: str, message: str
) -> None:
    answer = developer.post(f"{root(venue)}/new", {"url": url, "description": "kept as typed"})
    assert answer.status_code == 400
    assert message in text(answer)
    assert 'aria-invalid="true"' in text(answer)
    assert "kept as typed" in text(answer)
    assert not WebhookEndpoint.objects.exists()


def test_an_endpoint_is_edited(developer: Client, venue: Venue) -> None:
    row = endpoint(venue)
    assert developer.post(f"{page_of(row)}/edit", {"url": f"{URL}/2", "types": []}).status_code == 302
    row.refresh_from_db()
    assert (row.url, row.types) == (f"{URL}/2", [])
    assert developer.post(f"{page_of(row)}/edit", {"url": "nonsense", "types": []}).status_code == 400
    row.refresh_from_db()
    assert row.url == f"{URL}/2"


@pytest.mark.exhaustive
def test_a_second_rotation_within_a_day_is_refused_in_words(developer: Client, venue: Venue) -> None:
    row = endpoint(venue)
    first = text(developer.post(f"{page_of(row)}/secret", follow=True))
    assert "The secret was rotated. Deliveries are signed with both secrets for 24 hours" in first
    assert "whsec_" in first
    row.refresh_from_db()
    stored = bytes(row.secret)
    second = text(developer.post(f"{page_of(row)}/secret", follow=True))
    assert "The previous secret is still valid until" in second
    assert "whsec_" not in second
    row.refresh_from_db()
    assert bytes(row.secret) == stored


@pytest.mark.exhaustive
def test_an_endpoint_is_switched_off_and_on(developer: Client, venue: Venue) -> None:
    row = endpoint(venue)
    builders.event(venue)
    assert "The endpoint is disabled." in text(developer.post(f"{page_of(row)}/switch", {"to": "off"}, follow=True))
    assert "The endpoint was already disabled." in text(
        developer.post(f"{page_of(row)}/switch", {"to": "off"}, follow=True)
    )
    assert "disabled</span>" in text(developer.get(root(venue)))
    assert WebhookDelivery.objects.get().state == "failed"
    result = text(developer.post(f"{page_of(row)}/test", follow=True))
    assert "This endpoint is disabled. Enable it before you send a test event." in result
    assert WebhookDelivery.objects.count() == 1
    assert "The endpoint is enabled." in text(developer.post(f"{page_of(row)}/switch", {"to": "on"}, follow=True))


def test_removing_asks_first(developer: Client, venue: Venue) -> None:
    row = endpoint(venue)
    assert "This cannot be undone." in text(developer.get(f"{page_of(row)}/remove"))
    assert WebhookEndpoint.objects.exists()
    assert "Deleted:" in text(developer.post(f"{page_of(row)}/remove", follow=True))
    assert not WebhookEndpoint.objects.exists()


def test_a_test_event_is_live_until_it_has_arrived(developer: Client, venue: Venue) -> None:
    row = endpoint(venue, types=["order.created"])
    page = text(developer.post(f"{page_of(row)}/test", follow=True))
    assert "A test event is being sent." in page
    assert 'hx-trigger="every 2s"' in page
    delivery = WebhookDelivery.objects.get()
    now = timezone.now()
    WebhookDelivery.objects.update(
        state="delivered", next_attempt_at=None, delivered_at=now, last_status=204, attempts=1
    )
    part = text(developer.get(page_of(row), headers={"hx-request": "true"}))
    assert "<html" not in part
    assert "hx-trigger" not in part
    assert "delivered" in part
    detail = text(developer.get(f"{page_of(row)}/{delivery.pk}"))
    assert "&quot;object&quot;: &quot;webhook_endpoint&quot;" in detail
    assert "webhook.ping" in detail


@pytest.mark.exhaustive
def test_deliveries_are_paged_and_filtered(developer: Client, venue: Venue) -> None:
    row = endpoint(venue)
    builders.event(venue, times=60)
    seen: list[str] = []
    path = page_of(row)
    while path:
        page = text(developer.get(path))
        seen += re.findall(r'id="at-([0-9a-f-]{36})"', page)
        more = re.search(r'href="\?(before=[0-9a-f-]{36})"', page)
        path = f"{page_of(row)}?{more[1]}" if more else ""
    ordered = WebhookDelivery.objects.order_by("-created_at", "-pk").values_list("pk", flat=True)
    assert seen == [str(key) for key in ordered]
    now = timezone.now()
    WebhookDelivery.objects.filter(pk=seen[40]).update(state="failed", next_attempt_at=None, failed_at=now)
    found = text(developer.get(f"{page_of(row)}?state=failed&type=order.created"))
    assert re.findall(r'id="at-([0-9a-f-]{36})"', found) == [seen[40]]
    none = text(developer.get(f"{page_of(row)}?type=export.finished"))
    assert "None of the newest 10000 deliveries matches." in none


@pytest.mark.parametrize("query", ["state=%00", "type=nonsense", "state=1e400&x=y"])
def test_a_filter_that_is_none_shows_all(developer: Client, venue: Venue, query: str) -> None:
    row = endpoint(venue)
    builders.event(venue)
    assert 'id="at-' in text(developer.get(f"{page_of(row)}?{query}"))


@pytest.mark.parametrize("before", ["%00", "1e400", "1", str(uuid4())], ids=["nul", "float", "one", "unknown"])
def test_a_page_behind_nothing_is_not_there(developer: Client, venue: Venue, before: str) -> None:
    assert developer.get(f"{page_of(endpoint(venue))}?before={before}").status_code == 404


def failed(row: WebhookEndpoint, *, at: datetime) -> WebhookDelivery:
    """A delivery that was given up then."""
    builders.event(row.venue)
    delivery = WebhookDelivery.objects.latest("created_at", "pk")
    WebhookDelivery.objects.filter(pk=delivery.pk).update(state="failed", next_attempt_at=None, failed_at=at)
    return delivery


@pytest.mark.exhaustive
def test_what_failed_is_sent_again_one_or_all_since_a_moment_of_the_venues_clock(
    developer: Client, venue: Venue
) -> None:
    row = endpoint(venue)
    now = timezone.now()
    old, new = failed(row, at=now - timedelta(hours=3)), failed(row, at=now - timedelta(hours=1))
    # At the venue it is two hours later than in UTC, or one.
    since = timezone.localtime(now - timedelta(hours=2), timezone=ZoneInfo(venue.timezone))
    result = text(developer.post(f"{page_of(row)}/failed", {"since": f"{since:%Y-%m-%dT%H:%M}"}, follow=True))
    assert "1 delivery is being resent." in result
    old.refresh_from_db()
    new.refresh_from_db()
    assert (old.state, new.state) == ("failed", "pending")
    assert "is being resent." in text(developer.post(f"{page_of(row)}/{old.pk}/again", follow=True))
    old.refresh_from_db()
    assert old.state == "pending"


@pytest.mark.sample(2)
@pytest.mark.parametrize("since", ["", "yesterday", "\0", "99999-01-01T00:00", "0001-01-01T00:00"])
def test_a_moment_that_cannot_be_read_sends_nothing_again(developer: Client, venue: Venue, since: str) -> None:
    row = endpoint(venue)
    result = text(developer.post(f"{page_of(row)}/failed", {"since": since}, follow=True))
    assert "Nothing was resent." in result or "0 deliveries are being resent." in result


@pytest.mark.exhaustive
def test_another_venues_endpoints_are_not_there(developer: Client, venue: Venue, other_venue: Venue) -> None:
    mine, other = endpoint(venue), endpoint(other_venue)
    builders.event(other_venue)
    delivery = WebhookDelivery.objects.get()
    for path in ("", "/edit", "/remove", f"/{delivery.pk}"):
        assert developer.get(f"{root(venue)}/{other.public_id}{path}").status_code == 404
        assert developer.get(f"{root(other_venue)}/{other.public_id}{path}").status_code == 404
    assert developer.get(f"{page_of(mine)}/{delivery.pk}").status_code == 404
    for path in ("/edit", "/remove", "/secret", "/switch", "/test", "/failed", f"/{delivery.pk}/again"):
        assert developer.post(f"{root(venue)}/{other.public_id}{path}", {"to": "off"}).status_code == 404
    other.refresh_from_db()
    assert (other.disabled_at, other.old_secret) == (None, None)


@pytest.mark.parametrize("role", ["host", "kitchen"])
def test_webhooks_are_for_those_who_connect_programs(venue: Venue, role: str) -> None:
    row = endpoint(venue)
    client = users.member(venue, role)
    for path in (root(venue), f"{root(venue)}/new", page_of(row)):
        assert client.get(path).status_code == 403
    assert client.post(f"{page_of(row)}/switch", {"to": "off"}).status_code == 403
    assert Client().get(root(venue)).status_code == 302
    row.refresh_from_db()
    assert row.disabled_at is None


def test_every_type_of_event_can_be_ticked_but_the_test(developer: Client, venue: Venue) -> None:
    page = text(developer.get(f"{root(venue)}/new"))
    offered = re.findall(r'name="types" value="([a-z._]+)"', page)
    assert offered == [kind for kind in EventType.values if kind != "webhook.ping"]
