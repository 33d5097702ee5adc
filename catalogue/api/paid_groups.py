"""REST views of the paid field groups: reviews, photos, context and insights."""

from functools import partial

from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from catalogue import paywall, responses
from catalogue.api.openapi_responses import PAYMENT, SLUG, paid_responses, product_extensions
from catalogue.filters import paid_groups as filters
from catalogue.models import Insight, Landmark, Photo, Review
from catalogue.serializers import paid_groups as serializers
from catalogue.serializers.photos import PhotoAnswer
from payments.interface import DataViewSet


class ReviewViewSet(DataViewSet[Review]):
    """The reviews of a restaurant."""

    queryset = Review.objects.none()
    serializer_class = serializers.ReviewAnswer

    @extend_schema(
        operation_id="list_reviews",
        summary="Read the reviews of a restaurant",
        parameters=[SLUG, filters.ReviewParams, *PAYMENT],
        responses=paid_responses(serializers.ReviewAnswer),
        extensions=product_extensions("reviews"),
    )
    def list(self, request: Request, slug: str) -> HttpResponse:
        """Reviews with filters and sorting, and a summary of all. Sold from the Pro tier, each page separately; a page
        without reviews is free.
        """
        params = filters.ReviewParams.read(request)
        now = timezone.now()
        return paywall.serve(request, responses.reviews(slug, params, now=now), now=now)


class PhotoViewSet(DataViewSet[Photo]):
    """The photos of a restaurant."""

    queryset = Photo.objects.none()
    serializer_class = PhotoAnswer

    @extend_schema(
        operation_id="list_photos",
        summary="List the photos of a restaurant",
        parameters=[SLUG, filters.PhotoParams, *PAYMENT],
        responses=paid_responses(PhotoAnswer),
        extensions=product_extensions("photos"),
    )
    def list(self, request: Request, slug: str) -> HttpResponse:
        """Photos, newest first, with their authors and licences. Their URLs need no payment. Sold from the Pro tier,
        each page separately; a page without photos is free.
        """
        params = filters.PhotoParams.read(request)
        now = timezone.now()
        return paywall.serve(request, responses.photos(slug, params, now=now), now=now)


class ContextViewSet(DataViewSet[Landmark]):
    """The surroundings of a restaurant."""

    queryset = Landmark.objects.none()
    serializer_class = serializers.AroundAnswer

    @extend_schema(
        operation_id="get_restaurant_context",
        summary="List the surroundings of a restaurant",
        parameters=[SLUG, filters.ContextParams, *PAYMENT],
        responses=paid_responses(serializers.AroundAnswer),
        extensions=product_extensions("context"),
    )
    def list(self, request: Request, slug: str) -> HttpResponse:
        """Landmarks, museums, parks and stations within walking distance, and the neighborhood. Sold to every tier;
        free if there are none.
        """
        params = filters.ContextParams.read(request)
        return paywall.serve(request, responses.context(slug, params), now=timezone.now())


class InsightViewSet(DataViewSet[Insight]):
    """The insight of a restaurant."""

    queryset = Insight.objects.none()
    serializer_class = serializers.InsightAnswer
    query_actions = ()

    @extend_schema(
        operation_id="get_restaurant_insight",
        summary="Read the insight of a restaurant",
        parameters=[SLUG, *PAYMENT],
        responses=paid_responses(serializers.InsightAnswer),
        extensions=product_extensions("ai_insight"),
    )
    def list(self, request: Request, slug: str) -> HttpResponse:
        """A summary of the reviews, the best time to go, dishes and complaints, each with the reviews that it cites.
        Sold from the Premium tier; null is free, with a reason.
        """
        now = timezone.now()
        is_buyer = partial(paywall.is_buyer, request, "ai_insight", now=now)
        return paywall.serve(request, responses.insight(slug, now=now, is_buyer=is_buyer), now=now)
