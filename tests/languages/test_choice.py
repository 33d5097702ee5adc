"""The language of a guest: of the address, else as the guest chose before, else of the browser, else of the venue."""

from datetime import date, time
from decimal import Decimal
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client
from django.utils import translation

from accounts.lifecycle import sign_up
from accounts.models import User, Venue
from framework import languages
from reservations.mail import templates
from reservations.models import GuestMail, Reservation
from reservations.self_service import links
from tests.languages.test_guest_texts import STARTS_AT, book
from tests.support import builders


@pytest.fixture
def trattoria(db: None) -> Venue:
    venue = builders.venue("Trattoria", is_bookable_online=True, language="it")
    builders.table(venue)
    builders.period(venue)
    return venue


@pytest.mark.parametrize(
    ("query", "accepted", "language"),
    [
        ("?lang=ja", "da", "ja"),
        ("?lang=JA", "da", "ja"),
        ("", "de-AT,de;q=0.9,en;q=0.5", "de"),
        ("", "xx,da;q=0.5", "da"),
        ("?lang=xx", "fr", "fr"),
        ("", "xx", "it"),
        ("", "", "it"),
        ("?lang=" + "x" * 600, "*", "it"),
    ],
)
def test_the_booking_page_chooses_the_language(trattoria: Venue, query: str, accepted: str, language: str) -> None:
    response = Client(headers={"accept-language": accepted}).get(f"/book/{trattoria.public_id}{query}")
    assert f'<html lang="{language}" dir="ltr">' in response.content.decode()
    assert response["Vary"] == "Accept-Language"


@pytest.mark.parametrize(
    ("language", "button", "subject", "day"),
    [
        ("da", "Book et bord", "Trattoria", "mandag den 5. maj 2031"),
        ("ja", "予約", "Trattoria", "2031年5月5日月曜日"),
    ],
)
def test_a_guest_books_and_gets_mail_in_the_chosen_language(
    trattoria: Venue, language: str, button: str, subject: str, day: str
) -> None:
    page = Client().get(f"/book/{trattoria.public_id}?lang={language}")
    assert button in page.content.decode()
    assert book(trattoria, lang=language).status_code == 302
    reservation = Reservation.objects.get()
    assert reservation.language == language
    message = templates.build_mail(GuestMail.objects.get())
    assert subject in message.subject
    assert day in message.body
    assert day in Client().get(f"/guest/{links.token_of(reservation)}").content.decode()


def test_a_guest_changes_the_language_of_the_page_and_of_later_mail(trattoria: Venue) -> None:
    reservation = builders.reservation(trattoria, status="confirmed", starts_at=STARTS_AT)
    guest = Client(enforce_csrf_checks=True)
    path = f"/guest/{links.token_of(reservation)}"
    assert 'lang="it"' in guest.get(path).content.decode()
    opened = guest.get(path).content.decode()
    token = opened.split('name="csrfmiddlewaretoken" value="')[1].split('"')[0]
    sent: dict[str, Any] = {"csrfmiddlewaretoken": token}
    headers = {"origin": "http://testserver"}
    assert guest.post(f"{path}/language", sent | {"lang": "fr"}, headers=headers)["Location"] == path
    assert guest.post(f"{path}/language", sent | {"lang": "xx"}, headers=headers)["Location"] == path
    reservation.refresh_from_db()
    assert (reservation.language, reservation.version) == ("fr", 2)
    assert '<html lang="fr"' in guest.get(path).content.decode()


def test_reservations_of_the_api_are_mailed_in_the_language_of_the_venue(trattoria: Venue) -> None:
    builders.reservation(trattoria, status="confirmed", starts_at=STARTS_AT)
    assert templates.build_mail(GuestMail.objects.latest("id")).body.startswith("Buongiorno")


def test_the_api_and_the_dashboard_stay_english_whatever_the_browser_prefers(trattoria: Venue) -> None:
    body = builders.reservation_body(customer_email=None, customer_phone=None)
    answer = builders.client(trattoria).post(
        "/api/v1/reservations", body, "application/json", headers={"accept-language": "da"}
    )
    assert builders.problems_of(answer) == [("customer_email", "Enter an email address or a phone number.")]


@pytest.mark.parametrize(
    ("zone", "language"), [("Europe/Copenhagen", "da"), ("Asia/Tokyo", "ja"), ("UTC", "en"), ("Asia/Dubai", "en")]
)
def test_a_new_venue_speaks_the_language_of_its_country(db: None, zone: str, language: str) -> None:
    sign_up.create_account(User.objects.create(email="ada@example.com"), name="Osteria", timezone=zone, currency="EUR")
    assert set(Venue.objects.values_list("language", flat=True)) == {language}


def test_days_times_and_amounts_have_the_format_of_the_language() -> None:
    written = {}
    for language in ("en", "da", "de", "es", "fr", "it", "ja", "nl", "pt"):
        with translation.override(language):
            formatted = (
                languages.format_day(date(2031, 5, 5)),
                languages.format_day_of_month(date(2031, 5, 5)),
                languages.format_clock(time(19, 30)),
                languages.format_money(Decimal("1234.50"), "EUR"),
            )
            # Amounts have spaces of several kinds.
            written[language] = tuple(" ".join(text.split()) for text in formatted)
    assert written == {
        "en": ("Monday 5 May 2031", "5 May", "19:30", "€1,234.50"),
        "da": ("mandag den 5. maj 2031", "5. maj", "19.30", "1.234,50 €"),
        "de": ("Montag, 5. Mai 2031", "5. Mai", "19:30", "1.234,50 €"),
        "es": ("lunes, 5 de mayo de 2031", "5 may", "19:30", "1.234,50 €"),
        "fr": ("lundi 5 mai 2031", "5 mai", "19:30", "1 234,50 €"),
        "it": ("lunedì 5 maggio 2031", "5 mag", "19:30", "1.234,50 €"),
        "ja": ("2031年5月5日月曜日", "5月5日", "19:30", "€1,234.50"),
        "nl": ("maandag 5 mei 2031", "5 mei", "19:30", "€ 1.234,50"),
        "pt": (
            "segunda-feira, 5 de maio de 2031",
            "5 de mai.",
            "19:30",
            "1 234,50 €",
        ),
    }


def test_a_page_is_written_from_right_to_left_where_its_language_is(trattoria: Venue, settings: LazySettings) -> None:
    settings.LANGUAGES = [*settings.LANGUAGES, ("ar", "العربية")]
    page = Client().get(f"/book/{trattoria.public_id}?lang=ar").content.decode()
    assert '<html lang="ar" dir="rtl">' in page
