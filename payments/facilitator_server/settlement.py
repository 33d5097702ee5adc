"""Verifies and settles with the official SDK, within a time limit, and reports only what is certain."""

import contextlib
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from framework.resilience.deadline import Deadline
from payments.facilitator_server import error_codes
from payments.facilitator_server.policy import Policy

if TYPE_CHECKING:
    from x402 import x402FacilitatorSync

    from payments.facilitator_server.signer import Signer

logger = logging.getLogger("tablewire.facilitator")

# Less than the timeout of our client (payments/x402/facilitator_client.py).
ANSWERED_WITHIN_S = 6.5
# Each waits for its block most of the time.
MAX_THREADS = 16


class NotSent(Exception):
    """The settlement is not sent; the message is the reason."""


@dataclass
class Attempt:
    """A settlement of the authorization that `key` names, which is to be answered by `deadline`.

    One thread settles; another waits for the answer, and cancels when its time is over. After that either nothing is
    sent any more, or the transaction is known.
    """

    payer: str
    key: str
    deadline: Deadline
    valid_before: int = 0
    transaction: str | None = None
    not_sent_reason: str | None = None
    chain_failed: bool = False
    is_cancelled: bool = False
    # The caller was answered without waiting for the end.
    is_abandoned: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def begin(self, transaction: str) -> None:
        """Record that it is sent in this transaction now. Raises NotSent if the settlement was cancelled."""
        with self.lock:
            if self.is_cancelled:
                raise NotSent("cancelled")
            self.transaction = transaction

    def unset_transaction(self) -> None:
        with self.lock:
            self.transaction = None

    def cancel(self) -> str | None:
        """Return the transaction in which it was sent; None cancels it, and it never will be."""
        with self.lock:
            self.is_abandoned = True
            self.is_cancelled = self.transaction is None
            return self.transaction

    def refuse(self, reason: str) -> NotSent:
        """Record and return why it is not sent; the SDK replaces the reason of every exception that it catches."""
        self.not_sent_reason = reason
        return NotSent(reason)


class Current(threading.local):
    """The settlement that this thread works on."""

    attempt: Attempt | None = None


current = Current()


class Settler:
    """The SDK's facilitator under a policy. Its imports take seconds and happen in the background."""

    def __init__(self, policy: Policy, build_sdk: "Callable[[Policy], tuple[x402FacilitatorSync, Signer]]") -> None:
        self.policy = policy
        self._loaded: Future[tuple[x402FacilitatorSync, Signer]] = Future()
        # The process ends after its threads have finished their settlements.
        self._threads = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="settling")
        self.payers: dict[str, Attempt] = {}
        self._changed = threading.Condition()
        # Neither the start nor the first payment waits for the imports.
        threading.Thread(target=self._load, args=(build_sdk,), daemon=True).start()

    def supported(self) -> Any:
        return self._loaded.result()[0].get_supported()

    def find_problems(self) -> dict[str, Any]:
        """Return what operators should know: ether for gas that was low at the last settlement, and refused payers."""
        if not self._loaded.done() or self._loaded.exception() is not None:
            return {}
        signer = self._loaded.result()[1]
        refused = len(signer.journal.list_refused())
        return {**({"gas": "low"} if signer.is_low else {}), **({"refused_payers": refused} if refused else {})}

    def verify(self, payload: Any, requirements: Any) -> Any:
        """Return whether the payment could be settled now (x402, POST /verify); moves nothing."""
        from x402.schemas import SchemeNotFoundError, VerifyResponse

        reason = self.policy.find_refusal_reason(payload, requirements)
        if reason is None:
            sdk, signer = self._loaded.result()
            payer = str((payload.payload.get("authorization") or {}).get("from", "")).lower()
            if signer.journal.is_refused(payer):
                reason = error_codes.PAYER_REVERTS
        if reason is None:
            attempt = Attempt(payer="", key="", deadline=Deadline.after(ANSWERED_WITHIN_S))
            try:
                with working_on(attempt):
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
        """Settle once and return, within ANSWERED_WITHIN_S, settled, refused or pending (x402, POST /settle)."""
        reason = self.policy.find_refusal_reason(payload, requirements)
        if reason is not None:
            return build_refusal(reason, requirements)
        fields = payload.payload.get("authorization") or {}
        payer, nonce = (str(fields.get(name, "")).lower() for name in ("from", "nonce"))
        attempt = Attempt(
            payer=payer,
            key=f"{payer}:{nonce}",
            deadline=Deadline.after(ANSWERED_WITHIN_S),
            valid_before=int(fields.get("validBefore", 0)),
        )
        work = self._threads.submit(self._settle, attempt, payload, requirements)
        try:
            return work.result(timeout=ANSWERED_WITHIN_S)
        except FutureTimeout:
            work.cancel()
            transaction = attempt.cancel()
        if transaction is None:
            return build_refusal(
                error_codes.CHAIN_UNAVAILABLE if attempt.chain_failed else error_codes.BUSY, requirements
            )
        return build_refusal(error_codes.PENDING, requirements, transaction=transaction, payer=payer)

    def _settle(self, attempt: Attempt, payload: Any, requirements: Any) -> Any:
        """Settle the payments of one payer one by one.

        The simulation then refuses the second of two copies, and a payment for which the first has left no money: a
        failing transaction would cost gas.
        """
        try:
            sdk, signer = self._loaded.result(timeout=attempt.deadline.remaining_s)
        except FutureTimeout:
            return build_refusal(error_codes.BUSY, requirements)
        with self._payer_lock(attempt) as running:
            if running is not None:
                is_copy = running.key == attempt.key
                reason = error_codes.PENDING if is_copy else error_codes.BUSY
                return build_refusal(reason, requirements, transaction=running.transaction if is_copy else None)
            with working_on(attempt):
                answer = self._settle_or_await(sdk, signer, attempt, payload, requirements)
            if answer.success and not attempt.is_abandoned:
                signer.journal.mark_reported(attempt.key)
            return answer

    def _settle_or_await(
        self, sdk: "x402FacilitatorSync", signer: "Signer", attempt: Attempt, payload: Any, requirements: Any
    ) -> Any:
        # Before anything else: what is on its way is not sent in a second transaction.
        transaction = signer.find_sent(attempt.key)
        if transaction is not None:
            return await_earlier(signer, attempt, requirements, transaction=transaction)
        if signer.journal.is_refused(attempt.payer):
            return build_refusal(error_codes.PAYER_REVERTS, requirements)
        return self._classify(attempt, requirements, lambda: sdk.settle(payload, requirements))

    def _classify(self, attempt: Attempt, requirements: Any, settle: Callable[[], Any]) -> Any:
        """Return the SDK's answer, corrected by what it cannot know: whether a transaction was sent."""
        from x402.schemas import SchemeNotFoundError

        try:
            answer = settle()
        except SchemeNotFoundError:
            return build_refusal("unsupported_scheme", requirements)
        except Exception:
            logger.exception("a payment could not be settled")
            answer = build_refusal(error_codes.FAILED, requirements)
        if answer.success or answer.transaction:
            # Of this or of its replacement.
            return answer.model_copy(update={"transaction": attempt.transaction or answer.transaction})
        if attempt.transaction is not None:
            return build_refusal(
                error_codes.PENDING, requirements, transaction=attempt.transaction, payer=attempt.payer
            )
        if attempt.not_sent_reason is not None:
            return build_refusal(attempt.not_sent_reason, requirements)
        if attempt.chain_failed:
            return build_refusal(error_codes.CHAIN_UNAVAILABLE, requirements)
        # We have not sent it, so the SDK's reasons for payments that may have been sent do not apply. USED does:
        # another sender may have sent it.
        if answer.error_reason not in error_codes.REFUSED | error_codes.RETRYABLE | {error_codes.USED}:
            return answer.model_copy(update={"error_reason": error_codes.WOULD_FAIL})
        return answer

    @contextlib.contextmanager
    def _payer_lock(self, attempt: Attempt) -> Iterator[Attempt | None]:
        """Hold the payer's lock; yield None, or the running settlement of this payer when the time to wait is over."""
        with self._changed:
            free = self._changed.wait_for(
                lambda: attempt.payer not in self.payers, timeout=attempt.deadline.remaining_s
            )
            running = None if free else self.payers[attempt.payer]
            if running is None:
                self.payers[attempt.payer] = attempt
        try:
            yield running
        finally:
            if running is None:
                with self._changed:
                    del self.payers[attempt.payer]
                    self._changed.notify_all()

    def _load(self, build_sdk: "Callable[[Policy], tuple[x402FacilitatorSync, Signer]]") -> None:
        if sys.platform == "linux":
            # Other things that start now come first. On Linux a thread's id sets the priority of that thread.
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)
        recursion_limit = sys.getrecursionlimit()
        try:
            loaded = build_sdk(self.policy)
            # One of the SDK's packages raises the limit above what the stack holds: deep JSON would crash the process.
            sys.setrecursionlimit(recursion_limit)
            self._loaded.set_result(loaded)
        except BaseException as error:  # noqa: BLE001 - re-raised by every `result()`
            self._loaded.set_exception(error)


def await_earlier(signer: "Signer", attempt: Attempt, requirements: Any, *, transaction: str) -> Any:
    """Wait for the transaction in which an earlier request has sent the payment."""
    from web3.exceptions import TimeExhausted
    from x402.schemas import SettleResponse

    attempt.begin(transaction)
    try:
        receipt = signer.wait_for_transaction_receipt(transaction)
    except TimeExhausted:
        return build_refusal(error_codes.PENDING, requirements, transaction=transaction, payer=attempt.payer)
    return SettleResponse(
        success=receipt.status == 1,
        error_reason=None if receipt.status == 1 else error_codes.REVERTED,
        transaction=receipt.tx_hash,
        network=requirements.network,
        payer=attempt.payer,
    )


@contextlib.contextmanager
def working_on(attempt: Attempt) -> Iterator[None]:
    """Set the settlement that this thread works on."""
    current.attempt = attempt
    try:
        yield
    finally:
        current.attempt = None


def build_refusal(reason: str, requirements: Any, *, transaction: str | None = None, payer: str | None = None) -> Any:
    """Return the answer for a payment that was not settled, or not yet."""
    from x402.schemas import SettleResponse

    return SettleResponse(
        success=False,
        error_reason=reason,
        transaction=transaction or "",
        network=requirements.network,
        payer=payer or None,
    )


def build_sdk(policy: Policy) -> "tuple[x402FacilitatorSync, Signer]":
    """Build the SDK's facilitator for the policy's network, in both versions of the protocol. Imports take seconds.

    Each settlement is simulated before it is sent: a payer without money costs no gas.
    """
    from x402 import x402FacilitatorSync
    from x402.mechanisms.evm.exact import ExactEvmFacilitatorScheme, ExactEvmSchemeConfig
    from x402.mechanisms.evm.exact.v1.facilitator import ExactEvmSchemeV1, ExactEvmSchemeV1Config

    from payments.facilitator_server.signer import Signer

    signer = Signer(policy)
    facilitator = x402FacilitatorSync()
    network = policy.network
    scheme = ExactEvmFacilitatorScheme(
        signer, ExactEvmSchemeConfig(simulate_in_settle=True), pending_store=NoPendingStore()
    )
    facilitator.register([network.caip2], scheme)
    facilitator.register_v1([network.name], ExactEvmSchemeV1(signer, ExactEvmSchemeV1Config(simulate_in_settle=True)))
    return facilitator, signer


class NoPendingStore:
    """Stores nothing for the SDK: the journal knows what is on its way, in both versions and after a restart."""

    def get(self, key: str) -> None:
        return None

    def set(self, key: str, tx_hash: str) -> None:
        return None

    def delete(self, key: str) -> None:
        return None
