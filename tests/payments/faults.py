"""Random stories of payments while the facilitator and the node fail, lie, hesitate and are overtaken.

A story is a few requests by one wallet: a new payment, the same header again, the same header for another record, a
transaction that was sent already. Before each, something may happen to the facilitator or to the node. All randomness
comes from the number of the story, so that one that fails can be repeated.
"""

import json
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal

from django.conf import settings
from django.utils.datastructures import CaseInsensitiveMapping

from payments.chain import reads
from payments.devchain.wallets import Wallet
from payments.models import Payment
from payments.x402.proofs import Authorization, Proof, TransactionProof, parse_proof
from tests.payments.buyer import signed_by, with_quote
from tests.payments.facilitators import Script, cuts_short, hangs_up, node_answering, refuses, says
from tests.payments.short_timeouts import TIMEOUT_S
from tests.payments.transfers import front_run
from tests.security.live_product import CONTEXT, ELSEWHERE, Shop, passed_on
from tests.support.wallets import transfer_usdc

Fault = Callable[["Story"], Script]
PRICE = Decimal("0.002")
MADE_UP = "0x" + "5a" * 32
STRANGER = "0x" + "12" * 20


def settled_response(transaction: str = MADE_UP, payer: str = "") -> bytes:
    """A facilitator's response that it has settled."""
    return json.dumps(
        {"success": True, "transaction": transaction, "network": settings.PAYMENT_NETWORK, "payer": payer}
    ).encode()


@dataclass
class Paid:
    """One payment of a story: its headers, the path that it is for, and the answers that it got, by path."""

    headers: Mapping[str, str]
    path: str = CONTEXT
    answers: list[tuple[str, int, str]] = field(default_factory=list)
    is_lied_about: bool = False

    @property
    def proof(self) -> Proof:
        """What it proves."""
        proof = parse_proof(CaseInsensitiveMapping(self.headers))
        assert proof is not None
        return proof

    @property
    def bought(self) -> set[str]:
        """The paths that were served for it."""
        return {path for path, status, _ in self.answers if status == 200}

    def row(self) -> Payment | None:
        """Its line of the ledger."""
        proof = self.proof
        if isinstance(proof, Authorization):
            return Payment.objects.filter(proof_key=proof.proof_key).first()
        return Payment.objects.filter(tx_hash=proof.tx_hash, form=Payment.Form.TX).first()

    def arrived(self) -> Decimal:
        """What it has brought us, as the chain says."""
        proof = self.proof
        if isinstance(proof, TransactionProof):
            return sum(
                (each.amount for each in reads.find_plain_transfers(proof.tx_hash, receivers={settings.PAY_TO})),
                Decimal(0),
            )
        if not reads.is_authorization_spent(proof.payer, proof.nonce):
            return Decimal(0)
        found = reads.find_authorization_transfer(proof.payer, proof.nonce, receivers={settings.PAY_TO})
        return found.amount if found else Decimal(0)


@dataclass
class Story:
    """One story at one shop: what was done, what was answered, the duration of the slowest answer."""

    number: int
    shop: Shop
    wallet: Wallet
    friend: Wallet
    payments: list[Paid] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    max_duration_s: float = 0.0
    statuses: set[int] = field(default_factory=set)
    late: list[threading.Thread] = field(default_factory=list)

    def run(self) -> "Story":
        """Run the story, and wait for late settlements."""
        rng = random.Random(self.number)
        for _ in range(rng.randint(3, 6)):
            action = rng.choices(["new", "again", "elsewhere", "sent"], weights=[4, 5, 2, 1])[0]
            if action in ("again", "elsewhere") and not self.payments:
                action = "new"
            if action == "new":
                self.payments.append(Paid(with_quote(signed_by(self.wallet))))
            if action == "sent":
                sent = transfer_usdc(self.wallet, settings.PAY_TO, PRICE)
                self.payments.append(Paid({"X-Payment": sent}))
            payment = rng.choice(self.payments) if action == "again" else self.payments[-1]
            fault, away = rng.choice(list(FAULTS)), rng.choice([*NODE_FAULTS, *["none"] * 4])
            self.shop.facilitator.script = FAULTS[fault](self)
            self.shop.node.script = NODE_FAULTS[away]() if away != "none" else passed_on(settings.RPC_URL)
            self.ask(payment, ELSEWHERE if action == "elsewhere" else payment.path, f"{action}, {fault}, node {away}")
        for thread in self.late:
            thread.join()
        self.shop.mend()
        return self

    def ask(self, payment: Paid, path: str, happening: str) -> int:
        """One request; returns its status."""
        began = time.monotonic()
        answer = self.shop.ask(path, payment.headers)
        self.max_duration_s = max(self.max_duration_s, time.monotonic() - began)
        content = answer.json()
        word = content["error"] if isinstance(content.get("error"), str) else content.get("error", {}).get("code", "")
        payment.answers.append((path, answer.status_code, word))
        self.statuses.add(answer.status_code)
        self.log.append(f"{self.payments.index(payment)} {path}: {happening} -> {answer.status_code} {word}")
        return answer.status_code

    # What it came to
    def wrongs(self) -> Iterator[str]:
        """What may never be, after all was reconciled, nothing fails any more, and the payer has asked once more."""
        for payment in self.payments:
            yield from self.wrongs_of(payment)
        if not self.statuses <= {200, 402, 503}:
            yield f"answers of {self.statuses}"

    def wrongs_of(self, payment: Paid) -> Iterator[str]:
        """The same of one payment."""
        number, arrived, row = self.payments.index(payment), payment.arrived(), payment.row()
        is_flagged = row is not None and row.block is None and bool(row.error)
        if len(payment.bought) > 1:
            yield f"{number} has bought two answers"
        if payment.bought and not arrived and not is_flagged:
            yield f"{number} was served unpaid, and the ledger does not say so"
        if payment.bought and not arrived and not payment.is_lied_about:
            yield f"{number} was served unpaid, and no facilitator has lied"
        if not arrived:
            return
        # Who has paid asks once more: by the same header, for what it was shown for.
        for path in dict.fromkeys([path for path, _, _ in payment.answers]):
            if not payment.bought:
                self.ask(payment, path, "at the end")
        if row is None:
            row = payment.row()
        if row is None or row.state not in Payment.PAID:
            yield f"{number} has arrived, and the ledger says {row.state if row else 'nothing'}"
        elif not payment.bought and row.state not in ("refund_due", "refunded"):
            yield f"{number} was charged and never served, and no refund is due: {row.state} {row.error}"
        elif row.amount_usdc != arrived:
            yield f"{number} is {row.amount_usdc} in the ledger and {arrived} on the chain"

    def __str__(self) -> str:
        return "\n".join([f"story {self.number}", *self.log])


# What may happen to a settlement
def settles(_: Story) -> Script:
    """Nothing."""
    return passed_on(f"{settings.FACILITATOR_URL}/settle")


def hangs(content: bytes) -> tuple[int, bytes] | None:
    """Says nothing for longer than anybody waits."""
    time.sleep(TIMEOUT_S + 0.2)
    return None


def really(then: Script) -> Fault:
    """It settles, and then does as the script says."""

    def fault(story: Story) -> Script:
        settle = settles(story)

        def script(content: bytes) -> tuple[int, bytes] | None:
            settle(content)
            return then(content)

        return script

    return fault


def only(script: Script) -> Fault:
    """It settles nothing, and does as the script says."""
    return lambda _: script


def late(story: Story) -> Script:
    """It settles after the request has timed out."""
    settle = settles(story)

    def script(content: bytes) -> tuple[int, bytes] | None:
        def work() -> None:
            time.sleep(TIMEOUT_S + 0.1)
            settle(content)

        story.late.append(threading.Thread(target=work))
        story.late[-1].start()
        return hangs(content)

    return script


def twice(story: Story) -> Script:
    """It settles twice, and answers with the second, which has failed."""
    return really(settles(story))(story)


def overtaken(story: Story) -> Script:
    """Another wallet sends the authorization to the chain first."""
    settle = settles(story)

    def script(content: bytes) -> tuple[int, bytes] | None:
        payment = json.loads(content)["paymentPayload"]
        front_run({"PAYMENT-SIGNATURE": json.dumps(payment)}, sender=story.friend)
        return settle(content)

    return script


def lies(story: Story) -> Script:
    """It says that it has settled, and has not."""

    def script(content: bytes) -> tuple[int, bytes]:
        nonce = json.loads(content)["paymentPayload"]["payload"]["authorization"]["nonce"]
        for payment in story.payments:
            proof = payment.proof
            if isinstance(proof, Authorization) and nonce == f"0x{proof.nonce.hex()}":
                payment.is_lied_about = True
        return 200, settled_response("0x" + nonce[2:])

    return script


FAULTS: Mapping[str, Fault] = {
    "settles": settles,
    "settles too": settles,
    "busy": only(says(429, {"error": "busy"})),
    "busy, it says, and has settled": really(says(404, {"error": "not here"})),
    "hangs up": only(hangs_up),
    "settles and hangs up": really(hangs_up),
    "hangs": only(hangs),
    "settles and hangs": really(hangs),
    "500": only(says(500, {"error": "internal"})),
    "settles and 500": really(says(500, {"error": "internal"})),
    "junk": only(says(200, b"<html>")),
    "settles and junk": really(says(200, b"<html>")),
    "cut short": only(cuts_short),
    "settles and is cut short": really(cuts_short),
    "pending": only(refuses("settlement_pending", MADE_UP)),
    "settles and is pending": really(refuses("settlement_pending", MADE_UP)),
    "rejects": only(refuses("invalid_exact_evm_insufficient_balance")),
    "rejects, it says, and has settled": really(refuses("invalid_exact_evm_insufficient_balance")),
    "reverted, it says, and has settled": really(refuses("transaction_failed", MADE_UP)),
    "for another payer": only(says(200, settled_response(payer=STRANGER))),
    "settles, for another payer, it says": really(says(200, settled_response(payer=STRANGER))),
    "settles late": late,
    "settles twice": twice,
    "is overtaken": overtaken,
    "lies": lies,
}


def later(by: timedelta) -> Script:
    """The real node, with a clock that is ahead by this much."""
    ask = passed_on(settings.RPC_URL)

    def script(content: bytes) -> tuple[int, bytes] | None:
        question, response = json.loads(content), ask(content)
        assert response is not None
        if not isinstance(question, list):
            return response
        answers = json.loads(response[1])
        for call, answer in zip(question, answers, strict=True):
            if call["params"][0] == {"data": reads.CLOCK}:
                answer["result"] = f"0x{int(answer['result'], 16) + int(by.total_seconds()):064x}"
        return response[0], json.dumps(answers).encode()

    return script


# What may happen to the node
def slow() -> Script:
    """It takes its time."""
    ask = passed_on(settings.RPC_URL)

    def script(content: bytes) -> tuple[int, bytes] | None:
        time.sleep(0.1)
        return ask(content)

    return script


NODE_FAULTS: Mapping[str, Callable[[], Script]] = {
    "hangs up": lambda: hangs_up,
    "500": lambda: says(500, b""),
    "junk": lambda: says(200, b"<html>"),
    "has no logs yet": lambda: node_answering({"eth_getLogs": []}),
    "has no receipts yet": lambda: node_answering({"eth_getTransactionReceipt": None}),
    "is slow": slow,
}
