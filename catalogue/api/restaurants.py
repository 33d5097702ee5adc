"""REST views of restaurants, of what belongs to one, and of the feed of their changes."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import OpenApiResponse, PolymorphicProxySerializer, extend_schema
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import idempotency
from catalogue import field_groups, history, paywall, responses, search
from catalogue.api.bookings import created
from catalogue.api.offers import KEY as BOOKING_KEY
from catalogue.api.offers import require_idempotency_key
from catalogue.api.openapi_responses import (
    DEPOSIT,
    SLUG,
    PaymentRequiredRecord,
    free_operation,
    order_parameters,
    paid_operation,
)
from catalogue.bookings import deposits
from catalogue.bookings.owners import owner_of
from catalogue.bookings.tables import PaidDeposit, book_table
from catalogue.bookings.venues import check_availability
from catalogue.filters.bookings import AvailabilityParams
from catalogue.filters.lookups import ChangeParams
from catalogue.filters.offers import SlotParams
from catalogue.filters.restaurants import (
    ContextParams,
    HistoryParams,
    HoursParams,
    InsightParams,
    PhotoParams,
    RestaurantParams,
    ReviewParams,
)
from catalogue.filters.search import SearchParams
from catalogue.hours import date_range
from catalogue.moderation import reports
from catalogue.offers import idempotent_booking
from catalogue.serializers.bookings import BookingRecord, NewTableBooking, RestaurantAvailabilityRecord
from catalogue.serializers.history import FeedAnswer, HistoryAnswer, render_changes
from catalogue.serializers.offers import FlowSlotAnswer
from catalogue.serializers.paid_groups import AroundAnswer, InsightAnswer, OneReviewRecord, PhotoAnswer, ReviewAnswer
from catalogue.serializers.reports import NewReport, ReportRecord
from catalogue.serializers.restaurants import HoursForDatesRecord, RestaurantRecord
from catalogue.serializers.search import BatchAnswer, RecordsAnswer, SearchAnswer
from framework.api.json_parser import json_body
from framework.api.openapi import schema
from framework.api.rate_limits.client_ip import client_network
from framework.django_internals import wrapped_request
from payments.interface import PREMIUM, DataViewSet, Purchase, caller_of, parse_proof
from reservations.booking.terms import DepositRequired

FOUND = PolymorphicProxySerializer(
    component_name="FoundRestaurants",
    serializers=[SearchAnswer, BatchAnswer, RecordsAnswer],
    resource_type_field_name=None,
    many=False,
)
# Of the field groups of a record.
PRODUCTS = [group.product for group in field_groups.GROUPS.values() if group.product]


class RestaurantViewSet(DataViewSet[Any]):
    lookup_field = "slug"
    # No other text is a slug.
    lookup_value_regex = "[a-z0-9-]{1,120}"
    query_actions = (
        "list",
        "retrieve",
        "hours",
        "reviews",
        "photos",
        "context",
        "insight",
        "history",
        "flow",
        "availability",
    )

    @paid_operation("search_restaurants", "Search restaurants", SearchParams, answer=FOUND, products=PRODUCTS)
    def list(self, request: Request) -> HttpResponse:
        """Search by location, opening hours, words, cuisine, price and rating. Free; no key. Only records by `slugs`
        with paid field groups are sold.

        No match is an empty list. An unknown `near` is 400 `place_not_resolved` with suggestions. Restaurants that
        have closed for good are left out, and a search by location leaves out those without one. `slugs` looks up
        restaurants instead of searching, from the Premium tier; with `fields` as full records.
        """
        params = SearchParams.read(request)
        now = timezone.now()
        if "slugs" in params:
            paywall.require_tier(request, PREMIUM)
            if groups := params.get("fields"):
                return paywall.serve(request, responses.records(params["slugs"], groups, now=now), now=now)
            return paywall.build_response(request, search.look_up_slugs(**params, now=now).to_json(), now=now)
        return paywall.serve(request, responses.search_results(params, now=now), now=now)

    @paid_operation(
        "get_restaurant",
        "Retrieve a restaurant",
        SLUG,
        RestaurantParams,
        answer=RestaurantRecord,
        products=PRODUCTS,
    )
    def retrieve(self, request: Request, slug: str) -> HttpResponse:
        """The slug, the name and the requested field groups.

        `core` and `menu` are free; no key. The others are paid by x402, one payment for a call: without a payment the
        response is 402 with the price. `context` is sold to every tier, `reviews` and `photos` from Pro, `ai_insight`
        and `history` from Premium. A group without content is null and free. `at` returns `core` as of a past moment,
        sold as `history`. The slug of a renamed or merged restaurant is 308.
        """
        selection = RestaurantParams.read(request)
        now = timezone.now()
        is_buyer = partial(paywall.is_buyer, request, "ai_insight", now=now)
        return paywall.serve(request, responses.restaurant(slug, selection, now=now, is_buyer=is_buyer), now=now)

    @free_operation(
        "get_restaurant_hours",
        "List the opening hours of a restaurant",
        SLUG,
        HoursParams,
        answer=HoursForDatesRecord,
        errors=[308, 404, 410],
    )
    @action(detail=True)
    def hours(self, request: Request, slug: str) -> HttpResponse:
        """The open intervals, special days and public holidays of some days, in local time. Free; no key.

        `spans` is null if the hours are unknown, and empty for a closed restaurant.
        """
        days = HoursParams.read(request)
        now = timezone.now()
        found = date_range.list_hours(slug, first=days.get("from"), last=days.get("to"), now=now)
        return paywall.build_response(request, HoursForDatesRecord(found).data, now=now)

    @paid_operation(
        "list_reviews",
        "Read the reviews of a restaurant",
        SLUG,
        ReviewParams,
        answer=ReviewAnswer,
        products=["reviews"],
    )
    @action(detail=True)
    def reviews(self, request: Request, slug: str) -> HttpResponse:
        """Reviews with filters and sorting, and a summary of all. Needs the Pro tier, each page separately; a page
        without reviews is free. `ids` that the insight of the restaurant cites are free for a day after you bought it.
        """
        params = ReviewParams.read(request)
        now = timezone.now()
        has_bought = has_bought_insight(request, now=now)
        return paywall.serve(request, responses.reviews(slug, params, now=now, has_bought_insight=has_bought), now=now)

    @paid_operation(
        "list_photos", "List the photos of a restaurant", SLUG, PhotoParams, answer=PhotoAnswer, products=["photos"]
    )
    @action(detail=True)
    def photos(self, request: Request, slug: str) -> HttpResponse:
        """Photos, newest first, with their authors and licences. Their URLs need no payment. Needs the Pro tier,
        each page separately; a page without photos is free.
        """
        params = PhotoParams.read(request)
        now = timezone.now()
        return paywall.serve(request, responses.photos(slug, params, now=now), now=now)

    @paid_operation(
        "get_restaurant_context",
        "List the surroundings of a restaurant",
        SLUG,
        ContextParams,
        answer=AroundAnswer,
        products=["context"],
    )
    @action(detail=True)
    def context(self, request: Request, slug: str) -> HttpResponse:
        """Landmarks, museums, parks and stations within walking distance, and the neighborhood. Sold to every tier;
        free if there are none.
        """
        params = ContextParams.read(request)
        return paywall.serve(request, responses.context(slug, params), now=timezone.now())

    @paid_operation(
        "get_restaurant_insight",
        "Read the insight of a restaurant",
        SLUG,
        InsightParams,
        answer=InsightAnswer,
        products=["ai_insight"],
    )
    @action(detail=True)
    def insight(self, request: Request, slug: str) -> HttpResponse:
        """A summary of the reviews, the best time to go, dishes and complaints, each with the reviews that it cites.
        Needs the Premium tier; null is free, with a reason.
        """
        params = InsightParams.read(request)
        now = timezone.now()
        is_buyer = partial(paywall.is_buyer, request, "ai_insight", now=now)
        return paywall.serve(request, responses.insight(slug, params, now=now, is_buyer=is_buyer), now=now)

    @paid_operation(
        "get_restaurant_history",
        "List the versions of a restaurant",
        SLUG,
        HistoryParams,
        answer=HistoryAnswer,
        products=[field_groups.HISTORY],
    )
    @action(detail=True)
    def history(self, request: Request, slug: str) -> HttpResponse:
        """Versions, newest first, with their validity, their actor, and their changes as JSON Patch (RFC 6902) with
        the old values. Needs the Premium tier; a page without changes is free.
        """
        params = HistoryParams.read(request)
        now = timezone.now()
        return paywall.serve(request, responses.versions(slug, params, now=now), now=now)

    @free_operation(
        "list_restaurant_offers",
        "List the offers of a restaurant",
        SLUG,
        SlotParams,
        answer=FlowSlotAnswer,
        errors=[308, 404, 410],
    )
    @action(detail=True)
    def flow(self, request: Request, slug: str) -> HttpResponse:
        """Discounts at a time of day, soonest first, of one day or of the next 14. Free; no key.

        The `status` says whether an offer can be booked. A restaurant without offers has an empty list.
        """
        params = SlotParams.read(request)
        now = timezone.now()
        return paywall.serve(request, responses.restaurant_offers(slug, params, now=now), now=now)

    @free_operation(
        "get_restaurant_availability",
        "See which tables of a restaurant are free",
        SLUG,
        AvailabilityParams,
        answer=RestaurantAvailabilityRecord,
        errors=[308, 404, 410],
    )
    @action(detail=True)
    def availability(self, request: Request, slug: str) -> HttpResponse:
        """The times of some days that are still to come, and what a booking gets at each: `free` gets a table; for
        `request` and `waitlist` the restaurant is to be called; `full` gets nothing. Free; no key. 404 for a
        restaurant that takes no bookings here.
        """
        params, now = AvailabilityParams.read(request), timezone.now()
        record = RestaurantAvailabilityRecord(check_availability(slug, params, now=now)).data
        return paywall.build_response(request, record, now=now)

    @extend_schema(
        operation_id="book_table",
        summary="Book a free table",
        parameters=[SLUG, BOOKING_KEY, schema.LOCATION, *order_parameters(201)],
        request=NewTableBooking,
        responses={
            **schema.documented_responses({201: BookingRecord}, errors=[308, 404, 409, 410]),
            402: OpenApiResponse(PaymentRequiredRecord, description=DEPOSIT),
        },
    )
    @action(detail=True, methods=["post"])
    def bookings(self, request: Request, slug: str) -> HttpResponse:
        """Any free table, with or without an offer: confirmed at once, or 409 with `alternatives` and nothing is
        stored. Free, unless the time asks for a deposit (`terms` of the availability), which is paid by x402 with the
        same request; no key. The restaurant's confirmation is mailed to the guest. Your wallet session or API key may
        see and change it, and so may the holder of its `manage_token`. A guest has at most three upcoming bookings,
        and ten tries an hour.
        """
        require_idempotency_key(request)
        values = NewTableBooking.read(json_body(request))
        owner = owner_of(request)
        scope = idempotent_booking.hash_scope(slug, guest=values, owner=owner)
        now, day, at = timezone.now(), values.pop("date"), values.pop("time")

        def book(paid: PaidDeposit | None = None) -> HttpResponse:
            def effect() -> HttpResponse:
                booking = book_table(slug, day=day, at=at, owner=owner, paid=paid, now=timezone.now(), **values)
                return created(booking, receipt=paid.receipt if paid else None)

            return idempotency.respond_once(request, scope=scope, effect=effect)

        try:
            return book()
        except DepositRequired as required:
            presented = deposits.Presented(
                caller=caller_of(request),
                purchase=Purchase.for_request(request),
                proof=parse_proof(request.headers),
                receipt_token=request.headers.get("X-Receipt"),
            )
            names = ("party_size", "customer_email", "customer_phone", "area", "additional_table")
            wanted = {name: values[name] for name in names if name in values}
            table = deposits.Table(slug=slug, day=day, at=at, **wanted)
            return deposits.book_paid(deposits.pay(table, required.terms, presented, now=now), book)

    @extend_schema(
        operation_id="create_report",
        summary="Report wrong data of a restaurant",
        parameters=[SLUG],
        request=NewReport,
        responses=schema.documented_responses({200: ReportRecord, 201: ReportRecord}, errors=[308, 404, 410]),
    )
    @action(detail=True, methods=["post"])
    def reports(self, request: Request, slug: str) -> Response:
        """Report a closed or moved restaurant, or wrong data, which our staff check. Free; no key. A repeated report
        is 200 and adds none while the first is open. At most 5 a minute, 30 a day and 5 open ones per restaurant from
        an IP address.
        """
        form = NewReport(data=json_body(request))
        form.is_valid(raise_exception=True)
        reporter = reports.hash_reporter(client_network(wrapped_request(request)))
        filed = reports.file_report(slug, **form.validated_data, reporter=reporter, now=timezone.now())
        code = status.HTTP_201_CREATED if filed.is_new else status.HTTP_200_OK
        return Response(ReportRecord(filed.report).data, status=code, headers={"Cache-Control": "no-store"})


def has_bought_insight(request: Request, *, now: datetime) -> Callable[[str], bool]:
    """Return whether the caller has bought the insight of a restaurant, by its slug."""
    return partial(paywall.has_bought_insight, request, receipt_token=request.headers.get("X-Receipt"), now=now)


class ReviewViewSet(DataViewSet[Any]):
    lookup_url_kwarg = "id"
    # No other text is an id.
    lookup_value_regex = "[a-z0-9_]{1,40}"

    @paid_operation(
        "get_review",
        "Retrieve a review",
        schema.path_id("rev"),
        answer=OneReviewRecord,
        products=["reviews"],
        errors=[403, 404, 409],
    )
    def retrieve(self, request: Request, id: str) -> HttpResponse:  # noqa: A002  # the name in the path
        """A review by its id, which insights and photos name. Needs the Pro tier; free for a day after you bought
        the insight that cites it: call with the `X-Receipt` of the insight, or with the session of the wallet.
        """
        now = timezone.now()
        content = responses.review(id, now=now, has_bought_insight=has_bought_insight(request, now=now))
        return paywall.serve(request, content, now=now)


class ChangeViewSet(DataViewSet[Any]):
    @paid_operation("list_changes", "Follow changes", ChangeParams, answer=FeedAnswer, products=[field_groups.HISTORY])
    def list(self, request: Request) -> HttpResponse:
        """Every change of every restaurant, in commit order. Continue from `next_since` at any time: no change is
        missed or repeated. Needs the Premium tier; a page without changes is free.
        """
        params = ChangeParams.read(request)
        with_record = params.pop("include", None) is not None
        page = history.list_changes(
            since=params["since"],
            limit=params["limit"],
            market=params.get("market"),
            types=params.get("type"),
            with_record=with_record,
        )
        sold = (field_groups.HISTORY,) if page.rows else ()
        body = render_changes(page, with_record=with_record)
        return paywall.build_response(request, body, sold=sold, now=timezone.now())
