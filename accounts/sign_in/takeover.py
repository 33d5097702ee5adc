"""Password resets: what whoever used an address before can no longer use after its owner has set a password.

Setting a password ends all other sessions. Confirmed addresses and second factors stay, as only their user can have
added them.
"""

import logging

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.contrib import messages
from django.db import transaction
from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import Account, ApiKey, Invitation, Membership, OAuthApp, OAuthGrant, User, WebhookEndpoint
from accounts.oauth import registration
from accounts.tenancy.team import Role, verify_email
from accounts.webhooks import endpoints

logger = logging.getLogger("tablewire.sign_in")


def secure_user(user: User, *, request: HttpRequest) -> None:
    """Remove the unconfirmed addresses of a user who has set a new password by a mailed link.

    If no address was confirmed before, anybody may have signed up with it: then the link confirms it, and everything
    that the one before may have kept is withdrawn.
    """
    addresses = EmailAddress.objects.filter(user=user)
    with transaction.atomic():
        is_unconfirmed = addresses.filter(email__iexact=user.email, verified=False).exists()
        is_first_proof = is_unconfirmed and not addresses.filter(verified=True).exists()
        addresses.filter(verified=False).exclude(email__iexact=user.email).delete()
        if not is_first_proof:
            return
        verify_email(user, user.email)
        withdraw_access(user)
    logger.info("an address was confirmed by a password reset: keys, webhooks and members were withdrawn")
    messages.warning(
        request,
        _(
            "This address was not confirmed before. In case another person had signed up with it, all API keys,"
            " webhook endpoints, second factors and other members of its account were removed."
        ),
    )


def withdraw_access(user: User) -> None:
    """Revoke the keys and grants, disable the apps and webhooks and remove the other members of the accounts that the
    user owns, and delete the user's second factors.
    """
    now = timezone.now()
    Authenticator.objects.filter(user=user).delete()
    owned = Account.objects.filter(memberships__user=user, memberships__role=Role.OWNER)
    ApiKey.objects.filter(venue__account__in=owned).active(now).update(revoked_at=now)
    OAuthGrant.objects.filter(Q(account__in=owned) | Q(user=user)).revoke(now=now)
    for app in OAuthApp.objects.filter(account__in=owned, disabled_at=None):
        registration.disable_app(app, now=now)
    for endpoint in WebhookEndpoint.objects.filter(venue__account__in=owned, disabled_at=None):
        endpoints.disable(endpoint, now=now)
    Membership.objects.filter(account__in=owned).exclude(user=user).delete()
    Invitation.objects.filter(account__in=owned, accepted_at=None, withdrawn_at=None).update(withdrawn_at=now)
