"""Restaurants that a venue has claimed, and the codes that were mailed."""

import re
from typing import Any

from allauth.account.models import EmailAddress

from accounts import mail_outbox
from accounts.models import OutgoingMail, User, Venue
from catalogue.models import Restaurant, RestaurantClaim
from framework.encryption import decrypt
from tests.catalogue import builders
from tests.catalogue.builders import NOW


def fiskebar(**fields: Any) -> Restaurant:
    """A restaurant with a website of its own."""
    given = {"slug": "fiskebar", "name": "Fiskebar", "website": "https://www.fiskebar.example/", **fields}
    return builders.restaurant(**given)


def claimed(restaurant: Restaurant, venue: Venue, **fields: Any) -> RestaurantClaim:
    given = {"method": "staff", "state": "verified", "created_at": NOW, "decided_at": NOW, **fields}
    return RestaurantClaim.objects.create(restaurant=restaurant, venue=venue, **given)


def confirmed(user: User) -> User:
    """The user with a confirmed address, as codes require."""
    EmailAddress.objects.create(user=user, email=user.email, verified=True)
    return user


def last_code(claim: RestaurantClaim) -> str:
    """The code in the newest mail about a claim."""
    mail = OutgoingMail.objects.filter(topic=claim.public_id).latest("created_at")
    found = re.search(r"^ {4}(\d{8})$", decrypt(mail.text, purpose=mail_outbox.PURPOSE), re.MULTILINE)
    assert found is not None
    return found[1]
