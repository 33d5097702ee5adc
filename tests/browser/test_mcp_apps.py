"""The view of MCP Apps in a host's sandboxed frame: cards, free tables, and consent to book and to pay."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from tests.browser.test_payloads import PAYLOADS
from tests.support.apps_host import ADDRESS, Host
from tests.support.live_stack import Up

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Frame, Page

pytestmark = [pytest.mark.stack, pytest.mark.browser]
NARROW: Any = {"width": 360, "height": 780}
DARK, LIGHT = {"theme": "dark"}, {"theme": "light"}
Visit = Callable[..., "Page"]


@pytest.fixture
def host(visit: Visit, site: Up) -> Host:
    return Host(visit(NARROW), site.record["mcp_url"])


def words(view: "Frame") -> str:
    return view.locator("main").inner_text()


def is_too_wide(view: "Frame") -> bool:
    return bool(view.evaluate("document.documentElement.scrollWidth > window.innerWidth"))


def offences(view: "Frame") -> list[str]:
    """What axe-core finds in the frame."""
    view.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text())
    found: list[str] = view.evaluate(
        "async () => (await axe.run()).violations.flatMap((rule) => rule.nodes.map((node) => rule.id + node.html))"
    )
    return found


def bookable(host: Host) -> dict[str, Any]:
    """A restaurant whose tables can be booked, as a search has it."""
    hit: dict[str, Any] = host.call("search_restaurants", sort="offer", limit=1)["structuredContent"]["data"][0]
    return hit


def search(host: Host, **context: Any) -> "Frame":
    """The view of a search in Copenhagen."""
    asked = {"market": "copenhagen", "sort": "offer", "limit": 5}
    return host.show("search_restaurants", asked, host.call("search_restaurants", **asked), **context)


def test_a_guest_goes_from_a_card_to_a_booked_table_and_the_model_is_told(host: Host, site: Up) -> None:
    view = search(host)
    name = view.locator("h2").first.inner_text()
    view.get_by_role("button", name="Find a table").first.click()
    day = (datetime.now(UTC) + timedelta(days=3)).date()
    view.get_by_label("Day").fill(str(day))
    view.get_by_label("Guests").fill("3")
    view.get_by_role("button", name="See free tables").click()
    view.wait_for_selector(".slots")
    assert f"Tables at {name} for 3 guests" in words(view)
    slot = view.locator(".slots button").last
    time = slot.inner_text()
    slot.click()

    # Nothing is booked before the person has read what it is and has pressed the button.
    assert [called for called, _ in host.called] == ["check_availability"]
    asked = words(view)
    assert "Book this table?" in asked
    assert all(part in asked for part in (name, f"{day:%A}", str(day.year), time, "3 guests"))
    view.get_by_label("Name").fill("Ada Lovelace")
    view.get_by_role("button", name="Book this table").click()
    assert [called for called, _ in host.called] == ["check_availability"], "without a contact nothing is sent"
    view.get_by_label("Email").fill("ada@example.com")
    view.get_by_role("button", name="Book this table").click()
    view.get_by_text("Table booked").wait_for()

    (_, (tool, arguments)) = host.called
    assert (tool, arguments["date"], arguments["time"]) == ("book_table", str(day), time)
    assert len(arguments["idempotency_key"]) == 32
    (told,) = host.sent("ui/update-model-context")
    assert told["structuredContent"].keys() == {
        *("id", "manage_token", "restaurant", "date", "time", "party_size"),
    }
    code = view.locator("dt:text('Code') + dd").inner_text()
    with psycopg.connect(site.record["database_url"]) as database:
        rows = database.execute(
            "SELECT customer_name, party_size, status FROM reservations_reservation WHERE code = %s", [code]
        ).fetchall()
    assert rows == [("Ada Lovelace", 3, "confirmed")]


def test_a_call_without_a_contact_shows_what_it_would_book_and_asks_who_comes(host: Host) -> None:
    slug = bookable(host)["slug"]
    day = str((datetime.now(UTC) + timedelta(days=4)).date())
    days = host.call("check_availability", slug=slug, date=day, party_size=2)["structuredContent"]["days"]
    time = next(slot["time"] for slot in days[0]["slots"] if slot["state"] == "free")
    asked = {"slug": slug, "date": day, "time": time, "party_size": 2, "customer_name": "Grace"}
    view = host.show("book_table", asked, host.call("book_table", **asked))
    assert "Book this table?" in words(view)
    assert view.get_by_label("Name").input_value() == "Grace"
    view.get_by_label("Or phone").fill("+4520123456")
    view.get_by_label("Or phone").press("Enter")
    view.get_by_text("Table booked").wait_for()


def test_a_discount_is_booked_from_its_card(host: Host) -> None:
    asked = {"market": "copenhagen", "limit": 6}
    result = host.call("list_offers", **asked)
    view = host.show("list_offers", asked, result)
    first = result["structuredContent"]["data"][0]
    assert view.locator("article").count() == 6
    assert f"\N{MINUS SIGN}{first['percent']} %" in view.locator("article").first.inner_text()
    view.get_by_role("button", name="Book").first.click()
    assert f"\N{MINUS SIGN}{first['percent']} %" in words(view)
    view.get_by_label("Name").fill("Grace Hopper")
    view.get_by_label("Email").fill("grace@example.com")
    view.get_by_role("button", name="Book this table").click()
    view.get_by_text("Table booked").wait_for()
    assert host.called[0][1]["offer_id"] == first["id"]


def test_consent_to_pay_names_the_price_and_pays_nothing_itself(host: Host) -> None:
    asked = {"slug": bookable(host)["slug"]}
    price = host.call("get_surroundings", **asked)
    view = host.show("get_surroundings", asked, price)
    terms = price["structuredContent"]["accepts"][0]
    assert all(
        part in words(view) for part in ("Pay 0.002 USDC?", terms["network"], terms["payTo"], "get_surroundings")
    )
    view.get_by_role("button", name="Pay 0.002 USDC").click()
    view.get_by_text("Sent").wait_for()
    (said,) = host.sent("ui/message")
    assert said["content"][0]["text"] == (
        f"I agree to pay 0.002 USDC on {terms['network']} to {terms['payTo']}, once, for this call of"
        f' get_surroundings: repeat it with the payment. Its arguments: {{"slug":"{asked["slug"]}"}}'
    )
    assert host.called == []


def test_whoever_does_not_want_to_pay_or_book_says_so(host: Host) -> None:
    asked = {"slug": bookable(host)["slug"]}
    view = host.show("get_insight", asked, host.call("get_insight", **asked))
    view.get_by_role("button", name="Do not pay").click()
    view.get_by_text("Sent").wait_for()
    (said,) = host.sent("ui/message")
    assert said["content"][0]["text"].startswith("I do not agree to pay ")


def test_a_host_that_calls_no_tools_gets_a_sentence_without_stored_texts(host: Host) -> None:
    hit = bookable(host)
    asked = {"slug": hit["slug"], "date": str((datetime.now(UTC) + timedelta(days=3)).date()), "party_size": 2}
    view = host.show("check_availability", asked, host.call("check_availability", **asked), has_tools=False)
    view.get_by_role("button", name="See free tables").click()
    view.get_by_text("Sent").wait_for()
    (said,) = host.sent("ui/message")
    assert said["content"] == [
        {"type": "text", "text": f"Show me the free tables of {hit['slug']} on {asked['date']} for 2 guests."}
    ]
    assert host.called == []


def test_texts_of_others_are_only_ever_text(host: Host) -> None:
    hit = bookable(host)
    hits = [{**hit, "slug": f"place-{number}", **dict.fromkeys(
        ("name", "cuisine", "neighborhood", "city", "address"), payload
    )} for number, payload in enumerate(PAYLOADS)]  # fmt: skip
    page = {
        "data": hits,
        "query": {"distance_method": "estimated"},
        "attribution": [{"text": payload} for payload in PAYLOADS],
    }
    view = host.show("search_restaurants", {}, {"content": [], "structuredContent": page})
    assert [" ".join(name.split()) for name in view.locator("h2").all_inner_texts()] == [
        " ".join(payload.split()) for payload in PAYLOADS
    ]
    assert view.locator("main :is(script, img, svg, iframe, style, a, form)").count() == 0
    for number in (0, 5):
        view = host.show("search_restaurants", {}, {"content": [], "structuredContent": page})
        view.get_by_role("button", name="Find a table").nth(number).click()
        assert view.locator("h1").inner_text() == PAYLOADS[number]
    error = {"content": [{"type": "text", "text": "<img src=x onerror=pwned=1>"}], "isError": True}
    view = host.show("search_restaurants", {}, error)
    assert "<img src=x onerror=pwned=1>" in words(view)
    assert view.evaluate("window.pwned") is None
    assert host.page.evaluate("window.pwned") is None


def test_the_view_requests_nothing_and_has_no_handlers_or_styles_in_its_elements(host: Host) -> None:
    view = search(host)
    assert host.requested == [ADDRESS]
    assert view.evaluate("[...document.querySelectorAll('*')].flatMap((e) => [...e.attributes])"
                         ".filter((a) => a.name.startsWith('on') || a.name === 'style').length") == 0  # fmt: skip


def test_the_document_runs_alone_under_its_own_policy(chromium: "Browser", host: Host) -> None:
    (content,) = host.rpc("resources/read", {"uri": "ui://tablewire/view"})["contents"]
    # Not a visitor's page: what the policy refuses here is asked for.
    page = chromium.new_page()
    page.route("http://alone.test/", lambda route: route.fulfill(body=content["text"], content_type="text/html"))
    page.goto("http://alone.test/")
    # Its script runs; another inline script, an image and a request do not.
    assert page.evaluate("typeof show") == "function"
    refused = page.evaluate(
        """async () => {
            const violations = [];
            document.addEventListener("securitypolicyviolation", (event) => violations.push(event.effectiveDirective));
            const script = document.createElement("script");
            script.textContent = "window.pwned = 1";
            document.head.append(script);
            await fetch("http://alone.test/").catch(() => {});
            document.body.append(Object.assign(new Image(), {src: "http://alone.test/a.png"}));
            await new Promise((resolve) => setTimeout(resolve, 300));
            return [window.pwned, violations];
        }"""
    )
    assert refused[0] is None
    assert set(refused[1]) == {"script-src-elem", "connect-src", "img-src"}
    page.close()


@pytest.mark.parametrize("context", [DARK, LIGHT], ids=["dark", "light"])
def test_each_view_fits_a_phone_and_is_accessible_in_dark_and_light(host: Host, context: dict[str, str]) -> None:
    hit = bookable(host)
    day = str((datetime.now(UTC) + timedelta(days=5)).date())
    shown = [
        ("search_restaurants", {"market": "copenhagen", "limit": 3}),
        ("list_offers", {"market": "copenhagen", "limit": 3}),
        ("check_availability", {"slug": hit["slug"], "date": day, "party_size": 2}),
        ("book_table", {"slug": hit["slug"], "date": day, "time": "19:00", "party_size": 2}),
        ("get_surroundings", {"slug": hit["slug"]}),
    ]
    for tool, arguments in shown:
        view = host.show(tool, arguments, host.call(tool, **arguments), context=context)
        assert not is_too_wide(view), tool
        assert offences(view) == [], tool
    background = view.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert background == {"dark": "rgb(27, 26, 25)", "light": "rgb(255, 255, 255)"}[context["theme"]]


def test_colours_and_letters_of_the_host_are_used(host: Host) -> None:
    variables = {"--color-background-primary": "rgb(1, 2, 3)", "--font-sans": "monospace"}
    view = search(host, context={"styles": {"variables": variables}})
    style = "getComputedStyle(document.documentElement)"
    assert view.evaluate(f"[{style}.backgroundColor, {style}.fontFamily]") == ["rgb(1, 2, 3)", "monospace"]
