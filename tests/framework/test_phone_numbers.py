"""Phone numbers as people type them."""

import pytest

from framework.phone_numbers import add_country_code, country_of_zone


@pytest.mark.parametrize(
    ("zone", "country"),
    [("Europe/Copenhagen", "DK"), ("Europe/Rome", "IT"), ("America/New_York", "US"), ("Asia/Tokyo", "JP"),
     ("UTC", None), ("Nowhere/Nothing", None)],
)  # fmt: skip
def test_a_time_zone_has_one_country(zone: str, country: str | None) -> None:
    assert country_of_zone(zone) == country


@pytest.mark.parametrize(
    ("typed", "country", "number"),
    [
        ("33 00 21 44", "DK", "+4533002144"),
        ("06 1234 5678", "IT", "+390612345678"),
        ("333 555 0100", "IT", "+393335550100"),
        ("(555) 010-0999", "US", "+15550100999"),
        ("03-1234-5678", "JP", "+81312345678"),
        ("0033 1 23 45 67 89", "DK", "+33 1 23 45 67 89"),
        ("+33 1 23 45 67 89", "DK", "+33 1 23 45 67 89"),
        ("33 00 21 44", None, "33 00 21 44"),
        ("05", "DK", "05"),
        ("none", "DK", "none"),
        ("33002144 ext. 5", "DK", "33002144 ext. 5"),
    ],
)
def test_national_numbers_get_the_country_code(typed: str, country: str | None, number: str) -> None:
    assert add_country_code(typed, country=country) == number
