"""People with a browser: who has signed in, and what part they have at a venue."""

from collections.abc import Iterable
from itertools import count
from typing import Any

from django.test import Client

from accounts.models import Membership, User, Venue

numbers = count(1)


def user(email: str = "", *, password: str | None = None, **fields: Any) -> User:
    """Somebody who could sign in; without a mail address they have one that nobody else has."""
    return User.objects.create_user(email or f"person{next(numbers)}@example.com", password, **fields)


def membership(
    venue: Venue, role: str = "owner", venues: Iterable[Venue] = (), *, person: User | None = None
) -> Membership:
    """Somebody's part in the account of the venue; `venues` empty is all of them."""
    named = list(venues)
    made = Membership.objects.create(account=venue.account, user=person or user(), role=role, is_limited=bool(named))
    made.venues.set(named)
    return made


def signed_in(person: User) -> Client:
    """Their browser."""
    client = Client()
    client.force_login(person)
    return client


def member(venue: Venue, role: str = "owner", venues: Iterable[Venue] = (), *, person: User | None = None) -> Client:
    """The browser of somebody with this role in the account of the venue, signed in; `venues` empty: all of them.

    They have opened the venue's pages before.
    """
    member = membership(venue, role, venues, person=person).user
    member.remember_venue(venue)
    return signed_in(member)
