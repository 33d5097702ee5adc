"""The welcome page after sign-up: the first API key, shown once, and a first call."""

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone

from accounts.api_keys import one_time_secrets
from accounts.dashboard.decorators import PageRequest, page
from accounts.models import Venue
from accounts.tenancy.permissions import Right
from framework.api.urls import public_url

BODY = (
    '{"customer_id": "cust_123", "items": [{"menu_item_id": "margherita", "quantity": 2}], "payment_method": "card"}'
)


@page(Right.DEVELOPERS, section="overview")
def welcome(request: PageRequest) -> HttpResponse:
    """Show the key if it was not shown yet, otherwise how to create another."""
    key = one_time_secrets.take(request, of=request.access.venue.public_id, now=timezone.now())
    live = Venue.objects.for_member(request.access.user).filter(account=request.access.account, is_sandbox=False)
    address = public_url("/api/v1/orders")
    return render(
        request,
        "dashboard/onboarding.html",
        {"key": key, "address": address, "body": BODY, "live": live.by_name().first()},
    )
