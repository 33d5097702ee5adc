"""What `manage.py seed` adds, and what it leaves as people have made it."""

import pytest

from accounts import seed
from accounts.models import Account, ApiKey, User, Venue

pytestmark = pytest.mark.django_db


def test_a_second_run_adds_nothing_and_tells_the_same() -> None:
    first = seed.load()
    assert seed.load(first) == first
    assert (Account.objects.count(), Venue.objects.count()) == (3, 3)
    assert (ApiKey.objects.count(), User.objects.count()) == (5, 1)
    assert User.objects.get().check_password(first["admin"]["password"])


def test_changed_password_is_preserved_and_not_printed() -> None:
    first = seed.load()
    user = User.objects.get()
    user.set_password("chosen by a person")
    user.save()
    assert seed.load(first)["admin"] == {"username": seed.SUPERUSER, "password": None}
    user.refresh_from_db()
    assert user.check_password("chosen by a person")


def test_without_the_earlier_output_the_password_stays_too() -> None:
    password = seed.load()["admin"]["password"]
    assert seed.load()["admin"]["password"] is None
    assert User.objects.get().check_password(password)


def test_the_superuser_is_found_in_any_case() -> None:
    User.objects.create_superuser(seed.SUPERUSER.upper(), "chosen by a person")
    assert seed.load()["admin"]["password"] is None
    assert User.objects.count() == 1


def test_a_second_account_of_the_demos_name_is_not_mistaken_for_it() -> None:
    first = seed.load()
    account = Account.objects.create(name="Demo Trattoria")
    Venue.objects.create(account=account, name="Demo Trattoria", timezone="Europe/Rome", currency="EUR")
    demo = Account.objects.filter(name="Demo Trattoria").earliest("created_at")
    Venue.objects.create(account=demo, name="Demo Trattoria", timezone="Europe/Rome", currency="EUR")
    assert seed.load(first) == first
    assert ApiKey.objects.filter(venue__account=account).count() == 0
