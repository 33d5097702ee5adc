"""People in the back office: how they sign in, told as facts, and a second factor that was lost."""

from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.apps import apps
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group
from django.test import Client
from django.utils import timezone

from accounts.models import OutgoingMail, User
from tests.support import builders, users

pytestmark = pytest.mark.django_db

PEOPLE = "/admin/accounts/user/"


def with_second_factor() -> User:
    """Somebody whose app was lost, and with it its codes."""
    person = users.user("ada@example.com")
    EmailAddress.objects.create(user=person, email="ada@example.com", primary=True, verified=True)
    EmailAddress.objects.create(user=person, email="ada@example.org")
    for kind in ("totp", "recovery_codes"):
        Authenticator.objects.create(user=person, type=kind, data={"secret": "sealed words"})
    return person


def removing(browser: Client, person: User, **more: str) -> Any:
    """Choose the person and the action."""
    chosen = {"action": "remove_second_factor", "_selected_action": [str(person.pk)], **more}
    return browser.post(PEOPLE, chosen)


@pytest.mark.parametrize("name", ["account.EmailAddress", "mfa.Authenticator", "usersessions.UserSession"])
def test_what_second_factors_and_sessions_are_made_of_has_no_page(name: str) -> None:
    assert not admin.site.is_registered(apps.get_model(name))
    app, _, model = name.lower().partition(".")
    assert builders.staff().get(f"/admin/{app}/{model}/").status_code == 404


@pytest.mark.exhaustive
def test_the_page_of_a_person_tells_how_they_sign_in_and_no_secret() -> None:
    person = with_second_factor()
    text = builders.staff().get(f"{PEOPLE}{person.pk}/change/").content.decode()
    today = f"{timezone.now():%Y-%m-%d}"
    for message in (
        "<div><bdi>ada@example.com</bdi>, confirmed</div><div><bdi>ada@example.org</bdi>, not confirmed</div>",
        f"<div>authenticator app, since {today}</div><div>recovery codes, since {today}</div>",
    ):
        assert message in text
    assert "sealed words" not in text


@pytest.mark.exhaustive
def test_user_without_a_second_factor_is_reported() -> None:
    person = users.user()
    text = builders.staff().get(f"{PEOPLE}{person.pk}/change/").content.decode()
    assert "not set up" in text
    assert "no confirmation was sent yet" in text


def test_lost_second_factor_is_removed_after_confirmation_and_the_user_is_notified() -> None:
    browser, person, other = builders.staff(), with_second_factor(), users.user()
    asked = removing(browser, person)
    assert "<li><bdi>ada@example.com</bdi></li>" in asked.content.decode()
    assert Authenticator.objects.filter(user=person).count() == 2
    done = removing(browser, person, confirmed="yes")
    assert builders.messages_of(done) == ["Two-factor authentication removed for 1 user."]
    assert not Authenticator.objects.filter(user=person).exists()
    assert list(OutgoingMail.objects.values_list("address", "subject")) == [
        ("ada@example.com", "Two-factor authentication was removed")
    ]
    entry = LogEntry.objects.get()
    assert (entry.object_id, entry.get_change_message()) == (str(person.pk), "Removed two-factor authentication.")
    for each in (person, other):
        again = removing(browser, each, confirmed="yes")
        assert builders.messages_of(again)[-1] == "None of these users has a second factor."
    assert (OutgoingMail.objects.count(), LogEntry.objects.count()) == (1, 1)


def test_who_may_only_look_at_people_removes_no_second_factor() -> None:
    person = with_second_factor()
    support = users.user(is_staff=True)
    support.groups.add(Group.objects.get_or_create(name="Support")[0])
    browser = users.signed_in(support)
    assert "remove_second_factor" not in browser.get(PEOPLE).content.decode()
    removing(browser, person, confirmed="yes")
    assert Authenticator.objects.filter(user=person).count() == 2
