"""A model on the other side of the protocol: it answers as it is told to, and remembers what it was asked."""

import threading
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from catalogue.insights.providers.base import Context, InsightDraft, Reply, Tokens
from catalogue.models import InsightCall

Outcome = InsightCall.Outcome
# With these prices (prices) a call reserves 0.0012 USD, and costs half of it.
MOST = Tokens(input=1_000, output=100)
USED = Tokens(input=500, output=50)
RESERVED, COST = Decimal("0.001200"), Decimal("0.000600")


def prices(settings: Any, *, budget: str = "1") -> None:
    """A dollar for a million tokens read, two for a million written, and so much for a day."""
    settings.INSIGHT_INPUT_USD, settings.INSIGHT_OUTPUT_USD = Decimal(1), Decimal(2)
    settings.INSIGHT_DAILY_BUDGET_USD = Decimal(budget)


class Model:
    """Writes how many reviews there are, unless `reply` says otherwise; `then` is called while it is asked."""

    name = "anthropic"

    def __init__(
        self,
        reply: Reply | None = None,
        *,
        version: str = "1",
        model: str = "small",
        then: Callable[[Context], None] = lambda _: None,
    ) -> None:
        self.version, self.model = version, model
        self.reply = reply
        self.then = then
        self.asked: list[str] = []
        self.lock = threading.Lock()

    def most(self, context: Context) -> Tokens:
        """The same of all."""
        return MOST

    def ask(self, context: Context) -> Reply:
        """What it was told to reply."""
        with self.lock:
            self.asked.append(context.name)
        self.then(context)
        if self.reply:
            return self.reply
        draft = InsightDraft(text=f"A model has read {len(context.reviews)} reviews.", disclosure="By a model.")
        return Reply(outcome=Outcome.WRITTEN, draft=draft, used=USED)


def silent(outcome: Outcome, *, used: Tokens | None = USED) -> Reply:
    """A reply without a draft."""
    return Reply(outcome=outcome, reason="It would not.", used=used)
