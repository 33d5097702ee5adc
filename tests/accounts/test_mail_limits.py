"""Mail that users cause for addresses of others: an address gets few a day, whoever asks, and a sender sends few."""

import threading
from collections.abc import Iterator
from datetime import timedelta

import pytest
import time_machine
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.utils import timezone

from accounts import mail_outbox
from accounts.models import Invitation, OutgoingMail, Venue
from accounts.tenancy import team
from accounts.tenancy.permissions import Access, get_access
from tests.support import builders, users

pytestmark = pytest.mark.django_db

ADDRESS = "somebody@example.com"


@pytest.fixture(autouse=True)
def _clear_sign_in_attempts() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


def access_of_owner(venue: Venue) -> Access:
    access = get_access(users.membership(venue).user, venue.pk)
    assert access is not None
    return access


def invite(access: Access, email: str = ADDRESS) -> Invitation:
    return team.invite(access, email=email, role="host", venues=[], now=timezone.now())


@pytest.mark.exhaustive
@pytest.mark.parametrize("is_known", [True, False])
def test_an_address_gets_ten_mails_about_its_password_a_day_from_any_number_of_callers(is_known: bool) -> None:
    if is_known:
        users.user(ADDRESS, password="correct horse battery staple")
    now, pages = timezone.now(), set()
    for number in range(12):
        # Four a minute, each from an address of its own, are below the other limits.
        with time_machine.travel(now + timedelta(seconds=15 * number), tick=False):
            client = Client(REMOTE_ADDR=f"192.0.2.{number}")
            pages.add(client.post("/account/password/reset/", {"email": ADDRESS})["Location"])
    assert OutgoingMail.objects.filter(address=ADDRESS).count() == mail_outbox.MAX_ACCOUNT_MAILS == 10
    assert pages == {"/account/password/reset/done/"}
    with time_machine.travel(now + timedelta(days=1, minutes=5), tick=False):
        Client().post("/account/password/reset/", {"email": ADDRESS})
    assert OutgoingMail.objects.filter(address=ADDRESS).count() == 11


@pytest.mark.exhaustive
def test_an_address_gets_five_invitations_a_day_from_all_accounts_together() -> None:
    for _ in range(team.MAX_MAILS_TO_ADDRESS):
        invite(access_of_owner(builders.venue()))
    with pytest.raises(team.InvitationConflict, match="many invitations were sent to this address today"):
        invite(access_of_owner(builders.venue()))
    assert Invitation.objects.count() == OutgoingMail.objects.count() == team.MAX_MAILS_TO_ADDRESS == 5


def test_withdrawing_and_resending_sends_no_more_invitations(venue: Venue) -> None:
    access = access_of_owner(venue)
    for _ in range(3):
        invitation = invite(access)
        team.withdraw_invitation(access, invitation.pk, now=timezone.now())
    invitation = invite(access)
    later = timezone.now() + 2 * team.MIN_RESEND_INTERVAL
    team.resend_invitation(access, invitation.pk, now=later)
    digest = Invitation.objects.get(pk=invitation.pk).digest
    with pytest.raises(team.InvitationConflict):
        team.resend_invitation(access, invitation.pk, now=later + 2 * team.MIN_RESEND_INTERVAL)
    # The link of the last mail still works.
    assert Invitation.objects.get(pk=invitation.pk).digest == digest
    assert OutgoingMail.objects.count() == 5


@pytest.mark.exhaustive
def test_an_account_sends_fifty_invitations_a_day(venue: Venue) -> None:
    access = access_of_owner(venue)
    for number in range(team.MAX_MAILS_OF_ACCOUNT):
        invitation = invite(access, f"person{number}@elsewhere.example")
        team.withdraw_invitation(access, invitation.pk, now=timezone.now())
    with pytest.raises(team.InvitationConflict, match="50 invitations a day"):
        invite(access, "one-more@elsewhere.example")
    assert OutgoingMail.objects.count() == team.MAX_MAILS_OF_ACCOUNT == 50


@pytest.mark.exhaustive
def test_limit_is_a_form_error_on_the_team_page(venue: Venue) -> None:
    for _ in range(team.MAX_MAILS_TO_ADDRESS):
        invite(access_of_owner(builders.venue()))
    page = users.member(venue).post(
        f"/dashboard/{venue.public_id}/team", {"email": ADDRESS, "role": "host", "access": "all"}
    )
    assert page.status_code == 400
    assert "email" in page.context["form"].errors


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_of_many_accounts_that_invite_one_address_at_once_five_succeed() -> None:
    accesses = [access_of_owner(builders.venue()) for _ in range(9)]
    outcomes, start = [], threading.Barrier(len(accesses))

    def run(access: Access) -> None:
        start.wait()
        try:
            invite(access)
            outcomes.append("sent")
        except team.InvitationConflict:
            outcomes.append("refused")
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=[access]) for access in accesses]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["refused"] * 4 + ["sent"] * 5


@pytest.mark.exhaustive
def test_a_user_asks_few_strangers_a_day_to_confirm_an_address() -> None:
    password = "correct horse battery staple"
    client = users.signed_in(users.user("me@example.com", password=password))
    client.post("/account/reauthenticate/", {"password": password})
    statuses = [
        client.post("/account/email/", {"action_add": "", "email": f"stranger{number}@elsewhere.example"}).status_code
        for number in range(25)
    ]
    assert statuses[-1] == 429
    assert OutgoingMail.objects.filter(address__startswith="stranger").count() <= 20


@pytest.mark.parametrize(
    ("path", "status"),
    [pytest.param("/account/signup/", 200, marks=pytest.mark.exhaustive), ("/account/password/reset/", 302)],
)
def test_one_caller_signs_up_and_asks_for_passwords_a_hundred_times_a_day(path: str, status: int) -> None:
    now, statuses = timezone.now(), []
    for number in range(101):
        # Fifteen a minute are below the limit of a minute.
        with time_machine.travel(now + timedelta(seconds=4 * number), tick=False):
            statuses.append(Client().post(path, {"email": f"person{number}@example.com"}).status_code)
    assert statuses == [status] * 100 + [429]
