"""Verifies and settles by the official SDK, within a time, and says of each settlement what is certain of it."""

import contextlib
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from typing import TYPE_CHECKING, Any

from payments.facilitator_server import error_codes
from payments.facilitator_server.policy import Policy
from payments.facilitator_server.settlement_attempt import Attempt, current

if TYPE_CHECKING:
    from x402 import x402FacilitatorSync

    from payments.facilitator_server.signer import Signer

logger = logging.getLogger("tablewire.facilitator")

# Less than the time after which who asks gives up.
ANSWERED_WITHIN_S = 6.5
# Each waits for its block most of its time.
MOST_AT_ONCE = 16


class Settler:
    """The SDK's facilitator under a policy. Its imports take seconds and happen in the background."""

    def __init__(self, policy: Policy, made: "Callable[[Policy], tuple[x402FacilitatorSync, Signer]]") -> None:
        self.policy = policy
        self._loaded: Future[tuple[x402FacilitatorSync, Signer]] = Future()
        # Its threads end what they are at before the process does.
        self._threads = ThreadPoolExecutor(MOST_AT_ONCE, thread_name_prefix="settling")
        self._payers: dict[str, Attempt] = {}
        self._changed = threading.Condition()
        # Nobody should wait for the imports, neither now nor at the first payment.
        threading.Thread(target=self._load, args=(made,), daemon=True).start()

    def supported(self) -> Any:
        """What it settles (x402, GET /supported)."""
        return self._loaded.result()[0].get_supported()

    def is_low(self) -> bool:
        """Whether the ether for gas runs out, as the last settlement has seen it."""
        return self._loaded.done() and self._loaded.exception() is None and self._loaded.result()[1].is_low

    def is_idle(self) -> bool:
        """Whether no settlement is under way."""
        return not self._payers

    def verify(self, payload: Any, requirements: Any) -> Any:
        """Whether the payment could be settled now; moves nothing. The answer of x402's POST /verify."""
        from x402.schemas import SchemeNotFoundError, VerifyResponse

        reason = self.policy.objection(payload, requirements)
        if reason is None:
            sdk, _ = self._loaded.result()
            attempt = Attempt(payer="", key="", until=time.monotonic() + ANSWERED_WITHIN_S)
            try:
                with at(attempt):
                    answer = sdk.verify(payload, requirements)
                if not attempt.chain_failed:
                    return answer
                reason = error_codes.CHAIN_UNAVAILABLE
            except SchemeNotFoundError:
                reason = "unsupported_scheme"
            except Exception:
                logger.exception("a payment could not be verified")
                reason = error_codes.CHAIN_UNAVAILABLE if attempt.chain_failed else error_codes.FAILED
        return VerifyResponse(is_valid=False, invalid_reason=reason)

    def settle(self, payload: Any, requirements: Any) -> Any:
        """Settle, once. The answer of x402's POST /settle, within ANSWERED_WITHIN_S: settled, refused or pending."""
        reason = self.policy.objection(payload, requirements)
        if reason is not None:
            return refusal(reason, requirements)
        words = payload.payload.get("authorization")
        payer, nonce = (str(words.get(name, "")).lower() for name in ("from", "nonce"))
        attempt = Attempt(payer=payer, key=f"{payer}:{nonce}", until=time.monotonic() + ANSWERED_WITHIN_S)
        work = self._threads.submit(self._settled, attempt, payload, requirements)
        try:
            return work.result(timeout=ANSWERED_WITHIN_S)
        except NotYet:
            work.cancel()
            transaction = attempt.give_up()
        if transaction is None:
            return refusal(error_codes.CHAIN_UNAVAILABLE if attempt.chain_failed else error_codes.BUSY, requirements)
        return refusal(error_codes.PENDING, requirements, transaction=transaction, payer=payer)

    def _settled(self, attempt: Attempt, payload: Any, requirements: Any) -> Any:
        """What has come of it. One payer's payments one by one: the second of two copies, or what the first has left
        no money for, is then refused by the simulation, and not by a transaction that fails and costs gas.
        """
        try:
            sdk, _ = self._loaded.result(timeout=max(0.0, attempt.until - time.monotonic()))
        except NotYet:
            return refusal(error_codes.BUSY, requirements)
        with self._turn(attempt) as before:
            if before is not None:
                is_copy = before.key == attempt.key
                reason = error_codes.PENDING if is_copy else error_codes.BUSY
                return refusal(reason, requirements, transaction=before.transaction if is_copy else None)
            with at(attempt):
                return self._judged(attempt, requirements, lambda: sdk.settle(payload, requirements))

    def _judged(self, attempt: Attempt, requirements: Any, settle: Callable[[], Any]) -> Any:
        """The SDK's answer, but for what it cannot know: whether a transaction is on its way."""
        from x402.schemas import SchemeNotFoundError

        try:
            answer = settle()
        except SchemeNotFoundError:
            return refusal("unsupported_scheme", requirements)
        except Exception:
            logger.exception("a payment could not be settled")
            answer = refusal(error_codes.FAILED, requirements)
        if answer.success or answer.transaction:
            return answer
        if attempt.transaction is not None:
            return refusal(error_codes.PENDING, requirements, transaction=attempt.transaction, payer=attempt.payer)
        if attempt.held is not None:
            return refusal(attempt.held, requirements)
        if attempt.chain_failed:
            return refusal(error_codes.CHAIN_UNAVAILABLE, requirements)
        # It was not sent by us, so the SDK's words for what may have been are no reason here; but others may have.
        if answer.error_reason not in error_codes.REFUSED | error_codes.LATER | {error_codes.USED}:
            return answer.model_copy(update={"error_reason": error_codes.WOULD_FAIL})
        return answer

    @contextlib.contextmanager
    def _turn(self, attempt: Attempt) -> Iterator[Attempt | None]:
        """This payer's turn, or the settlement of the same payer for which there was no time to wait."""
        with self._changed:
            free = self._changed.wait_for(
                lambda: attempt.payer not in self._payers, timeout=max(0.0, attempt.until - time.monotonic())
            )
            before = None if free else self._payers[attempt.payer]
            if before is None:
                self._payers[attempt.payer] = attempt
        try:
            yield before
        finally:
            if before is None:
                with self._changed:
                    del self._payers[attempt.payer]
                    self._changed.notify_all()

    def _load(self, made: "Callable[[Policy], tuple[x402FacilitatorSync, Signer]]") -> None:
        if sys.platform == "linux":
            # After what else starts now. There, the number of a thread means the thread.
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)
        deepest = sys.getrecursionlimit()
        try:
            loaded = made(self.policy)
            # One of its packages raises the limit beyond what the stack holds: deep JSON would end the process.
            sys.setrecursionlimit(deepest)
            self._loaded.set_result(loaded)
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is for who asks
            self._loaded.set_exception(error)


@contextlib.contextmanager
def at(attempt: Attempt) -> Iterator[None]:
    """This thread is at this settlement."""
    current.attempt = attempt
    try:
        yield
    finally:
        current.attempt = None


def refusal(reason: str, requirements: Any, *, transaction: str | None = None, payer: str | None = None) -> Any:
    """It was not settled, or not yet."""
    from x402.schemas import SettleResponse

    return SettleResponse(
        success=False,
        error_reason=reason,
        transaction=transaction or "",
        network=requirements.network,
        payer=payer or None,
    )


def made(policy: Policy) -> "tuple[x402FacilitatorSync, Signer]":
    """The SDK's facilitator of the policy's network, in both versions of the protocol. Costs seconds of imports.

    Each settlement is simulated before it is sent: who cannot pay costs no gas.
    """
    from x402 import x402FacilitatorSync
    from x402.mechanisms.evm.exact import ExactEvmFacilitatorScheme, ExactEvmSchemeConfig
    from x402.mechanisms.evm.exact.v1.facilitator import ExactEvmSchemeV1, ExactEvmSchemeV1Config

    from payments.facilitator_server.signer import Signer

    signer = Signer(policy)
    facilitator = x402FacilitatorSync()
    network = policy.network
    facilitator.register(
        [network.caip2], ExactEvmFacilitatorScheme(signer, ExactEvmSchemeConfig(simulate_in_settle=True))
    )
    facilitator.register_v1([network.name], ExactEvmSchemeV1(signer, ExactEvmSchemeV1Config(simulate_in_settle=True)))
    return facilitator, signer
