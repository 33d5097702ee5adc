"""The viewsets, their filters and their pagination."""

from math import cos, log, pi, radians, tan
from typing import Any

from django.db.models import F, FloatField, OuterRef, Prefetch, Q, QuerySet, Subquery
from django.db.models.expressions import Func, RawSQL
from django.http import HttpResponse
from django.utils import timezone
from django_filters import rest_framework as filters
from rest_framework import mixins, viewsets
from rest_framework.exceptions import ValidationError
from rest_framework.generics import get_object_or_404
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks.references.textbook import serializers
from benchmarks.references.textbook.models import Opening, Photo, Restaurant, Review, Slot

EARTH_M, SPHERE_M = 6_371_008.8, 6_378_137.0
ROW = "catalogue_restaurant"
METRES = f"""(2 * {EARTH_M} * asin(least(1, sqrt(sin(radians({ROW}.latitude - %s) / 2) ^ 2
    + cos(radians(%s)) * cos(radians({ROW}.latitude)) * sin(radians({ROW}.longitude - %s) / 2) ^ 2))))"""


class WebMercatorPoint(Func):
    """The distance on the plane, in the order of which the index walks."""

    template = "(%(expressions)s)"
    arg_joiner = " <-> "
    output_field = FloatField()


class Pages(CursorPagination):
    """By a cursor: counting all that match would take longer than the page."""

    page_size = 20
    page_size_query_param = "limit"
    max_page_size = 50


class Nearest(Pages):
    """The nearest first."""

    ordering = ("plane", "id")


class Newest(Pages):
    """The newest first."""

    ordering = ("-created_at", "-id")


class RestaurantFilter(filters.FilterSet):
    """What a search may ask for."""

    ll = filters.CharFilter(method="near")
    open = filters.ChoiceFilter(choices=[("now", "now")], method="is_open")

    class Meta:
        model = Restaurant
        fields: tuple[str, ...] = ()

    def near(self, queryset: QuerySet[Restaurant], name: str, value: str) -> Any:
        """Within 1,500 metres."""
        try:
            lat, lng = (float(part) for part in value.split(","))
        except ValueError as error:
            raise ValidationError({"ll": "Latitude and longitude."}) from error
        if not (-85 <= lat <= 85 and -180 <= lng <= 180):
            raise ValidationError({"ll": "Latitude within 85 degrees and longitude within 180."})
        x, y = SPHERE_M * radians(lng), SPHERE_M * log(tan(pi / 4 + radians(lat) / 2))
        reach = 1_500 * SPHERE_M / EARTH_M / cos(radians(abs(lat)) + 1_500 / EARTH_M)
        return queryset.annotate(
            plane=WebMercatorPoint(F("position"), RawSQL("point(%s, %s)", [x, y])),
            metres=RawSQL(METRES, [lat, lat, lng], output_field=FloatField()),  # noqa: S611  # values are bound
        ).extra(where=["catalogue_restaurant.position <@ circle(point(%s, %s), %s)"], params=[x, y, reach])

    def is_open(self, queryset: QuerySet[Restaurant], name: str, value: str) -> Any:
        """Open at this moment."""
        now = timezone.now()
        return queryset.filter(
            openings__opens__lte=now, openings__closes__gt=now, status__in=("open", "unverified")
        ).annotate(closes=F("openings__closes"))


class RestaurantViewSet(viewsets.ReadOnlyModelViewSet[Restaurant]):
    """Search restaurants and look one up."""

    lookup_field = "slug"
    lookup_value_regex = "[a-z0-9-]{1,120}"
    filterset_class = RestaurantFilter
    pagination_class = Nearest

    def get_queryset(self) -> Any:
        now = timezone.now()
        offers = (
            Slot.objects.filter(withdrawn_at=None, starts_at__gt=now, book_before__gt=now)
            .filter(
                Q(bookable_from=None) | Q(bookable_from__lte=now), seats_left__gte=F("party_min"), seats_left__gt=0
            )
            .order_by("starts_at", "-percent", "id")
        )
        found = (
            Restaurant.objects.filter(merged_into=None, erased_at=None)
            .select_related("market", "cuisine")
            .prefetch_related(Prefetch("slots", offers), "source_records__source")
        )
        if self.action == "retrieve":
            span = Opening.objects.filter(restaurant=OuterRef("pk"), closes__gt=now).order_by("closes")
            found = found.annotate(
                opens=Subquery(span.values("opens")[:1]), closes=Subquery(span.values("closes")[:1])
            )
        return found

    def get_serializer_class(self) -> Any:
        """Of a list, or of one."""
        return serializers.RecordSerializer if self.action == "retrieve" else serializers.HitSerializer

    def get_serializer_context(self) -> dict[str, Any]:
        """The moment, once."""
        return {**super().get_serializer_context(), "now": timezone.now()}

    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """A search."""
        reject_unknown_params(request, "ll", "open", "limit", "cursor")
        page = self.paginate_queryset(self.filter_queryset(self.get_queryset())) or []
        sources = {payload.source for one in page for payload in one.source_records.all()}
        return Response(
            {
                "data": self.get_serializer(page, many=True).data,
                "pagination": paginated_response(self.paginator),
                "attribution": serializers.attributions(sources),
            }
        )


class ReviewViewSet(mixins.ListModelMixin, viewsets.GenericViewSet[Review]):
    """The reviews of a restaurant."""

    serializer_class = serializers.ReviewSerializer
    pagination_class = Newest

    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The newest."""
        reject_unknown_params(request, "sort", "limit", "cursor")
        if request.query_params.get("sort") != "newest":
            raise ValidationError({"sort": "newest"})
        restaurant = get_object_or_404(Restaurant, slug=kwargs["slug"], merged_into=None, erased_at=None)
        photos = Photo.objects.filter(is_hidden=False).order_by("created_at", "id")
        found = Review.objects.filter(restaurant=restaurant).select_related("source")
        page = self.paginate_queryset(found.prefetch_related(Prefetch("photos", photos))) or []
        stars = [*restaurant.star_counts, 0, 0, 0, 0, 0][:5]
        return Response(
            {
                "data": self.get_serializer(page, many=True).data,
                "summary": {
                    "rating": None if restaurant.rating is None else float(restaurant.rating),
                    "count": restaurant.review_count,
                    "distribution": {str(given): stars[given - 1] for given in range(5, 0, -1)},
                    **restaurant.review_facets,
                },
                "attribution": serializers.attributions({review.source for review in page}),
                "pagination": paginated_response(self.paginator),
            }
        )


def reject_unknown_params(request: Request, *known: str) -> None:
    """400 for a parameter that there is none of."""
    for name in request.query_params:
        if name not in known:
            raise ValidationError({name: "Unknown parameter."})


def paginated_response(paginator: Any) -> dict[str, Any]:
    """Where the next page is."""
    return {"limit": paginator.page_size, "next": paginator.get_next_link(), "has_more": paginator.has_next}


def livez(request: object) -> HttpResponse:
    """Whether it answers."""
    return HttpResponse(b"ok")
