"""Pages of the dashboard show times by the clock of the venue, pages of the user by that of the last venue."""

from datetime import UTC, datetime

import pytest
from django.template.loader import render_to_string
from django.test import Client

from accounts.models import Invitation, Membership
from tests.support import builders, users

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.mark.django_db
def test_the_day_is_that_of_the_venue() -> None:
    venue = builders.venue(timezone="Pacific/Auckland")
    owner = users.member(venue)
    Membership.objects.update(created_at=NOON)
    page = owner.get(f"/dashboard/{venue.public_id}/team/{Membership.objects.get().pk}").content.decode()
    assert "22 Nov 2026" in page
    assert "21 Nov 2026" not in page


@pytest.mark.django_db
def test_sessions_and_invitations_have_the_times_of_the_venue() -> None:
    venue = builders.venue(timezone="Pacific/Auckland")
    person = users.user("owner@example.com", password="correct horse battery staple")
    users.membership(venue, person=person)
    owner, path = Client(), f"/dashboard/{venue.public_id}/team"
    owner.post("/account/login/", {"login": person.email, "password": "correct horse battery staple"})
    owner.post(path, {"email": "host@example.com", "role": "host", "access": "all"})
    Invitation.objects.update(expires_at=datetime(2099, 1, 1, 12, 0, tzinfo=UTC))
    assert "valid until 2 Jan 2099, 01:00" in owner.get(path).content.decode()
    assert "(Pacific/Auckland)" in owner.get("/account/sessions/").content.decode()


@pytest.mark.parametrize(("zone", "title"), [("Asia/Tokyo", "21:00:00 (Asia/Tokyo)"), ("UTC", "12:00:00 (UTC)")])
def test_the_tooltip_of_an_age_names_its_zone(zone: str, title: str) -> None:
    text = render_to_string("time_ago.html", {"time": NOON, "zone": zone})
    assert f'datetime="2026-11-21T12:00:00+00:00" title="21 Nov 2026, {title}"' in text
