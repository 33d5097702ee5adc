"""The product with a path that breaks and one that rings for a task that breaks: `web` serves, `app` works."""

import logging
import os
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from django.conf import settings

settings.ROOT_URLCONF = __name__

from config.wsgi import application as web  # noqa: E402, I001

from django.urls import path  # noqa: E402
from rest_framework.request import Request  # noqa: E402
from rest_framework.response import Response  # noqa: E402
from rest_framework.views import APIView  # noqa: E402

from framework.tasks import dispatch  # noqa: E402
from config import urls  # noqa: E402
from config.celery import app  # noqa: E402
from config.urls import handler400, handler403, handler404, handler500  # noqa: E402

__all__ = ["app", "handler400", "handler403", "handler404", "handler500", "urlpatterns", "web"]

QUEUE = "observed"
logger = logging.getLogger("tablewire.observed")


@app.task(name="tests.framework.observability.observed_app.fail")
def fail(*, word: str, **_: Any) -> None:
    """A task that nobody expected to fail."""
    logger.warning("the task began")
    raise ZeroDivisionError(word)


class Break(APIView):
    """A view that nobody expected to fail, with what it was sent in its words."""

    def post(self, request: Request) -> Response:
        """Fail."""
        met = {"body": request.data, "query": request.query_params, "key": request.headers["authorization"]}
        logger.error("met %s", met)
        raise ZeroDivisionError(str(met))


class Ring(APIView):
    """A view that asks for the task."""

    def get(self, request: Request, token: str) -> Response:
        """Ring."""
        dispatch.ring(fail, otherwise="nobody", queue=QUEUE, word=request.query_params["word"])
        return Response(status=204)


urlpatterns = [
    path("api/v1/breaks", Break.as_view()),
    path("api/v1/rings/<str:token>", Ring.as_view()),
    *urls.urlpatterns,
]
