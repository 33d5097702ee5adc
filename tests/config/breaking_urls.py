"""The product's paths, and one that breaks."""

from django.http import HttpRequest, HttpResponse
from django.urls import path
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from config import urls
from config.urls import handler400, handler403, handler404, handler500

__all__ = ["handler400", "handler403", "handler404", "handler500", "urlpatterns"]

SECRET = "the recipe of the sauce"


def break_plainly(request: HttpRequest) -> HttpResponse:
    """A view of Django that nobody expected to fail."""
    raise ZeroDivisionError(SECRET)


class BreakInside(APIView):
    """A view of DRF that nobody expected to fail."""

    def get(self, request: Request) -> Response:
        """Fail."""
        raise ZeroDivisionError(SECRET)


urlpatterns = [
    path("api/v1/breaks", BreakInside.as_view()),
    path("api/v1/breaks-plainly", break_plainly),
    path("v1/breaks", BreakInside.as_view()),
    *urls.urlpatterns,
]
