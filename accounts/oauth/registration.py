"""Registration of apps: by an account, and by themselves (RFC 7591). Both kinds of metadata are validated here."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils.translation import gettext as _

from accounts.models import Account, ApiKey, OAuthApp, OAuthGrant, Scope
from accounts.oauth import redirect_uris
from framework.api.rate_limits.middleware import count_within_an_hour
from framework.db.batched_delete import delete_in_batches
from framework.errors import InvalidRequest
from framework.public_ids import decode

# Apps that an account has registered and not removed.
MAX_APPS = 20
# Registrations an hour by one address: hosted clients register for each of their users.
MAX_REGISTRATIONS = 60
# An app that registered itself and was granted nothing is deleted after this time.
UNUSED_AFTER = timedelta(days=30)
MAX_NAME_LENGTH = 100
GRANT_TYPES = ("authorization_code", "refresh_token")


class InvalidClientMetadata(InvalidRequest):
    """The metadata of an app is malformed, or asks for what is not supported."""


class TooManyApps(InvalidRequest):
    """The account has MAX_APPS apps."""


@dataclass(frozen=True, slots=True)
class ClientMetadata:
    """The validated metadata of a public client (RFC 7591, section 2)."""

    name: str
    redirect_uris: Sequence[str]


def parse_metadata(values: Any, *, default_name: str = "") -> ClientMetadata:
    """Validate the metadata of a public client. Unknown members are ignored, as RFC 7591 says.

    Raises InvalidClientMetadata, InvalidRedirectUri.
    """
    if not isinstance(values, Mapping):
        raise InvalidClientMetadata("The metadata of a client is a JSON object.")
    uris = values.get("redirect_uris")
    if not isinstance(uris, list) or not uris or not all(isinstance(uri, str) for uri in uris):
        raise redirect_uris.InvalidRedirectUri("`redirect_uris` is a list of at least one URI.")
    grants = values.get("grant_types", ["authorization_code"])
    if not isinstance(grants, list) or "authorization_code" not in grants:
        raise InvalidClientMetadata("`grant_types` must contain `authorization_code`.")
    responses = values.get("response_types", ["code"])
    if not isinstance(responses, list) or "code" not in responses:
        raise InvalidClientMetadata("`response_types` must contain `code`.")
    name = values.get("client_name", default_name)
    if not isinstance(name, str):
        raise InvalidClientMetadata("`client_name` is a string.")
    # Characters that hide or reorder text could make one app look like another.
    printable = " ".join("".join(character if character.isprintable() else " " for character in name).split())
    return ClientMetadata(
        name=printable[:MAX_NAME_LENGTH].strip() or redirect_uris_host(uris),
        redirect_uris=redirect_uris.check_uris(uris),
    )


def redirect_uris_host(uris: Sequence[str]) -> str:
    """Return the host, or the scheme, of the first URI: the name of an app without a name."""
    found = re.match(r"(?:https?://)?([^/:?]{1,100})", uris[0])
    return found[1] if found else "app"


def register_dynamically(values: Any, *, address: str) -> OAuthApp:
    """Register a public client by its metadata (RFC 7591); `address` is the caller's network.

    Raises InvalidClientMetadata, InvalidRedirectUri, RateLimitExceeded.
    """
    count_within_an_hour("oauth-register", address, limit=MAX_REGISTRATIONS, what="registrations of apps")
    metadata = parse_metadata(values)
    return OAuthApp.objects.create(
        kind=OAuthApp.Kind.DYNAMIC, name=metadata.name, redirect_uris=list(metadata.redirect_uris)
    )


def register_app(
    account: Account, *, name: str, uris: Sequence[str], own_scopes: Sequence[str]
) -> tuple[OAuthApp, str]:
    """Register an app of an account; return it with its secret, which is not stored. Locks the account's row.

    Raises TooManyApps, InvalidRedirectUri, InvalidClientMetadata.
    """
    found = redirect_uris.check_uris(uris)
    if not found and not own_scopes:
        raise InvalidClientMetadata(_("Enter a redirect URI, or select scopes of its own."), param="redirect_uris")
    app = OAuthApp(
        kind=OAuthApp.Kind.REGISTERED,
        account=account,
        name=name,
        redirect_uris=found,
        own_scopes=[scope for scope in Scope.values if scope in own_scopes],
    )
    secret = app.set_secret()
    with transaction.atomic():
        Account.objects.select_for_update(no_key=True).get(pk=account.pk)
        if OAuthApp.objects.filter(account=account, disabled_at=None).count() >= MAX_APPS:
            message = _("An account can have at most %(number)s apps. Remove one that is not in use.")
            raise TooManyApps(message % {"number": MAX_APPS})
        app.save()
    return app, secret


def disable_app(app: OAuthApp, *, now: datetime) -> bool:
    """Disable an app for good, with all that was granted to it; return whether it was not disabled before."""
    with transaction.atomic():
        is_new = bool(OAuthApp.objects.filter(pk=app.pk, disabled_at=None).update(disabled_at=now))
        OAuthGrant.objects.filter(app=app).revoke(now=now)
    return is_new


def find_app_id(client_id: str) -> UUID | None:
    """Return the primary key that a client id of ours names; None for a URL or anything else."""
    return decode(OAuthApp.public_id, client_id)


def purge_unused_apps(*, now: datetime) -> None:
    """Delete apps that registered themselves, or are a document, and have neither grants nor logged calls."""
    apps = OAuthApp.objects.exclude(kind=OAuthApp.Kind.REGISTERED).filter(
        ~Exists(OAuthGrant.objects.filter(app=OuterRef("pk"))),
        ~Exists(ApiKey.objects.filter(app=OuterRef("pk"))),
        created_at__lte=now - UNUSED_AFTER,
        disabled_at=None,
    )
    delete_in_batches(apps.order_by("created_at"))
