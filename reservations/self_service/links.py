"""The link by which a guest reaches the own reservation without signing in."""

from django.conf import settings
from django.urls import reverse

from framework.errors import NotFound
from framework.public_ids import decode
from framework.signed_tokens import BadSignature, TokenSigner
from reservations.models import Reservation
from reservations.models.reservations import PREFIX

SIGNER = TokenSigner("reservations.guest", separator="~")


class NoSuchLink(NotFound):
    """The link was not made here, or a letter of it is missing."""


def token_of(reservation: Reservation) -> str:
    """What stands in the link: the reservation's id and our signature. It does not say how long it is good for."""
    return SIGNER.sign(reservation.public_id)


def url_of(reservation: Reservation) -> str:
    """The whole address of the guest's page."""
    return settings.PUBLIC_BASE_URL.rstrip("/") + reverse("guest", kwargs={"token": token_of(reservation)})


def find(token: str) -> Reservation:
    """The reservation of this link, with its venue. One query, and none for what was not signed here.

    Raises NoSuchLink.
    """
    return find_by(SIGNER, token)


def find_by(signer: TokenSigner, token: str) -> Reservation:
    """As `find`, of what this signer has signed."""
    try:
        key = decode(PREFIX, signer.unsign(token))
    except BadSignature as error:
        raise NoSuchLink from error
    found = Reservation.objects.select_related("venue").filter(pk=key).first() if key else None
    if found is None:
        raise NoSuchLink
    return found
