"""What restaurants were, and what has changed, over HTTP."""

from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from catalogue import field_groups, history, paywall, responses, serializers
from catalogue.api.openapi_responses import PAYMENT, SLUG, sells, sold
from catalogue.filters.history import Changes, Versions
from catalogue.models import Version
from payments.identity.drf_authentication import DataViewSet


class HistoryViewSet(DataViewSet[Version]):
    """The versions of a restaurant."""

    queryset = Version.objects.none()
    serializer_class = serializers.HistoryAnswer

    @extend_schema(
        operation_id="get_restaurant_history",
        summary="See what a restaurant was",
        parameters=[SLUG, Versions, *PAYMENT],
        responses=sold(serializers.HistoryAnswer),
        extensions=sells(field_groups.HISTORY),
    )
    def list(self, request: Request, slug: str) -> HttpResponse:
        """Its versions, newest first: from when to when, who made them, and what changed, as JSON Patch (RFC 6902)
        with the old values. Sold from the Premium tier; a page on which nothing has changed is free.
        """
        now = timezone.now()
        return paywall.served(request, responses.versions(slug, Versions.read(request), now=now), now=now)


class ChangeViewSet(DataViewSet[Version]):
    """The feed of changes."""

    queryset = Version.objects.none()
    serializer_class = serializers.FeedAnswer

    @extend_schema(
        operation_id="list_changes",
        summary="Follow what changes",
        parameters=[Changes, *PAYMENT],
        responses=sold(serializers.FeedAnswer, of_restaurant=False),
        extensions=sells(field_groups.HISTORY),
    )
    def list(self, request: Request) -> HttpResponse:
        """Every change of every restaurant, in the order in which they became visible: go on from `next_since`, now or
        in a month, and nothing is missed and nothing comes twice. Sold from the Premium tier; a page without a change
        is free.
        """
        asked = Changes.read(request)
        with_record = asked.pop("include", None) is not None
        page = history.changes(
            since=asked["since"],
            limit=asked["limit"],
            market=asked.get("market"),
            types=asked.get("type"),
            with_record=with_record,
        )
        body = serializers.feed(page, with_record=with_record)
        return paywall.answer(request, body, sold=(field_groups.HISTORY,) if page.rows else (), now=timezone.now())
