"""Signed links with which guests open their reservation without signing in."""

from django.conf import settings
from django.urls import reverse

from framework.errors import NotFound
from framework.public_ids import decode
from framework.signed_tokens import BadSignature, TokenSigner
from reservations.models import Reservation
from reservations.models.reservations import PREFIX

SIGNER = TokenSigner("reservations.guest", separator="~")


class InvalidLink(NotFound):
    """The token is not signed by this installation, or is incomplete."""


def token_of(reservation: Reservation) -> str:
    """Return the token of the link: the signed id. It does not expire."""
    return SIGNER.sign(reservation.public_id)


def url_of(reservation: Reservation) -> str:
    """Return the absolute URL of the guest's page."""
    return settings.PUBLIC_BASE_URL.rstrip("/") + reverse("guest", kwargs={"token": token_of(reservation)})


def find(token: str, *, signer: TokenSigner = SIGNER) -> Reservation:
    """Return the reservation of a token, with its venue. One query for a valid signature. Raises InvalidLink."""
    try:
        key = decode(PREFIX, signer.unsign(token))
    except BadSignature as error:
        raise InvalidLink from error
    reservation = Reservation.objects.select_related("venue__branding").filter(pk=key).first() if key else None
    if reservation is None:
        raise InvalidLink
    return reservation
