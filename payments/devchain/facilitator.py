"""A facilitator for the development chain as a WSGI application: the official SDK over HTTP.

Routes, bodies and answers are those of the x402 specification, as the SDK's own clients send and read them.
"""

import json
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any
from wsgiref.types import StartResponse, WSGIEnvironment

from config.stack.chain import NETWORK
from payments.devchain import wallets
from payments.networks import NETWORKS

if TYPE_CHECKING:
    from x402 import x402FacilitatorSync

logger = logging.getLogger("tablewire.facilitator")

MOST_BYTES = 1 << 18
# How long a settlement may wait for its block, which comes with the transaction here.
CONFIRMED_WITHIN_S = 5.0


class MalformedError(ValueError):
    """The request is no question to a facilitator; the message says why."""


class Facilitator:
    """Answers for one chain. `sdk` makes the SDK's facilitator; it is called at once, in the background."""

    def __init__(self, sdk: Callable[[], "x402FacilitatorSync"]) -> None:
        self._sdk: Future[x402FacilitatorSync] = Future()
        self._settling = threading.Lock()
        # Its imports take seconds, for which nobody should wait, neither now nor at the first payment.
        threading.Thread(target=self._load, args=(sdk,), daemon=True).start()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """GET /supported, POST /verify, POST /settle, GET /livez; errors as {"error": ...}."""
        try:
            status, answer = self._answer(environ)
        except MalformedError as error:
            status, answer = "400 Bad Request", {"error": str(error)}
        except Exception:
            logger.exception("%s failed", environ["PATH_INFO"])
            status, answer = "500 Internal Server Error", {"error": "internal_error"}
        content = json.dumps(answer).encode()
        start_response(status, [("Content-Type", "application/json"), ("Content-Length", str(len(content)))])
        return [content]

    def _load(self, sdk: Callable[[], "x402FacilitatorSync"]) -> None:
        if sys.platform == "linux":
            # After what else starts now. There, the number of a thread means the thread.
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)
        deepest = sys.getrecursionlimit()
        try:
            made = sdk()
            # One of its packages raises the limit beyond what the stack holds: deep JSON would end the process.
            sys.setrecursionlimit(deepest)
            self._sdk.set_result(made)
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is for who asks
            self._sdk.set_exception(error)

    def _answer(self, environ: WSGIEnvironment) -> tuple[str, Mapping[str, Any]]:
        match environ["REQUEST_METHOD"], environ["PATH_INFO"]:
            case "GET", "/livez":
                return "200 OK", {"status": "ok"}
            case "GET", "/supported":
                return "200 OK", _written(self._sdk.result().get_supported())
            case "POST", "/verify" | "/settle" as path:
                content = environ["wsgi.input"].read(MOST_BYTES + 1)
                if len(content) > MOST_BYTES:
                    return "413 Content Too Large", {"error": f"more than {MOST_BYTES} bytes"}
                # Nothing is read before it is there, see _load.
                sdk = self._sdk.result()
                return "200 OK", self._verify(sdk, content) if path == "/verify" else self._settle(sdk, content)
        return "404 Not Found", {"error": "there are GET /supported, POST /verify and POST /settle"}

    def _verify(self, sdk: "x402FacilitatorSync", content: bytes) -> Mapping[str, Any]:
        from x402.schemas import SchemeNotFoundError, VerifyResponse

        payload, requirements = _read(content)
        try:
            return _written(sdk.verify(payload, requirements))
        except SchemeNotFoundError:
            return _written(VerifyResponse(is_valid=False, invalid_reason="unsupported_scheme"))

    def _settle(self, sdk: "x402FacilitatorSync", content: bytes) -> Mapping[str, Any]:
        from x402.schemas import SchemeNotFoundError, SettleResponse

        payload, requirements = _read(content)
        try:
            # One by one: the second of two copies is then refused by the simulation, and not by a transaction that
            # fails and costs gas.
            with self._settling:
                return _written(sdk.settle(payload, requirements))
        except SchemeNotFoundError:
            refusal = SettleResponse(
                success=False, error_reason="unsupported_scheme", transaction="", network=requirements.network
            )
            return _written(refusal)


def application() -> Facilitator:
    """The facilitator of the chain that the environment names (config/stack/facilitator.py)."""
    rpc_url, secret = os.environ["RPC_URL"], os.environ["DEVCHAIN_SECRET"]
    return Facilitator(
        lambda: sdk(rpc_url=rpc_url, private_key=wallets.derive(secret, wallets.FACILITATOR).private_key)
    )


def sdk(*, rpc_url: str, private_key: str) -> "x402FacilitatorSync":
    """The SDK's facilitator for the development network, in both versions of the protocol. Costs seconds of imports.

    Each settlement is simulated before it is sent: who cannot pay costs no gas.
    """
    from x402 import x402FacilitatorSync
    from x402.mechanisms.evm import FacilitatorWeb3Signer
    from x402.mechanisms.evm.exact import ExactEvmFacilitatorScheme, ExactEvmSchemeConfig
    from x402.mechanisms.evm.exact.v1.facilitator import ExactEvmSchemeV1, ExactEvmSchemeV1Config

    signer = FacilitatorWeb3Signer(private_key, rpc_url, confirmation_timeout_seconds=CONFIRMED_WITHIN_S)
    facilitator = x402FacilitatorSync()
    facilitator.register([NETWORK], ExactEvmFacilitatorScheme(signer, ExactEvmSchemeConfig(simulate_in_settle=True)))
    facilitator.register_v1(
        [NETWORKS[NETWORK].name], ExactEvmSchemeV1(signer, ExactEvmSchemeV1Config(simulate_in_settle=True))
    )
    return facilitator


def _read(content: bytes) -> tuple[Any, Any]:
    """The payment and what it is to meet, in the schemas of their version. Raises MalformedError."""
    from pydantic import ValidationError
    from x402.schemas import PaymentPayload, PaymentRequirements, detect_version
    from x402.schemas.v1 import PaymentPayloadV1, PaymentRequirementsV1

    try:
        asked = json.loads(content)
        if not isinstance(asked, dict) or not isinstance(asked.get("paymentPayload"), dict):
            raise MalformedError("the body is {x402Version, paymentPayload, paymentRequirements}")
        if detect_version(asked["paymentPayload"]) == 1:
            kinds: tuple[Any, Any] = (PaymentPayloadV1, PaymentRequirementsV1)
        else:
            kinds = (PaymentPayload, PaymentRequirements)
        parts = (asked["paymentPayload"], asked.get("paymentRequirements"))
        payload, requirements = (kind.model_validate(part) for kind, part in zip(kinds, parts, strict=True))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise MalformedError(f"{place}: {first['msg']}") from None
    except (ValueError, RecursionError) as error:
        raise MalformedError(str(error)) from None
    return payload, requirements


def _written(answer: Any) -> Mapping[str, Any]:
    told: Mapping[str, Any] = answer.model_dump(by_alias=True, exclude_none=True)
    return told
