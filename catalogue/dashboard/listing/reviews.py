"""Replies to reviews of a claimed restaurant."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db.models import Q
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.dashboard.decorators import PageRequest, page
from accounts.tenancy.permissions import Right
from catalogue.claims import editing
from catalogue.dashboard.listing.editing import SECTION, find_claim, read_key
from catalogue.dashboard.listing.forms import ReplyForm
from catalogue.models import Restaurant, Review
from framework.forms.domain_errors import errors_as_messages
from framework.public_ids import encode

A_PAGE = 20


@page(Right.VENUE, section=SECTION)
def list_reviews(request: PageRequest) -> HttpResponse:
    """List the reviews, newest first; `unanswered` are those without a reply. Two queries besides the claim's."""
    return render_reviews(request)


def render_reviews(request: PageRequest, refused: ReplyForm | None = None, review: UUID | None = None) -> HttpResponse:
    restaurant = find_claim(request).restaurant
    is_unanswered = "unanswered" in request.GET
    reviews = Review.objects.filter(restaurant=restaurant).order_by("-created_at", "-id").select_related("source")
    if is_unanswered:
        reviews = reviews.filter(owner_reply=None)
    if review is not None:
        reviews = reviews.filter(pk=review)
    elif text := request.GET.get("before"):
        reviews = reviews.filter(_is_older(restaurant, text))
    found = list(reviews[: A_PAGE + 1])
    context: dict[str, Any] = {
        "restaurant": restaurant,
        "reviews": [_shown(each, refused) for each in found[:A_PAGE]],
        "older": encode("rev", found[A_PAGE - 1].pk) if len(found) > A_PAGE else None,
        "is_later": "before" in request.GET,
        "is_unanswered": is_unanswered,
    }
    return render(request, "catalogue/dashboard/listing_reviews.html", context, status=400 if refused else 200)


def _is_older(restaurant: Restaurant, text: str) -> Q:
    """The condition of reviews after this one in the list. One query. Raises Http404."""
    key = read_key("rev", text)
    moments = Review.objects.filter(restaurant=restaurant, pk=key).values_list("created_at", flat=True)
    moment: datetime | None = moments.first()
    if moment is None:
        raise Http404
    return Q(created_at__lt=moment) | Q(created_at=moment, pk__lt=key)


def _shown(review: Review, refused: ReplyForm | None) -> dict[str, Any]:
    form = refused or ReplyForm(initial={"reply": review.owner_reply}, auto_id=f"id_{review.pk.hex}_%s")
    return {"review": review, "id": encode("rev", review.pk), "form": form}


@page(Right.VENUE, section=SECTION, methods=("POST",))
def reply(request: PageRequest, review: str) -> HttpResponse:
    """Write, change or, with an empty text, remove the reply to a review."""
    claim, key = find_claim(request), read_key("rev", review)
    form = ReplyForm(request.POST)
    if not form.is_valid():
        return render_reviews(request, form, key)
    with errors_as_messages(request):
        text: str = form.cleaned_data["reply"]
        editing.reply_to_review(claim, key, text, now=timezone.now())
        messages.success(request, _("Your reply was saved.") if text else _("Your reply was removed."))
    return redirect("listing-reviews", venue=request.access.venue.public_id)
