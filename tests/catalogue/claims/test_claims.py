"""Claims: who may have a code and where it goes, guessing, two claims at once, and what staff decide."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import connection

from accounts import mail_outbox
from accounts.lifecycle import closure
from accounts.models import OutgoingMail, User, Venue
from catalogue import places
from catalogue.claims import commands, editing
from catalogue.claims.commands import ClaimRefused, CodeRefused
from catalogue.models import Listing, Restaurant, RestaurantClaim, SourceRecord
from framework.encryption import decrypt
from framework.errors import ApiError
from tests.catalogue import builders
from tests.catalogue.builders import NOW
from tests.catalogue.claims.claim_builders import claimed, confirmed, fiskebar, last_code
from tests.support import builders as venues
from tests.support import users

pytestmark = pytest.mark.django_db
ADDRESS = "info@fiskebar.example"
MONTHS_AGO = NOW - timedelta(days=60)


@pytest.fixture
def place() -> Restaurant:
    """A restaurant whose website is older than a month."""
    return fiskebar(created_at=MONTHS_AGO)


@pytest.fixture
def owner(venue: Venue) -> User:
    return confirmed(users.membership(venue).user)


def ask(venue: Venue, place: Restaurant, user: User, address: str = ADDRESS, **rest: Any) -> RestaurantClaim:
    return commands.request_claim(venue, place, address=address, user=user, now=NOW, **rest)


@pytest.mark.parametrize(
    ("website", "host"),
    [
        ("https://www.fiskebar.example", "fiskebar.example"),
        ("http://fiskebar.example/", "fiskebar.example"),
        ("https://smørrebrød.example", "xn--smrrebrd-64af.example"),
        # One of many at the host of somebody else.
        ("https://facebook.com/fiskebar", None),
        ("https://fiskebar.example:8443", None),
        ("https://192.0.2.7", None),
        ("https://localhost", None),
        ("https://[broken", None),
        ("https://fiske_bar.example", None),
        ("https://-fiskebar.example", None),
        # Anybody may have a mailbox or a site there.
        ("https://gmail.com", None),
        ("https://www.instagram.com/", None),
        ("https://fiskebar.wixsite.com", None),
        ("https://notgmail.com", "notgmail.com"),
        (None, None),
    ],
)
def test_a_code_goes_only_to_the_domain_of_a_website_of_its_own(website: str | None, host: str | None) -> None:
    addresses = commands.list_code_addresses(Restaurant(website=website, created_at=MONTHS_AGO), now=NOW)
    assert addresses == ([f"{mailbox}@{host}" for mailbox in commands.MAILBOXES] if host else [])


def test_a_website_of_this_month_proves_nothing(place: Restaurant) -> None:
    assert ADDRESS in commands.list_code_addresses(place, now=NOW)
    Restaurant.objects.filter(pk=place.pk).update(website="https://mallory.example", updated_at=NOW)
    place.refresh_from_db()
    assert commands.list_code_addresses(place, now=NOW + timedelta(days=29)) == []
    assert commands.list_code_addresses(place, now=NOW + timedelta(days=40))[0] == "info@mallory.example"


def test_the_website_of_a_new_record_proves_nothing() -> None:
    made = fiskebar(created_at=NOW - timedelta(days=29))
    assert commands.list_code_addresses(made, now=NOW) == []
    assert ADDRESS in commands.list_code_addresses(made, now=NOW + timedelta(days=1))


def test_a_website_at_a_host_of_many_restaurants_proves_nothing(place: Restaurant) -> None:
    for website in ("http://fiskebar.example/harbour", "https://fiskebar.example", "https://fiskebar.example.dk"):
        fiskebar(slug=f"place-{website[-7:]}".replace(".", "-"), website=website)
    assert ADDRESS in commands.list_code_addresses(place, now=NOW)
    fiskebar(slug="fourth", website="https://www.fiskebar.example/centre")
    assert commands.list_code_addresses(place, now=NOW) == []


def test_a_website_that_an_owner_has_entered_proves_nothing(venue: Venue, place: Restaurant, owner: User) -> None:
    claim = claimed(place, venue)
    editing.update_fields(claim, {"website": "https://mallory.example"}, now=NOW)
    commands.end_claim(claim, by=owner, reason="", now=NOW)
    place.refresh_from_db()
    assert commands.list_code_addresses(place, now=NOW + timedelta(days=400)) == []


def test_a_code_verifies_the_claim_once(venue: Venue, place: Restaurant, owner: User) -> None:
    claim = ask(venue, place, owner)
    assert (claim.state, OutgoingMail.objects.get().address) == ("code_sent", ADDRESS)
    code = last_code(claim)
    claim.refresh_from_db()
    assert code not in claim.code_hash
    commands.confirm_code(claim, code, now=NOW)
    claim.refresh_from_db()
    assert (claim.state, claim.code_hash, claim.decided_at) == ("verified", "", NOW)
    with pytest.raises(CodeRefused):
        commands.confirm_code(claim, code, now=NOW)


def test_an_address_that_the_record_does_not_state_gets_no_code(venue: Venue, place: Restaurant, owner: User) -> None:
    with pytest.raises(ClaimRefused):
        ask(venue, place, owner, "mallory@example.com")
    assert not OutgoingMail.objects.exists()
    assert not RestaurantClaim.objects.exists()


def test_a_code_expires_and_a_new_one_replaces_it(venue: Venue, place: Restaurant, owner: User) -> None:
    claim = ask(venue, place, owner)
    first = last_code(claim)
    with pytest.raises(CodeRefused):
        commands.confirm_code(claim, first, now=NOW + timedelta(minutes=31))
    later = NOW + timedelta(minutes=40)
    commands.resend_code(claim, now=later)
    with pytest.raises(CodeRefused):
        commands.confirm_code(claim, first, now=later)
    commands.confirm_code(claim, last_code(claim), now=later)


def test_codes_about_a_restaurant_are_limited_for_all_accounts(place: Restaurant) -> None:
    for number in range(commands.MAX_CODES_OF_RESTAURANT):
        other = venues.venue(f"Venue {number}")
        ask(other, place, confirmed(users.membership(other).user))
    last = venues.venue("Last")
    user = confirmed(users.membership(last).user)
    with pytest.raises(ClaimRefused, match="Too many codes"):
        ask(last, place, user)
    assert ask(last, place, user, "").state == "open"


def test_a_code_needs_a_confirmed_owner_and_its_mail_has_no_link_of_theirs(venue: Venue, place: Restaurant) -> None:
    user = users.membership(venue).user
    with pytest.raises(ClaimRefused, match="confirm an email address"):
        ask(venue, place, user)
    venue.name = "Win at https://mallory.example/a or mallory.example now " + "x " * 60
    claim = ask(venue, place, confirmed(user))
    text = decrypt(OutgoingMail.objects.get(topic=claim.public_id).text, purpose=mail_outbox.PURPOSE)
    assert "mallory" not in text
    assert "Win at or now x x" in text


def test_staff_approve_and_refuse_with_a_mail(venue: Venue, place: Restaurant, owner: User) -> None:
    staff = users.user(is_staff=True)
    claim = ask(venue, place, owner, "", note="Ask for Ada")
    assert (claim.state, claim.method) == ("open", "staff")
    commands.refuse(claim, staff=staff, reason="Nobody knows you there.", now=NOW)
    with pytest.raises(ClaimRefused):
        commands.approve(claim, staff=staff, now=NOW)
    second = ask(venue, place, owner, "")
    commands.approve(second, staff=staff, now=NOW)
    second.refresh_from_db()
    assert (second.state, second.decided_by) == ("verified", staff)
    mails = list(OutgoingMail.objects.order_by("pk").values_list("address", "subject"))
    assert mails == [
        (owner.email, "Your claim of Fiskebar was refused"),
        (owner.email, "Fiskebar is yours to edit"),
    ]


def test_a_claimed_restaurant_is_decided_by_staff_and_the_earlier_claim_ends(
    venue: Venue, place: Restaurant, owner: User
) -> None:
    former = claimed(place, venues.venue("Former"))
    listing = builders.listing(place, former.venue)
    claim = ask(venue, place, owner)
    assert claim.state == "open"
    commands.approve(claim, staff=users.user(is_staff=True), now=NOW)
    former.refresh_from_db()
    listing.refresh_from_db()
    assert (former.state, former.reason) == ("ended", "Another venue was verified.")
    assert not listing.is_active


def test_a_listing_by_staff_verifies_its_venue_and_no_other(venue: Venue, place: Restaurant, owner: User) -> None:
    other = venues.venue("Other")
    listing = builders.listing(place, venue)
    waiting = ask(other, place, users.membership(other).user)
    assert waiting.state == "open"
    with pytest.raises(ClaimRefused, match="listed with another"):
        commands.approve(waiting, staff=owner, now=NOW)
    claim = ask(venue, place, owner, "")
    assert (claim.state, claim.method) == ("verified", "listing")
    # Whose claim our staff have ended is not verified again by what it has left.
    commands.end_claim(claim, by=owner, reason="", now=NOW)
    listing.refresh_from_db()
    assert (listing.is_active, ask(venue, place, owner, "").state) == (False, "open")


def test_a_claim_that_ends_lets_imports_and_others_in(venue: Venue, place: Restaurant, owner: User) -> None:
    claim = claimed(place, venue)
    listing = builders.listing(place, venue)
    osm = builders.listed(place)
    editing.update_fields(claim, {"phone": "+4532155656"}, now=NOW)
    commands.end_claim(claim, by=owner, reason="", now=NOW)
    listing.refresh_from_db()
    osm.refresh_from_db()
    assert (listing.is_active, osm.digest) == (False, "")
    assert SourceRecord.objects.get(source="owner").digest == SourceRecord.MISSING
    with pytest.raises(editing.NotClaimed):
        editing.update_fields(claim, {"phone": None}, now=NOW)
    with pytest.raises(ClaimRefused):
        commands.end_claim(claim, by=owner, reason="", now=NOW)


def test_a_claim_of_a_merged_restaurant_waits_for_staff(venue: Venue, place: Restaurant, owner: User) -> None:
    claim = claimed(place, venue)
    editing.update_fields(claim, {"phone": "+4532155656", "menu_url": "https://fiskebar.example/menu"}, now=NOW)
    survivor = fiskebar(slug="survivor", phone="+4532155657")
    places.merge(place, survivor, actor="staff:1", now=NOW)
    claim = RestaurantClaim.objects.get()
    record = SourceRecord.objects.get(source="owner")
    assert claim.restaurant_id == record.restaurant_id == survivor.pk
    # The survivor keeps its phone number.
    assert record.fields == ["menu_url"]
    assert (claim.state, record.digest) == ("open", SourceRecord.MISSING)
    commands.approve(claim, staff=owner, now=NOW)
    record.refresh_from_db()
    assert record.digest == commands.OWNER_DIGEST
    assert editing.update_fields(claim, {"phone": "+4532155656"}, now=NOW) == {"phone"}


def test_a_merger_switches_off_what_the_owner_of_the_loser_has_turned_on(
    venue: Venue, place: Restaurant, owner: User
) -> None:
    duplicate = fiskebar(slug="duplicate", website=None)
    claim = claimed(duplicate, venue)
    Venue.objects.filter(pk=venue.pk).update(timezone="Europe/Copenhagen")
    claim.venue.refresh_from_db()
    editing.set_bookable(claim, is_active=True, now=NOW)
    places.merge(duplicate, place, actor="staff:1", now=NOW)
    assert not Listing.objects.get().is_active
    # Not even an active listing proves anything, as our staff have not made it; and it ends with the pending claim.
    Listing.objects.update(is_active=True)
    commands.end_claim(RestaurantClaim.objects.get(), by=owner, reason="", now=NOW)
    assert not Listing.objects.get().is_active
    Listing.objects.update(is_active=True)
    assert ask(venue, place, owner, "").state == "open"


def test_a_code_verifies_neither_a_merged_restaurant_nor_one_with_another_website(
    venue: Venue, place: Restaurant, owner: User
) -> None:
    duplicate = fiskebar(slug="duplicate", created_at=MONTHS_AGO)
    claim = ask(venue, duplicate, owner)
    code = last_code(claim)
    Restaurant.objects.filter(pk=duplicate.pk).update(website="https://other.example", updated_at=NOW)
    with pytest.raises(ClaimRefused, match="website of the record has changed"):
        commands.confirm_code(claim, code, now=NOW)
    Restaurant.objects.filter(pk=duplicate.pk).update(website="https://fiskebar.example")
    places.merge(duplicate, place, actor="staff:1", now=NOW)
    with pytest.raises(CodeRefused):
        commands.confirm_code(claim, code, now=NOW)
    moved = RestaurantClaim.objects.get()
    assert (moved.restaurant, moved.state, moved.method, moved.code_hash) == (place, "open", "staff", "")


def test_a_listing_by_staff_outlives_a_merger_and_a_pending_claim(
    venue: Venue, place: Restaurant, owner: User
) -> None:
    duplicate = fiskebar(slug="duplicate")
    listing = builders.listing(duplicate, venue)
    ask(venue, duplicate, owner, "")
    places.merge(duplicate, place, actor="staff:1", now=NOW)
    commands.end_claim(RestaurantClaim.objects.get(), by=owner, reason="", now=NOW)
    listing.refresh_from_db()
    assert (listing.restaurant, listing.is_active) == (place, True)


def test_an_erasure_removes_the_claim(venue: Venue, place: Restaurant) -> None:
    claimed(place, venue)
    places.erase(place, actor="staff:1", now=NOW)
    assert not RestaurantClaim.objects.exists()


def test_claims_end_with_the_closure_of_the_account(venue: Venue, place: Restaurant, owner: User) -> None:
    claim = claimed(place, venue)
    listing = builders.listing(place, venue)
    osm = builders.listed(place)
    editing.update_fields(claim, {"phone": "+4532155656"}, now=NOW)
    second = Venue.objects.create(account=venue.account, name="Second", timezone=venue.timezone)
    pending = ask(second, fiskebar(slug="second"), owner, "")
    closure.close_account(venue.account, name=venue.account.name, now=NOW)
    for row in (claim, pending, listing, osm):
        row.refresh_from_db()
    assert (claim.state, pending.state, listing.is_active, osm.digest) == ("ended", "ended", False, "")
    # Also a claim that was made while the account was closed.
    RestaurantClaim.objects.filter(pk=claim.pk).update(state="verified")
    SourceRecord.objects.update(digest=commands.OWNER_DIGEST)
    assert closure.delete_closed_accounts(now=NOW + closure.DELETION_DELAY) == 1
    assert SourceRecord.objects.get(source="owner").digest == SourceRecord.MISSING


# At once
def at_once(calls: list[Callable[[], object]]) -> Counter[str]:
    """Run the calls in threads; how many ended in which way."""

    def run(call: Callable[[], object]) -> str:
        try:
            call()
        except ApiError as refusal:
            return type(refusal).__name__
        finally:
            connection.close()
        return "done"

    with ThreadPoolExecutor(len(calls)) as threads:
        return Counter(threads.map(run, calls))


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_of_venues_that_enter_their_codes_at_once_one_is_verified(place: Restaurant) -> None:
    claims = []
    for number in range(3):
        venue = venues.venue(f"Venue {number}")
        claims.append(ask(venue, place, confirmed(users.membership(venue).user)))
    codes = [last_code(claim) for claim in claims]
    ended = at_once(
        [partial(commands.confirm_code, claim, code, now=NOW) for claim, code in zip(claims, codes, strict=True)]
    )
    assert ended == {"done": 1, "ClaimRefused": 2}
    assert RestaurantClaim.objects.filter(state="verified").count() == 1


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_a_code_is_tried_five_times_however_many_try_at_once(venue: Venue, place: Restaurant, owner: User) -> None:
    claim = ask(venue, place, owner)
    code = last_code(claim)
    wrong = "00000000" if code != "00000000" else "00000001"
    ended = at_once([partial(commands.confirm_code, claim, wrong, now=NOW)] * 12)
    claim.refresh_from_db()
    assert (ended, claim.attempts, claim.state) == ({"CodeRefused": 12}, commands.MAX_ATTEMPTS, "code_sent")
    with pytest.raises(CodeRefused, match="tried too often"):
        commands.confirm_code(claim, code, now=NOW)


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_a_venue_that_claims_twice_at_once_has_one_claim(venue: Venue, place: Restaurant, owner: User) -> None:
    second = fiskebar(slug="second")
    ended = at_once([partial(ask, venue, each, owner, "") for each in (place, second, place)])
    assert ended == {"done": 1, "ClaimRefused": 2}
    assert RestaurantClaim.objects.count() == 1
    assert not Listing.objects.exists()
