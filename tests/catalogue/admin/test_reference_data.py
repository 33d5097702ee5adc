"""The dictionaries in the back office, and what follows from a change there."""

from datetime import date
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoCaptureOnCommitCallbacks

from catalogue import reference_data
from catalogue.models import Attribute, Cuisine, Holiday, Landmark, Market, Record, Restaurant, SearchRow, Source
from catalogue.tasks import render_restaurants, update_neighborhoods
from tests.catalogue import builders
from tests.catalogue.html import address
from tests.support import builders as accounts

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff(db: None) -> Client:
    return accounts.staff()


def save(staff: Client, row: Any, **changes: Any) -> None:
    """Save the form of a row with these changes."""
    page = address(type(row), "change", row.pk)
    form = staff.get(page).context["adminform"].form
    values = {name: "" if value is None else value for name, value in form.initial.items()} | changes
    values = {name: value for name, value in values.items() if value is not False}
    values |= {"labels": "{}"} if "labels" in values else {}
    response = staff.post(page, values)
    assert response.status_code == 302, response.context["adminform"].form.errors


def test_a_new_attribution_is_shown_by_the_records_of_the_source(
    staff: Client, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    place = builders.restaurant()
    builders.listed(place, "osm")
    with django_capture_on_commit_callbacks() as enqueued:
        save(staff, Source.objects.get(key="osm"), attribution="Mapped by many")

    assert len(enqueued) == 1
    assert "Mapped by many" not in Record.objects.get(pk=place.pk).after
    render_restaurants(source="osm")
    assert "Mapped by many" in Record.objects.get(pk=place.pk).after


def test_a_new_label_is_shown_by_the_restaurants_of_the_cuisine(
    staff: Client, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    place = builders.restaurant(cuisines=["seafood"])
    version = place.version
    with django_capture_on_commit_callbacks() as enqueued:
        save(staff, Cuisine.objects.get(slug="seafood"), label="Fish and more")

    assert len(enqueued) == 1
    render_restaurants(cuisine="seafood", later="words")
    assert '"Fish and more"' in SearchRow.objects.get(pk=place.pk).card
    assert '"Fish and more"' in Record.objects.get(pk=place.pk).before
    assert Restaurant.objects.get(pk=place.pk).version == version


def test_a_change_that_no_one_shows_renders_nothing(
    staff: Client, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    builders.restaurant()
    with django_capture_on_commit_callbacks() as enqueued:
        save(staff, Market.objects.get(slug="copenhagen"), radius_m=30_000)

    assert enqueued == []


def test_rendering_again_goes_in_slices_and_leaves_others_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("catalogue.reference_data.BATCH_SIZE", 2)
    places = [builders.restaurant() for _ in range(5)]
    other = builders.restaurant(cuisines=["pizza"])
    Cuisine.objects.update(label="New")
    with CaptureQueriesContext(connection) as queries:
        assert reference_data.rerender_restaurants(cuisine="seafood") == 5

    assert len(queries) == 4 + 3
    assert all('"New"' in row.card for row in SearchRow.objects.filter(pk__in=[place.pk for place in places]))
    assert '"New"' not in SearchRow.objects.get(pk=other.pk).card
    assert reference_data.rerender_restaurants(market="copenhagen") == 6
    assert reference_data.rerender_restaurants(source="nobody") == 0
    assert reference_data.rerender_restaurants() == 0


@pytest.mark.exhaustive
def test_staff_strike_a_holiday_in_the_list_of_a_market_and_a_year(
    staff: Client, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    market = builders.market("copenhagen")
    christmas = builders.holiday(market, date(2026, 12, 25), "Christmas")
    builders.holiday(market, date(2027, 1, 1), "New Year")
    builders.holiday(builders.market("berlin"), date(2026, 10, 3), "Unity")
    holidays = address(Holiday, "changelist")

    page = staff.get(holidays, {"market__slug__exact": "copenhagen", "year": "2026"})
    assert [row.name for row in page.context["cl"].result_list] == ["Christmas"]
    with django_capture_on_commit_callbacks() as enqueued:
        staff.post(
            f"{holidays}?market__slug__exact=copenhagen&year=2026",
            {
                "form-TOTAL_FORMS": "1",
                "form-INITIAL_FORMS": "1",
                "form-0-id": str(christmas.pk),
                "form-0-is_struck": "on",
                "_save": "Save",
            },
        )

    assert Holiday.objects.filter(is_struck=True).get() == christmas
    assert len(enqueued) == 1


@pytest.mark.exhaustive
@pytest.mark.parametrize("model", [Attribute, Cuisine, Holiday, Market, Source])
def test_every_dictionary_has_a_list_and_a_form(staff: Client, model: Any) -> None:
    reference_data.load_reference_data()
    builders.holiday(Market.objects.get(slug="copenhagen"), date(2026, 12, 25))

    assert staff.get(address(model, "changelist")).status_code == 200
    assert staff.get(address(model, "change", model.objects.all()[0].pk)).status_code == 200


@pytest.mark.parametrize("year", ["x", "99999", "-1", "0000"])
def test_a_year_that_is_none_breaks_no_page(staff: Client, year: str) -> None:
    builders.holiday(builders.market(), date(2026, 12, 25))

    assert staff.get(address(Holiday, "changelist"), {"year": year}).status_code == 200


def add_market(staff: Client, **values: Any) -> Any:
    return staff.post(address(Market, "add"), values)


def errors_of(response: Any) -> dict[str, list[str]]:
    return dict(response.context["adminform"].form.errors)


def test_staff_add_a_market_by_the_name_of_its_city_and_edit_what_follows_from_it(
    staff: Client, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    with django_capture_on_commit_callbacks() as enqueued:
        response = add_market(staff, city="Lyon")

    assert (response.status_code, response["Location"]) == (302, address(Market, "change", "lyon"))
    assert len(enqueued) == 1
    market = Market.objects.get()
    assert (market.name, market.country, market.timezone, market.radius_m) == ("Lyon", "FR", "Europe/Paris", 20_000)
    assert (market.holidays.count(), market.landmarks.get().kind) == (33, "city")

    save(staff, market, region="BL", radius_m=12_000)

    market.refresh_from_db()
    assert (market.slug, market.region, market.radius_m) == ("lyon", "BL", 12_000)
    # Saint Barthélemy has one holiday more each year.
    assert market.holidays.count() == 36


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("values", "field", "message"),
    [
        ({"city": "Lyonn"}, "city", "No city of 100,000 inhabitants or more is called Lyonn. Did you mean Lyon (FR,"),
        ({"city": "Valencia"}, "city", "There are 3 cities called Valencia: Valencia (VE,"),
        ({"city": "Lyon", "country_code": "XX"}, "country_code", "`XX` is no country:"),
        ({"city": "Lyon", "location": "here"}, "location", "Enter a latitude and a longitude in degrees,"),
        ({"city": "Lyon", "radius_km": "501"}, "radius_km", "Ensure this value is less than or equal to 500."),
        (
            {"city": "Frederiksberg", "location": "55.6786, 12.5339"},
            "city",
            "Frederiksberg overlaps the market `copen",
        ),
        ({"city": "Copenhagen", "location": "55.6761, 12.5683"}, "city", "The market copenhagen exists already."),
        ({"city": ""}, "city", "This field is required."),
    ],
)
def test_a_market_that_cannot_be_added_is_refused_at_its_field(
    staff: Client, values: dict[str, str], field: str, message: str
) -> None:
    builders.market("copenhagen")

    errors = errors_of(add_market(staff, **values))

    assert list(errors) == [field]
    assert errors[field][0].startswith(message)
    assert Market.objects.count() == 1


def test_staff_allow_an_overlap(staff: Client) -> None:
    builders.market("copenhagen")

    add_market(staff, city="Malmö", radius_km="12", allows_overlap="on")

    assert Market.objects.get(slug="malmo").radius_m == 12_000


def test_a_region_without_holidays_of_its_own_is_refused(staff: Client) -> None:
    market = builders.market()
    form = staff.get(address(Market, "change", market.pk)).context["adminform"].form

    response = staff.post(address(Market, "change", market.pk), form.initial | {"region": "84"})

    assert errors_of(response) == {"region": ["No region of the country has holidays of its own: leave it empty."]}


def test_changed_landmarks_change_the_neighborhoods_of_restaurants(
    staff: Client, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    place = builders.restaurant()
    values = {
        "name": "Indre By", "kind": "neighborhood", "latitude": "55.68", "longitude": "12.57", "prominence": "50",
        "source": builders.source().pk, "names-TOTAL_FORMS": "0", "names-INITIAL_FORMS": "0",
    }  # fmt: skip

    def neighborhood_after(page: str, form: dict[str, str]) -> str | None:
        with django_capture_on_commit_callbacks() as enqueued:
            assert staff.post(page, form).status_code == 302
        assert len(enqueued) == 1
        update_neighborhoods()
        place.refresh_from_db()
        return place.neighborhood

    assert neighborhood_after(address(Landmark, "add"), values) == "Indre By"
    landmark = Landmark.objects.get()
    change, delete = (address(Landmark, name, landmark.pk) for name in ("change", "delete"))
    assert neighborhood_after(change, values | {"name": "City"}) == "City"
    assert neighborhood_after(change, values | {"name": "City", "longitude": "12.60"}) is None
    assert neighborhood_after(change, values) == "Indre By"
    assert neighborhood_after(delete, {"post": "yes"}) is None
