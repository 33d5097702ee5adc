"""What an owner writes: imports leave it alone, versions name the owner, and staff can lock and undo it."""

import io
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from PIL import Image
from pytest_django import Settings

import tests.support.builders
from accounts.models import SandboxClock, Venue
from catalogue.claims import editing, weekly_hours
from catalogue.history.undo import CannotUndo, undo_version
from catalogue.hours import InvalidHoursError
from catalogue.importers.parsing.parsed_place import ParsedPlace, ParsedReview
from catalogue.importers.reviews_and_offers import RecordContent, write_reviews_and_rules
from catalogue.models import FlowRule, Listing, Photo, Record, Restaurant, RestaurantClaim, Review, Source, Version
from framework.errors import InvalidRequest, NotFound
from tests.catalogue import builders
from tests.catalogue.builders import NOW
from tests.catalogue.claims.claim_builders import claimed, fiskebar
from tests.catalogue.html import address
from tests.catalogue.importers.import_runs import cafe, geojson, import_restaurants

pytestmark = pytest.mark.django_db
PHONE = "+4532155656"
WEEK = ["", "12:00-14:30, 18:00-23:00", "12-14", "18:00-2:00", "0:00-24:00", "", ""]


@pytest.fixture
def claim(venue: Venue) -> RestaurantClaim:
    return claimed(fiskebar(hours=builders.week("17:30", "23:00")), venue)


def test_times_of_a_day_are_read_as_owners_write_them() -> None:
    assert weekly_hours.read_times("") == []
    assert weekly_hours.read_times("9.30-14:30; 18:00 - 2:00") == [
        {"open": "09:30", "close": "14:30"},
        {"open": "18:00", "close": "02:00"},
    ]
    assert weekly_hours.read_times("0:00-24:00") == [{"open": "00:00", "close": "00:00"}]
    for text in ("noon", "12-14", "25:00-26:00", "10:00-24:30", "10:00-9"):
        with pytest.raises(InvalidHoursError):
            weekly_hours.read_times(text)


def test_a_week_is_written_as_it_is_read() -> None:
    week = ["", "12:00-14:30, 18:00-23:00", "", "18:00-02:00", "00:00-00:00", "", ""]
    hours = weekly_hours.replace_week(None, week, timezone="Europe/Copenhagen")
    assert hours is not None
    assert weekly_hours.list_week(hours) == week
    assert hours["display"][:2] == ["Mon closed", "Tue 12:00-14:30, 18:00-23:00"]
    assert weekly_hours.replace_week(hours, [""] * 7, timezone="Europe/Copenhagen") is None


def test_special_days_replace_each_other_and_past_ones_are_dropped() -> None:
    today = date(2026, 12, 20)
    hours: dict[str, Any] = builders.week("17:30", "23:00")
    hours["special_days"] = [{"date": "2026-12-01", "periods": []}, {"date": "2026-12-25", "periods": []}]
    spans = weekly_hours.read_times("12:00-15:00")
    changed = weekly_hours.set_special_days(hours, date(2026, 12, 24), date(2026, 12, 25), spans, today=today)
    assert weekly_hours.list_special_days(changed, today=today) == [
        (date(2026, 12, 24), "12:00-15:00"),
        (date(2026, 12, 25), "12:00-15:00"),
    ]
    assert len(changed["special_days"]) == 2
    removed = weekly_hours.remove_special_day(changed, date(2026, 12, 24), today=today)
    assert weekly_hours.list_special_days(removed, today=today) == [(date(2026, 12, 25), "12:00-15:00")]
    for first, last in ((today, today + timedelta(days=60)), (today - timedelta(days=1), today), (today, date.min)):
        with pytest.raises(InvalidRequest):
            weekly_hours.set_special_days(hours, first, last, [], today=today)
    with pytest.raises(InvalidRequest, match="weekly hours first"):
        weekly_hours.set_special_days(None, today, today, [], today=today)


def test_an_edit_is_a_version_of_the_owner_and_a_source_of_the_record(claim: RestaurantClaim) -> None:
    values = {"phone": PHONE, "website": None, "menu_url": "https://a.example/menu", "description": "Fish & wine."}
    assert editing.update_fields(claim, values, now=NOW) == set(values)
    assert editing.update_fields(claim, values, now=NOW) == set()
    version = Version.objects.latest("pk")
    assert (version.actor, version.patch["description"]) == (
        f"owner:{claim.venue.public_id}",
        [None, "Fish & wine."],
    )
    record = Client().get("/v1/restaurants/fiskebar").json()
    assert {name: record[name] for name in values} == values
    (source,) = record["sources"]
    assert (source["source"], source["record"], source["fields"]) == ("owner", claim.public_id, sorted(values))
    assert record["attribution"][0]["text"] == "Stated by the restaurant itself"
    stored = Record.objects.get(pk=claim.restaurant_id)
    assert '"description":"Fish & wine."' in stored.before


def test_an_edit_of_an_older_page_or_of_a_locked_field_is_refused(claim: RestaurantClaim) -> None:
    version = Restaurant.objects.get().version
    editing.update_fields(claim, {"phone": PHONE}, shown_version=version, now=NOW)
    with pytest.raises(editing.RestaurantChanged):
        editing.update_fields(claim, {"phone": None}, shown_version=version, now=NOW)
    Restaurant.objects.update(locked_fields=["phone"])
    with pytest.raises(editing.FieldLocked):
        editing.update_fields(claim, {"phone": None}, now=NOW)


@pytest.mark.exhaustive
def test_an_import_after_an_edit_changes_other_fields_only(
    venue: Venue, stored_reference_data: None, tmp_path: Path
) -> None:
    def run(**tags: Any) -> Restaurant:
        import_restaurants(geojson(tmp_path / "cph.geojson", [cafe("Fiskebar", **tags) | {"id": "node/1"}]))
        return Restaurant.objects.get()

    place = run(phone=PHONE, opening_hours="Mo-Su 10:00-12:00", website="https://old.example")
    claim = claimed(place, venue)
    hours = weekly_hours.replace_week(place.hours, ["18:00-23:00"] * 7, timezone="Europe/Copenhagen")
    editing.update_fields(claim, {"hours": hours, "phone": None}, now=NOW)
    osm = place.source_records.get(source="osm")
    assert not {"hours", "phone"} & set(osm.fields)
    place = run(phone="+4532155657", opening_hours="Mo-Su 11:00-13:00", website="https://new.example")
    assert (place.hours, place.phone, place.website) == (hours, None, "https://new.example")
    # A supplier of the highest rank does not override it either.
    Source.objects.filter(key="osm").update(rank=0)
    place = run(phone="+4532155658", opening_hours="Mo-Su 11:00-14:00", website="https://newer.example")
    assert (place.hours, place.phone, place.website) == (hours, None, "https://newer.example")


def test_staff_undo_an_edit_which_locks_its_fields(claim: RestaurantClaim) -> None:
    Restaurant.objects.update(phone=PHONE, phone_verified_at=NOW)
    hours = Restaurant.objects.get().hours
    values = {"phone": "+4532155657", "hours": None, "description": "Mallory"}
    editing.update_fields(claim, values, now=NOW)
    staff = tests.support.builders.staff()
    version = Version.objects.latest("pk")
    answer = staff.post(
        address(Version, "changelist"),
        {"action": "undo", "_selected_action": [version.pk], "confirmed": "yes"},
        follow=True,
    )
    assert "was undone: description, hours, phone, phone_verified_at." in answer.content.decode()
    place = Restaurant.objects.get()
    assert (place.phone, place.phone_verified_at, place.hours, place.description) == (PHONE, NOW, hours, None)
    assert place.locked_fields == ["description", "hours", "phone"]
    assert Version.objects.latest("pk").actor.startswith("staff:")
    with pytest.raises(editing.FieldLocked):
        editing.update_fields(claim, values, now=NOW)
    with pytest.raises(CannotUndo, match="changed again"):
        undo_version(version, actor="staff:1", now=NOW)
    with pytest.raises(CannotUndo, match="Only changes of fields"):
        undo_version(Version.objects.earliest("pk"), actor="staff:1", now=NOW)


def test_a_reply_is_kept_by_imports_and_counted(claim: RestaurantClaim) -> None:
    place = claim.restaurant
    record = builders.listed(place, "native", "1")

    def run(reply: str | None) -> Review:
        line = ParsedReview(record="r1", stars=4, author="Ada", created_at=NOW, owner_reply=reply, text="Good")
        line = (
            line
            if reply is None
            else ParsedReview(
                record="r1",
                stars=4,
                author="Ada",
                created_at=NOW,
                owner_reply=reply,
                owner_replied_at=NOW,
                text="Good",
            )
        )
        parsed = ParsedPlace(
            record=record.record, digest="1", name="Fiskebar", market_id="copenhagen", country="DK",
            latitude=None, longitude=None, reviews=(line,),
        )  # fmt: skip
        write_reviews_and_rules([RecordContent(place.pk, parsed)], source="native", now=NOW)
        return Review.objects.get()

    review = run("From the source")
    assert review.owner_reply == "From the source"
    editing.reply_to_review(claim, review.pk, "Thank you", now=NOW)
    assert run("Changed at the source").owner_reply == "Thank you"
    place.refresh_from_db()
    assert place.review_facets["with_reply"] == 1
    editing.reply_to_review(claim, review.pk, "", now=NOW)
    review = run("Changed again")
    assert (review.owner_reply, review.owner_replied_at) == (None, None)
    other = Review.objects.create(
        restaurant=fiskebar(slug="other"), stars=5, author="Eve", source=record.source, created_at=NOW
    )
    with pytest.raises(NotFound):
        editing.reply_to_review(claim, other.pk, "Not mine", now=NOW)


def test_photos_of_the_owner_are_added_and_deleted(
    claim: RestaurantClaim, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": tmp_path}}
    settings.STORAGES = {**settings.STORAGES, "photos": stored}
    image = Image.open(io.BytesIO(_png()))

    def add() -> Photo:
        return editing.add_photo(claim, image, kind="food", alt="Cod", caption=None, now=NOW)

    with monkeypatch.context() as patched:
        patched.setattr(editing, "MAX_PHOTOS", 0)
        with CaptureQueriesContext(connection) as queries, pytest.raises(InvalidRequest, match="Delete one first"):
            add()
    # The refused file is deleted; and references to the restaurant do not wait for the lock.
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [query["sql"] for query in queries if "FOR NO KEY UPDATE" in query["sql"]]
    photo = add()
    assert (photo.source_id, photo.author, photo.license) == ("owner", claim.venue.name, editing.LICENSE)
    imported = builders.photo(claim.restaurant)
    with pytest.raises(NotFound):
        editing.delete_photo(claim, imported.pk, now=NOW)
    editing.delete_photo(claim, photo.pk, now=NOW)
    assert list(Photo.objects.all()) == [imported]


def _png() -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (4, 3), "teal").save(file, "PNG")
    return file.getvalue()


def test_a_new_owner_turns_bookings_on_after_a_former_one(claim: RestaurantClaim) -> None:
    claim.venue.timezone = "Europe/Copenhagen"
    former = builders.listing(claim.restaurant, is_active=False)
    builders.listing(fiskebar(slug="former-place"), claim.venue, is_active=False)
    editing.set_bookable(claim, is_active=True, now=NOW)
    listing = Listing.objects.get()
    assert (listing.restaurant, listing.venue, listing.is_active) == (claim.restaurant, claim.venue, True)
    Listing.objects.update(venue=former.venue)
    with pytest.raises(InvalidRequest, match="Our staff have joined"):
        editing.set_bookable(claim, is_active=True, now=NOW)


def test_a_sandbox_with_a_clock_of_its_own_takes_no_bookings_of_the_catalogue(claim: RestaurantClaim) -> None:
    claim.venue.timezone = "Europe/Copenhagen"
    SandboxClock.objects.create(venue=claim.venue, ran_until=NOW)
    with pytest.raises(InvalidRequest, match="has a clock of its own"):
        editing.set_bookable(claim, is_active=True, now=NOW)
    assert not Listing.objects.exists()


def test_offers_need_the_venues_time_zone_and_spare_those_of_imports(claim: RestaurantClaim) -> None:
    place = claim.restaurant
    with pytest.raises(InvalidRequest, match="time zone"):
        editing.set_bookable(claim, is_active=True, now=NOW)
    claim.venue.timezone = "Europe/Copenhagen"
    for is_active in (True, False):
        editing.set_bookable(claim, is_active=is_active, now=NOW)
        assert Listing.objects.get().is_active is is_active
    imported = builders.rule(place)
    FlowRule.objects.update(source_record=builders.listed(place))
    own = builders.rule(place)
    with pytest.raises(NotFound):
        editing.delete_rule(claim, imported.pk)
    editing.delete_rule(claim, own.pk)
    assert list(FlowRule.objects.all()) == [imported]
