"""The page of a member's alerts at a venue."""

from datetime import time
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.models import AlertSubscription, Membership, PushDevice, Venue
from tests.support import builders, users

pytestmark = pytest.mark.django_db


def path_of(venue: Venue) -> str:
    return f"/dashboard/{venue.public_id}/alerts"


def test_a_member_chooses_kinds_channels_and_quiet_hours(
    venue: Venue, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    client = users.member(venue)
    sent = {
        "mail": ["order_placed", "reservation_requested"],
        "push": ["order_placed"],
        "quiet_from": "22:00",
        "quiet_until": "07:30",
    }
    assert builders.messages_of(client.post(path_of(venue), sent)) == ["Alerts saved."]
    assert list(AlertSubscription.objects.order_by("channel").values_list("channel", "kinds", "quiet_from")) == [
        ("mail", ["order_placed", "reservation_requested"], time(22)),
        ("push", ["order_placed"], time(22)),
    ]
    with django_assert_num_queries(7):
        page = client.get(path_of(venue)).content.decode()
    assert page.count("checked") == 2
    assert 'value="order_placed" id="id_mail_0" aria-labelledby="kind-order_placed channel-mail-1" checked' in page
    assert 'value="22:00"' in page
    client.post(path_of(venue), {})
    assert list(AlertSubscription.objects.values_list("kinds", "quiet_until")) == [([], None)] * 2


def test_without_a_browser_there_is_no_column_for_it_and_what_was_chosen_is_kept(venue: Venue) -> None:
    client = users.member(venue)
    client.post(path_of(venue), {"push": ["order_placed"]})
    page = client.get(path_of(venue)).content.decode()
    assert "Browser alerts: off" in page
    assert "channel-push" not in page
    assert '<input type="hidden" name="push" value="order_placed">' in page
    PushDevice.objects.create(
        user=Membership.objects.get().user,
        endpoint="https://push.example/1",
        public_key=b"k",
        auth_secret=b"a",
        name="Firefox",
        created_at=timezone.now(),
    )
    page = client.get(path_of(venue)).content.decode()
    assert "Browser alerts: off" not in page
    assert 'value="order_placed" id="id_push_0" aria-labelledby="kind-order_placed channel-push-1" checked' in page


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"quiet_from": "22:00"}, "Enter both times, or neither."),
        ({"quiet_from": "22:00", "quiet_until": "22:00"}, "Enter another time than the start."),
        ({"quiet_from": "x", "quiet_until": "22:00"}, "Enter a valid time."),
        ({"mail": ["x"]}, "Select a valid choice. x is not one of the available choices."),
    ],
)
def test_wrong_choices_are_refused_with_a_reason(venue: Venue, sent: dict[str, Any], message: str) -> None:
    response = users.member(venue).post(path_of(venue), sent)
    assert response.status_code == 400
    assert message in unescape(response.content.decode())
    assert not AlertSubscription.objects.exists()


def test_the_kitchen_chooses_among_orders_only(venue: Venue) -> None:
    client = users.member(venue, "kitchen")
    page = client.get(path_of(venue)).content.decode()
    assert ("New order" in page, "New reservation" in page) == (True, False)
    assert client.post(path_of(venue), {"mail": ["reservation_confirmed"]}).status_code == 400


def test_profile_and_overview_link_the_page(venue: Venue) -> None:
    client = users.member(venue)
    for path in ("/dashboard/you", f"/dashboard/{venue.public_id}"):
        assert f'href="{path_of(venue)}"' in client.get(path).content.decode(), path


def test_our_own_staff_get_no_alerts(venue: Venue) -> None:
    client: Client = builders.staff()
    assert "Only members of the team get alerts." in client.get(path_of(venue)).content.decode()
    client.post(path_of(venue), {"mail": ["order_placed"]})
    assert not AlertSubscription.objects.exists()
