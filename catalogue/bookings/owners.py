"""Who a booking is of, besides the holder of its token: the account of an API key, or a wallet."""

from django.http import HttpRequest
from rest_framework.request import Request

from payments.interface import caller_of


def owner_of(request: HttpRequest | Request) -> str:
    """Return the owner of a new booking; empty for anonymous callers."""
    caller = caller_of(request)
    return str(caller.account or caller.wallet or "").lower()


def owners_of(request: HttpRequest | Request) -> frozenset[str]:
    """Return all whose bookings the caller may see and change: the account, and each proven wallet."""
    caller = caller_of(request)
    return caller.wallets | ({str(caller.account)} if caller.account else frozenset())
