"""What staff write: refused where it cannot be, locked against imports, never over what they have not seen."""

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.test import Client

from accounts.models import User
from catalogue.models import Landmark, Market, Restaurant
from tests.catalogue import builders
from tests.catalogue.html import address, change

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff() -> Client:
    """A superuser who is signed in."""
    client = Client()
    client.force_login(User.objects.create_superuser("staff@example.com"))
    return client


@pytest.fixture
def place() -> Restaurant:
    return builders.restaurant(slug="noma", name="Noma", attributes={"delivery": True}, external_ids={"osm": "node/1"})


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("timezone", "Europe/Kopenhagen", "There is no time zone Europe/Kopenhagen."),
        ("country", "dk", "The country is a code of ISO 3166-1: DK."),
        ("currency", "dkk", "The currency is a code of ISO 4217: DKK."),
        ("calling_code", "+45", "The calling code is the digits after the plus: 45."),
        ("latitude", 999, "The centre lies within 85 degrees of latitude and 180 of longitude."),
        ("longitude", -181, "The centre lies within 85 degrees of latitude and 180 of longitude."),
        ("radius_m", 0, "The radius is 1 to 500,000 metres."),
    ],
)
def test_a_market_that_would_break_the_search_is_refused(field: str, value: Any, words: str) -> None:
    market = builders.market()
    setattr(market, field, value)
    with pytest.raises(ValidationError) as refused:
        market.full_clean()
    assert refused.value.messages == [words]
    if field != "timezone":
        with pytest.raises(IntegrityError), transaction.atomic():
            Market.objects.update(**{field: value})


@pytest.mark.parametrize(
    "fields",
    [
        {"latitude": None, "longitude": 12.56},
        {"latitude": 55.6, "longitude": None},
        {"latitude": 86, "longitude": 12.56},
        {"country": "dk"},
        {"attributes": ["terrace"]},
        {"external_ids": "node/1"},
    ],
)
def test_half_a_location_and_what_is_no_object_cannot_be_stored(place: Restaurant, fields: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Restaurant.objects.update(**fields)


def test_a_restaurant_may_lie_nowhere(place: Restaurant) -> None:
    assert Restaurant.objects.update(latitude=None, longitude=None) == 1


JSON_FIELDS = ("attributes", "external_ids", "hours")


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "value",
    [
        "{",
        '["x"]',
        '"x"',
        "7",
        '{"a": 1.5}',
        '{"a": {"b": true}}',
        '{"osm": "\\u0000"}',
        '{"\\ud800": "x"}',
        '{"a": NaN}',
        '{"a": 1e400}',
        '{"a": ' + "1" * 5000 + "}",
        "[" * 2000 + "]" * 2000,
        '{"a":' * 200 + "1" + "}" * 200,
    ],
)
def test_json_that_is_not_what_the_column_holds_is_refused(staff: Client, place: Restaurant, value: str) -> None:
    response = change(staff, place, **dict.fromkeys(JSON_FIELDS, value))
    assert response.status_code == 200
    form = response.context["adminform"].form
    assert set(form.errors) == set(JSON_FIELDS)
    assert [form[field].value() for field in JSON_FIELDS] == [value] * 3
    assert Restaurant.objects.get().version == 1


def test_a_number_among_external_ids_is_stored_as_text(staff: Client, place: Restaurant) -> None:
    assert change(staff, place, external_ids='{"fsq": 1}').status_code == 302
    assert Restaurant.objects.get().external_ids == {"fsq": "1"}


@pytest.mark.exhaustive
def test_an_emptied_box_is_an_empty_object(staff: Client, place: Restaurant) -> None:
    assert change(staff, place, attributes="", external_ids="").status_code == 302
    changed = Restaurant.objects.get()
    assert (changed.attributes, changed.external_ids, changed.version) == ({}, {}, 2)


@pytest.mark.exhaustive
def test_a_form_that_was_opened_before_an_import_changed_the_row_is_refused(staff: Client, place: Restaurant) -> None:
    shown = staff.get(address(Restaurant, "change", place.pk)).context["adminform"].form["shown_version"].value()
    Restaurant.objects.update(phone="+4532155656", version=2)
    response = change(staff, place, name="Noma 2", phone="", shown_version=shown)
    assert response.status_code == 200
    assert "changed this restaurant since you opened it" in response.content.decode()
    rows = Restaurant.objects.get()
    assert (rows.name, rows.phone, rows.version) == ("Noma", "+4532155656", 2)
    assert change(staff, place, shown_version="").status_code == 200
    assert change(staff, place, name="Noma 2").status_code == 302


@pytest.mark.exhaustive
def test_what_staff_change_is_locked_and_what_they_leave_is_not(staff: Client, place: Restaurant) -> None:
    assert change(staff, place, name="Noma 2", latitude="55.7").status_code == 302
    assert Restaurant.objects.get().locked_fields == ["name", "latitude", "longitude"]
    assert change(staff, place, slug="noma-2").status_code == 302
    assert Restaurant.objects.get().locked_fields == ["name", "latitude", "longitude"]


@pytest.mark.exhaustive
def test_a_field_that_is_released_is_read_by_the_next_import(staff: Client, place: Restaurant) -> None:
    record = builders.listed(place)
    change(staff, place, name="Noma 2", phone="+4532155656")
    record.refresh_from_db()
    assert record.digest == "0" * 64
    assert change(staff, place, locked_fields=["phone"]).status_code == 302
    record.refresh_from_db()
    assert record.digest == ""
    assert Restaurant.objects.get().locked_fields == ["phone"]


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("cuisine", "cuisines", "saved"),
    [
        ("italian", "seafood", ["italian", "seafood"]),
        ("seafood", "italian,seafood,italian", ["seafood", "italian"]),
        ("italian", "", ["italian"]),
        ("", "italian,seafood", ["italian", "seafood"]),
        ("", "", []),
    ],
)
def test_the_main_cuisine_is_the_first_of_all(
    staff: Client, place: Restaurant, cuisine: str, cuisines: str, saved: list[str]
) -> None:
    builders.cuisine("italian")
    assert change(staff, place, cuisine=cuisine, cuisines=cuisines).status_code == 302
    changed = Restaurant.objects.get()
    assert (changed.cuisine_id, changed.cuisines) == (saved[0] if saved else None, saved)
    assert set(changed.locked_fields) == {"cuisine", "cuisines"}


def test_a_landmark_is_found_by_its_own_name_from_the_first_save_on(staff: Client) -> None:
    builders.source("tablewire")
    form = {
        "name": "Tivoli", "kind": "landmark", "latitude": "55.67", "longitude": "12.56", "prominence": "0",
        "source": "tablewire", "names-TOTAL_FORMS": "0", "names-INITIAL_FORMS": "0",
    }  # fmt: skip
    assert staff.post(address(Landmark, "add"), form).status_code == 302
    tivoli = Landmark.objects.get()
    assert list(tivoli.names.values_list("name", flat=True)) == ["Tivoli"]
    renamed = form | {"name": "Tivoli Gardens"}
    for _ in range(2):
        assert staff.post(address(Landmark, "change", tivoli.pk), renamed).status_code == 302
    assert set(tivoli.names.values_list("name", flat=True)) == {"Tivoli", "Tivoli Gardens"}
