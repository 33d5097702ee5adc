"""The back office in a browser: every page opens without a complaint, and a host sees their own restaurant alone."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.browser import DESK, PASSWORD, PHONE, offences, overflows, sign_in
from tests.support.live_stack import Up, manage

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.stack, pytest.mark.browser]

# Two restaurants with a guest each, a host of the first, and where the rows of each kind are.
PREPARE = f"""
import json
from django.contrib import admin
from tests.support import builders as make, users as people
admin.site.load()
aurora, belladonna = make.venue("Aurora"), make.venue("Belladonna")
make.reservation(aurora, customer_name="Guest of Aurora")
make.reservation(belladonna, customer_name="Guest of Belladonna")
people.membership(aurora, "host", person=people.user("host@example.com", password="{PASSWORD}"))
rows = {{}}
for model in admin.site._registry:
    if model._meta.managed and not model._meta.proxy:
        row = model._default_manager.order_by("pk").values_list("pk", flat=True).first()
    else:
        row = None
    rows[f"/admin/{{model._meta.app_label}}/{{model._meta.model_name}}/"] = None if row is None else str(row)
print(json.dumps({{"rows": rows, "aurora": aurora.public_id, "belladonna": belladonna.public_id}}))
"""


@dataclass(frozen=True)
class Prepared:
    """Addresses of the lists with a row of each, and the ids of the two restaurants."""

    rows: dict[str, str | None]
    aurora: str
    belladonna: str


@pytest.fixture(scope="module")
def prepared(site: Up) -> Prepared:
    """What the journeys of this module share."""
    done = manage(site.state_dir, "shell", "--no-imports", "-c", PREPARE)
    assert done.returncode == 0, done.stderr
    return Prepared(**json.loads(done.stdout.strip().splitlines()[-1]))


def superuser(page: "Page", site: Up) -> None:
    """Sign in as the one whom `up` has made."""
    its: dict[str, Any] = site.record["admin"]
    sign_in(page, email=its["username"], password=its["password"], to="/admin/")


def test_every_page_of_the_back_office_opens_without_a_complaint(
    visit: Callable[..., "Page"], site: Up, prepared: Prepared
) -> None:
    page = visit()
    superuser(page, site)
    answers: dict[str, int] = {}
    for address, row in prepared.rows.items():
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
    visit: Callable[..., "Page"], site: Up, prepared: Prepared
) -> None:
    page = visit()
    superuser(page, site)
    restaurant = prepared.rows["/admin/catalogue/restaurant/"]
    for path in (
        "/admin/",
        "/admin/orders/order/",
        "/admin/reservations/reservation/",
        "/admin/catalogue/restaurant/",
        f"/admin/catalogue/restaurant/{restaurant}/change/",
        f"/admin/catalogue/restaurant/{restaurant}/history/",
    ):
        page.goto(path)
        assert (path, offences(page)) == (path, [])
        page.set_viewport_size(PHONE)
        assert (path, overflows(page)) == (path, False)
        page.set_viewport_size(DESK)
    page.goto("/admin/accounts/apikey/")
    page.locator("#result_list tbody input[type=checkbox]").first.check()
    page.locator("select[name=action]").select_option("revoke")
    page.locator(".actions button").first.click()
    page.locator("input[name=confirmed]").wait_for()
    assert offences(page) == []
    page.set_viewport_size(PHONE)
    assert not overflows(page)


def test_a_host_sees_the_guests_of_their_restaurant_and_of_no_other(
    visit: Callable[..., "Page"], prepared: Prepared
) -> None:
    page = visit()
    sign_in(page, email="host@example.com", to="/admin/")
    page.goto("/admin/reservations/reservation/")
    page_text = page.locator("#result_list").inner_text()
    assert ("Guest of Aurora" in page_text, "Belladonna" in page_text) == (True, False)
    page.goto("/admin/reservations/reservation/?q=Belladonna")
    assert "Guest of Belladonna" not in page.locator("#changelist").inner_text()
    assert page.get_by_role("link", name="Payments").count() == 0
    for path, heading in (
        (f"/dashboard/{prepared.belladonna}/reservations", "Page not found"),
        (f"/dashboard/{prepared.belladonna}", "Page not found"),
    ):
        answer = page.goto(path)
        assert answer is not None
        assert (answer.status, page.get_by_role("heading", level=1).inner_text()) == (404, heading)
