"""The team of an account: invitations, roles, and that it never loses its last owner."""

import re
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from allauth.account.models import EmailAddress
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.utils import timezone

from accounts import mail_outbox
from accounts.models import Account, Invitation, Membership, OutgoingMail, User, Venue
from accounts.tenancy import team
from accounts.tenancy.permissions import Access, Right, get_access
from framework.encryption import decrypt
from framework.errors import ApiError
from tests.support import users

PASSWORD = "correct horse battery staple"


def at(venue: Venue, membership: Membership) -> Access:
    """The member at work."""
    found = get_access(membership.user, venue.pk)
    assert found is not None
    return found


def page_of(venue: Venue, rest: str = "") -> str:
    """The address of the team's pages."""
    return f"/dashboard/{venue.public_id}/team{rest}"


def link() -> str:
    """The link in the last mail."""
    text = decrypt(OutgoingMail.objects.latest("created_at").text, purpose=mail_outbox.PURPOSE)
    found = re.search(r"/dashboard/invitation/\S+", text)
    assert found is not None
    return found.group()


def together(*acts: Callable[[], Any]) -> list[str]:
    """All at once; the names of what refused them, or `done`."""
    outcomes, start = [], threading.Barrier(len(acts))

    def run(act: Callable[[], Any]) -> None:
        start.wait()
        try:
            act()
            outcomes.append("done")
        except ApiError as refusal:
            outcomes.append(type(refusal).__name__)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(outcomes)


@pytest.mark.exhaustive
def test_the_invited_choose_a_password_and_are_in(venue: Venue) -> None:
    cache.clear()
    owner = users.member(venue)
    answer = owner.post(page_of(venue), {"email": "Host@Example.com", "role": "host", "access": "all"}, follow=True)
    assert "The invitation was sent to host@example.com." in answer.content.decode()
    newcomer = Client()
    assert "Join <bdi>Trattoria Ltd</bdi>" in newcomer.get(link()).content.decode()
    answer = newcomer.post(link(), {"password": PASSWORD})
    assert answer["Location"] == "/dashboard/"
    member = Membership.objects.get(role="host")
    assert (member.user.email, member.account, list(member.venues.all())) == ("host@example.com", venue.account, [])
    assert EmailAddress.objects.get(user=member.user).verified
    assert newcomer.get(f"/dashboard/{venue.public_id}").status_code == 200
    # No account of their own.
    assert Account.objects.count() == 1
    assert newcomer.get(link()).status_code == 404


def test_who_can_sign_in_already_joins_with_that(venue: Venue) -> None:
    users.member(venue).post(page_of(venue), {"email": "chef@example.com", "role": "kitchen", "access": "all"})
    chef = users.user("Chef@Example.com")
    assert "Sign in to join" in Client().get(link()).content.decode()
    answer = users.signed_in(chef).post(link())
    assert answer.status_code == 302
    assert venue.account.memberships.get(user=chef).role == "kitchen"


def test_link_does_not_work_for_another_user(venue: Venue) -> None:
    users.member(venue).post(page_of(venue), {"email": "chef@example.com", "role": "kitchen", "access": "all"})
    thief = users.signed_in(users.user("thief@example.com"))
    page = thief.post(link()).content.decode()
    assert "This invitation was sent to chef@example.com. You are signed in as thief@example.com." in page
    assert venue.account.memberships.count() == 1


def test_only_a_digest_of_the_link_is_stored(venue: Venue) -> None:
    users.member(venue).post(page_of(venue), {"email": "chef@example.com", "role": "kitchen", "access": "all"})
    token = link().rpartition("/")[2]
    assert len(token) >= 43
    assert Invitation.objects.get().digest == team.digest(token)
    assert token not in OutgoingMail.objects.get().text


def test_a_link_ends_after_a_week(venue: Venue) -> None:
    users.member(venue).post(page_of(venue), {"email": "chef@example.com", "role": "kitchen", "access": "all"})
    Invitation.objects.update(expires_at=timezone.now())
    assert Client().get(link()).status_code == 404
    with pytest.raises(team.InvitationInvalid):
        team.accept(link().rpartition("/")[2], users.user("chef@example.com"), now=timezone.now())


def test_a_clock_that_jumps_ends_no_link_for_good_and_extends_none(venue: Venue) -> None:
    users.member(venue).post(page_of(venue), {"email": "chef@example.com", "role": "kitchen", "access": "all"})
    expires_at = Invitation.objects.get().expires_at
    for moment, status in (
        (expires_at - timedelta(days=9), 200),
        (expires_at + timedelta(hours=1), 404),
        (expires_at - timedelta(hours=1), 200),
    ):
        with time_machine.travel(moment, tick=False):
            assert Client().get(link()).status_code == status
    assert Invitation.objects.get().expires_at == expires_at


@pytest.mark.exhaustive
def test_sending_again_makes_a_new_link_and_ends_the_former(venue: Venue) -> None:
    owner = users.member(venue)
    owner.post(page_of(venue), {"email": "chef@example.com", "role": "kitchen", "access": "all"})
    former, invitation = link(), Invitation.objects.get()
    address = page_of(venue, f"/invitations/{invitation.public_id}/again")
    assert "less than a minute ago" in owner.post(address, follow=True).content.decode()
    Invitation.objects.update(created_at=timezone.now() - timedelta(minutes=2))
    owner.post(address)
    assert link() != former
    assert [Client().get(one).status_code for one in (former, link())] == [404, 200]


def test_withdrawn_invitation_cannot_be_accepted(venue: Venue) -> None:
    owner = users.member(venue)
    owner.post(page_of(venue), {"email": "chef@example.com", "role": "kitchen", "access": "all"})
    owner.post(page_of(venue, f"/invitations/{Invitation.objects.get().public_id}/withdraw"))
    assert Client().get(link()).status_code == 404


@pytest.mark.exhaustive
def test_an_address_is_invited_once_at_a_time(venue: Venue) -> None:
    owner = users.member(venue)
    for _ in range(2):
        answer = owner.post(page_of(venue), {"email": "chef@example.com", "role": "kitchen", "access": "all"})
    assert answer.context["form"].errors == {
        "email": ["chef@example.com is already invited. You can resend the invitation."]
    }
    assert OutgoingMail.objects.count() == Invitation.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_two_who_follow_one_link_at_once_one_gets_in(venue: Venue) -> None:
    cache.clear()
    owner = users.membership(venue)
    team.invite(at(venue, owner), email="chef@example.com", role="kitchen", venues=[], now=timezone.now())
    token, chef = link().rpartition("/")[2], users.user("chef@example.com")
    outcomes = together(*[lambda: team.accept(token, chef, now=timezone.now())] * 2)
    assert outcomes == ["InvitationInvalid", "done"]
    assert venue.account.memberships.filter(user=chef).count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("action", ["remove", "demote"])
def test_of_two_owners_who_end_each_other_at_once_one_stays(venue: Venue, action: str) -> None:
    one, other = users.membership(venue), users.membership(venue)

    def end(by: Access, whom: Membership) -> None:
        if action == "remove":
            team.remove_member(by, whom.pk, now=timezone.now())
        else:
            team.change_membership(by, whom.pk, role="host", venues=[], now=timezone.now())

    ends = [(at(venue, one), other), (at(venue, other), one)]
    outcomes = together(*[lambda by=by, whom=whom: end(by, whom) for by, whom in ends])
    assert outcomes == ["NotPermitted", "done"]
    assert venue.account.memberships.filter(role="owner").count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_owners_who_leave_at_once_do_not_both_get_away(venue: Venue) -> None:
    leaving = [users.membership(venue).user for _ in range(2)]
    outcomes = together(*[lambda user=user: team.leave(venue.account, user, now=timezone.now()) for user in leaving])
    assert outcomes == ["LastOwner", "done"]


@pytest.mark.exhaustive
def test_the_last_owner_can_neither_leave_nor_step_down(venue: Venue) -> None:
    membership = users.membership(venue)
    owner = users.signed_in(membership.user)
    page = owner.post(page_of(venue, f"/{membership.pk}"), {"role": "host"})
    assert "An account needs an owner" in page.content.decode()
    page = owner.post(page_of(venue, f"/{membership.pk}/remove"), follow=True)
    assert "An account needs an owner" in page.content.decode()
    membership.refresh_from_db()
    assert membership.role == "owner"


def test_an_owner_who_cannot_sign_in_does_not_count(venue: Venue) -> None:
    users.membership(venue, person=users.user(is_active=False))
    mine = users.membership(venue)
    with pytest.raises(team.LastOwner):
        team.leave(venue.account, mine.user, now=timezone.now())


# Who may invite whom: the rows lead, the columns are asked for.
MATRIX = [
    ("owner", "owner", True),
    ("owner", "manager", True),
    ("owner", "kitchen", True),
    ("manager", "owner", False),
    ("manager", "manager", True),
    ("manager", "host", True),
]


@pytest.mark.sample(2)
@pytest.mark.parametrize(("mine", "theirs", "may"), MATRIX)
def test_members_cannot_grant_more_rights_than_they_have(venue: Venue, mine: str, theirs: str, may: bool) -> None:
    leader = users.member(venue, mine)
    leader.post(page_of(venue), {"email": "new@example.com", "role": theirs, "access": "all"})
    assert Invitation.objects.filter(email="new@example.com").exists() is may


@pytest.mark.parametrize("role", ["host", "kitchen"])
def test_members_without_the_right_do_not_see_the_team(venue: Venue, role: str) -> None:
    client = users.member(venue, role)
    assert client.get(page_of(venue)).status_code == 403
    assert (
        client.post(page_of(venue), {"email": "new@example.com", "role": "host", "access": "all"}).status_code == 403
    )
    assert not Invitation.objects.exists()


def test_a_manager_cannot_touch_an_owner(venue: Venue) -> None:
    owner, manager = users.membership(venue), users.member(venue, "manager")
    manager.post(page_of(venue, f"/{owner.pk}"), {"role": "host"})
    manager.post(page_of(venue, f"/{owner.pk}/remove"))
    owner.refresh_from_db()
    assert owner.role == "owner"


def test_a_manager_of_one_venue_decides_about_that_one(venue: Venue) -> None:
    bar = venue.account.venues.create(name="Bar")
    manager = users.membership(venue, "manager", [venue])
    everywhere, at_bar = users.membership(venue, "host"), users.membership(venue, "host", [bar])
    mine = at(venue, manager)
    for whom in (everywhere, at_bar):
        with pytest.raises(team.NotPermitted):
            team.remove_member(mine, whom.pk, now=timezone.now())
    for venues in ([], [bar], [venue, bar]):
        with pytest.raises(team.NotPermitted):
            team.invite(mine, email="new@example.com", role="host", venues=venues, now=timezone.now())
    team.invite(mine, email="new@example.com", role="host", venues=[venue], now=timezone.now())
    assert venue.account.memberships.count() == 3


@pytest.mark.exhaustive
def test_an_invitation_says_for_which_restaurants_it_is(venue: Venue) -> None:
    venue.account.venues.create(name="Bar")
    owner = users.member(venue)
    invitation: dict[str, object] = {"email": "host@example.com", "role": "host"}
    for choice, error in (
        ({}, "This field is required."),
        ({"venues": [venue.pk]}, "This field is required."),
        ({"access": "selected"}, "Select at least one restaurant."),
        ({"access": "all", "venues": [venue.pk]}, "Choose all restaurants or only the selected ones."),
    ):
        page = owner.post(page_of(venue), invitation | choice)
        assert page.status_code == 400
        assert error in page.content.decode()
    assert not Invitation.objects.exists()
    owner.post(page_of(venue), invitation | {"access": "selected", "venues": [venue.pk]})
    assert list(Invitation.objects.get().venues.all()) == [venue]


def test_venues_of_others_are_not_given(venue: Venue, other_venue: Venue) -> None:
    owner = users.membership(venue)
    with pytest.raises(team.NotPermitted):
        team.invite(at(venue, owner), email="a@example.com", role="host", venues=[other_venue], now=timezone.now())
    assert not Invitation.objects.exists()


def test_who_is_removed_is_out_at_once_and_so_are_their_invitations(venue: Venue) -> None:
    owner, manager = users.membership(venue), users.membership(venue, "manager")
    client = users.signed_in(manager.user)
    client.post(page_of(venue), {"email": "friend@example.com", "role": "host", "access": "all"})
    users.signed_in(owner.user).post(page_of(venue, f"/{manager.pk}/remove"))
    assert client.get(page_of(venue)).status_code == 404
    assert Invitation.objects.get().withdrawn_at is not None


def test_another_accounts_team_is_not_there(venue: Venue, other_venue: Venue) -> None:
    client, stranger = users.member(venue), users.membership(other_venue)
    assert client.get(page_of(other_venue)).status_code == 404
    assert client.get(page_of(venue, f"/{stranger.pk}")).status_code == 404
    client.post(page_of(venue, f"/{stranger.pk}/remove"))
    assert Membership.objects.filter(pk=stranger.pk).exists()


def test_a_stranger_is_sent_to_sign_in(venue: Venue) -> None:
    assert Client().get(page_of(venue))["Location"] == f"/account/login/?next={page_of(venue)}"


@pytest.mark.parametrize("rest", ["/0", "/99999999999999999999", "/invitations/inv_x/again"])
def test_garbage_in_addresses_is_not_found(venue: Venue, rest: str) -> None:
    client = users.member(venue)
    assert client.post(page_of(venue, rest), {"role": "host"}).status_code == 404


def test_names_of_people_are_text(venue: Venue) -> None:
    person = users.user(first_name="<img src=x onerror=alert(1)>")
    page = users.member(venue, person=person).get(page_of(venue)).content.decode()
    assert "<img src=x" not in page
    assert "&lt;img src=x" in page


@pytest.mark.exhaustive
def test_the_team_costs_as_many_queries_for_20_as_for_2(venue: Venue, django_assert_num_queries: Any) -> None:
    client = users.member(venue)
    for _ in range(20):
        users.membership(venue, "host", [venue])
    with django_assert_num_queries(11):
        assert client.get(page_of(venue)).status_code == 200
    assert User.objects.count() == 21


@pytest.mark.exhaustive
def test_a_part_does_not_grow_when_the_venue_that_it_is_limited_to_is_deleted(venue: Venue) -> None:
    other = Venue.objects.create(account=venue.account, name="Second")
    part = users.membership(venue, "manager", [other])
    other.delete()
    assert not Venue.objects.for_member(part.user).exists()
    assert get_access(part.user, venue.pk) is None
    assert users.signed_in(part.user).get(f"/dashboard/{venue.public_id}").status_code == 404


def test_an_owner_of_some_venues_alone_neither_closes_the_account_nor_is_its_last_owner(venue: Venue) -> None:
    first = users.membership(venue)
    limited = users.membership(venue, "owner", [venue])
    found = get_access(limited.user, venue.pk)
    assert found is not None
    assert found.rights == frozenset(Right) - {Right.ACCOUNT, Right.DATA}
    mine = get_access(first.user, venue.pk)
    assert mine is not None
    with pytest.raises(team.LastOwner):
        team.change_membership(mine, first.pk, role="host", venues=(), now=timezone.now())
    with pytest.raises(team.LastOwner):
        team.change_membership(mine, first.pk, role="owner", venues=[venue], now=timezone.now())
    with pytest.raises(team.LastOwner):
        team.leave(venue.account, first.user, now=timezone.now())
    first.refresh_from_db()
    assert (first.role, first.is_limited) == ("owner", False)
