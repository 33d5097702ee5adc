"""The product's paths, and some that break."""

from django.db import OperationalError
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


class WaitInside(APIView):
    """A view whose database goes away."""

    def get(self, request: Request) -> Response:
        """Fail as a connection does."""
        raise OperationalError("the connection is lost")


urlpatterns = [
    path("api/v1/breaks", BreakInside.as_view()),
    path("api/v1/breaks-plainly", break_plainly),
    path("api/v1/waits", WaitInside.as_view()),
    path("v1/breaks", BreakInside.as_view()),
    *urls.urlpatterns,
]
