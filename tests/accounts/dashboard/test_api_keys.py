"""Keys and requests on the dashboard: what people see of them, and what they may do."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.api_keys import create
from accounts.models import ApiCall, ApiKey, Venue
from accounts.request_log.writer import request_log
from framework.public_ids import encode, new_id
from tests.support import builders, users
from tests.support.query_counts import costing

ORDERS = "/api/v1/orders"
XSS = "<script>alert(1)</script>"
EVERYTHING = ["orders:read", "orders:write", "reservations:read", "reservations:write"]


def at(venue: Venue, rest: str) -> str:
    """The address of a page of the venue."""
    return f"/dashboard/{venue.public_id}/{rest}"


def call(key: ApiKey, **fields: Any) -> ApiCall:
    """A logged call of the key that was answered 200 just now."""
    result: dict[str, Any] = {
        "method": "GET",
        "path": ORDERS,
        "status": 200,
        "duration_ms": 4,
        "created_at": timezone.now(),
    }
    return ApiCall.objects.create(**{"id": new_id(), "venue_id": key.venue_id, "key": key} | result | fields)


@pytest.fixture
def owner(venue: Venue) -> Client:
    """The browser of the venue's owner."""
    return users.member(venue)


def test_the_list_of_keys_costs_two_queries(venue: Venue, owner: Client) -> None:
    for number in range(5):
        builders.key(venue, name=f"till {number}")
    # Session, user, venue, membership, other venues; the keys themselves are not counted here.
    with costing(5):
        page = owner.get(at(venue, "keys")).content.decode()
    assert page.count("Revoke<span") == 5


def test_the_scopes_of_webhooks_have_to_be_ticked(venue: Venue, owner: Client) -> None:
    page = owner.get(at(venue, "keys/new")).content.decode()
    boxes = re.findall(r'<input type="checkbox" name="scopes" value="([a-z:]+)"([^>]*)>', page)
    assert [scope for scope, attributes in boxes if "checked" not in attributes] == ["webhooks:read", "webhooks:write"]
    ApiKey.create(venue, name="Till")
    assert "all except webhooks" in owner.get(at(venue, "keys")).content.decode()


def test_a_key_is_shown_once_and_lets_programs_in(venue: Venue, owner: Client) -> None:
    answer = owner.post(at(venue, "keys/new"), {"name": "Till", "scopes": ["orders:read"], "expires": "90"})
    key = ApiKey.objects.get()
    assert answer.headers["Location"] == at(venue, f"keys/{key.public_id}")
    assert (key.name, key.scopes, key.allowance, key.venue) == ("Till", ["orders:read"], 1000, venue)
    assert key.expires_at is not None
    assert abs(key.expires_at - timezone.now() - timedelta(days=90)) < timedelta(minutes=1)
    first, second = (owner.get(answer.headers["Location"]).content.decode() for _ in range(2))
    text = re.findall(r'id="new-key"[^>]*>(rk_live_\w{46})<', first)[0]
    assert builders.client_with(text).get(ORDERS).status_code == 200
    assert text not in second
    assert "This key was already shown" in second
    assert "one_time_secrets" not in owner.session


def test_new_key_that_is_not_viewed_within_ten_minutes_is_deleted(venue: Venue, owner: Client) -> None:
    answer = owner.post(at(venue, "keys/new"), {"name": "Till", "scopes": EVERYTHING})
    session = owner.session
    ((of, (sealed, moment)),) = session["one_time_secrets"].items()
    assert "rk_live" not in sealed
    session["one_time_secrets"] = {of: [sealed, moment - 601]}
    session.save()
    assert "This key was already shown" in owner.get(answer.headers["Location"]).content.decode()


def test_new_key_is_shown_only_to_its_creator(venue: Venue, owner: Client) -> None:
    answer = owner.post(at(venue, "keys/new"), {"name": "Till", "scopes": EVERYTHING})
    assert "This key was already shown" in users.member(venue).get(answer.headers["Location"]).content.decode()


def test_customers_do_not_raise_their_allowance(venue: Venue, owner: Client) -> None:
    owner.post(at(venue, "keys/new"), {"name": "Till", "scopes": EVERYTHING, "allowance": "1000000"})
    assert ApiKey.objects.get().allowance == 1000


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"name": ""}, "This field is required."),
        ({"name": "x" * 101}, "Ensure this value has at most 100 characters (it has 101)."),
        ({"name": "a\x00b"}, "Null characters are not allowed."),
        ({"scopes": []}, "Select at least one scope."),
        ({"scopes": ["everything"]}, "Select a valid choice. everything is not one of the available choices."),
        ({"expires": "1e400"}, "Select a valid choice. 1e400 is not one of the available choices."),
        ({"expires": "day"}, "Enter the last day."),
        ({"expires": "day", "end_date": "2020-01-01"}, "This day is in the past: choose a later one."),
        ({"expires": "day", "end_date": "9999-12-31"}, "Choose an earlier day."),
        ({"expires": "day", "end_date": "soon"}, "Enter a valid date."),
    ],
    ids=range(10),
)
def test_form_error_is_shown_at_its_field_and_no_key_is_created(
    venue: Venue, owner: Client, sent: dict[str, Any], words: str
) -> None:
    answer = owner.post(at(venue, "keys/new"), {"name": "Till & Bar", "scopes": EVERYTHING} | sent)
    page = answer.content.decode()
    assert answer.status_code == 400
    assert words in page
    assert ApiKey.objects.count() == 0
    assert "Till &amp; Bar" in page or "name" in sent


def test_a_venue_has_twenty_keys_at_most(venue: Venue, owner: Client) -> None:
    for _ in range(create.MAX_KEYS):
        builders.key(venue)
    answer = owner.post(at(venue, "keys/new"), {"name": "One more", "scopes": EVERYTHING})
    assert "A restaurant can have at most 20 active API keys." in answer.content.decode()
    assert (answer.status_code, ApiKey.objects.count()) == (400, 20)


def test_a_replaced_key_works_for_the_overlap_and_shares_the_count(venue: Venue, owner: Client) -> None:
    old = builders.key(venue)
    answer = owner.post(at(venue, f"keys/{old.row.public_id}/rotate"), {"overlap": "1"})
    new = ApiKey.objects.exclude(pk=old.row.pk).get()
    assert new.public_id in answer.headers["Location"]
    old.row.refresh_from_db()
    assert old.row.expires_at is not None
    assert abs(old.row.expires_at - timezone.now() - timedelta(hours=1)) < timedelta(minutes=1)
    assert builders.client_with(old.text).get(ORDERS).status_code == 200
    page = owner.get(at(venue, "keys")).content.decode()
    assert page.count("1 of 1000") == 2
    assert page.count("replaced") == 1
    again = owner.post(at(venue, f"keys/{old.row.public_id}/rotate"), {"overlap": "1"})
    assert (again.status_code, ApiKey.objects.count()) == (400, 2)
    assert "was already replaced by" in again.content.decode()


def test_revoking_asks_first_and_then_ends_the_key(venue: Venue, owner: Client) -> None:
    issued = builders.key(venue)
    address = at(venue, f"keys/{issued.row.public_id}/revoke")
    asked = owner.get(address).content.decode()
    assert "It was last used at" in asked
    assert builders.client_with(issued.text).get(ORDERS).status_code == 200
    assert owner.post(address).status_code == 302
    assert builders.client_with(issued.text).get(ORDERS).status_code == 401
    page = owner.get(at(venue, "keys")).content.decode()
    assert "Inactive keys (1)" in page
    assert "No active API key" in page


@pytest.mark.parametrize("rest", ["keys/{key}", "keys/{key}/rotate", "keys/{key}/revoke", "requests/{call}"])
def test_what_is_of_another_venue_is_not_there(venue: Venue, other_venue: Venue, owner: Client, rest: str) -> None:
    key = builders.key(other_venue).row
    theirs = call(key)
    address = at(venue, rest.format(key=key.public_id, call=theirs.public_id))
    assert owner.get(address).status_code == 404
    assert owner.post(address, {"overlap": "0"}).status_code in (404, 405)
    key.refresh_from_db()
    assert (key.revoked_at, ApiKey.objects.count()) == (None, 1)


@pytest.mark.exhaustive
@pytest.mark.parametrize("rest", ["keys", "keys/new", "keys/key_x", "requests", "requests/req_x"])
def test_only_developers_of_the_venue_come_in(venue: Venue, other_venue: Venue, rest: str) -> None:
    for role, status in (("host", 403), ("kitchen", 403)):
        assert users.member(venue, role).get(at(venue, rest)).status_code == status
    assert users.member(other_venue).get(at(venue, rest)).status_code == 404
    assert "/account/login/" in Client().get(at(venue, rest)).headers["Location"]


@pytest.mark.exhaustive
def test_the_name_of_a_key_is_text_everywhere(venue: Venue, owner: Client) -> None:
    key = builders.key(venue, name=XSS).row
    logged = call(key, status=400, body=XSS, answer=XSS, path=f"/api/{XSS}", query=XSS, user_agent=XSS)
    for rest in (
        *("keys", f"keys/{key.public_id}", f"keys/{key.public_id}/rotate", f"keys/{key.public_id}/revoke"),
        *("requests", f"requests/{logged.public_id}", "requests?id=" + XSS, "requests?path=" + XSS, ""),
    ):
        page = owner.get(at(venue, rest).rstrip("/")).content.decode()
        assert XSS not in page
        assert "<script>alert" not in page


def test_the_list_of_requests_costs_two_queries(venue: Venue, owner: Client) -> None:
    key = builders.key(venue).row
    for _ in range(60):
        call(key)
    # Session, user, venue, membership, other venues, and the calls; the keys are not counted here.
    with costing(6):
        page = owner.get(at(venue, "requests")).content.decode()
    assert page.count("<tr><td") == 30


@pytest.mark.exhaustive
def test_each_request_is_on_one_page_and_newest_first(venue: Venue, owner: Client) -> None:
    key, now = builders.key(venue).row, timezone.now()
    # Three of each moment: the id tells them apart.
    made = [call(key, created_at=now - timedelta(seconds=number // 3)).public_id for number in range(120)]
    seen: list[str] = []
    address = at(venue, "requests")
    for _ in range(4):
        page = owner.get(address).content.decode()
        seen += re.findall(r'id="(req_\w{26})"', page)
        following = re.search(r'rel="next" href="([^"]+)"', page)
        if following:
            address = following[1].replace("&amp;", "&")
    assert len(seen) == 120
    assert set(seen) == set(made)
    assert following is None


def test_the_status_of_a_link_is_chosen_also_if_the_list_does_not_have_it(venue: Venue, owner: Client) -> None:
    for status in ("4", "404", "418"):
        page = owner.get(at(venue, f"requests?status={status}")).content.decode()
        assert f'<option value="{status}" selected>' in page
    assert owner.get(at(venue, "requests?status=x")).status_code == 400


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("status=4", {"bad", "lost"}),
        ("status=404", {"lost"}),
        ("status=5", {"broken"}),
        ("status=2", {"good", "old", "till"}),
        ("method=POST", {"bad"}),
        ("path=/api/v1/res", {"lost"}),
        ("range=1h", {"good", "bad", "lost", "broken", "till"}),
        ("key={till}", {"till"}),
        ("since=2000-01-01T00:00&until=2000-01-02T00:00", set()),
        ("range=custom&until=2000-01-02T00:00", set()),
        # The page hides the times of a range of its own.
        ("range=1h&until=2000-01-02T00:00", {"good", "bad", "lost", "broken", "till"}),
        ("key={till}&status=4", set()),
        ("method=GET&range=24h&status=2&path=/api/v1/orders", {"good", "old", "till"}),
    ],
    ids=range(13),
)
def test_requests_are_found_by_what_they_were(venue: Venue, owner: Client, asked: str, found: set[str]) -> None:
    key, till, now = builders.key(venue).row, builders.key(venue, name="till").row, timezone.now()
    made = {
        "good": call(key),
        "bad": call(key, method="POST", status=400),
        "lost": call(key, path="/api/v1/reservations/x", status=404),
        "broken": call(key, status=500),
        "old": call(key, created_at=now - timedelta(hours=3)),
        "till": call(till),
    }
    page = owner.get(at(venue, "requests?" + asked.format(till=till.public_id))).content.decode()
    names = {each.public_id: name for name, each in made.items()}
    assert {names[shown] for shown in re.findall(r'id="(req_\w{26})"', page)} == found


@pytest.mark.exhaustive
def test_scan_of_calls_continues_where_the_last_page_ended(
    venue: Venue, owner: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("accounts.dashboard.request_log.MAX_SCANNED", 10)
    key, now = builders.key(venue).row, timezone.now()
    wanted = call(key, method="PUT", created_at=now - timedelta(hours=2))
    for number in range(25):
        call(key, created_at=now - timedelta(seconds=number))
    address, pages = at(venue, "requests?method=PUT"), 0
    while wanted.public_id not in (page := owner.get(address).content.decode()):
        assert "None of the 10 searched requests matches." in page
        following = re.search(r'class="button" href="([^"]+)"', page)
        assert following is not None
        address, pages = following[1].replace("&amp;", "&"), pages + 1
    assert pages == 2


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "asked",
    [
        "status=9",
        "status=abc",
        "range=2y",
        "key=key_x",
        "since=x",
        "until=1e400",
        "method=%00",
        "path=%00",
        "since=0001-01-01T00:00x",
    ],
)
def test_invalid_filter_is_reported_at_its_field(venue: Venue, owner: Client, asked: str) -> None:
    answer = owner.get(at(venue, "requests?" + asked))
    assert answer.status_code == 400
    assert 'aria-invalid="true"' in answer.content.decode()


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "asked", ["before=x", "before=%00", "seen=x", "since=0001-01-01T00:00", "until=9999-12-31T23:59", "x=%00"]
)
def test_other_garbage_in_the_address_shows_the_list(venue: Venue, owner: Client, asked: str) -> None:
    assert owner.get(at(venue, "requests?" + asked)).status_code == 200


@pytest.mark.exhaustive
def test_request_id_finds_its_request_and_an_unknown_one_is_reported(
    venue: Venue, other_venue: Venue, owner: Client
) -> None:
    mine, theirs = call(builders.key(venue).row), call(builders.key(other_venue).row)
    answer = owner.get(at(venue, f"requests?id=%20{mine.public_id}%20"))
    assert answer.headers["Location"] == at(venue, f"requests/{mine.public_id}")
    for wrong in (theirs.public_id, encode("req", new_id()), "req_x", "%00"):
        assert owner.get(at(venue, f"requests?id={wrong}")).status_code == 404


def test_the_page_asks_for_news_and_is_left_alone_while_there_are_none(venue: Venue, owner: Client) -> None:
    key = builders.key(venue).row
    call(key)
    address = re.search(r'hx-get="([^"]+)"', owner.get(at(venue, "requests")).content.decode())
    assert address is not None
    ask = {"hx-request": "true"}
    assert owner.get(address[1], headers=ask).status_code == 204
    new = call(key)
    part = owner.get(address[1], headers=ask).content.decode()
    assert new.public_id in part
    assert "<html" not in part


def test_request_is_shown_in_full_with_a_curl_command(venue: Venue, owner: Client) -> None:
    issued = builders.key(venue, name="Till")
    builders.client_with(issued.text).post(ORDERS, builders.order_body(items=[]), "application/json")
    request_log.flush()
    logged = ApiCall.objects.get()
    page = owner.get(at(venue, f"requests/{logged.public_id}")).content.decode()
    assert 'href="/docs/errors#invalid_request"' in page
    assert "&quot;customer_id&quot;: &quot;[masked]&quot;" in page
    assert "/api/v1/orders" in page
    assert "Authorization: Bearer $API_KEY" in page
    assert "cust_123" not in page
    assert issued.text not in page


def test_curl_command_of_a_successful_request_reads_its_body_from_a_file(venue: Venue, owner: Client) -> None:
    issued = builders.key(venue)
    placed = builders.client_with(issued.text).post(ORDERS, builders.order_body(), "application/json")
    assert placed.status_code == 201
    request_log.flush()
    page = owner.get(at(venue, f"requests/{ApiCall.objects.get().public_id}")).content.decode()
    assert "-d @body.json" in page
    assert "Save the body of your request as <code>body.json</code> first." in page


def test_copy_buttons_speak_the_language_of_the_page(venue: Venue, owner: Client) -> None:
    page = owner.get(at(venue, "requests"), headers={"accept-language": "de"}).content.decode()
    assert 'data-copied="Kopiert" data-press-copy="Strg+C drücken"' in page
