"""A language model in the test process: returns the given reply, and records for which restaurants it was called."""

import threading
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from catalogue.insights.providers.base import Context, InsightDraft, Reply, TokenUsage
from catalogue.models import InsightCall

Outcome = InsightCall.Outcome
# With these prices (set_prices) a call reserves 0.0012 USD, and costs half of it.
MAX_USAGE = TokenUsage(input=1_000, output=100)
USED = TokenUsage(input=500, output=50)
RESERVED, COST = Decimal("0.001200"), Decimal("0.000600")


def set_prices(settings: Any, *, budget: str = "1") -> None:
    """Set a dollar for a million input tokens, two for a million output tokens, and the daily budget."""
    settings.INSIGHT_INPUT_USD, settings.INSIGHT_OUTPUT_USD = Decimal(1), Decimal(2)
    settings.INSIGHT_DAILY_BUDGET_USD = Decimal(budget)


class FakeLLM:
    """Writes how many reviews there are, unless `reply` is given. `on_request` runs during each call."""

    name = "anthropic"

    def __init__(
        self,
        reply: Reply | None = None,
        *,
        version: str = "1",
        model: str = "small",
        on_request: Callable[[Context], None] = lambda _: None,
    ) -> None:
        self.version, self.model = version, model
        self.reply = reply
        self.on_request = on_request
        self.requests: list[str] = []
        self.lock = threading.Lock()

    def max_usage(self, context: Context) -> TokenUsage:
        return MAX_USAGE

    def request_draft(self, context: Context) -> Reply:
        with self.lock:
            self.requests.append(context.name)
        self.on_request(context)
        if self.reply:
            return self.reply
        draft = InsightDraft(text=f"A model has read {len(context.reviews)} reviews.", disclosure="By a model.")
        return Reply(outcome=Outcome.WRITTEN, draft=draft, usage=USED)


def reply_without_draft(outcome: Outcome, *, usage: TokenUsage | None = USED) -> Reply:
    return Reply(outcome=outcome, reason="It would not.", usage=usage)
