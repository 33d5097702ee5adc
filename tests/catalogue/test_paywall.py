"""How answers leave: ETags and 304, what caches may keep, and who is asked for money."""

from collections.abc import Mapping

import orjson
import pytest
from django.http import HttpResponse
from django.test import Client, RequestFactory
from rest_framework.request import Request

from catalogue import paywall
from payments.checkout.context import TierRequired
from payments.identity.caller import Caller
from payments.tiers import terms
from payments.tiers.definitions import FREE, PREMIUM, PRO, Tier
from tests.catalogue import builders
from tests.catalogue.builders import NOW


def asked(headers: Mapping[str, str] | None = None, *, method: str = "GET", tier: Tier = FREE) -> Request:
    request = RequestFactory(headers=headers or {}).generic(method, "/v1/restaurants")
    request.caller = Caller(bucket="somebody", terms=terms.tier_terms(tier), wallet="0x" + 40 * "1")  # type: ignore[attr-defined]
    return Request(request)


def free(headers: Mapping[str, str] | None = None, body: object = b'{"a":1}', *, method: str = "GET") -> HttpResponse:
    return paywall.build_response(asked(headers, method=method), body, now=NOW)


def test_plain_values_and_bytes_of_the_same_content_have_one_etag() -> None:
    rendered, values = free(), free(body={"a": 1})
    assert rendered.content == values.content == b'{"a":1}'
    assert rendered["ETag"] == values["ETag"] != free(body=b'{"a":2}')["ETag"]
    assert rendered["Cache-Control"] == "public, max-age=60, stale-while-revalidate=300"
    assert rendered["Vary"] == "Authorization, SIGN-IN-WITH-X, X-Payment, PAYMENT-SIGNATURE"


def test_an_answer_that_the_caller_has_is_304_with_the_same_headers_and_no_body() -> None:
    whole = free()
    etag = whole["ETag"]
    for known in (etag, f"W/{etag}", f'"x", {etag}', "*"):
        again = free({"If-None-Match": known})
        assert (again.status_code, again.content) == (304, b"")
        assert {name: again[name] for name in ("ETag", "Cache-Control", "Vary")} == {
            name: whole[name] for name in ("ETag", "Cache-Control", "Vary")
        }
    assert free({"If-None-Match": etag}, method="HEAD").status_code == 304
    for known in ('"x"', etag.strip('"'), f"{etag}{etag}", ""):
        assert free({"If-None-Match": known}).status_code == 200
    assert free({"If-None-Match": "*"}, method="POST").status_code == 200


def test_what_changes_by_itself_can_be_left_out_of_the_etag_which_is_weak_then() -> None:
    first = paywall.build_response(asked(), b'{"as_of":1}', now=NOW, etag_of=b"rows")
    assert first["ETag"].startswith('W/"')
    again = paywall.build_response(asked({"If-None-Match": first["ETag"]}), b'{"as_of":2}', now=NOW, etag_of=b"rows")
    assert again.status_code == 304


def test_caller_below_the_tier_gets_the_required_tier() -> None:
    paywall.require_tier(asked(tier=PREMIUM), PREMIUM)
    with pytest.raises(TierRequired) as caught:
        paywall.require_tier(asked(tier=PRO), PREMIUM)
    assert caught.value.code == "tier_required"
    # Also which token leads to the tier, and how much of it: tests/payments/checkout/test_checkout.py.
    assert {name: caught.value.extra[name] for name in ("tier", "tier_required")} == {
        "tier": "pro",
        "tier_required": "premium",
    }
    assert caught.value.headers == {"Cache-Control": "no-store"}


@pytest.mark.django_db
def test_over_http_a_304_is_whole_and_costs_no_call(client: Client) -> None:
    builders.restaurant(slug="noma")
    first = client.get("/v1/restaurants/noma")
    assert orjson.loads(first.content)["slug"] == "noma"
    again = client.get("/v1/restaurants/noma", headers={"if-none-match": first["ETag"]})
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", first["ETag"])
    assert "Content-Length" not in again
    assert "Content-Type" not in again
    assert (again["X-Tier"], int(again["X-RateLimit-Remaining"])) == ("free", int(first["X-RateLimit-Remaining"]))
