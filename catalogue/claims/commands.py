"""Commands of claims: request, confirm by code, decide and end.

Each locks the restaurant first, so that of two venues that claim it at once one succeeds; a unique constraint says so
again. A code goes only to an address at the domain of the website that the record has stated for a while.
"""

import ipaddress
import re
import secrets
import textwrap
from datetime import datetime, timedelta
from functools import cache
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.db.models import F, Q

from accounts import mail_outbox
from accounts.models import Account, Membership, User, Venue
from catalogue import reference_data
from catalogue.models import Listing, Restaurant, RestaurantClaim, Source, SourceRecord, Version
from framework.api.urls import public_url
from framework.errors import InvalidRequest, NotFound
from framework.signed_tokens import KeyedHash

State, Method = RestaurantClaim.State, RestaurantClaim.Method
CODE_HASH = KeyedHash("restaurant claim code")
# Of an owner's record while the claim is verified: that of no record of an import, and not MISSING.
OWNER_DIGEST = "owner"
CODE_DIGITS = 8
CODE_LIFETIME = timedelta(minutes=30)
MAX_ATTEMPTS = 5
# Claims of an account in a day, and mails with codes: of an account, and about a restaurant by all accounts.
MAX_CLAIMS_OF_ACCOUNT = 20
MAX_CODES_OF_ACCOUNT = 5
MAX_CODES_OF_RESTAURANT = 3
# Everybody can edit some of our sources: a website that is newer proves nothing.
MIN_WEBSITE_AGE = timedelta(days=30)
# The claimant chooses one of these, and writes no address.
MAX_HOST_LENGTH = 200
# A host that more restaurants state is of none of them alone.
MAX_RESTAURANTS_OF_HOST = 3
# In the name of a venue: what mail programs make a link of.
LINK = re.compile(r"\S*(?:/|@|\w\.\w{2,})\S*")
MAX_NAME_LENGTH = 60
MAILBOXES = ("info", "contact", "hello", "mail", "office", "reservations", "booking")


class ClaimRefused(InvalidRequest):
    """The restaurant cannot be claimed like this, or the claim is not in a state for it."""


class CodeRefused(InvalidRequest):
    """The code is wrong, has expired, or was tried too often."""


def find_current_claim(venue: Venue) -> RestaurantClaim | None:
    """Return the pending or verified claim of a venue, with its restaurant. One query."""
    claims = RestaurantClaim.objects.filter(venue=venue, state__in=RestaurantClaim.CURRENT)
    return claims.select_related("restaurant__market").first()


def list_code_addresses(restaurant: Restaurant, *, now: datetime) -> list[str]:
    """Return the addresses to which a code may be sent; none if the website proves nothing. At most three queries.

    The website has to be a domain alone: below a path it may be one of many at the host of somebody else, and mail
    providers and platforms are of none of their customers (data/shared_hosts.csv). One that an owner has entered is no
    proof for the next.
    """
    try:
        parts = urlsplit(restaurant.website or "")
        stated_host = (parts.hostname or "").removeprefix("www.")
        host = stated_host.encode("idna").decode()
        is_alone = parts.path in ("", "/") and not parts.query and parts.port is None
    except ValueError:
        return []
    if not is_alone or "." not in host or len(host) > MAX_HOST_LENGTH or _is_ip_address(host):
        return []
    if _is_shared(host):
        return []
    # The first version of a record has no patch.
    if restaurant.created_at > now - MIN_WEBSITE_AGE:
        return []
    newer = Version.objects.filter(restaurant=restaurant, at__gt=now - MIN_WEBSITE_AGE, patch__has_key="website")
    of_owner = SourceRecord.objects.filter(restaurant=restaurant, source=Source.OWNER, fields__contains=["website"])
    if newer.exists() or of_owner.exists() or _count_restaurants(stated_host) > MAX_RESTAURANTS_OF_HOST:
        return []
    return [address for mailbox in MAILBOXES if _is_email_address(address := f"{mailbox}@{host}")]


def _is_email_address(text: str) -> bool:
    try:
        validate_email(text)
    except ValidationError:
        return False
    return True


@cache
def _load_shared_hosts() -> frozenset[str]:
    return frozenset(row["domain"] for row in reference_data.read_csv("shared_hosts"))


def _is_shared(host: str) -> bool:
    """Whether this host or a domain above it is of a mail provider or platform."""
    labels = host.split(".")
    return any(".".join(labels[start:]) in _load_shared_hosts() for start in range(len(labels)))


def _count_restaurants(host: str) -> int:
    """The restaurants whose website is at this host, at most one more than may be. One query, by an index."""
    is_at_host = Q()
    for start in ("https://", "https://www.", "http://", "http://www."):
        is_at_host |= Q(website=f"{start}{host}") | Q(website__startswith=f"{start}{host}/")
    current = Restaurant.objects.filter(is_at_host, merged_into=None, erased_at=None)
    return current[: MAX_RESTAURANTS_OF_HOST + 1].count()


def _is_ip_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def request_claim(
    venue: Venue, restaurant: Restaurant, *, address: str = "", note: str = "", user: User, now: datetime
) -> RestaurantClaim:
    """Store a claim: verified at once if our staff have listed the restaurant with this venue, else with a code to
    `address`, else for our staff.

    What another venue has claimed or is listed with is always decided by our staff. Raises ClaimRefused, NotFound.
    """
    if not mail_outbox.is_within_limit("claims", str(venue.account_id), limit=MAX_CLAIMS_OF_ACCOUNT):
        raise ClaimRefused("Too many claims today. Try again tomorrow.")
    claim = RestaurantClaim(venue=venue, restaurant=restaurant, note=note, requested_by=user, created_at=now)
    with transaction.atomic():
        restaurant = _lock_restaurant(restaurant)
        is_listed, is_taken = _find_listings(restaurant, venue)
        if venue.is_sandbox and not is_listed:
            raise ClaimRefused("A sandbox cannot claim a restaurant. Use the restaurant itself.")
        is_taken |= RestaurantClaim.objects.filter(restaurant=restaurant, state=State.VERIFIED).exists()
        if is_listed and not is_taken:
            claim.method, claim.state, claim.decided_at = Method.LISTING, State.VERIFIED, now
        elif address and not is_taken:
            if address not in list_code_addresses(restaurant, now=now):
                raise ClaimRefused("No code can be sent to this address. Ask our staff.", param="address")
            claim.method, claim.state = Method.MAIL, State.CODE_SENT
            claim.address = address
        else:
            claim.method, claim.state = Method.STAFF, State.OPEN
        try:
            with transaction.atomic():
                claim.save(force_insert=True)
        except IntegrityError as error:
            raise ClaimRefused("This venue has a claim already.") from error
        if claim.state == State.CODE_SENT:
            _send_code(claim, now=now)
    return claim


def resend_code(claim: RestaurantClaim, *, now: datetime) -> None:
    """Send a new code, which replaces the old one. Raises ClaimRefused."""
    with transaction.atomic():
        _lock_restaurant(claim.restaurant)
        claim = _find_in_state(claim, State.CODE_SENT)
        if claim.address not in list_code_addresses(claim.restaurant, now=now):
            raise ClaimRefused("The website of the record has changed. Ask our staff.")
        _send_code(claim, now=now)


def _send_code(claim: RestaurantClaim, *, now: datetime) -> None:
    owners = User.objects.filter(memberships__account=claim.venue.account_id, memberships__role=Membership.Role.OWNER)
    if not owners.filter(emailaddress__verified=True).exists():
        raise ClaimRefused("An owner of the account has to confirm an email address first. Or ask our staff.")
    limits = (
        ("claims-of-account", claim.venue.account_id, MAX_CODES_OF_ACCOUNT),
        ("claims-of-restaurant", claim.restaurant_id, MAX_CODES_OF_RESTAURANT),
    )
    for policy, value, limit in limits:
        if not mail_outbox.is_within_limit(policy, str(value), limit=limit):
            raise ClaimRefused("Too many codes were sent today. Try again tomorrow, or ask our staff.")
    code = f"{secrets.randbelow(10**CODE_DIGITS):0{CODE_DIGITS}}"
    claim.code_hash = CODE_HASH.hexdigest(f"{claim.pk}:{code}")
    claim.attempts, claim.code_expires_at = 0, now + CODE_LIFETIME
    claim.save(update_fields=["code_hash", "attempts", "code_expires_at"])
    # A stranger reads the name that the claimant has chosen.
    name = textwrap.shorten(LINK.sub("", claim.venue.name), MAX_NAME_LENGTH, placeholder="...") or "A restaurant"
    context = {"venue": name, "restaurant": claim.restaurant.name, "code": code}
    mail_outbox.cancel(claim.public_id)
    mail_outbox.enqueue("catalogue/mail/claim_code", context, address=claim.address, now=now, topic=claim.public_id)


def confirm_code(claim: RestaurantClaim, code: str, *, now: datetime) -> None:
    """Verify a claim by its code. Call it outside of transactions: the attempt counts even if the code is wrong.

    Raises CodeRefused, ClaimRefused.
    """
    counted = RestaurantClaim.objects.filter(
        pk=claim.pk, state=State.CODE_SENT, attempts__lt=MAX_ATTEMPTS, code_expires_at__gt=now
    ).update(attempts=F("attempts") + 1)
    if not counted:
        raise CodeRefused("This code has expired, or was tried too often. Send a new one.", param="code")
    claim = RestaurantClaim.objects.select_related("restaurant", "venue").get(pk=claim.pk)
    if not CODE_HASH.matches(f"{claim.pk}:{code}", claim.code_hash):
        raise CodeRefused("This code is wrong.", param="code")
    with transaction.atomic():
        restaurant = _lock_restaurant(claim.restaurant)
        if claim.address not in list_code_addresses(restaurant, now=now):
            raise ClaimRefused("The website of the record has changed. Ask our staff.")
        _verify(claim, Q(state=State.CODE_SENT, code_hash=claim.code_hash), by=None, now=now)


def ask_staff(claim: RestaurantClaim, *, note: str) -> None:
    """Leave the decision to our staff instead of a code. Raises ClaimRefused."""
    waiting = RestaurantClaim.objects.filter(pk=claim.pk, state=State.CODE_SENT)
    if not waiting.update(state=State.OPEN, method=Method.STAFF, code_hash="", code_expires_at=None, note=note):
        raise ClaimRefused("This claim no longer waits for a code.")
    mail_outbox.cancel(claim.public_id)


def approve(claim: RestaurantClaim, *, staff: User, now: datetime) -> None:
    """Verify a claim that waits for our staff; an earlier claim of another venue ends. Raises ClaimRefused."""
    with transaction.atomic():
        _lock_restaurant(claim.restaurant)
        for other in RestaurantClaim.objects.filter(restaurant=claim.restaurant_id, state=State.VERIFIED):
            _end(other, by=staff, reason="Another venue was verified.", now=now)
        _verify(claim, Q(state=State.OPEN), by=staff, now=now)
        _mail_decision(claim, is_approved=True, now=now)


def refuse(claim: RestaurantClaim, *, staff: User, reason: str, now: datetime) -> None:
    """Refuse a claim that waits for our staff. Raises ClaimRefused."""
    with transaction.atomic():
        changed = RestaurantClaim.objects.filter(pk=claim.pk, state=State.OPEN).update(
            state=State.REFUSED, reason=reason, decided_by=staff, decided_at=now
        )
        if not changed:
            raise ClaimRefused("This claim was already decided, or it was withdrawn.")
        claim.reason = reason
        _mail_decision(claim, is_approved=False, now=now)


def end_claim(claim: RestaurantClaim, *, by: User, reason: str, now: datetime) -> None:
    """End a pending or verified claim, and switch the listing off. Raises ClaimRefused.

    What the venue has stated stays until an import states something else.
    """
    with transaction.atomic():
        _lock_restaurant(claim.restaurant)
        if not _end(claim, by=by, reason=reason, now=now):
            raise ClaimRefused("This claim has ended already.")


def end_claims_of_account(account: Account, now: datetime) -> None:
    """End the claims of an account that is closed: imports may change its restaurants again."""
    claims = RestaurantClaim.objects.filter(venue__account=account, state__in=RestaurantClaim.CURRENT)
    with transaction.atomic():
        # In the order in which a merger locks them.
        list(
            Restaurant.objects.select_for_update(no_key=True).filter(pk__in=claims.values("restaurant")).order_by("pk")
        )
        for claim in claims:
            _end(claim, by=None, reason="The account was closed.", now=now)


def _end(claim: RestaurantClaim, *, by: User | None, reason: str, now: datetime) -> bool:
    claims = RestaurantClaim.objects.filter(pk=claim.pk, state__in=RestaurantClaim.CURRENT)
    state = claims.values_list("state", flat=True).first()
    if not claims.update(state=State.ENDED, reason=reason, code_hash="", decided_by=by, decided_at=now):
        return False
    mail_outbox.cancel(claim.public_id)
    listings = Listing.objects.filter(restaurant=claim.restaurant_id, venue=claim.venue_id)
    if state != State.VERIFIED:
        listings = listings.filter(by_staff=False)
    listings.update(is_active=False)
    if state == State.VERIFIED:
        records = SourceRecord.objects.filter(restaurant=claim.restaurant_id)
        records.filter(source=Source.OWNER).update(digest=SourceRecord.MISSING)
        # An empty digest matches no record, so the next import reads the rows again.
        records.exclude(source=Source.OWNER).update(digest="")
    return True


def _verify(claim: RestaurantClaim, is_expected: Q, *, by: User | None, now: datetime) -> None:
    """Verify a claim if it still is as expected. The caller has a transaction."""
    restaurant = _lock_restaurant(claim.restaurant)
    if _find_listings(restaurant, claim.venue)[1]:
        raise ClaimRefused("The restaurant or the venue is listed with another one. Our staff change that first.")
    try:
        with transaction.atomic():
            changed = RestaurantClaim.objects.filter(is_expected, pk=claim.pk).update(
                state=State.VERIFIED, code_hash="", decided_by=by, decided_at=now
            )
    except IntegrityError as error:
        raise ClaimRefused("Another venue has claimed this restaurant in the meantime. Ask our staff.") from error
    if not changed:
        raise ClaimRefused("This claim was decided or withdrawn in the meantime.")
    # Of a claim that was verified before its restaurant was merged.
    SourceRecord.objects.filter(source=Source.OWNER, record=claim.public_id).update(digest=OWNER_DIGEST)


def _find_in_state(claim: RestaurantClaim, state: str) -> RestaurantClaim:
    claims = RestaurantClaim.objects.select_related("restaurant", "venue")
    current = claims.filter(pk=claim.pk, state=state).first()
    if current is None:
        raise ClaimRefused("This claim was decided or withdrawn in the meantime.")
    return current


def _find_listings(restaurant: Restaurant, venue: Venue) -> tuple[bool, bool]:
    """Whether our staff have listed them with each other, and whether one of them is listed with another. One query.

    A listing that is switched off says nothing: that of a claim that ended is.
    """
    listings = Listing.objects.filter(Q(restaurant=restaurant) | Q(venue=venue), is_active=True)
    by_staff = {(row.restaurant_id, row.venue_id): row.by_staff for row in listings}
    is_listed = by_staff.pop((restaurant.pk, venue.pk), False)
    return is_listed, bool(by_staff)


def _lock_restaurant(restaurant: Restaurant) -> Restaurant:
    row = Restaurant.objects.select_for_update(no_key=True).filter(pk=restaurant.pk, merged_into=None, erased_at=None)
    found = row.first()
    if found is None:
        raise NotFound("This restaurant no longer exists.")
    return found


def _mail_decision(claim: RestaurantClaim, *, is_approved: bool, now: datetime) -> None:
    if claim.requested_by is None:
        return
    context = {
        "restaurant": claim.restaurant.name,
        "is_approved": is_approved,
        "reason": claim.reason,
        "link": public_url(f"/dashboard/{claim.venue.public_id}/listing"),
    }
    mail_outbox.enqueue(
        "catalogue/mail/claim_decided",
        context,
        address=claim.requested_by.email,
        now=now,
        topic=claim.public_id,
    )
