"""Insights: summaries of the reviews of a restaurant, in which each claim cites reviews."""

from catalogue.insights.pipeline.approval import approve, is_pending_approval, pending_approval
from catalogue.insights.pipeline.refresh import (
    OnDemandResult,
    delete_old_requests,
    due_restaurants,
    invalidate,
    queue_request,
    refresh,
    set_hidden,
    write_or_queue,
)
from catalogue.insights.pipeline.staleness import MIN_REVIEWS, stale_condition
from catalogue.insights.providers.registry import FALLBACK, ProviderVersion, get_provider
