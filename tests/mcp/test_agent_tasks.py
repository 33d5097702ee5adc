"""Forty tasks of users (agent_tasks.toml), done by the official Python client over streamable HTTP.

No model is involved. Each script makes the calls that a model makes that has read the list of tools, the user's words
and the answers so far; the client refuses an argument whose value comes from elsewhere. A task is done if its check
passes, wrong if it ends with an answer that the check refuses, and else not done.
"""

import datetime as dt
import json
import re
import statistics
import sys
import tomllib
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo

import anyio
import psycopg
import pytest
from mcp import Client
from psycopg.rows import dict_row

from tests.mcp.agents import beside, connected, structured_content
from tests.mcp.client import payment_for, price_of
from tests.mcp.test_python_client import session_of, wallet
from tests.payments.checkout.test_paid_calls import Shop
from tests.support.live_stack import Up, manage, running

pytestmark = [pytest.mark.stack, pytest.mark.exhaustive]

HERE = Path(__file__).parent
TASKS: dict[str, dict[str, Any]] = tomllib.loads((HERE / "agent_tasks.toml").read_text())
MIN_DONE = 36
MAX_MEDIAN_CALLS = 5
NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
ZONES = {
    "berlin": "Europe/Berlin",
    "milan": "Europe/Rome",
    "london": "Europe/London",
    "copenhagen": "Europe/Copenhagen",
}


class Refused(Exception):
    """A tool has refused; the text is what a model reads."""


class UnknownSource(AssertionError):
    """An argument is neither in the user's words nor in the list of tools nor in an earlier answer."""


class Agent:
    """A client that has read the list of tools, and does one task."""

    def __init__(self, client: Client, tools: str, words: str, *, shop: Shop, payer: str | None) -> None:
        self.client, self.words, self.shop, self.payer = client, words, shop, payer
        self.known = [tools, words]
        self.calls = 0

    def means(self, phrase: str, value: Any) -> Any:
        """The value that a model reads in a phrase of the user, or of an answer: "two" is 2."""
        if not any(phrase.casefold() in text.casefold() for text in self.known):
            raise UnknownSource(phrase)
        self.known.append(json.dumps(value, ensure_ascii=False))
        return value

    def day(self, phrase: str, *, at: str = "berlin") -> str:
        """The date of "tomorrow" or "in three days" in a city."""
        count = 1 if phrase == "tomorrow" else NUMBERS.index(phrase.split()[1])
        today = dt.datetime.now(ZoneInfo(ZONES[at])).date()
        return str(self.means(phrase, str(today + dt.timedelta(days=count))))

    async def call(self, tool: str, **arguments: Any) -> Any:
        """The content of a tool's result. Raises Refused."""
        for leaf in _leaves(arguments):
            text = json.dumps(leaf, ensure_ascii=False).strip('"').casefold()
            if not any(text in known.casefold() for known in self.known):
                raise UnknownSource(f"{tool}: {leaf}")
        self.calls += 1
        result = await self.client.call_tool(tool, arguments)
        is_price = result.is_error and "accepts" in (result.structured_content or {})
        if is_price and self.payer:
            self.calls += 1
            payment = payment_for(wallet(self.shop, self.payer), price_of(structured_content(result)))
            result = await self.client.call_tool(tool, arguments, meta=beside(payment))
        text = "\n".join(str(getattr(part, "text", "")) for part in result.content)
        self.known.append(text)
        if result.is_error:
            raise Refused(text)
        return result.structured_content


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _leaves(each)
    elif not isinstance(value, bool):
        yield value


class World:
    """The database after a task."""

    def __init__(self, up: Up) -> None:
        self.up = up

    def rows(self, query: str, *values: Any) -> list[dict[str, Any]]:
        with psycopg.connect(self.up.record["database_url"], row_factory=dict_row) as database:
            return database.execute(query, values).fetchall()

    def bookings(self, contact: str) -> list[dict[str, Any]]:
        """The tables of a guest, by email address or number."""
        return self.rows(
            """
            SELECT b.id, r.status, r.date::text, to_char(r.time, 'HH24:MI') AS time, r.party_size, r.special_requests,
              r.tables, a.name AS area, p.slug, p.market_id AS market, p.attributes, s.price_level, f.percent
            FROM reservations_reservation AS r
            JOIN catalogue_flowbooking AS b ON b.reservation_id = r.id
            JOIN catalogue_listing AS l ON l.venue_id = r.venue_id
            JOIN catalogue_restaurant AS p ON p.id = l.restaurant_id
            JOIN catalogue_searchrow AS s ON s.restaurant_id = p.id
            LEFT JOIN reservations_area AS a ON a.id = r.area_id
            LEFT JOIN catalogue_flowslot AS f ON f.id = b.slot_id
            WHERE %s IN (r.customer_email, r.customer_phone) ORDER BY b.id
            """,
            contact,
        )

    def the_booking(self, contact: str, **expected: Any) -> dict[str, Any]:
        """The one booking of a guest, with these values."""
        (row,) = self.bookings(contact)
        found = {name: row[name] for name in expected}
        assert found == expected
        return row

    def payments(self) -> list[Decimal]:
        return [row["amount_usdc"] for row in self.rows("SELECT amount_usdc FROM payments_payment ORDER BY id")]


Script = Callable[[Agent], Awaitable[Any]]
Check = Callable[[World, Any], None]
SCRIPTS: dict[str, Script] = {}
CHECKS: dict[str, Check] = {}


def script(function: Script) -> Script:
    SCRIPTS[function.__name__] = function
    return function


def check(function: Check) -> Check:
    CHECKS[function.__name__.removeprefix("is_")] = function
    return function


def local(phrase: str, *, at: str = "berlin") -> str:
    count = 1 if phrase == "tomorrow" else NUMBERS.index(phrase.split()[1])
    return str(dt.datetime.now(ZoneInfo(ZONES[at])).date() + dt.timedelta(days=count))


async def find(agent: Agent, name: str, city: str) -> dict[str, Any]:
    """Look a restaurant up by its name, as every model does first."""
    found = await agent.call("search_restaurants", q=name, near=city)
    return next(hit for hit in found["data"] if hit["name"].casefold() == name.casefold())


async def book(agent: Agent, place: dict[str, Any], day: str, time: str, party: int, **guest: Any) -> dict[str, Any]:
    wish = {"slug": place["slug"], "date": day, "time": time, "party_size": party}
    record: dict[str, Any] = await agent.call("book_table", **wish, **guest)
    return record


def of(record: dict[str, Any]) -> dict[str, Any]:
    """The arguments that name a booking of this conversation."""
    return {"booking_id": record["id"], "manage_token": record["manage_token"]}


@script
async def outdoors(agent: Agent) -> Any:
    day, time, party = agent.day("tomorrow"), agent.means("8 in the evening", "20:00"), agent.means("two", 2)
    wish = {"near": "Berlin", "bookable_at": agent.means("tomorrow at 8", f"{day}T{time}"), "party_size": party}
    found = await agent.call("search_restaurants", **wish, attributes=["outdoor seating"])
    if not found["data"]:
        found = await agent.call("search_restaurants", **wish)
    place = found["data"][0]
    free = await agent.call("check_availability", slug=place["slug"], date=day, party_size=party)
    area = [{"area": name} for name in free["areas"] if re.search("terrace|garden|outdoor|patio", name, re.IGNORECASE)]
    guest = {"customer_name": "Ada Lovelace", "customer_email": "ada@example.com"}
    return await book(agent, place, day, time, party, **guest, **next(iter(area), {}))


@check
def is_outdoors(world: World, answer: Any) -> None:
    row = world.the_booking("ada@example.com", status="confirmed", date=local("tomorrow"), time="20:00", party_size=2)
    assert (row["market"], row["area"]) == ("berlin", "Terrace")
    assert row["tables"] in (["T1"], ["T4"])


@script
async def move(agent: Agent) -> Any:
    place = await find(agent, "Zur Krone Mitte", "Berlin")
    guest = {"customer_name": "Bob", "customer_email": "bob@example.com"}
    record = await book(agent, place, agent.day("in three days"), "19:00", agent.means("two", 2), **guest)
    return await agent.call("change_booking", **of(record), time=agent.means("nine", "21:00"))


@check
def is_move(world: World, answer: Any) -> None:
    world.the_booking("bob@example.com", status="confirmed", date=local("in three days"), time="21:00", party_size=2)
    assert answer["time"] == "21:00"


@script
async def wheelchair(agent: Agent) -> Any:
    wish = {"near": "Brandenburg Gate", "open": agent.means("open now", "now"), "sort": agent.means("good", "rating")}
    wish["attributes"] = ["wheelchair"]
    found = await agent.call("search_restaurants", **wish)
    if not found["data"]:
        wider = [relaxed for relaxed in found["query"]["without"] if relaxed["parameter"] == "radius"]
        found = await agent.call("search_restaurants", **wish, radius=int(wider[0]["value"]))
    return found["data"]


@check
def is_wheelchair(world: World, answer: Any) -> None:
    assert answer
    for hit in answer:
        query = "SELECT market_id AS market, attributes FROM catalogue_restaurant WHERE slug = %s"
        (row,) = world.rows(query, hit["slug"])
        assert (row["market"], row["attributes"]["wheelchair"], hit["open_now"]) == ("berlin", True, True)
    # Few reviews weigh less, so the order is not that of the stars alone.
    assert answer[0]["rating"] >= 4


@script
async def cancel(agent: Agent) -> Any:
    place = await find(agent, "Zur Krone Mitte", "Berlin")
    guest = {"customer_name": "Carl", "customer_email": "carl@example.com"}
    record = await book(agent, place, agent.day("in three days"), "19:00", agent.means("two", 2), **guest)
    return await agent.call("cancel_booking", **of(record))


@check
def is_cancel(world: World, answer: Any) -> None:
    row = world.the_booking("carl@example.com", status="cancelled")
    assert answer["status"] == "cancelled"
    seats = """
        SELECT 1 AS one FROM reservations_seating JOIN catalogue_flowbooking AS b USING (reservation_id)
        WHERE b.id = %s
    """
    assert world.rows(seats, row["id"]) == []


@script
async def cheaper(agent: Agent) -> Any:
    first = await agent.call("search_restaurants", q="steak", near="New York")
    level = first["data"][0]["price_level"]
    lower = agent.means("cheaper", level - 1)
    second = await agent.call("search_restaurants", q="steak", near="New York", price_max=lower)
    if not second["data"]:
        second = await agent.call("search_restaurants", near="New York", price_max=lower)
    return first["data"][0], second["data"]


@check
def is_cheaper(world: World, answer: Any) -> None:
    dear, cheap = answer
    assert cheap
    assert {hit["market"] for hit in cheap} == {"new-york"}
    assert all(hit["price_level"] < dear["price_level"] for hit in cheap)


@script
async def next_booking(agent: Agent) -> Any:
    place = await find(agent, "Zur Krone Mitte", "Berlin")
    guest = {"customer_name": "Dora", "customer_email": "dora@example.com"}
    party = agent.means("two", 2)
    days = [agent.day(f"in {number} days") for number in ("five", "four", "three")]
    records = [await book(agent, place, day, "18:00", party, **guest) for day in days]
    await agent.call("cancel_booking", **of(records[2]))
    mine = (await agent.call("list_my_bookings"))["data"]
    # "Which visit is next say `date`, `time` and `status`."
    return min((row["date"], row["time"], row["id"]) for row in mine if row["status"] == "confirmed")


SCRIPTS["next"] = SCRIPTS.pop("next_booking")


@check
def is_next(world: World, answer: Any) -> None:
    assert answer[:2] == (local("in four days"), "18:00")


@script
async def discount(agent: Agent) -> Any:
    party = agent.means("two", 2)
    wish = {"near": "Copenhagen", "party_size": party, "limit": 50}
    page = await agent.call("list_offers", **wish)
    offers = list(page["data"])
    while cursor := page["pagination"]["next_cursor"]:
        page = await agent.call("list_offers", **wish, cursor=cursor)
        offers += page["data"]
    best = max(offers, key=lambda offer: offer["percent"])
    guest = {"customer_name": "Grace Hopper", "customer_phone": "+4520123456"}
    return await agent.call("book_table", offer_id=best["id"], party_size=party, **guest)


@check
def is_discount(world: World, answer: Any) -> None:
    row = world.the_booking("+4520123456", status="confirmed", party_size=2, market="copenhagen")
    query = """
        SELECT max(percent) AS percent
        FROM catalogue_flowslot AS s JOIN catalogue_restaurant AS r ON r.id = restaurant_id
        WHERE market_id = 'copenhagen' AND party_min <= 2 AND party_max >= 2 AND seats_left >= 2
          AND withdrawn_at IS NULL AND book_before > now() AND (bookable_from IS NULL OR bookable_from <= now())
    """
    (highest,) = world.rows(query)
    assert row["percent"] == highest["percent"] == answer["percent"]


@script
async def full(agent: Agent) -> Any:
    place = await find(agent, "Bellavista & Figli", "Milan")
    guest = {"customer_name": "Emil", "customer_email": "emil@example.com"}
    day, party = agent.day("in eight days", at="milan"), agent.means("two", 2)
    try:
        return await book(agent, place, day, "19:30", party, **guest)
    except Refused as refusal:
        times = re.findall(r"\d\d:\d\d", str(refusal).partition("There is room at ")[2].partition(".")[0])
        later = next(time for time in times if time > "19:30")
        return await book(agent, place, day, later, party, **guest)


@check
def is_full(world: World, answer: Any) -> None:
    # The other party of two leaves after 90 minutes.
    world.the_booking(
        "emil@example.com", status="confirmed", date=local("in eight days", at="milan"), time="21:00", party_size=2
    )


@script
async def details(agent: Agent) -> Any:
    place = await find(agent, "Doyle's of Marylebone", "Marylebone")
    record = await agent.call("get_restaurant", slug=place["slug"])
    return record["phone"], record["hours"]["display"]


@check
def is_details(world: World, answer: Any) -> None:
    phone, hours = answer
    query = "SELECT phone, hours FROM catalogue_restaurant WHERE slug = 'doyles-of-marylebone'"
    (row,) = world.rows(query)
    assert phone == row["phone"]
    sunday = [period["close"]["time"] for period in row["hours"]["periods"] if period["open"]["day"] == 6]
    (line,) = [line for line in hours if re.match("Sun|Every day|.*-Sun", line)]
    assert sunday[-1] in line


@script
async def again(agent: Agent) -> Any:
    place = await find(agent, "Galata Meydan", "Berlin")
    guest = {"customer_name": "Fred", "customer_email": "fred@example.com"}
    day, party = agent.day("in three days"), agent.means("two", 2)
    await book(agent, place, day, "19:00", party, **guest)
    try:
        return await book(agent, place, day, "19:00", party, special_requests="by the window", **guest)
    except Refused as refusal:
        return str(refusal)


@check
def is_again(world: World, answer: Any) -> None:
    row = world.the_booking("fred@example.com", status="confirmed", time="19:00", party_size=2)
    assert row["id"].hex
    assert "fb_" in answer


@script
async def more_guests(agent: Agent) -> Any:
    place = await find(agent, "Zur Krone Mitte", "Berlin")
    guest = {"customer_name": "Gerda", "customer_email": "gerda@example.com"}
    record = await book(agent, place, agent.day("in six days"), "19:00", agent.means("two", 2), **guest)
    return await agent.call("change_booking", **of(record), party_size=agent.means("four", 4))


@check
def is_more_guests(world: World, answer: Any) -> None:
    world.the_booking("gerda@example.com", status="confirmed", time="19:00", party_size=4)


@script
async def large_party(agent: Agent) -> Any:
    place = await find(agent, "Dolores & Sons", "London")
    guest = {"customer_name": "Hans", "customer_email": "hans@example.com"}
    try:
        await book(agent, place, agent.day("in three days", at="london"), "19:00", agent.means("twelve", 12), **guest)
    except Refused:
        # "Please call it."
        return (await agent.call("get_restaurant", slug=place["slug"]))["phone"]
    return None


@check
def is_large_party(world: World, answer: Any) -> None:
    assert world.bookings("hans@example.com") == []
    (row,) = world.rows("SELECT phone FROM catalogue_restaurant WHERE slug = 'dolores-sons'")
    assert answer == row["phone"] is not None


@script
async def soho(agent: Agent) -> Any:
    found = await agent.call("search_restaurants", near="Soho")
    resolved = found["query"]["resolved"]
    return (
        [resolved["near"], *(other["near"] for other in found["query"]["alternatives"])]
        if resolved["ambiguous"]
        else []
    )


@check
def is_soho(world: World, answer: Any) -> None:
    assert {"Soho, London", "SoHo, New York"} <= set(answer)


@script
async def complaints(agent: Agent) -> Any:
    place = await find(agent, "Bellavista & Figli", "Milan")
    found = await agent.call("get_insight", slug=place["slug"])
    return [point["text"] for point in found["ai_insight_detail"]["watch_outs"]]


@check
def is_complaints(world: World, answer: Any) -> None:
    assert answer
    assert all(answer)


@script
async def bad_reviews(agent: Agent) -> Any:
    place = await find(agent, "Bellavista & Figli", "Milan")
    stars, newest = agent.means("bad", [1, 2]), agent.means("latest", "newest")
    return (await agent.call("list_reviews", slug=place["slug"], stars=stars, sort=newest))["data"]


@check
def is_bad_reviews(world: World, answer: Any) -> None:
    assert answer
    assert {review["stars"] for review in answer} <= {1, 2}
    dates = [review["created_at"] for review in answer]
    assert dates == sorted(dates, reverse=True)


@script
async def museums(agent: Agent) -> Any:
    place = await find(agent, "Zur Krone Mitte", "Berlin")
    return (await agent.call("get_surroundings", slug=place["slug"], kinds=["museum"]))["entries"]


@check
def is_museums(world: World, answer: Any) -> None:
    assert {entry["kind"] for entry in answer} == {"museum"}


@script
async def everything(agent: Agent) -> Any:
    place = await find(agent, "Bellavista & Figli", "Milan")
    return await agent.call("buy_parts", slug=place["slug"], fields=["photos", "reviews"])


@check
def is_everything(world: World, answer: Any) -> None:
    assert answer["photos"]["items"]
    assert answer["reviews"]["items"]


@script
async def export(agent: Agent) -> Any:
    started = await agent.call("start_export", dataset="photos", market="Copenhagen")
    for _ in range(40):
        found = await agent.call("get_export", export_id=started["id"])
        if found["status"] in ("succeeded", "failed"):
            return found
        await anyio.sleep(1)
    return None


@check
def is_export(world: World, answer: Any) -> None:
    assert answer["status"] == "succeeded"
    assert all(file["url"] for file in answer["files"])


@script
async def free_table(agent: Agent) -> Any:
    day, party = agent.day("in two days", at="copenhagen"), agent.means("three", 3)
    wish = {
        "near": "Copenhagen",
        "diet": ["vegetarian"],
        "party_size": party,
        "sort": agent.means("the best", "rating"),
    }
    wish |= {
        "bookable_at": agent.means("at 18:30", f"{day}T18:30"),
        "price_max": agent.means("not the most expensive", 3),
    }
    place = (await agent.call("search_restaurants", **wish))["data"][0]
    return await book(agent, place, day, "18:30", party, customer_name="Ida", customer_email="ida@example.com")


@check
def is_free_table(world: World, answer: Any) -> None:
    row = world.the_booking("ida@example.com", status="confirmed", time="18:30", party_size=3, market="copenhagen")
    assert row["date"] == local("in two days", at="copenhagen")
    assert row["attributes"]["diet_vegetarian"]
    assert row["price_level"] <= 3


@script
async def high_chair(agent: Agent) -> Any:
    place = await find(agent, "Konya by Orhan", "Berlin")
    guest = {"customer_name": "Jan", "customer_email": "jan@example.com"}
    record = await book(agent, place, agent.day("in three days"), "18:00", agent.means("three", 3), **guest)
    return await agent.call("change_booking", **of(record), special_requests="we need a high chair")


@check
def is_high_chair(world: World, answer: Any) -> None:
    row = world.the_booking("jan@example.com", status="confirmed", time="18:00", party_size=3)
    assert "high chair" in row["special_requests"]


@script
async def italian(agent: Agent) -> Any:
    wish = {"cuisine": "Italian", "market": "Copenhagen", "price_max": agent.means("two at most", 2)}
    return (await agent.call("search_restaurants", **wish))["data"]


@check
def is_italian(world: World, answer: Any) -> None:
    assert answer
    for hit in answer:
        query = "SELECT r.market_id, s.price_level, s.cuisines FROM catalogue_restaurant AS r"
        (row,) = world.rows(
            f"{query} JOIN catalogue_searchrow AS s ON s.restaurant_id = r.id WHERE r.slug = %s", hit["slug"]
        )
        assert row["market_id"] == "copenhagen"
        assert row["price_level"] <= 2
        assert set(row["cuisines"]) & {"italian", "pizza", "pasta"}


@script
async def vegan(agent: Agent) -> Any:
    return (await agent.call("search_restaurants", diet="vegan", near="Copenhagen"))["data"]


@check
def is_vegan(world: World, answer: Any) -> None:
    assert_diet(world, answer, "copenhagen", "diet_vegan")


def assert_diet(world: World, hits: Any, market: str, key: str) -> None:
    assert hits
    for hit in hits:
        query = "SELECT market_id, attributes FROM catalogue_restaurant WHERE slug = %s"
        (row,) = world.rows(query, hit["slug"])
        assert row["market_id"] == market
        assert row["attributes"][key]


async def relaxed(agent: Agent, optional: str, **wish: Any) -> Any:
    """The hits of a search; without any those without the wish that may be dropped, or in the wider radius."""
    found = await agent.call("search_restaurants", **wish)
    if not found["data"]:
        for hint in found["query"]["without"]:
            if hint["parameter"] == optional:
                wish.pop(optional)
                return (await agent.call("search_restaurants", **wish))["data"]
    return found["data"]


@script
async def gluten_free(agent: Agent) -> Any:
    return await relaxed(agent, "attributes", diet="Gluten-free", market="Milan", attributes="outdoor seating")


@check
def is_gluten_free(world: World, answer: Any) -> None:
    assert_diet(world, answer, "milan", "diet_gluten_free")


@script
async def no_bars(agent: Agent) -> Any:
    return (await agent.call("search_restaurants", near="Alexanderplatz", kind_not=["bar", "fast food"]))["data"]


@check
def is_no_bars(world: World, answer: Any) -> None:
    assert answer
    for hit in answer:
        (row,) = world.rows("SELECT market_id, attributes FROM catalogue_restaurant WHERE slug = %s", hit["slug"])
        assert row["market_id"] == "berlin"
        assert row["attributes"].get("kind") not in ("bar", "fast_food")


@script
async def late_evening(agent: Agent) -> Any:
    moment = agent.means("in three days at 9:30 pm", f"{agent.day('in three days', at='london')} 9:30 pm")
    return (await agent.call("search_restaurants", near="London", open=moment))["data"]


@check
def is_late_evening(world: World, answer: Any) -> None:
    assert answer
    weekday = dt.date.fromisoformat(local("in three days", at="london")).weekday()
    for hit in answer:
        query = "SELECT market_id, hours FROM catalogue_restaurant WHERE slug = %s"
        (row,) = world.rows(query, hit["slug"])
        assert row["market_id"] == "london"
        assert any(is_open(period, weekday, "21:30") for period in row["hours"]["periods"])


def is_open(period: dict[str, Any], weekday: int, time: str) -> bool:
    """Whether a weekly period contains a time of a day; one that ends on the next day does after its opening."""
    opens, closes = period["open"], period["close"]
    if opens["day"] != weekday or opens["time"] > time:
        return False
    return bool(closes["day"] != weekday or closes["time"] > time)


@script
async def misspelt(agent: Agent) -> Any:
    try:
        found = await agent.call("search_restaurants", near="Brandenburg Gaet")
    except Refused as refusal:
        # "Ask again with one of the `suggestions`", which stand as JSON on the last line.
        suggestions = json.loads(str(refusal).partition("Data, not instructions: ")[2])["suggestions"]
        found = await agent.call("search_restaurants", near=suggestions[0])
    return found["query"]["resolved"]["name"], found["data"]


@check
def is_misspelt(world: World, answer: Any) -> None:
    name, hits = answer
    assert name in ("Brandenburg Gate", "Brandenburger Tor")
    assert {hit["market"] for hit in hits} == {"berlin"}


async def cities_or_question(agent: Agent, near: str) -> Any:
    """What the tool says of a place that it does not know: a question, or the cities that it knows."""
    try:
        found = await agent.call("search_restaurants", near=near)
    except Refused as refusal:
        return str(refusal)
    resolved = found["query"]["resolved"]
    return [resolved["near"], *found["query"]["alternatives"]] if resolved["ambiguous"] else found["data"]


@script
async def rome(agent: Agent) -> Any:
    return await cities_or_question(agent, agent.means("Colosseum in Rome", "Colosseum, Rome"))


@check
def is_rome(world: World, answer: Any) -> None:
    assert isinstance(answer, str)
    assert "milan" in answer
    assert "berlin" in answer


@script
async def lyon(agent: Agent) -> Any:
    return await cities_or_question(agent, "Lyon")


@check
def is_lyon(world: World, answer: Any) -> None:
    assert isinstance(answer, str)
    assert "paris" in answer


@script
async def compare(agent: Agent) -> Any:
    places = [await find(agent, *each) for each in (("Bellavista & Figli", "Milan"), ("Zur Krone Mitte", "Berlin"))]
    return max(places, key=lambda place: place["rating"])["slug"]


@check
def is_compare(world: World, answer: Any) -> None:
    rows = world.rows(
        """
        SELECT r.slug FROM catalogue_restaurant AS r JOIN catalogue_searchrow AS s ON s.restaurant_id = r.id
        WHERE r.name IN ('Bellavista & Figli', 'Zur Krone Mitte') AND r.market_id IN ('milan', 'berlin')
        ORDER BY s.rating DESC NULLS LAST
        """
    )
    assert answer == rows[0]["slug"]


@script
async def christmas(agent: Agent) -> Any:
    place = await find(agent, "Zur Krone Mitte", "Berlin")
    today = dt.datetime.now(ZoneInfo("Europe/Berlin")).date()
    day = dt.date(today.year + (today > dt.date(today.year, 12, 25)), 12, 25)
    return await agent.call("get_hours", slug=place["slug"], date=agent.means("Christmas Day", str(day)))


@check
def is_christmas(world: World, answer: Any) -> None:
    assert answer["from"].endswith("-12-25")
    assert answer["spans"]


@script
async def its_discounts(agent: Agent) -> Any:
    place = await find(agent, "Zur Krone Mitte", "Berlin")
    page = await agent.call("list_offers", slug=place["slug"], party_size=agent.means("for 4", "4"), limit="50")
    return place["slug"], page["data"]


@check
def is_its_discounts(world: World, answer: Any) -> None:
    slug, offers = answer
    query = """
        SELECT count(*) AS count FROM catalogue_flowslot AS s JOIN catalogue_restaurant AS r ON r.id = restaurant_id
        WHERE r.slug = %s AND party_min <= 4 AND party_max >= 4 AND seats_left >= 4 AND withdrawn_at IS NULL
          AND book_before > now() AND (bookable_from IS NULL OR bookable_from <= now())
    """
    (row,) = world.rows(query, slug)
    assert len([offer for offer in offers if offer["seats_left"] >= 4]) == min(row["count"], 50)


@script
async def closed(agent: Agent) -> Any:
    place = await find(agent, "Dolores & Sons", "London")
    return await agent.call("report_problem", slug=place["slug"], kind="closed", text="there is a bank now")


@check
def is_closed(world: World, answer: Any) -> None:
    rows = world.rows("SELECT kind, state, text FROM catalogue_report")
    assert rows == [{"kind": "closed", "state": "open", "text": "there is a bank now"}]
    assert answer["state"] == "open"


@script
async def still_booked(agent: Agent) -> Any:
    place = await find(agent, "Galata Meydan", "Berlin")
    guest = {"customer_name": "Kai", "customer_email": "kai@example.com"}
    record = await book(agent, place, agent.day("in five days"), "18:00", agent.means("two", "2"), **guest)
    return await agent.call("get_booking", **of(record))


@check
def is_still_booked(world: World, answer: Any) -> None:
    world.the_booking("kai@example.com", status="confirmed", time="18:00", party_size=2)
    assert answer["status"] == "confirmed"


@script
async def hour_later(agent: Agent) -> Any:
    place = await find(agent, "Galata Meydan", "Berlin")
    guest = {"customer_name": "Lea", "customer_email": "lea@example.com"}
    record = await book(agent, place, agent.day("in six days"), "18:00", agent.means("two", 2), **guest)
    return await agent.call("change_booking", **of(record), time=agent.means("An hour later", "7 pm"))


@check
def is_hour_later(world: World, answer: Any) -> None:
    world.the_booking("lea@example.com", status="confirmed", date=local("in six days"), time="19:00", party_size=2)


@script
async def terrace(agent: Agent) -> Any:
    place = await find(agent, "Konya by Orhan", "Berlin")
    guest = {"customer_name": "Mia", "customer_email": "mia@example.com"}
    day, party = agent.day("in four days"), agent.means("two", 2)
    record = await book(agent, place, day, "18:00", party, **guest)
    try:
        return await agent.call("change_booking", **of(record), area="Terrace")
    except Refused:
        # "Cancel it and book another."
        await agent.call("cancel_booking", **of(record))
        return await book(agent, place, day, "18:00", party, area="Terrace", **guest)


@check
def is_terrace(world: World, answer: Any) -> None:
    (row,) = [each for each in world.bookings("mia@example.com") if each["status"] == "confirmed"]
    assert (row["area"], row["time"], row["party_size"]) == ("Terrace", "18:00", 2)


@script
async def no_contact(agent: Agent) -> Any:
    place = await find(agent, "Zur Krone Mitte", "Berlin")
    try:
        await book(agent, place, agent.day("in seven days"), "20:00", agent.means("two", 2))
    except Refused as refusal:
        return str(refusal)
    return ""


@check
def is_no_contact(world: World, answer: Any) -> None:
    assert "`customer_name`" in answer
    assert "`customer_email` or `customer_phone`" in answer
    query = "SELECT 1 AS one FROM reservations_reservation AS r WHERE r.date = %s AND r.time = '20:00'"
    assert world.rows(query, local("in seven days")) == []


@script
async def refund(agent: Agent) -> Any:
    place = await find(agent, "Zur Krone Mitte", "Berlin")
    await agent.call("get_surroundings", slug=place["slug"])
    newest = (await agent.call("list_payments", limit="1"))["data"][0]
    return await agent.call("request_refund", payment_id=newest["id"], reason="That list is no use")


@check
def is_refund(world: World, answer: Any) -> None:
    rows = world.rows("SELECT state, refund_request, products FROM payments_payment ORDER BY id")
    assert rows[-1] == {"state": "delivered", "refund_request": "That list is no use", "products": ["context"]}
    assert [row["refund_request"] for row in rows[:-1]] == [""] * (len(rows) - 1)
    assert answer["refund_requested_at"]


@script
async def cited_review(agent: Agent) -> Any:
    place = await find(agent, "Bellavista & Figli", "Milan")
    found = await agent.call("get_insight", slug=place["slug"])
    ids = found["ai_insight_detail"]["watch_outs"][0]["citations"][:1]
    return ids, (await agent.call("list_reviews", slug=place["slug"], ids=ids))["data"]


@check
def is_cited_review(world: World, answer: Any) -> None:
    ids, reviews = answer
    assert [review["id"] for review in reviews] == ids
    assert reviews[0]["text"]


@script
async def spent(agent: Agent) -> Any:
    page = await agent.call("list_payments", limit="100")
    return sum(Decimal(row["amount"]) for row in page["data"] if row["state"] in ("settled", "delivered"))


@check
def is_spent(world: World, answer: Any) -> None:
    rows = world.rows(
        """
        SELECT sum(amount_usdc) AS sum FROM payments_payment AS p
        WHERE state IN ('settled', 'delivered') AND products && '{ai_insight}'
        """
    )
    # Of all wallets, the Premium one alone buys insights; it has bought one page of several parts, too.
    assert answer >= rows[0]["sum"] > 0


@script
async def research(agent: Agent) -> Any:
    found = await agent.call("search", query="Bellavista & Figli in Milan")
    result = next(each for each in found["results"] if each["title"].startswith("Bellavista & Figli"))
    return await agent.call("fetch", id=result["id"])


@check
def is_research(world: World, answer: Any) -> None:
    assert answer["title"] == "Bellavista & Figli"
    assert answer["url"].endswith(f"/restaurants/{answer['id']}")
    assert "Address: " in answer["text"]


PRICES = {
    "complaints": Decimal("0.006"),
    "cited_review": Decimal("0.006"),
    "bad_reviews": Decimal("0.003"),
    "museums": Decimal("0.002"),
    "refund": Decimal("0.002"),
    "everything": Decimal("0.0035"),
    "export": Decimal("0.3"),
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A product with restaurants in every market, of which agent_world.py can be booked."""
    with running(tmp_path_factory.mktemp("agents") / "state", "--restaurants", "360") as up:
        prepared = manage(up.state_dir, "shell", "-c", (HERE / "agent_world.py").read_text())
        assert prepared.returncode == 0, prepared.stderr
        yield World(up)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a task went: `done`, `wrong` (an answer, or an act, that the check refuses) or `not done`."""

    result: Literal["done", "wrong", "not done"]
    calls: int
    why: str = ""


def test_36_of_40_tasks_are_done_none_wrong_and_in_5_calls(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    assert SCRIPTS.keys() == CHECKS.keys() == TASKS.keys()
    assert len(TASKS) == 40
    outcomes = {name: do(world, name) for name in TASKS}
    done = [name for name, each in outcomes.items() if each.result == "done"]
    wrong = [name for name, each in outcomes.items() if each.result == "wrong"]
    median = statistics.median(each.calls for each in outcomes.values())
    lines = [
        f"{len(done)} of {len(TASKS)} agent tasks are done, {len(wrong)} wrong; calls: median {median:g},"
        f" at most {max(each.calls for each in outcomes.values())}",
        *(f"{name}: {each.result}: {each.why}" for name, each in outcomes.items() if each.result != "done"),
    ]
    with capsys.disabled():
        sys.stdout.write("\n" + "\n".join(lines) + "\n")
    assert wrong == [], lines
    assert len(done) >= MIN_DONE, lines
    assert median <= MAX_MEDIAN_CALLS


def do(world: World, name: str) -> Outcome:
    """Do a task and check it."""
    task, shop = TASKS[name], Shop(world.up)
    before = world.payments()
    agents: list[Agent] = []

    async def connect() -> Any:
        key = world.up.record["management"]["api_key"] if task.get("account") else None
        key = session_of(shop, task["wallet"]) if "wallet" in task else key
        async with connected(world.up.record["mcp_url"], "auto", key=key) as client:
            tools = (await client.list_tools()).tools
            listed = json.dumps([tool.model_dump(mode="json", exclude={"output_schema"}) for tool in tools])
            instructions = str(client.instructions)
            agents.append(Agent(client, listed + instructions, task["words"], shop=shop, payer=task.get("wallet")))
            return await SCRIPTS[name](agents[0])

    try:
        answer = anyio.run(connect)
    except (Refused, LookupError, TypeError, ValueError, RuntimeError, StopIteration, ExceptionGroup) as error:
        return Outcome("not done", agents[0].calls if agents else 0, describe(error))
    spent = world.payments()[len(before) :]
    try:
        CHECKS[name](world, answer)
        assert spent == ([PRICES[name]] if name in PRICES else []), f"it spent {spent}"
    except (AssertionError, LookupError, TypeError, ValueError) as error:
        return Outcome("wrong", agents[0].calls, describe(error))
    return Outcome("done", agents[0].calls)


def describe(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {str(error)[:300]}"
