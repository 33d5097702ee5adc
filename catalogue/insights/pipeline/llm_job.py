"""One insight by a language model: reserve the cost, call the model, store the result if the input is unchanged."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from time import monotonic
from uuid import UUID

from django.db import transaction

from catalogue.insights.pipeline import batch_job, cost_budget, inputs, persistence
from catalogue.insights.pipeline.cost_budget import JobResult, Outcome
from catalogue.insights.pipeline.inputs import InsightInput
from catalogue.insights.pipeline.staleness import MIN_REVIEWS
from catalogue.insights.providers.base import MAX_TEXT_LENGTH, InsightDraft, RemoteProvider, Reply
from catalogue.insights.providers.registry import FALLBACK, ProviderVersion
from catalogue.models import Insight, InsightCall, InsightDemand

logger = logging.getLogger("catalogue.insights")

# Restaurants from which the cost of many is estimated.
SAMPLE = 20


def write_insight(restaurant: UUID, *, provider: RemoteProvider, now: datetime) -> JobResult:
    """Write the insight of this restaurant by the model, or by the fallback if the model returns no valid draft.

    Takes as long as the model; call it outside of transactions. A worker that dies leaves an open call, which
    cost_budget.close_abandoned_calls closes. What the model has written or declined is not requested again.
    """
    version = ProviderVersion.of(provider)
    previous = Insight.objects.filter(pk=restaurant).first()
    source = next(inputs.load_inputs([restaurant]), None)
    if source is None:
        return JobResult.SUPERSEDED
    if len(source.context.reviews) < MIN_REVIEWS:
        return _store(source, persistence.EMPTY_DRAFT, version=version, expected=previous, now=now)
    if previous and (previous.input_hash, ProviderVersion.of_insight(previous)) == (source.digest, version):
        return _confirm(source, expected=previous, now=now)
    if cost_budget.declined_calls(version).filter(restaurant=restaurant, input_hash=source.digest).exists():
        return _store(source, None, version=version, expected=previous, now=now)
    max_cost = cost_budget.cost_usd(provider.max_usage(source.context))
    call = cost_budget.reserve(
        restaurant,
        version=version,
        digest=source.digest,
        max_cost_usd=max_cost,
        is_needed=lambda: _state(Insight.objects.filter(pk=restaurant).first()) == _state(previous),
        now=now,
    )
    if isinstance(call, JobResult):
        return call
    started = monotonic()
    reply = _call_model(provider, source)
    if reply.usage and cost_budget.cost_usd(reply.usage) > max_cost:
        # Impossible, so the reported usage is wrong.
        reply = replace(reply, usage=None)
    ended_at = now + timedelta(seconds=monotonic() - started)
    return _store(source, reply.draft, version=version, expected=previous, now=ended_at, call=call, reply=reply)


def _call_model(provider: RemoteProvider, source: InsightInput) -> Reply:
    try:
        reply = provider.request_draft(source.context)
    except Exception as error:
        # The call must be closed, and the task continues with other restaurants.
        logger.exception("No reply about restaurant %s", source.restaurant.slug)
        return Reply(outcome=Outcome.FAILED, reason=type(error).__name__)
    if reply.outcome != Outcome.WRITTEN:
        return replace(reply, draft=None)
    if reply.draft is None:
        return replace(reply, outcome=Outcome.FAILED, reason="No draft came with it.")
    if len(reply.draft.text) > MAX_TEXT_LENGTH:
        reason = f"More than {MAX_TEXT_LENGTH} characters."
        return replace(reply, draft=None, outcome=Outcome.REJECTED, reason=reason)
    return reply


def _store(
    source: InsightInput,
    draft: InsightDraft | None,
    *,
    version: ProviderVersion,
    expected: Insight | None,
    now: datetime,
    call: InsightCall | None = None,
    reply: Reply | None = None,
) -> JobResult:
    """Settle the call and, if insight and input are still as `expected`, write the insight. One transaction.

    Without a draft, that of the fallback is written and marked by `failed_at`.
    """
    is_fallback = draft is None
    if draft is None:
        draft, version = batch_job.generate_draft(source, FALLBACK), ProviderVersion.of(FALLBACK)
    usage = reply.usage if reply else None
    with transaction.atomic():
        is_current, previous = _lock_if_unchanged(source, expected=expected)
        if call and reply:
            outcome, reason = (reply.outcome, reply.reason) if is_current else (Outcome.DROPPED, "")
            if not cost_budget.settle(call, outcome=outcome, reason=reason, usage=usage, now=now):
                return JobResult.SUPERSEDED
        if not is_current:
            return JobResult.SUPERSEDED
        if draft is None:
            row = persistence.build_failed_row(source, version=version, previous=previous, now=now)
        else:
            cost = cost_budget.cost_usd(usage) if usage and not is_fallback else Decimal(0)
            row = persistence.build_row(source, draft, version=version, previous=previous, now=now, cost_usd=cost)
        row.failed_at = now if is_fallback else None
        persistence.upsert_rows([row])
        InsightDemand.objects.filter(pk=row.pk).delete()
    return JobResult.DONE


def _confirm(source: InsightInput, *, expected: Insight, now: datetime) -> JobResult:
    """Record that the insight fits the current input, without a call."""
    with transaction.atomic():
        is_current, previous = _lock_if_unchanged(source, expected=expected)
        if not is_current or previous is None:
            return JobResult.SUPERSEDED
        persistence.upsert_rows([persistence.confirm_row(previous, source, now=now)])
        InsightDemand.objects.filter(pk=expected.pk).delete()
    return JobResult.DONE


def _lock_if_unchanged(source: InsightInput, *, expected: Insight | None) -> tuple[bool, Insight | None]:
    """Lock restaurant and insight. Returns whether insight and input are unchanged, and the insight."""
    pk = source.restaurant.pk
    if not persistence.lock_restaurants([pk]):
        return False, None
    insight = Insight.objects.select_for_update().filter(pk=pk).first()
    if _state(insight) != _state(expected):
        return False, None
    current = next(inputs.load_inputs([pk]), None)
    return current is not None and current.digest == source.digest, insight


def _state(insight: Insight | None) -> tuple[object, ...] | None:
    """The columns that change when an insight is written or invalidated."""
    if insight is None:
        return None
    return insight.input_hash, ProviderVersion.of_insight(insight), insight.generated_at, insight.failed_at


def estimate_max_cost(restaurants: Sequence[UUID], *, provider: RemoteProvider) -> Decimal:
    """The maximum cost in USD of calls for these restaurants, extrapolated from the first SAMPLE. Three queries."""
    sources = inputs.load_inputs(restaurants[:SAMPLE])
    costs = [cost_budget.cost_usd(provider.max_usage(source.context)) for source in sources]
    if not costs:
        return Decimal(0)
    return (sum(costs, Decimal(0)) * len(restaurants) / len(costs)).quantize(cost_budget.USD_STEP)
