"""Who a booking is of, besides the holder of its token: the account of an API key, or a wallet."""

from django.http import HttpRequest
from rest_framework.request import Request

from accounts.api_keys.authentication import Unauthorized
from framework.errors import ErrorCode
from payments.interface import caller_of


class SignInRequired(Unauthorized):
    """Anonymous callers have no bookings of their own."""

    code = ErrorCode.MISSING_CREDENTIALS

    def __init__(self) -> None:
        super().__init__(
            "Send a wallet session or an API key: the bookings of an anonymous caller are found by their tokens."
        )


def require_owners(request: HttpRequest | Request) -> frozenset[str]:
    """Return all whose bookings the caller may see. Raises SignInRequired for anonymous callers."""
    owners = owners_of(request)
    if not owners:
        raise SignInRequired
    return owners


def owner_of(request: HttpRequest | Request) -> str:
    """Return the owner of a new booking; empty for anonymous callers."""
    caller = caller_of(request)
    return str(caller.account or caller.wallet or "").lower()


def owners_of(request: HttpRequest | Request) -> frozenset[str]:
    """Return all whose bookings the caller may see and change: the account, and each proven wallet."""
    caller = caller_of(request)
    return caller.wallets | ({str(caller.account)} if caller.account else frozenset())
