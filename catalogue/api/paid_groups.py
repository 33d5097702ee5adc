"""What guests left and what surrounds them, over HTTP: reviews, photos, context, insight."""

from functools import partial

from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from catalogue import paywall, responses
from catalogue.api.openapi_responses import PAYMENT, SLUG, sells, sold
from catalogue.filters import paid_groups as filters
from catalogue.models import Insight, Landmark, Photo, Review
from catalogue.serializers import paid_groups as serializers
from catalogue.serializers.photos import PhotoAnswer
from payments.identity.drf_authentication import DataViewSet


class ReviewViewSet(DataViewSet[Review]):
    """The reviews of a restaurant."""

    queryset = Review.objects.none()
    serializer_class = serializers.ReviewAnswer

    @extend_schema(
        operation_id="list_reviews",
        summary="Read the reviews of a restaurant",
        parameters=[SLUG, filters.Reviews, *PAYMENT],
        responses=sold(serializers.ReviewAnswer),
        extensions=sells("reviews"),
    )
    def list(self, request: Request, slug: str) -> HttpResponse:
        """All of them, in the order and of the kind that was asked for, below a summary. Sold from the Pro tier, each
        page by itself; a page without reviews is free.
        """
        asked = filters.Reviews.read(request)
        now = timezone.now()
        return paywall.served(request, responses.reviews(slug, asked, now=now), now=now)


class PhotoViewSet(DataViewSet[Photo]):
    """The photos of a restaurant."""

    queryset = Photo.objects.none()
    serializer_class = PhotoAnswer

    @extend_schema(
        operation_id="list_photos",
        summary="See the photos of a restaurant",
        parameters=[SLUG, filters.Photos, *PAYMENT],
        responses=sold(PhotoAnswer),
        extensions=sells("photos"),
    )
    def list(self, request: Request, slug: str) -> HttpResponse:
        """Newest first, with their authors and licences. The bytes are at their addresses, which need no payment. Sold
        from the Pro tier, each page by itself; a page without photos is free.
        """
        asked = filters.Photos.read(request)
        now = timezone.now()
        return paywall.served(request, responses.photos(slug, asked, now=now), now=now)


class ContextViewSet(DataViewSet[Landmark]):
    """What lies around a restaurant."""

    queryset = Landmark.objects.none()
    serializer_class = serializers.AroundAnswer

    @extend_schema(
        operation_id="get_restaurant_context",
        summary="See what lies around a restaurant",
        parameters=[SLUG, filters.Around, *PAYMENT],
        responses=sold(serializers.AroundAnswer),
        extensions=sells("context"),
    )
    def list(self, request: Request, slug: str) -> HttpResponse:
        """Landmarks, museums, parks and stations within a walk, and its neighborhood. Sold to every tier; where there
        is nothing it is free.
        """
        asked = filters.Around.read(request)
        return paywall.served(request, responses.context(slug, asked), now=timezone.now())


class InsightViewSet(DataViewSet[Insight]):
    """What the reviews of a restaurant say."""

    queryset = Insight.objects.none()
    serializer_class = serializers.InsightAnswer
    query_actions = ()

    @extend_schema(
        operation_id="get_restaurant_insight",
        summary="Read what the reviews of a restaurant say",
        parameters=[SLUG, *PAYMENT],
        responses=sold(serializers.InsightAnswer),
        extensions=sells("ai_insight"),
    )
    def list(self, request: Request, slug: str) -> HttpResponse:
        """A text, the best time to go, dishes and complaints, each with the reviews that it rests on. Sold from the
        Premium tier; null is free, and says why.
        """
        now = timezone.now()
        is_buyer = partial(paywall.is_buyer, request, "ai_insight", now=now)
        return paywall.served(request, responses.insight(slug, now=now, is_buyer=is_buyer), now=now)
