"""How accounts end: closed at once, kept for 30 days in which staff can undo it, then deleted in pieces.

Apps above this one add to GUARDS in AppConfig.ready what keeps an account from being closed.
"""

import logging
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

from django.apps import apps
from django.db import models, transaction
from django.db.models import ProtectedError

from accounts.models import Account, ApiKey, Invitation, Membership, Role, User, Venue, WebhookEndpoint
from accounts.tenancy import team
from framework.errors import InvalidRequest

logger = logging.getLogger("tablewire.worker")

KEPT = timedelta(days=30)
PIECE = 1_000

# Why an account cannot be closed now, in words for its owner; None where nothing is in the way.
ClosureGuard = Callable[[Account, datetime], str | None]
GUARDS: list[ClosureGuard] = []


class CannotClose(InvalidRequest):
    """Something has to be settled first."""


class CannotReopen(InvalidRequest):
    """It is open, or its time is up."""


class StillNeeded(InvalidRequest):
    """Accounts would be nobody's without this person."""


def reasons(account: Account, *, now: datetime) -> list[str]:
    """Why the account cannot be closed now; empty where it can."""
    return [words for words in (guard(account, now) for guard in GUARDS) if words]


def close(account: Account, *, name: str, now: datetime) -> None:
    """End the account for everybody: its keys, its endpoints, its members' access, its open invitations.

    `name` is what its owner has typed, to be sure. Raises CannotClose.
    """
    if " ".join(name.split()) != " ".join(account.name.split()):
        raise CannotClose(f"Type the exact name of the account: {account.name}", param="name")
    with transaction.atomic():
        held = team.hold(account.pk)
        if found := reasons(held, now=now):
            raise CannotClose(" ".join(found))
        Account.objects.filter(pk=held.pk).update(closed_at=now)
        ApiKey.objects.filter(venue__account=held).revoke(now=now)
        endpoints = WebhookEndpoint.objects.filter(venue__account=held, disabled_at=None)
        endpoints.update(disabled_at=now, disabled_reason=WebhookEndpoint.DisabledReason.STAFF)
        Invitation.objects.filter(account=held, accepted_at=None, withdrawn_at=None).update(withdrawn_at=now)
        held.venues.update(is_bookable_online=False)


def reopen(account: Account, *, now: datetime) -> None:
    """Let the members in again. Keys stay revoked and endpoints off. Raises CannotReopen.

    One conditional UPDATE; what a worker has begun to delete is not found any more.
    """
    closed = Account.objects.filter(pk=account.pk, closed_at__gt=now - KEPT)
    if not closed.update(closed_at=None):
        raise CannotReopen("The account is open, or it was closed more than 30 days ago.")


def sweep(*, now: datetime) -> int:
    """Delete what was closed 30 days ago; return how many accounts are gone. Goes on where the last one died."""
    gone = 0
    for account in Account.objects.filter(closed_at__lte=now - KEPT).order_by("closed_at", "pk"):
        try:
            purge(account)
            gone += 1
        except ProtectedError as error:
            # Something was written for it after it was closed: a contract, say. Staff see that it is still there.
            logger.warning("The closed account %s cannot be deleted: %s", account.pk, error.args[0])
    return gone


def purge(account: Account) -> None:
    """Delete an account and all that hangs on its venues, in pieces, each a transaction of its own.

    Raises ProtectedError where something is not to be deleted; run it again to go on.
    """
    for venue in Venue.objects.filter(account=account).order_by("pk"):
        for rows in of_venue(venue):
            while empty(rows):
                pass
        venue.delete()
    account.delete()


def of_venue(venue: Venue) -> Iterator[models.QuerySet[Any]]:
    """All rows that name the venue: first those that would forbid its end, which others hang on."""
    named = [
        (field.remote_field.on_delete is not models.PROTECT, model._meta.label, model, field.name)
        for model in apps.get_models()
        for field in model._meta.concrete_fields
        if field.remote_field
        and field.related_model is Venue
        and field.remote_field.on_delete in (models.PROTECT, models.CASCADE)
    ]
    for _, _, model, name in sorted(named, key=lambda one: one[:2]):
        yield model._default_manager.filter(**{name: venue})


def empty(rows: models.QuerySet[Any]) -> bool:
    """Delete a piece of these rows; whether there may be more."""
    piece = list(rows.order_by("pk").values_list("pk", flat=True)[:PIECE])
    if piece:
        rows.model._default_manager.filter(pk__in=piece).delete()
    return len(piece) == PIECE


def forget(user: User, *, now: datetime) -> None:
    """Delete a user, and their part in teams. Raises StillNeeded where an open account would be nobody's."""
    with transaction.atomic():
        accounts = Account.objects.select_for_update(no_key=True, of=("self",))
        mine = accounts.filter(memberships__user=user, closed_at=None).order_by("pk")
        for account in mine:
            membership = Membership.objects.get(account=account, user=user)
            if membership.role != Role.OWNER:
                continue
            try:
                team.keep_an_owner(account, without=membership)
            except team.LastOwner as refusal:
                raise StillNeeded(
                    f"You are the only owner of {account.name}. Make another member an owner, or close the account."
                ) from refusal
        if user.is_staff:
            raise StillNeeded("Your account has access to the back office. Ask a colleague to remove it there.")
        Invitation.objects.filter(invited_by=user, accepted_at=None, withdrawn_at=None).update(withdrawn_at=now)
        user.delete()
