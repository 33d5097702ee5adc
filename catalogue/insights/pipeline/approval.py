"""Which insights wait for staff before they are served, and how staff let them through."""

from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet

from catalogue.insights.pipeline import persistence
from catalogue.insights.providers.registry import FALLBACK
from catalogue.models import Insight


def waiting() -> Q:
    """The condition of an insight that waits for staff, by INSIGHT_APPROVAL."""
    match settings.INSIGHT_APPROVAL:
        case "all":
            return Q(approved_at=None) & ~Q(text="")
        case "models":
            # Not "is another": before it and behind it an index can look.
            others = Q(provider__lt=FALLBACK.name) | Q(provider__gt=FALLBACK.name)
            return Q(approved_at=None) & ~Q(text="") & others
    return Q(pk__in=[])


def is_waiting(insight: Insight) -> bool:
    """Whether this one does."""
    if insight.approved_at or not insight.text:
        return False
    by_model = settings.INSIGHT_APPROVAL == "models" and insight.provider != FALLBACK.name
    return by_model or settings.INSIGHT_APPROVAL == "all"


def approve(insights: QuerySet[Insight], *, by: str, now: datetime, generated_at: datetime | None = None) -> int:
    """Let these texts be served; how many. With `generated_at` only one of that moment, which staff have read."""
    with transaction.atomic():
        places = persistence.held(insights.order_by().values_list("pk", flat=True))
        found = Insight.objects.filter(~Q(text=""), pk__in=places)
        if generated_at:
            found = found.filter(generated_at=generated_at)
        return found.update(approved_at=now, approved_by=by[:150])
