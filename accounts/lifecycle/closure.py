"""Account closure: access ends at once, staff can reopen the account for 30 days, then its data is deleted.

Apps above this one register in AppConfig.ready what prevents a closure (GUARDS), and what ends with it (ENDERS).
"""

import logging
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

from django.apps import apps
from django.db import models, transaction
from django.db.models import ProtectedError
from django.utils.translation import gettext as _

from accounts.models import (
    Account,
    ApiKey,
    Invitation,
    Membership,
    OAuthApp,
    OAuthGrant,
    User,
    Venue,
    WebhookEndpoint,
)
from accounts.oauth import registration
from accounts.tenancy import team
from framework.db.batched_delete import delete_in_batches
from framework.errors import InvalidRequest

logger = logging.getLogger("tablewire.worker")

DELETION_DELAY = timedelta(days=30)
BATCH = 1_000

# Returns why an account cannot be closed now, as a message for its owner, or None.
ClosureGuard = Callable[[Account, datetime], str | None]
GUARDS: list[ClosureGuard] = []
# Ends what the account does to rows that are not its own. Called in the transaction of the closure, and again before
# the deletion.
ENDERS: list[Callable[[Account, datetime], None]] = []


class CannotClose(InvalidRequest):
    """The name was mistyped, or a guard prevents the closure."""


class CannotReopen(InvalidRequest):
    """The account is open, or its deletion is due."""


class UserStillRequired(InvalidRequest):
    """The user is the only owner of an account, or our staff."""


def find_blockers(account: Account, *, now: datetime) -> list[str]:
    """Return why the account cannot be closed now; empty if it can."""
    return [message for guard in GUARDS if (message := guard(account, now))]


def close_account(account: Account, *, name: str, now: datetime) -> None:
    """Close the account: revoke its keys and grants, disable its apps and endpoints, withdraw its invitations.

    The access of its members ends. `name` is the confirmation that the owner typed. Raises CannotClose.
    """
    if " ".join(name.split()) != " ".join(account.name.split()):
        message = _("Type the exact name of the account: %(account)s") % {"account": account.name}
        raise CannotClose(message, param="name")
    with transaction.atomic():
        locked = team.lock_account(account.pk)
        if blockers := find_blockers(locked, now=now):
            raise CannotClose(" ".join(blockers))
        Account.objects.filter(pk=locked.pk).update(closed_at=now)
        ApiKey.objects.filter(venue__account=locked).revoke(now=now)
        OAuthGrant.objects.filter(account=locked).revoke(now=now)
        for app in OAuthApp.objects.filter(account=locked, disabled_at=None):
            registration.disable_app(app, now=now)
        endpoints = WebhookEndpoint.objects.filter(venue__account=locked, disabled_at=None)
        endpoints.update(disabled_at=now, disabled_reason=WebhookEndpoint.DisabledReason.STAFF)
        Invitation.objects.filter(account=locked, accepted_at=None, withdrawn_at=None).update(withdrawn_at=now)
        locked.venues.update(is_bookable_online=False)
        for end in ENDERS:
            end(locked, now)


def reopen_account(account: Account, *, now: datetime) -> None:
    """Give the members access again; keys stay revoked and endpoints disabled. Raises CannotReopen.

    One conditional UPDATE: an account whose deletion is due is not found.
    """
    closed = Account.objects.filter(pk=account.pk, closed_at__gt=now - DELETION_DELAY)
    if not closed.update(closed_at=None):
        raise CannotReopen("The account is open, or it was closed more than 30 days ago.")


def delete_closed_accounts(*, now: datetime) -> int:
    """Delete the accounts that were closed 30 days ago; return how many. An interrupted run can be repeated."""
    deleted = 0
    for account in Account.objects.filter(closed_at__lte=now - DELETION_DELAY).order_by("closed_at", "pk"):
        for end in ENDERS:
            end(account, now)
        try:
            delete_account(account)
            deleted += 1
        except ProtectedError as error:
            # A row was added after the closure, such as a contract. Staff see that the account still exists.
            logger.warning("The closed account %s cannot be deleted: %s", account.pk, error.args[0])
    return deleted


def delete_account(account: Account) -> None:
    """Delete an account with all rows of its venues, in batches, each a transaction of its own.

    Raises ProtectedError if a row must not be deleted; a repeated call continues.
    """
    for venue in Venue.objects.filter(account=account).order_by("pk"):
        for rows in list_venue_rows(venue):
            delete_in_batches(rows.order_by("pk"), batch=BATCH)
        venue.delete()
    account.delete()


def list_venue_rows(venue: Venue) -> Iterator[models.QuerySet[Any]]:
    """Yield the rows of each model that references the venue; first those with PROTECT, which others depend on."""
    references = [
        (field.remote_field.on_delete is not models.PROTECT, model._meta.label, model, field.name)
        for model in apps.get_models()
        for field in model._meta.concrete_fields
        if field.remote_field
        and field.related_model is Venue
        and field.remote_field.on_delete in (models.PROTECT, models.CASCADE)
    ]
    for *_order, model, name in sorted(references, key=lambda reference: reference[:2]):
        yield model._default_manager.filter(**{name: venue})


def delete_user(user: User, *, now: datetime) -> None:
    """Delete a user with their memberships. Raises UserStillRequired."""
    with transaction.atomic():
        accounts = Account.objects.select_for_update(no_key=True, of=("self",))
        for account in accounts.filter(memberships__user=user, closed_at=None).order_by("pk"):
            membership = Membership.objects.get(account=account, user=user)
            if membership.role != Membership.Role.OWNER:
                continue
            try:
                team.check_owner_remains(account, without=membership)
            except team.LastOwner as refusal:
                raise UserStillRequired(
                    _("You are the only owner of %(account)s. Make another member an owner, or close the account.")
                    % {"account": account.name}
                ) from refusal
        if user.is_staff:
            raise UserStillRequired(
                _("Your account has access to the back office. Ask a colleague to remove it there.")
            )
        Invitation.objects.filter(invited_by=user, accepted_at=None, withdrawn_at=None).update(withdrawn_at=now)
        # Grants before their endpoints, as an app's request locks them; the deletion would begin at the endpoints.
        user.oauth_grants.revoke(now=now)
        user.delete()
