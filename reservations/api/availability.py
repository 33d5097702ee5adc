"""What is free at a venue."""

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api_keys.authentication import ApiKeyAuthentication, get_request_venue
from accounts.api_keys.permissions import HasScope
from framework.api.openapi import schema
from framework.api.pagination.page_number import parse_whole_number
from framework.api.query_params import parser
from framework.api.viewsets import StrictViewSet
from framework.errors import InvalidRequest
from reservations import serializers
from reservations.api import openapi_examples
from reservations.api.viewsets import parse_day
from reservations.booking.slot_states import MAX_DAYS, check_availability
from reservations.models import Reservation

PARAMETERS = [
    OpenApiParameter(
        "date",
        {"type": "string", "format": "date"},
        required=True,
        description="By the venue's clock; a day that guests can book.",
    ),
    OpenApiParameter(
        "until",
        {"type": "string", "format": "date"},
        description=f"The last day, if you ask for several; at most {MAX_DAYS} days. Days after the last that guests"
        " can book are left out.",
    ),
    OpenApiParameter("party_size", {"type": "integer", "minimum": 1, "maximum": 500}, required=True),
    OpenApiParameter("area", {"type": "string", "maxLength": 100}, description="Only tables of this area."),
]


class AvailabilityViewSet(StrictViewSet[Reservation]):
    """The times of the key's venue, and what a reservation gets at each."""

    authentication_classes = [ApiKeyAuthentication]
    permission_classes = [HasScope]
    scope = "reservations"
    queryset = Reservation.objects.none()
    filter_backends = []

    @extend_schema(
        operation_id="get_availability",
        summary="See which times are free",
        parameters=PARAMETERS,
        responses={200: serializers.AvailabilityRecord},
        extensions=schema.error_codes(),
        examples=openapi_examples.AVAILABILITY,
    )
    def list(self, request: Request) -> HttpResponse:
        """By the rule that creates reservations: a `free` time gets a table at once, `request` is decided by the
        staff, `waitlist` joins the waiting list, and `full` is refused. Nothing is held; a hold keeps a table.
        """
        venue = get_request_venue(request)
        now = venue.now()
        params = parser.parse_query(request, ("date", "until", "party_size", "area"))
        missing = next((name for name in ("date", "party_size") if name not in params), None)
        if missing:
            raise InvalidRequest(f"Send `{missing}`.", param=missing)
        record = check_availability(
            venue,
            first=parse_day(params["date"], param="date"),
            last=parse_day(params["until"], param="until") if "until" in params else None,
            party_size=parse_whole_number(params["party_size"], name="party_size", min_value=1, max_value=500),
            area=params.get("area"),
            now=now,
        )
        return Response(serializers.AvailabilityRecord(record).data)
