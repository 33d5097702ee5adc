"""Query strings are read by fields that were bound once, to what the serializer would make of each itself."""

import random
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from django.test import RequestFactory
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from accounts.api.events import EventParams
from accounts.api.webhook_serializers import DeliveryParams
from catalogue.filters import bookings, exports, lookups, restaurants, search
from catalogue.filters import offers as filters_offers
from catalogue.mcp import prompts
from catalogue.mcp.tools import offers as tools_offers
from catalogue.search.text import vocabulary
from framework.api.query_params.declarations import PageParams, QueryParams
from framework.errors import ApiError, InvalidRequest
from payments.api.payments import PaymentParameters
from tests.catalogue import builders

ALL: tuple[type[QueryParams], ...] = (
    *(lookups.LandmarkParams, lookups.AutocompleteParams, lookups.MatchParams, lookups.CuisineParams),
    *(filters_offers.SlotParams, filters_offers.OfferParams, bookings.AvailabilityParams, bookings.BookingListParams),
    *(restaurants.ReviewParams, restaurants.PhotoParams, restaurants.ContextParams, restaurants.InsightParams),
    *(restaurants.RestaurantParams, restaurants.HoursParams, restaurants.HistoryParams),
    *(lookups.ChangeParams, exports.DownloadParams),
    *(
        search.SearchParams,
        PageParams,
        PaymentParameters,
        EventParams,
        DeliveryParams,
        tools_offers.OfferSearch,
        prompts.Dinner,
        prompts.Comparison,
    ),
)
# What some parameter takes, and what none does.
TEXTS = (
    *(
        "1",
        "20",
        "51",
        "007",
        "-1",
        "1e3",
        "\uff11\uff12",
        "999999999999999999",
        "4.5",
        "5.01",
        "3,4",
        "4,4,5",
        "1,2,",
        "6",
    ),
    *("now", "19:30", "24:00", "2026-11-24", "2026-02-30", "2026-11-21T19:30:00Z", "2026-11-21T19:30", "0001-01-01"),
    *("2026-11-21T19:30:00+23:59", "55.6737,12.5681", "86,12", "55.6737, 12.5681", "12.5,55.65,12.6,55.7"),
    *("copenhagen", "copenhagn", "tivoli gardens", "  a   b ", " ", "a\tb", "a\x00b", "\ud800", "æ" * 121, "x" * 4001),
    *("best", "distance", "beste", "offer", "any", "relevant", "newest", "true", "false", "True", "core", "reviews"),
    *("core,reviews", "cuisine,price", "cuisine,prize", "da", "DA", "dan", "museum", "park,museum", "restaurant"),
    *("noma,geranium", "noma, geranium", "noma", ",".join(f"a-{n}" for n in range(101)), "created,updated", "record"),
)


def classes(parent: type[QueryParams]) -> set[type[QueryParams]]:
    """The parent's own, and those of theirs."""
    own = set(parent.__subclasses__())
    return own.union(*map(classes, own))


def outcome(read: Any) -> object:
    """What it gives, its order included, or how it refuses."""
    try:
        return list(read().items())
    except ValidationError as error:
        return error.get_full_details(), list(error.detail), error.status_code
    except ApiError as error:
        return type(error), error.message, error.param, error.details, error.extra


def read(parameters: type[QueryParams], given: dict[str, str]) -> dict[str, Any]:
    """The values by the serializer."""
    form = parameters(data=given)
    form.is_valid(raise_exception=True)
    return dict(form.validated_data)


def questions(parameters: type[QueryParams]) -> list[dict[str, str]]:
    """Nothing, each text alone for each parameter, and several at once."""
    chance = random.Random(parameters.__name__)
    names = list(parameters().fields)
    single = [{name: text} for name in names for text in TEXTS]
    several = [
        {name: chance.choice(TEXTS) for name in chance.sample(names, chance.randint(1, len(names)))} for _ in range(40)
    ]
    return [{}, *chance.sample(single, min(len(single), 250)), *several]


def test_all_classes_of_parameters_are_compared() -> None:
    assert classes(QueryParams) == set(ALL)


@pytest.mark.sample(3)
@pytest.mark.django_db
@pytest.mark.parametrize("parameters", ALL, ids=lambda each: f"{each.__module__}.{each.__name__}")
def test_a_query_string_is_read_as_a_serializer_reads_it(
    parameters: type[QueryParams], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same values in the same order, or the same refusals in the same order with the same codes."""
    builders.market("copenhagen")
    asked = questions(parameters)
    found = [outcome(partial(read, parameters, given)) for given in asked]
    # What is left is the serializer of the framework.
    monkeypatch.delattr(QueryParams, "to_internal_value")
    monkeypatch.delattr(QueryParams, "run_validators")
    expected = [outcome(partial(read, parameters, given)) for given in asked]
    assert [trio for trio in zip(asked, found, expected, strict=True) if trio[1] != trio[2]] == []


def test_threads_that_read_at_once_do_not_see_each_others_parameters() -> None:
    def refused(number: int) -> object:
        given = {"ll": f"{number % 80},12.5", "limit": str(number % 50 + 1), "slugs": "noma"}
        # Each is refused for what stands first beside its `slugs`.
        order = ("ll", "limit", "slugs") if number % 2 else ("limit", "ll", "slugs")
        try:
            return read(search.SearchParams, {name: given[name] for name in order})
        except ApiError as refusal:
            return refusal.param

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(refused, range(400))) == ["limit", "ll"] * 200


def build_request(text: str) -> Request:
    """A request with this query string."""
    return Request(RequestFactory().get(f"/?{text}"))


@pytest.mark.django_db
def test_a_market_that_was_known_a_moment_ago_is_refused_once_it_is_gone() -> None:
    place = builders.market("copenhagen")
    assert search.SearchParams.read(build_request("market=copenhagen"))["market"] == "copenhagen"
    place.delete()
    vocabulary._cache.clear()  # noqa: SLF001  # half a minute later
    with pytest.raises(InvalidRequest):
        search.SearchParams.read(build_request("market=copenhagen"))


def test_cached_parse_of_a_short_query_string_returns_a_copy() -> None:
    first = restaurants.ReviewParams.read(build_request("sort=newest"))
    first.clear()
    assert restaurants.ReviewParams.read(build_request("sort=newest"))["sort"] == "newest"
    for _ in range(2):
        with pytest.raises(ValidationError):
            restaurants.ReviewParams.read(build_request("limit=900"))
