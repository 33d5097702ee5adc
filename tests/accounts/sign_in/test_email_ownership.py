"""Email addresses: who signs up with an address of somebody else gets no access to what its owner does later."""

import re
from typing import Any
from urllib.parse import quote

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from accounts import mail_outbox
from accounts.api_keys.create import create_api_key
from accounts.models import Account, ApiKey, OutgoingMail, User, Venue, WebhookEndpoint
from accounts.webhooks import endpoints
from framework.encryption import decrypt
from tests.support import users

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery staple"
OTHER_PASSWORD = "a much newer password"
VICTIM, STRANGER = "victim@example.com", "stranger@example.com"


@pytest.fixture(autouse=True)
def _clear_sign_in_attempts() -> None:
    cache.clear()


def sign_up(email: str) -> Client:
    client = Client()
    form = {"restaurant": "Da Ugo", "email": email, "password1": PASSWORD, "timezone": "UTC", "currency": "EUR"}
    client.post("/account/signup/", form)
    assert "_auth_user_id" in client.session
    return client


def sign_in(email: str, password: str = PASSWORD) -> Client:
    client = Client()
    client.post("/account/login/", {"login": email, "password": password})
    return client


def is_signed_in(client: Client) -> bool:
    return client.get("/dashboard/you").status_code == 200


def add_address(client: Client, email: str) -> Any:
    client.post("/account/reauthenticate/", {"password": PASSWORD})
    return client.post("/account/email/", {"action_add": "", "email": email}, follow=True)


def find_link(path: str, *, to: str) -> str:
    """The newest link of this kind that was mailed to an address."""
    for mail in OutgoingMail.objects.filter(address=to).order_by("-created_at"):
        if found := re.search(rf"{path}\S+", decrypt(mail.text, purpose=mail_outbox.PURPOSE)):
            return found.group()
    raise AssertionError(f"no mail to {to} has a link {path}")


def reset_password(email: str) -> None:
    client = Client()
    client.post("/account/password/reset/", {"email": email})
    form = client.get(find_link("/account/password/reset/key/", to=email), follow=True)
    client.post(form.request["PATH_INFO"], {"password1": OTHER_PASSWORD, "password2": OTHER_PASSWORD})


def addresses_of(email: str) -> list[tuple[str, bool, bool]]:
    rows = EmailAddress.objects.filter(user__email=email)
    return list(rows.order_by("email").values_list("email", "verified", "primary"))


@pytest.mark.exhaustive
def test_a_second_address_replaces_the_first_while_that_is_not_confirmed() -> None:
    client = sign_up(VICTIM)
    add_address(client, STRANGER)
    assert addresses_of(STRANGER) == [(STRANGER, False, True)]
    assert not EmailAddress.objects.filter(email=VICTIM).exists()
    client.post(find_link("/account/confirm-email/", to=STRANGER))
    add_address(client, VICTIM)
    assert addresses_of(STRANGER) == [(STRANGER, True, True), (VICTIM, False, False)]


@pytest.mark.exhaustive
def test_who_signed_up_with_the_address_of_an_invited_person_does_not_get_into_the_team(venue: Venue) -> None:
    attacker = sign_up(VICTIM)
    add_address(attacker, STRANGER)
    attacker.post(find_link("/account/confirm-email/", to=STRANGER))
    users.member(venue).post(
        f"/dashboard/{venue.public_id}/team", {"email": VICTIM, "role": "manager", "access": "all"}
    )
    link, victim = find_link("/dashboard/invitation/", to=VICTIM), Client()
    victim.post(link, {"password": OTHER_PASSWORD})
    assert victim.get(f"/dashboard/{venue.public_id}/team").status_code == 200
    assert attacker.get(f"/dashboard/{venue.public_id}/team").status_code == 404
    # A reset that the attacker asks for reaches the attacker's own user only, and one of the invited person their own.
    for email in (STRANGER, VICTIM):
        OutgoingMail.objects.all().delete()
        cache.clear()
        reset_password(email)
        client = sign_in(email, OTHER_PASSWORD)
        status = client.get(f"/dashboard/{venue.public_id}/team").status_code
        assert status == (200 if email == VICTIM else 404)


@pytest.mark.exhaustive
def test_an_invited_person_who_resets_the_password_locks_out_who_signed_up_with_their_address(venue: Venue) -> None:
    attacker = sign_up(VICTIM)
    attacker.post("/account/reauthenticate/", {"password": PASSWORD})
    for path in ("/account/2fa/totp/activate/", "/account/2fa/webauthn/add/"):
        assert attacker.get(path).status_code == 302, "a second factor of an address that is not confirmed"
    users.member(venue).post(
        f"/dashboard/{venue.public_id}/team", {"email": VICTIM, "role": "manager", "access": "all"}
    )
    link = find_link("/dashboard/invitation/", to=VICTIM)
    assert "Sign in to join" in Client().get(link).content.decode()
    reset_password(VICTIM)
    victim = sign_in(VICTIM, OTHER_PASSWORD)
    victim.post(link)
    assert victim.get(f"/dashboard/{venue.public_id}/team").status_code == 200
    assert addresses_of(VICTIM) == [(VICTIM, True, True)]
    assert not is_signed_in(attacker)
    assert not is_signed_in(sign_in(VICTIM))


def test_an_address_is_confirmed_only_by_its_user_signed_in() -> None:
    client = sign_up(VICTIM)
    link = find_link("/account/confirm-email/", to=VICTIM)
    for other in (Client(), users.signed_in(users.user(password=PASSWORD))):
        for send in (other.get, other.post):
            assert send(link)["Location"] == f"/account/login/?next={quote(link)}"
    assert addresses_of(VICTIM) == [(VICTIM, False, True)]
    assert client.post(link).status_code == 302
    assert addresses_of(VICTIM) == [(VICTIM, True, True)]


@pytest.mark.exhaustive
def test_an_address_that_another_user_added_and_has_not_confirmed_is_free() -> None:
    stranger = sign_up(STRANGER)
    stranger.post(find_link("/account/confirm-email/", to=STRANGER))
    add_address(stranger, VICTIM)
    OutgoingMail.objects.all().delete()
    Client().post("/account/password/reset/", {"email": VICTIM})
    assert [mail.subject for mail in OutgoingMail.objects.all()] == ["No account with this address"]
    # The mail to confirm an address is sent once in three minutes.
    cache.clear()
    victim = sign_up(VICTIM)
    victim.post(find_link("/account/confirm-email/", to=VICTIM))
    assert addresses_of(VICTIM) == [(VICTIM, True, True)]


@pytest.mark.exhaustive
def test_an_address_of_another_user_cannot_be_added() -> None:
    users.user(VICTIM, password=PASSWORD)
    client = sign_up(STRANGER)
    assert "already" in add_address(client, VICTIM).content.decode()
    assert addresses_of(STRANGER) == [(STRANGER, False, True)]


@pytest.mark.exhaustive
def test_an_address_that_another_user_signs_in_with_does_not_become_primary() -> None:
    owner = sign_up(STRANGER)
    owner.post(find_link("/account/confirm-email/", to=STRANGER))
    add_address(owner, VICTIM)
    link = find_link("/account/confirm-email/", to=VICTIM)
    sign_up(VICTIM)
    owner.post(link)
    answer = owner.post("/account/email/", {"action_primary": "", "email": VICTIM}, follow=True)
    assert (answer.status_code, "Another user signs in with this address." in answer.content.decode()) == (200, True)
    assert addresses_of(STRANGER) == [(STRANGER, True, True), (VICTIM, True, False)]
    assert User.objects.filter(email=VICTIM).count() == 1


# The owner takes the address over
@pytest.mark.exhaustive
def test_an_owner_who_resets_the_password_revokes_what_the_one_before_has_kept() -> None:
    attacker = sign_up(VICTIM)
    account = Account.objects.get(memberships__user__email=VICTIM)
    live = account.venues.get(is_sandbox=False)
    options: dict[str, Any] = {"expires_at": None, "has_data_access": True, "now": timezone.now()}
    key = create_api_key(live, name="", scopes=["orders:read"], **options).text
    api = Client(headers={"Authorization": f"Bearer {key}"})
    assert api.get("/api/v1/orders").status_code == 200
    endpoints.create(live, url="https://93.184.216.34/hook")
    accomplice = users.membership(live, "manager").user
    reset_password(VICTIM)
    assert api.get("/api/v1/orders").status_code == 401
    assert not ApiKey.objects.filter(venue__account=account, revoked_at=None).exists()
    assert not WebhookEndpoint.objects.filter(venue__account=account, disabled_at=None).exists()
    assert [row.user.email for row in account.memberships.all()] == [VICTIM]
    assert users.signed_in(accomplice).get(f"/dashboard/{live.public_id}/team").status_code == 404
    assert not is_signed_in(attacker)
    assert addresses_of(VICTIM) == [(VICTIM, True, True)]
    owner = sign_in(VICTIM, OTHER_PASSWORD)
    assert owner.get(f"/dashboard/{live.public_id}/team").status_code == 200


@pytest.mark.exhaustive
def test_a_password_reset_of_a_confirmed_user_removes_unconfirmed_addresses_and_ends_sessions_only() -> None:
    client = sign_up(VICTIM)
    client.post(find_link("/account/confirm-email/", to=VICTIM))
    add_address(client, STRANGER)
    assert addresses_of(VICTIM) == [(STRANGER, False, False), (VICTIM, True, True)]
    keys = ApiKey.objects.filter(revoked_at=None).count()
    passkey = Authenticator.objects.create(user=User.objects.get(email=VICTIM), type="webauthn", data={})
    OutgoingMail.objects.all().delete()
    cache.clear()
    reset_password(VICTIM)
    assert addresses_of(VICTIM) == [(VICTIM, True, True)]
    assert not is_signed_in(client)
    assert ApiKey.objects.filter(revoked_at=None).count() == keys > 0
    assert Authenticator.objects.filter(pk=passkey.pk).exists()
