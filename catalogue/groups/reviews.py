"""What guests wrote: a summary of all, and the newest."""

from collections import Counter
from datetime import datetime
from typing import Any

from django.db.models import Count

from catalogue.models import Restaurant, Review
from config.api.ids import encode

NEWEST = 3


def newest(restaurant: Restaurant, now: datetime) -> dict[str, Any]:
    """The newest reviews below a summary of all; None where nobody wrote any. Two queries."""
    reviews = Review.objects.filter(restaurant=restaurant)
    groups = list(
        reviews.order_by().values_list("stars", "lang").annotate(reviews=Count("pk"), replies=Count("owner_reply"))
    )
    if not groups:
        return {"reviews": None}
    stars: Counter[int] = Counter()
    languages: Counter[str] = Counter()
    for given, lang, count, _ in groups:
        stars[given] += count
        languages[lang] += count
    # Stars alone are of no language.
    del languages[""]
    summary = {
        "rating": restaurant.rating,
        "count": stars.total(),
        "distribution": {str(given): stars[given] for given in range(5, 0, -1)},
        "by_lang": dict(sorted(languages.items(), key=lambda found: (-found[1], found[0]))),
        "with_reply": sum(replies for *_, replies in groups),
    }
    items = [_record(review) for review in reviews.order_by("-created_at", "-id")[:NEWEST]]
    return {"reviews": {"summary": summary, "items": items}}


def _record(review: Review) -> dict[str, Any]:
    return {
        "id": encode("rev", review.pk),
        "stars": review.stars,
        "text": review.text,
        "lang": review.lang or None,
        "author": review.author,
        "visited_on": review.visited_on,
        "created_at": review.created_at,
        "helpful_count": review.helpful_count,
        "owner_reply": {"text": review.owner_reply, "created_at": review.owner_replied_at}
        if review.owner_reply is not None
        else None,
        "source": review.source_id,
    }
