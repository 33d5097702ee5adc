"""The WSGI door: `config.wsgi:application`."""

import gc
import os
from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse

from config import counts

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
counts.share(settings.STATE_DIR / "metrics")
django = get_wsgi_application()

from accounts.request_log import request_log  # noqa: E402  # no model can be imported before

request_log.serve()
# What is loaded stays. Each full collection would look at all of it again, 0.1 to 0.3 s in which nobody is answered.
gc.collect()
gc.freeze()


def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """Django's answer; one that is whole already as a list, which granian sends at once.

    Of anything else it asks for part after part, and closes it when the last was handed on: a receipt counts as
    delivered then (payments.wire.Paid).
    """
    answer = django(environ, start_response)
    if type(answer) is not HttpResponse:
        return answer
    body = [answer.content]
    answer.close()
    return body
