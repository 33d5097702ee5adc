"""Pages while PostgreSQL is slow, locked or away: they answer 503, and never 500."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import psycopg
import pytest
from django.conf import settings as configuration
from django.test import Client

from accounts.models import Venue
from tests.support import builders, users
from tests.support.live_server import NOWHERE, database_url, served

pytestmark = [pytest.mark.stack, pytest.mark.django_db(transaction=True)]

TABLES = "/admin/reservations/table/"


def pages_of(venue: Venue) -> dict[str, str]:
    """A page of each part of the product, and a table that it reads."""
    return {
        TABLES: "reservations_table",
        "/admin/orders/order/": "orders_order",
        "/admin/": "accounts_savedfilter",
        f"/dashboard/{venue.public_id}/board": "orders_order",
        f"/dashboard/{venue.public_id}/settings/tables": "reservations_table",
        f"/dashboard/{venue.public_id}/keys": "accounts_apikey",
        f"/book/{venue.public_id}": "accounts_venue",
        "/account/email/": "django_session",
        "/dashboard/you": "accounts_user",
    }


def cookies_of_owner(venue: Venue) -> dict[str, str]:
    client = Client()
    # Of our staff, too: the back office is theirs.
    client.force_login(users.membership(venue, person=users.user(is_staff=True, is_superuser=True)).user)
    return {configuration.SESSION_COOKIE_NAME: client.cookies[configuration.SESSION_COOKIE_NAME].value}


@contextmanager
def locked(table: str, mode: str = "ACCESS EXCLUSIVE") -> Iterator[psycopg.Connection]:
    """The table is locked by another session."""
    with psycopg.connect(database_url()) as other:
        other.execute(f"LOCK TABLE {table} IN {mode} MODE")
        yield other
        other.rollback()


def get(base_url: str, path: str, cookies: dict[str, str]) -> httpx.Response:
    return httpx.get(base_url + path, cookies=cookies, timeout=30)


def check_unavailable(page: httpx.Response) -> None:
    assert page.status_code == 503, (page.url, page.text)
    assert page.headers["Retry-After"].isdigit()
    assert page.headers["Content-Type"].startswith("text/html")


# The statement timeout ends before the lock timeout, or after it.
LIMITS = {
    "statement timeout": {"STATEMENT_TIMEOUT_MS": "300", "LOCK_TIMEOUT_MS": "60000"},
    "lock timeout": {"STATEMENT_TIMEOUT_MS": "60000", "LOCK_TIMEOUT_MS": "300"},
}


@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)
def test_a_page_whose_query_takes_too_long_answers_503(tmp_path: Path, venue: Venue, limits: dict[str, str]) -> None:
    venue.is_bookable_online = True
    venue.save()
    cookies = cookies_of_owner(venue)
    with served(tmp_path / "web.log", **limits) as web:
        for path, table in pages_of(venue).items():
            with locked(table):
                check_unavailable(get(web, path, cookies))
            assert get(web, path, cookies).status_code in (200, 302), path


def test_a_page_whose_connection_is_ended_meanwhile_answers_503(tmp_path: Path, venue: Venue) -> None:
    cookies = cookies_of_owner(venue)
    with served(tmp_path / "web.log", LOCK_TIMEOUT_MS="60000", STATEMENT_TIMEOUT_MS="60000") as web:
        assert get(web, TABLES, cookies).status_code == 200
        with locked("reservations_table") as other:
            pages: list[httpx.Response] = []
            thread = threading.Thread(target=lambda: pages.append(get(web, TABLES, cookies)))
            thread.start()
            ended = 0
            while not ended:
                time.sleep(0.05)
                (ended,) = other.execute(
                    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND wait_event_type = 'Lock'"
                ).fetchone() or (0,)
            thread.join()
        check_unavailable(pages[0])
        assert get(web, TABLES, cookies).status_code == 200


def test_pages_without_the_database_answer_503(tmp_path: Path, venue: Venue) -> None:
    cookies = cookies_of_owner(venue)
    with served(tmp_path / "web.log", DATABASE_URL=database_url(address=NOWHERE)) as web:
        for path in pages_of(venue):
            check_unavailable(get(web, path, cookies))
        assert get(web, "/account/login/", {}).status_code == 200


def test_a_session_that_cannot_be_stored_after_the_view_is_503(tmp_path: Path, venue: Venue) -> None:
    """The middleware stores it, behind every view."""
    cookies = cookies_of_owner(venue)
    with served(tmp_path / "web.log", LOCK_TIMEOUT_MS="300") as web, httpx.Client(base_url=web, timeout=30) as client:
        client.cookies.update(cookies)
        path = f"/dashboard/{venue.public_id}/keys/new"
        token = client.get(path).text.partition('name="csrfmiddlewaretoken" value="')[2].partition('"')[0]
        form = {"csrfmiddlewaretoken": token, "name": "till", "scopes": "orders:read"}
        with locked("django_session", "SHARE"):
            answer = client.post(path, data=form)
        check_unavailable(answer)
        assert "Check whether your change was saved" in answer.text


def test_staff_see_in_the_log_which_error_it_was(tmp_path: Path, venue: Venue) -> None:
    cookies = cookies_of_owner(venue)
    with (
        served(tmp_path / "web.log", STATEMENT_TIMEOUT_MS="300", LOCK_TIMEOUT_MS="60000") as web,
        locked("reservations_table"),
    ):
        get(web, TABLES, cookies)
    log = (tmp_path / "web.log").read_text()
    assert f"GET {TABLES}: canceling statement due to statement timeout" in log
    assert "Traceback" not in log


@pytest.mark.parametrize("path", ["/admin/", "/dashboard/"])
def test_a_bug_is_still_a_500(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> Callable[..., object]:
        raise ZeroDivisionError

    monkeypatch.setattr("accounts.admin_site.saved_filters.list_all", fail)
    monkeypatch.setattr("accounts.dashboard.overview.get_access", fail)
    venue = builders.venue()
    user = users.membership(venue, person=users.user(is_staff=True)).user
    user.remember_venue(venue)
    client = Client(raise_request_exception=False)
    client.force_login(user)
    assert client.get(path).status_code == 500
