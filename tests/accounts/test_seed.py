"""What `manage.py seed` adds, and what it leaves as people have made it."""

import pytest
from django.core import mail
from django.test import Client

from accounts import seed
from accounts.models import Account, ApiKey, OutgoingMail, User, Venue
from tests.support import users

pytestmark = pytest.mark.django_db


def test_a_second_run_adds_nothing_and_tells_the_same() -> None:
    first = seed.load()
    assert seed.load(first) == first
    assert (Account.objects.count(), Venue.objects.count()) == (3, 3)
    assert (ApiKey.objects.count(), User.objects.count()) == (5, 2)
    assert first["admin"]["password"] != first["dashboard"]["password"]
    for email, sign_in in (("admin@example.com", first["admin"]), ("demo@example.com", first["dashboard"])):
        assert User.objects.get(email=email).check_password(sign_in["password"])


def test_changed_password_is_preserved_and_not_printed() -> None:
    first = seed.load()
    for user in User.objects.all():
        user.set_password("chosen by a person")
        user.save()
    second = seed.load(first)
    assert second["admin"] == {"username": seed.SUPERUSER, "password": None}
    assert second["dashboard"] == {**first["dashboard"], "password": None}
    assert all(user.check_password("chosen by a person") for user in User.objects.all())


def test_without_the_earlier_output_the_password_stays_too() -> None:
    password = seed.load()["admin"]["password"]
    assert seed.load()["admin"]["password"] is None
    assert User.objects.get(email=seed.SUPERUSER).check_password(password)


def test_the_superuser_is_found_in_any_case() -> None:
    User.objects.create_superuser(seed.SUPERUSER.upper(), "chosen by a person")
    assert seed.load()["admin"]["password"] is None
    assert User.objects.filter(is_superuser=True).count() == 1


def test_a_second_account_of_the_demos_name_is_not_mistaken_for_it() -> None:
    first = seed.load()
    account = Account.objects.create(name="Demo Trattoria")
    Venue.objects.create(account=account, name="Demo Trattoria", timezone="Europe/Rome", currency="EUR")
    demo = Account.objects.filter(name="Demo Trattoria").earliest("created_at")
    Venue.objects.create(account=demo, name="Demo Trattoria", timezone="Europe/Rome", currency="EUR")
    assert seed.load(first) == first
    assert ApiKey.objects.filter(venue__account=account).count() == 0


@pytest.mark.exhaustive
def test_demo_owner_signs_in_to_the_demo_venue_and_no_other(client: Client) -> None:
    sign_in = seed.load()["dashboard"]
    page = client.post("/account/login/", {"login": sign_in["email"], "password": sign_in["password"]}, follow=True)
    assert page.redirect_chain[-1] == (f"/dashboard/{sign_in['venue']}", 302)
    assert page.status_code == 200
    assert [venue.name for venue in Venue.objects.for_member(User.objects.get(email=seed.OWNER))] == ["Demo Osteria"]
    assert not User.objects.get(email=seed.OWNER).is_staff
    # Nothing is left to confirm.
    assert mail.outbox == []
    assert OutgoingMail.objects.count() == 0


@pytest.mark.exhaustive
def test_superuser_opens_the_demo_venue_first_and_then_the_last_one() -> None:
    first = seed.load()
    admin = User.objects.get(email=seed.SUPERUSER)
    client = users.signed_in(admin)
    assert client.get("/dashboard/").headers["Location"] == f"/dashboard/{first['dashboard']['venue']}"
    other = Venue.objects.get(name="Demo Bistro")
    client.get(f"/dashboard/{other.public_id}")
    seed.load(first)
    assert client.get("/dashboard/").headers["Location"] == f"/dashboard/{other.public_id}"
