"""What a token gives access to, at this moment: nothing is cached, so that whatever ends an access ends it at once."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce
from django.http import HttpRequest

from accounts.api_keys.authentication import Unauthorized
from accounts.models import ApiKey, Membership, OAuthGrant, OAuthToken, Role, Venue, WebhookEndpoint
from accounts.models.api_keys import digest
from accounts.models.oauth import ACCESS_PREFIX, OAuthGrants, new_secret
from accounts.models.venues import PREFIX as VENUE
from accounts.models.venues import Venues
from accounts.oauth.resources import Resource, bearer_challenge
from accounts.tenancy.permissions import RIGHTS_BY_ROLE, Right
from framework.db.batched_delete import delete_in_batches
from framework.errors import InvalidRequest
from framework.public_ids import decode

# The header in which a token for several venues names one.
VENUE_HEADER = "Tablewire-Venue"
# Ended grants and expired tokens are kept so long, for the questions of their owners.
RETENTION = timedelta(days=30)
# The roles that may grant access, and without which it ends.
GRANTING_ROLES = [role for role in Role if Right.DEVELOPERS in RIGHTS_BY_ROLE[role]]
# The same for the data service, which is of the account as a whole: members limited to some venues have no access.
DATA_ROLES = [role for role in GRANTING_ROLES if Right.DATA in RIGHTS_BY_ROLE[role]]


class InvalidToken(Unauthorized):
    """The access token is unknown, expired, revoked or for another resource, or what it stands on has ended."""

    def __init__(self, message: str, *, path: str) -> None:
        super().__init__(message)
        self.headers = {"WWW-Authenticate": bearer_challenge(path)}


class AccessEnded(InvalidToken):
    """The person or the account of the token has no access any more."""

    def __init__(self, *, path: str) -> None:
        super().__init__("The person or the account of this access token has no access any more.", path=path)


class VenueRequired(InvalidRequest):
    """The token is for several venues, and the request names none."""


class VenueNotGranted(InvalidRequest):
    """The token is not for the venue that the request names."""


@dataclass(frozen=True, slots=True)
class Access:
    """A valid access token."""

    token: OAuthToken

    @property
    def grant(self) -> OAuthGrant:
        return self.token.grant


def is_access_token(text: str) -> bool:
    return text.startswith(ACCESS_PREFIX)


def find_membership(grant: OAuthGrant, roles: list[Role]) -> QuerySet[Membership]:
    """Return the membership of the grant's person, if it has one of the roles and is older than the grant: someone who
    left and came back grants again.
    """
    return list_memberships(account=grant.account_id, user=grant.user_id, since=grant.created_at, roles=roles)


def list_memberships(*, account: Any, user: Any, since: Any, roles: list[Role]) -> QuerySet[Membership]:
    """Return the memberships on which a grant stands; the values are of one, or OuterRefs to them."""
    return Membership.objects.filter(
        account=account, user=user, user__is_active=True, role__in=roles, created_at__lte=since
    )


def end_lost_access(grants: OAuthGrants, *, now: datetime) -> None:
    """Revoke those of these grants whose person may not grant them any more, and disable the webhook endpoints of the
    others at venues that the person has lost.

    Call it in the transaction of whatever changes members or users: no grant comes back with a role that somebody gets
    again. Three statements. A request that creates an endpoint locks its grant, too (`lock_grant`): it is either
    before the lock here, and its endpoint is found, or sees after it what the person has lost.
    """
    list(grants.filter(revoked_at=None).order_by("pk").select_for_update(no_key=True).values_list("pk"))

    def standing(roles: list[Role], prefix: str = "") -> QuerySet[Membership]:
        account, user, since = (OuterRef(f"{prefix}{name}") for name in ("account", "user", "created_at"))
        return list_memberships(account=account, user=user, since=since, roles=roles)

    everywhere, managing = Q(is_limited=False), standing(GRANTING_ROLES)
    of_all = managing.filter(everywhere | Q(venues__isnull=False))
    of_venue = managing.filter(everywhere | Q(venues=OuterRef("venue")))
    is_standing = (
        Q(Exists(of_all), resource=Resource.MANAGEMENT, venue=None)
        | Q(Exists(of_venue), resource=Resource.MANAGEMENT, venue__isnull=False)
        | ~Q(resource=Resource.MANAGEMENT) & Q(Exists(standing(DATA_ROLES).filter(everywhere)))
    )
    grants.filter(~is_standing, user__isnull=False).revoke(now=now)
    here = standing(GRANTING_ROLES, "grant__").filter(everywhere | Q(venues=OuterRef("venue")))
    lost = WebhookEndpoint.objects.filter(~Exists(here), grant__in=grants, grant__user__isnull=False)
    # Also those that were disabled before: enabled on the dashboard, one is not the app's again.
    ended = WebhookEndpoint.DisabledReason.APP_ENDED
    lost.exclude(disabled_reason=ended).update(disabled_at=Coalesce("disabled_at", now), disabled_reason=ended)


def lock_grant(grant: OAuthGrant, venue: Venue, *, path: str, now: datetime) -> None:
    """Lock an active grant that covers the venue until the transaction ends, so that what stands on it ends with it.

    Two statements: the second sees what was committed while the first waited. Raises AccessEnded.
    """
    active = OAuthGrant.objects.select_for_update(no_key=True, of=("self",)).active(now).filter(pk=grant.pk)
    if not active.exists() or not list_venues(grant).filter(pk=venue.pk).exists():
        raise AccessEnded(path=path)


def list_venues(grant: OAuthGrant) -> Venues:
    """Return the venues that the grant covers now: those of its account that its member still manages."""
    venues = Venue.objects.filter(account=grant.account_id, account__closed_at=None)
    if grant.venue_id is not None:
        venues = venues.filter(pk=grant.venue_id)
    if grant.user_id is None:
        return venues
    at_venue = Q(is_limited=False) | Q(venues=OuterRef("pk"))
    return venues.filter(Exists(find_membership(grant, GRANTING_ROLES).filter(at_venue)))


def find_access(text: str, *, resource: Resource, path: str, now: datetime) -> Access:
    """Return the access of a token for this resource. One query. Raises InvalidToken.

    `path` is the path of the resource, for the challenge. Check what it covers, too (`find_venue`,
    `check_data_access`).
    """
    token = OAuthToken.find(text, kind=OAuthToken.Kind.ACCESS)
    if token is None:
        raise InvalidToken("There is no such access token.", path=path)
    if not token.is_active(now):
        raise InvalidToken("This access token has expired or was revoked.", path=path)
    if token.grant.resource != resource:
        raise InvalidToken("This access token is for another resource.", path=path)
    return Access(token)


def check_account(access: Access, *, path: str) -> None:
    """Raise InvalidToken if the person has no venue of the account any more. One query."""
    if not list_venues(access.grant).exists():
        raise AccessEnded(path=path)


def check_data_access(access: Access, *, path: str) -> None:
    """Raise InvalidToken if the person may not use the data service of the account any more. One query."""
    membership = find_membership(access.grant, DATA_ROLES)
    if not membership.filter(account__closed_at=None, is_limited=False).exists():
        raise AccessEnded(path=path)


def purge_expired(*, now: datetime) -> None:
    """Delete tokens, and grants with their codes, a while after their end.

    A used code is kept as long as its grant, and a used refresh token until it expires, because a second use revokes
    the grant. The grant of an app itself stays, so that it stays revoked. An expired grant is revoked, which disables
    its webhook endpoints.
    """
    before = now - RETENTION
    OAuthGrant.objects.filter(expires_at__lte=now, user__isnull=False).revoke(now=now)
    over = OAuthGrant.objects.filter(Q(expires_at__lte=before) | Q(revoked_at__lte=before), user__isnull=False)
    delete_in_batches(over.order_by("expires_at"))
    delete_in_batches(OAuthToken.objects.filter(expires_at__lte=before).order_by("expires_at"))


def authenticate_app(request: HttpRequest, text: str, *, now: datetime) -> ApiKey:
    """Return the key that stands for the app of an access token at the venue of the request, with the token's scopes.

    Three queries; two more in the first call of an app at a venue. Raises InvalidToken, VenueRequired and
    VenueNotGranted.
    """
    path = "/api"
    access = find_access(text, resource=Resource.MANAGEMENT, path=path, now=now)
    venue = find_venue(access, request.headers.get(VENUE_HEADER), path=path)
    app = access.grant.app
    key, _is_new = ApiKey.objects.get_or_create(
        app=app,
        venue=venue,
        # Nobody knows this secret.
        defaults={"name": app.name, "digest": digest(new_secret("")), "start": app.public_id[:12], "end": ""},
    )
    access.grant.record_use(now=now)
    key.venue, key.scopes, key.name, key.grant = venue, access.token.scopes, app.name, access.grant
    return key


def find_venue(access: Access, named: str | None, *, path: str) -> Venue:
    """Return the venue of a request: the one that it names, or the only one of the token. One query."""
    venues = list_venues(access.grant).select_related("account")
    if named is None:
        found = list(venues[:2])
        if len(found) == 1:
            return found[0]
        if found:
            raise VenueRequired(
                f"This token is for several venues: name one in the header `{VENUE_HEADER}: ven_...`. The response to"
                " the token request lists them.",
                param=VENUE_HEADER,
            )
        raise AccessEnded(path=path)
    venue_id = decode(VENUE, named.strip())
    venue = venues.filter(pk=venue_id).first() if venue_id else None
    if venue is not None:
        return venue
    check_account(access, path=path)
    raise VenueNotGranted("This token is not for a venue with this id.", param=VENUE_HEADER)
