"""The product as a WSGI application that also tells what it has imported, for the tests."""

import json
import sys
from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIEnvironment

from config.wsgi import application as product


def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """GET /modules is answered here, all else by the product."""
    if environ["PATH_INFO"] != "/modules":
        return product(environ, start_response)
    start_response("200 OK", [("Content-Type", "application/json")])
    return [json.dumps(sorted({name.partition(".")[0] for name in sys.modules})).encode()]
