"""The pages of a claim and of a claimed restaurant, as an owner and as our staff use them."""

import io
import re
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.test import Client
from django.utils import timezone
from PIL import Image
from pytest_django import DjangoAssertNumQueries, Settings

import tests.support.builders
from accounts.models import Venue
from catalogue.models import FlowRule, FlowSlot, Photo, Restaurant, RestaurantClaim, Review
from catalogue.offers import materialize_slots
from framework.public_ids import encode
from tests.catalogue import builders
from tests.catalogue.builders import NOW
from tests.catalogue.claims.claim_builders import claimed, confirmed, fiskebar, last_code
from tests.catalogue.html import address
from tests.support import users

pytestmark = [pytest.mark.django_db, pytest.mark.exhaustive]


@pytest.fixture
def owner(venue: Venue) -> Client:
    person = confirmed(users.membership(venue).user)
    person.remember_venue(venue)
    return users.signed_in(person)


@pytest.fixture
def place() -> Restaurant:
    return fiskebar(
        line1="Flæsketorvet 100",
        phone="+4532155656",
        hours=builders.week("17:30", "23:00"),
        created_at=timezone.now() - timedelta(days=60),
    )


@pytest.fixture
def claim(venue: Venue, place: Restaurant) -> RestaurantClaim:
    return claimed(place, venue)


def at(venue: Venue, rest: str = "") -> str:
    return f"/dashboard/{venue.public_id}/listing{rest}"


def text(answer: Any) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())).split())


def test_an_owner_finds_claims_and_verifies_the_restaurant(venue: Venue, owner: Client, place: Restaurant) -> None:
    assert owner.get(at(venue)).status_code == 200
    found = owner.get(at(venue), {"name": "Fiskebar", "market": "copenhagen"})
    url = at(venue, f"/claim/{encode('rst', place.pk)}")
    assert url in found.content.decode()
    assert "info@fiskebar.example" in text(owner.get(url))
    assert owner.post(url, {"address": "mallory@example.com"}).status_code == 400
    page = owner.post(url, {"address": "info@fiskebar.example"}, follow=True)
    assert "We sent a code to info@fiskebar.example." in text(page)
    claim = RestaurantClaim.objects.get()
    for wrong in ("", "12", "abcdefgh"):
        assert owner.post(at(venue, "/step/code"), {"code": wrong}).status_code == 400
    code = last_code(claim)
    page = owner.post(at(venue, "/step/code"), {"code": f"{code[:4]} {code[4:]}"}, follow=True)
    assert "Fiskebar is yours to edit." in text(page)
    page = owner.post(at(venue, "/step/end"), follow=True)
    claim.refresh_from_db()
    assert (claim.state, "Is it one of these?" in text(page)) == ("ended", False)


def test_the_first_search_states_no_verdict(venue: Venue, owner: Client) -> None:
    builders.market("copenhagen")
    Venue.objects.filter(pk=venue.pk).update(timezone="Europe/Copenhagen", address="", phone="")
    page = owner.get(at(venue))
    assert ("No restaurant found" in text(page), "Our directory has no city" in text(page)) == (False, False)
    assert 'value="copenhagen" selected' not in page.content.decode()
    assert "No restaurant found" in text(owner.get(at(venue), {"name": "Nowhere", "market": "copenhagen"}))
    Venue.objects.filter(pk=venue.pk).update(timezone="Pacific/Apia")
    assert "Our directory has no city in your time zone (Pacific/Apia) yet." in text(owner.get(at(venue)))


def test_staff_decide_in_the_back_office_and_can_end_a_claim(venue: Venue, owner: Client, place: Restaurant) -> None:
    owner.post(at(venue, f"/claim/{encode('rst', place.pk)}"), {"note": "Ask for Ada"})
    claim = RestaurantClaim.objects.get()
    staff = tests.support.builders.staff()
    url = address(RestaurantClaim, "change", claim.pk)
    page = staff.get(url)
    assert "Ask for Ada" in text(page)
    # Enter in "Reason" presses the first button.
    assert re.findall(r'name="verdict" value="(\w+)"', page.content.decode()) == ["refuse", "approve", "take"]
    assert "Enter a reason" in text(staff.post(url, {"verdict": "refuse"}, follow=True))
    assert "was verified" in text(staff.post(url, {"verdict": "approve"}, follow=True))
    sent = {"action": "end", "_selected_action": [claim.pk], "confirmed": "yes"}
    assert "no longer keeps" in text(staff.post(address(RestaurantClaim, "changelist"), sent, follow=True))
    claim.refresh_from_db()
    assert claim.state == "ended"


@pytest.mark.parametrize(("group", "state"), [("Data editor", "open"), ("Finance", "open"), ("Support", "verified")])
def test_of_our_groups_only_support_decides_claims(venue: Venue, place: Restaurant, group: str, state: str) -> None:
    claim = claimed(place, venue, state="open", decided_at=None)
    person = users.user(is_staff=True)
    person.groups.add(Group.objects.get_or_create(name=group)[0])
    answer = users.signed_in(person).post(address(RestaurantClaim, "change", claim.pk), {"verdict": "approve"})
    claim.refresh_from_db()
    assert (answer.status_code, claim.state) == (302 if state == "verified" else 403, state)


def test_a_page_without_a_verified_claim_is_not_found(venue: Venue, owner: Client) -> None:
    for rest in ("/reviews", "/offers", "/offers/new"):
        assert owner.get(at(venue, rest)).status_code == 404
    assert owner.post(at(venue, "/save/details"), {}).status_code == 404


def test_details_hours_and_special_days_are_saved(
    venue: Venue, owner: Client, claim: RestaurantClaim, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(5 + 2):
        assert "Description and contact" in text(owner.get(at(venue)))
    version = Restaurant.objects.get().version
    sent = {"details-description": "Fish", "details-phone": "3215 5657", "details-shown_version": version}
    answer = owner.post(at(venue, "/save/details"), sent)
    assert answer["Location"] == f"{at(venue)}#details"
    place = Restaurant.objects.get()
    assert (place.description, place.phone, place.website) == ("Fish", "+4532155657", None)
    assert owner.post(at(venue, "/save/details"), sent | {"details-phone": "nobody"}).status_code == 400
    stale = sent | {"details-phone": "32155658"}
    page = owner.post(at(venue, "/save/details"), stale)
    assert "has changed since" in text(page)
    assert f'name="details-shown_version" value="{place.version}"' in page.content.decode()

    week = {f"week-day_{day}": "18:00-23:00" for day in range(6)} | {"week-shown_version": place.version}
    assert owner.post(at(venue, "/save/week"), week | {"week-day_6": "late"}).status_code == 400
    assert owner.post(at(venue, "/save/week"), week).status_code == 302
    day = timezone.now().date() + timedelta(days=10)
    assert owner.post(at(venue, "/save/days"), {"days-first": day.isoformat()}).status_code == 302
    assert owner.post(at(venue, "/save/days"), {"days-first": "2020-01-01"}).status_code == 400
    hours = Restaurant.objects.get().hours
    assert hours is not None
    assert (hours["display"], hours["special_days"]) == (
        ["Mon-Sat 18:00-23:00", "Sun closed"],
        [{"date": day.isoformat(), "periods": []}],
    )
    assert owner.post(at(venue, f"/days/{day}/remove")).status_code == 302
    assert owner.post(at(venue, "/days/2026-13-01/remove")).status_code == 404
    hours = Restaurant.objects.get().hours
    assert hours is not None
    assert hours["special_days"] == []

    Restaurant.objects.update(locked_fields=["hours", "phone"])
    page = owner.get(at(venue))
    assert "Our staff have set the hours." in text(page)
    assert owner.post(at(venue, "/save/days"), {"days-first": day.isoformat()}).status_code == 400


def test_photos_are_added_and_deleted(
    venue: Venue, owner: Client, claim: RestaurantClaim, settings: Settings, tmp_path: Path
) -> None:
    stored = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": tmp_path}}
    settings.STORAGES = {**settings.STORAGES, "photos": stored}
    file = io.BytesIO()
    Image.new("RGB", (40, 30), "teal").save(file, "PNG")
    sent = {"photo-kind": "food", "photo-alt": "Cod"}
    for content, status in ((b"no image", 400), (file.getvalue(), 302)):
        upload = io.BytesIO(content)
        upload.name = "cod.png"
        assert owner.post(at(venue, "/save/photo"), {**sent, "photo-file": upload}).status_code == status
    photo = encode("ph", Photo.objects.get().pk)
    assert f"/photos/{photo}/small.webp" in owner.get(at(venue)).content.decode()
    # What our staff have hidden stays.
    Photo.objects.update(is_hidden=True)
    assert f"/photos/{photo}/remove" not in owner.get(at(venue)).content.decode()
    owner.post(at(venue, f"/photos/{photo}/remove"))
    assert Photo.objects.update(is_hidden=False) == 1
    owner.post(at(venue, f"/photos/{photo}/remove"))
    assert not Photo.objects.exists()


def test_reviews_are_listed_in_pages_and_answered(
    venue: Venue, owner: Client, claim: RestaurantClaim, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    source = builders.source()
    for number in range(45):
        Review.objects.create(
            restaurant=claim.restaurant,
            stars=4,
            author=f"Guest {number:02}",
            text="Good",
            source=source,
            created_at=NOW + timedelta(hours=number // 2),
        )
    seen: list[str] = []
    query = ""
    while True:
        with django_assert_num_queries(5 + 2 + bool(query)):
            html = owner.get(at(venue, f"/reviews{query}")).content.decode()
        seen += re.findall(r"<bdi>(Guest \d\d)</bdi>", html)
        older = re.search(r'href="\?before=(rev_\w+)"', html)
        if older is None:
            break
        query = f"?before={older[1]}"
    assert sorted(seen) == [f"Guest {number:02}" for number in range(45)]
    for bad in ("rev_1", "x"):
        assert owner.get(at(venue, "/reviews"), {"before": bad}).status_code == 404

    review = Review.objects.order_by("created_at").first()
    assert review is not None
    url = at(venue, f"/reviews/{encode('rev', review.pk)}")
    assert owner.post(url, {"reply": "x" * 2001}).status_code == 400
    assert owner.post(url, {"reply": "Thank you"}).status_code == 302
    assert "Guest 00" not in owner.get(at(venue, "/reviews?unanswered")).content.decode()
    owner.post(url, {"reply": ""})
    review.refresh_from_db()
    assert (review.owner_reply, review.keeps_reply) == (None, True)
    # Our staff remove a reply in the back office.
    owner.post(url, {"reply": "Buy at mallory.example"})
    page = tests.support.builders.staff()
    sent = {"author": review.author, "text": "Good", "owner_reply": "", "owner_replied_at_0": "", "lang": ""}
    assert page.post(address(Review, "change", review.pk), sent).status_code == 302
    review.refresh_from_db()
    assert (review.owner_reply, review.keeps_reply, review.reply_locked) == (None, True, True)
    # The owner cannot write it again, until our staff unlock it.
    owner.post(url, {"reply": "Buy at mallory.example"})
    before = encode("rev", Review.objects.order_by("created_at", "pk")[2].pk)
    last_page = owner.get(at(venue, f"/reviews?before={before}"))
    assert ("Our staff have set this." in text(last_page), url in last_page.content.decode()) == (True, False)
    review.refresh_from_db()
    assert review.owner_reply is None


def test_offers_are_made_with_caps_and_days_without(venue: Venue, owner: Client, claim: RestaurantClaim) -> None:
    Venue.objects.filter(pk=venue.pk).update(timezone="Europe/Copenhagen")
    tests.support.builders.table(venue)
    tests.support.builders.period(venue, first="17:00", last="22:00")
    assert "No discounts yet" in text(owner.get(at(venue, "/offers")))
    owner.post(at(venue, "/offers/active"), {"on": "yes"})
    today = timezone.now().date()
    blackout = [today + timedelta(days=number) for number in (3, 4)]
    sent: dict[str, Any] = {
        "weekdays": list(range(7)),
        "time": "18:00",
        "every_minutes": 30,
        "percent": 30,
        "applies_to": "food",
        "seats": 8,
        "party_min": 1,
        "party_max": 8,
        "book_before_minutes": 30,
        "except_dates": ", ".join(map(str, blackout)),
        "active": "on",
    }
    faults: list[dict[str, Any]] = [{"percent": 95}, {"party_max": 9}, {"except_dates": "soon"}, {"weekdays": []}]
    for wrong in faults:
        assert owner.post(at(venue, "/offers/new"), sent | wrong).status_code == 400
    assert owner.post(at(venue, "/offers/new"), sent).status_code == 302
    rule = FlowRule.objects.get()
    assert rule.except_dates == blackout
    materialize_slots(now=timezone.now(), restaurants=[claim.restaurant_id])
    days = set(FlowSlot.objects.filter(withdrawn_at=None).values_list("date", flat=True))
    assert today + timedelta(days=2) in days
    assert not days & set(blackout)
    assert "30 %" in text(owner.get(at(venue, "/offers")))
    assert owner.get(at(venue, f"/offers/{rule.pk}")).status_code == 200
    owner.post(at(venue, f"/offers/{rule.pk}/remove"))
    assert not FlowRule.objects.exists()


# The search for the restaurant
def test_search_starts_with_the_name_in_the_only_city_of_the_time_zone(venue: Venue, owner: Client) -> None:
    venue.name, venue.timezone = "Fiskebaren", "Europe/Copenhagen"
    venue.save()
    fiskebar(line1="Flæsketorvet 100")
    page = text(owner.get(at(venue)))
    assert "Is it one of these? Fiskebar Flæsketorvet 100" in page
    builders.market("aarhus")
    answer = owner.get(at(venue))
    assert (answer.status_code, "Is it one of these?" in text(answer)) == (200, False)
    assert 'value="Fiskebaren"' in answer.content.decode()
