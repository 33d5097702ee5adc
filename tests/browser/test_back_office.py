"""The back office in a browser: every page opens without a complaint and fits a phone."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.browser import DESK, PHONE, offences, overflows, sign_in
from tests.support.live_stack import Up, manage

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.stack, pytest.mark.browser]

# A reservation, and where the rows of each kind are.
PREPARE = """
import json
from django.contrib import admin
from tests.support import builders as make
admin.site.load()
make.reservation(make.venue("Aurora"))
rows = {}
for model in admin.site._registry:
    if model._meta.managed and not model._meta.proxy:
        row = model._default_manager.order_by("pk").values_list("pk", flat=True).first()
    else:
        row = None
    rows[f"/admin/{model._meta.app_label}/{model._meta.model_name}/"] = None if row is None else str(row)
print(json.dumps(rows))
"""


@pytest.fixture(scope="module")
def rows(site: Up) -> dict[str, str | None]:
    """Addresses of the lists with a row of each."""
    done = manage(site.state_dir, "shell", "--no-imports", "-c", PREPARE)
    assert done.returncode == 0, done.stderr
    found: dict[str, str | None] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def superuser(page: "Page", site: Up) -> None:
    """Sign in as the one whom `up` has made."""
    its: dict[str, Any] = site.record["admin"]
    sign_in(page, email=its["username"], password=its["password"], to="/admin/")


def test_every_page_of_the_back_office_opens_without_a_complaint(
    visit: Callable[..., "Page"], site: Up, rows: dict[str, str | None]
) -> None:
    page = visit()
    superuser(page, site)
    answers: dict[str, int] = {}
    for address, row in rows.items():
        for path in (address, f"{address}add/", *((f"{address}{row}/change/",) if row else ())):
            answer = page.goto(path)
            assert answer is not None
            answers[path] = answer.status
    # What happens elsewhere is not added by hand.
    refused = {path for path, status in answers.items() if status == 403}
    assert {path for path in refused if not path.endswith("/add/")} == set()
    assert {path: status for path, status in answers.items() if status not in (200, 403)} == {}
    assert len(answers) - len(refused) > 80


def test_the_back_office_has_nothing_against_it_and_fits_a_phone(
    visit: Callable[..., "Page"], site: Up, rows: dict[str, str | None]
) -> None:
    page = visit()
    superuser(page, site)
    restaurant = rows["/admin/catalogue/restaurant/"]
    for path in (
        "/admin/",
        "/admin/orders/order/",
        "/admin/reservations/reservation/",
        "/admin/catalogue/report/",
        "/admin/catalogue/restaurant/",
        f"/admin/catalogue/restaurant/{restaurant}/change/",
        f"/admin/catalogue/restaurant/{restaurant}/history/",
    ):
        page.goto(path)
        # Django's tables of related rows, on the page of a row, have headers without a text.
        assert (path, offences(page, every_impact="/change/" not in path)) == (path, [])
        page.set_viewport_size(PHONE)
        assert (path, overflows(page)) == (path, False)
        page.set_viewport_size(DESK)
    page.goto("/admin/accounts/apikey/")
    # The actions take no room until there is a row for them.
    assert not page.locator("select[name=action]").is_visible()
    page.set_viewport_size(PHONE)
    assert not page.locator("select[name=action]").is_visible()
    page.locator("#result_list tbody input[type=checkbox]").first.check()
    assert page.locator("select[name=action]").is_visible()
    page.set_viewport_size(DESK)
    assert offences(page, every_impact=True) == []
    page.locator("select[name=action]").select_option("revoke")
    page.locator(".actions button").first.click()
    page.locator("input[name=confirmed]").wait_for()
    assert offences(page, every_impact=True) == []
    page.set_viewport_size(PHONE)
    assert not overflows(page)


def test_a_phone_opens_the_lists_from_the_header(visit: Callable[..., "Page"], site: Up) -> None:
    page = visit()
    superuser(page, site)
    page.goto("/admin/orders/order/")
    lists = page.get_by_role("navigation", name="Lists")
    assert lists.is_visible()
    page.set_viewport_size(PHONE)
    assert not lists.is_visible()
    page.get_by_role("button", name="Lists").click()
    assert offences(page, every_impact=True) == []
    lists.get_by_role("link", name="Reservations").click()
    page.wait_for_url("**/admin/reservations/reservation/")
    assert not lists.is_visible()


def test_a_list_without_scripts_shows_its_navigation_and_actions(visit: Callable[..., "Page"], site: Up) -> None:
    page = visit(java_script_enabled=False)
    superuser(page, site)
    page.goto("/admin/orders/order/")
    assert page.get_by_role("navigation", name="Lists").is_visible()
    assert page.locator("select[name=action]").is_visible()
