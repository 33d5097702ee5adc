"""REST views of the history of restaurants and of the change feed."""

from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from catalogue import field_groups, history, paywall, responses, serializers
from catalogue.api.openapi_responses import PAYMENT, SLUG, paid_responses, product_extensions
from catalogue.filters.history import ChangeParams, HistoryParams
from catalogue.models import Version
from payments.interface import DataViewSet


class HistoryViewSet(DataViewSet[Version]):
    """The versions of a restaurant."""

    queryset = Version.objects.none()
    serializer_class = serializers.HistoryAnswer

    @extend_schema(
        operation_id="get_restaurant_history",
        summary="List the versions of a restaurant",
        parameters=[SLUG, HistoryParams, *PAYMENT],
        responses=paid_responses(serializers.HistoryAnswer),
        extensions=product_extensions(field_groups.HISTORY),
    )
    def list(self, request: Request, slug: str) -> HttpResponse:
        """Versions, newest first, with their validity, their actor, and their changes as JSON Patch (RFC 6902) with
        the old values. Sold from the Premium tier; a page without changes is free.
        """
        now = timezone.now()
        return paywall.serve(request, responses.versions(slug, HistoryParams.read(request), now=now), now=now)


class ChangeViewSet(DataViewSet[Version]):
    """The change feed."""

    queryset = Version.objects.none()
    serializer_class = serializers.FeedAnswer

    @extend_schema(
        operation_id="list_changes",
        summary="Follow changes",
        parameters=[ChangeParams, *PAYMENT],
        responses=paid_responses(serializers.FeedAnswer, of_restaurant=False),
        extensions=product_extensions(field_groups.HISTORY),
    )
    def list(self, request: Request) -> HttpResponse:
        """Every change of every restaurant, in commit order. Continue from `next_since` at any time: no change is
        missed or repeated. Sold from the Premium tier; a page without changes is free.
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
        body = serializers.render_changes(page, with_record=with_record)
        return paywall.build_response(
            request, body, sold=(field_groups.HISTORY,) if page.rows else (), now=timezone.now()
        )
