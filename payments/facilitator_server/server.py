"""The facilitator as a WSGI application: routes, bodies and answers of the x402 specification."""

import json
import logging
import os
from collections.abc import Iterable, Mapping
from typing import Any
from wsgiref.types import StartResponse, WSGIEnvironment

from payments.facilitator_server.policy import POLICY, Policy, load_policy
from payments.facilitator_server.settlement import Settler, build_sdk

logger = logging.getLogger("tablewire.facilitator")

MAX_BYTES = 1 << 18
ROUTES = {"/livez": "GET", "/supported": "GET", "/verify": "POST", "/settle": "POST"}


class MalformedError(ValueError):
    """The request is not a request to a facilitator; the message says why."""


class Facilitator:
    """The WSGI application of one policy."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._settler = Settler(policy, build_sdk)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """GET /supported, POST /verify, POST /settle, GET /livez; errors as {"error": ...}."""
        headers: list[tuple[str, str]] = []
        try:
            status, answer = self._handle(environ, headers)
        except MalformedError as error:
            status, answer = "400 Bad Request", {"error": str(error)}
        except Exception:
            logger.exception("%s failed", environ["PATH_INFO"])
            status, answer = "500 Internal Server Error", {"error": "internal_error"}
        content = json.dumps(answer).encode()
        sizes = [("Content-Type", "application/json"), ("Content-Length", str(len(content)))]
        start_response(status, [*sizes, ("Cache-Control", "no-store"), *headers])
        return [content]

    def _handle(self, environ: WSGIEnvironment, headers: list[tuple[str, str]]) -> tuple[str, Mapping[str, Any]]:
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        if ROUTES.get(path) != method:
            return "404 Not Found", {"error": "there are GET /supported, POST /verify and POST /settle"}
        if path == "/livez":
            return "200 OK", {"status": "ok", **self._settler.find_problems()}
        if path == "/supported":
            return "200 OK", to_json(self._settler.supported())
        if not self._policy.is_authorized(environ.get("HTTP_AUTHORIZATION", "")):
            headers.append(("WWW-Authenticate", "Bearer"))
            return "401 Unauthorized", {"error": "this facilitator wants its token: Authorization: Bearer"}
        content = environ["wsgi.input"].read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            return "413 Content Too Large", {"error": f"more than {MAX_BYTES} bytes"}
        payload, requirements = parse(content)
        handler = self._settler.verify if path == "/verify" else self._settler.settle
        return "200 OK", to_json(handler(payload, requirements))


def application() -> Facilitator:
    """Return the facilitator of the policy in the environment (`manage.py facilitator`)."""
    return Facilitator(load_policy(json.loads(os.environ[POLICY])))


def parse(content: bytes) -> tuple[Any, Any]:
    """Return the payment and its requirements, in the schemas of their version. Raises MalformedError."""
    from pydantic import ValidationError
    from x402.schemas import PaymentPayload, PaymentRequirements, detect_version
    from x402.schemas.v1 import PaymentPayloadV1, PaymentRequirementsV1

    try:
        body = json.loads(content)
        if not isinstance(body, dict) or not isinstance(body.get("paymentPayload"), dict):
            raise MalformedError("the body is {x402Version, paymentPayload, paymentRequirements}")
        if detect_version(body["paymentPayload"]) == 1:
            kinds: tuple[Any, Any] = (PaymentPayloadV1, PaymentRequirementsV1)
        else:
            kinds = (PaymentPayload, PaymentRequirements)
        parts = (body["paymentPayload"], body.get("paymentRequirements"))
        payload, requirements = (kind.model_validate(part) for kind, part in zip(kinds, parts, strict=True))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise MalformedError(f"{place}: {first['msg']}") from None
    except (ValueError, RecursionError) as error:
        raise MalformedError(str(error)) from None
    if not is_readable(payload.payload):
        raise MalformedError("paymentPayload.payload: {signature, authorization} in texts, numbers in decimal digits")
    return payload, requirements


def is_readable(payment: Mapping[str, Any]) -> bool:
    """Whether the authorization is complete and well-formed; the policy judges a payment without one."""
    fields = payment.get("authorization")
    if fields is None:
        return True
    names = ("from", "to", "value", "validAfter", "validBefore", "nonce")
    if not isinstance(fields, dict) or not all(isinstance(fields.get(name), str) for name in names):
        return False
    numbers = (fields["value"], fields["validAfter"], fields["validBefore"])
    return isinstance(payment.get("signature"), str) and all(text.isdecimal() and len(text) < 79 for text in numbers)


def to_json(answer: Any) -> Mapping[str, Any]:
    content: Mapping[str, Any] = answer.model_dump(by_alias=True, exclude_none=True)
    return content
