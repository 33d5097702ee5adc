"""Staff approval of insights (INSIGHT_APPROVAL)."""

from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet

from catalogue.insights.pipeline import persistence
from catalogue.insights.providers.registry import FALLBACK
from catalogue.models import Insight


def pending_approval() -> Q:
    """The condition of insights that staff must approve before they are served."""
    match settings.INSIGHT_APPROVAL:
        case "all":
            return Q(approved_at=None) & ~Q(text="")
        case "models":
            # Two ranges, because an index does not serve "is not equal".
            by_model = Q(provider__lt=FALLBACK.name) | Q(provider__gt=FALLBACK.name)
            return Q(approved_at=None) & ~Q(text="") & by_model
    return Q(pk__in=[])


def is_pending_approval(insight: Insight) -> bool:
    """Whether staff must approve this insight before it is served."""
    if insight.approved_at or not insight.text:
        return False
    is_by_model = settings.INSIGHT_APPROVAL == "models" and insight.provider != FALLBACK.name
    return is_by_model or settings.INSIGHT_APPROVAL == "all"


def approve(insights: QuerySet[Insight], *, by: str, now: datetime, generated_at: datetime | None = None) -> int:
    """Approve these insights and return how many. `generated_at` limits this to the text that staff have read."""
    with transaction.atomic():
        restaurants = persistence.lock_restaurants(insights.order_by().values_list("pk", flat=True))
        texts = Insight.objects.filter(~Q(text=""), pk__in=restaurants)
        if generated_at:
            texts = texts.filter(generated_at=generated_at)
        return texts.update(approved_at=now, approved_by=by[:150])
