"""Editing the listing: details, hours, special days and photos."""

from collections.abc import Mapping
from datetime import date
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django import forms as django_forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.dashboard.decorators import PageRequest, page
from accounts.tenancy.permissions import Right
from catalogue.claims import commands, editing, weekly_hours
from catalogue.dashboard.listing import forms
from catalogue.models import RestaurantClaim
from catalogue.photos.listing import thumbnail_path
from catalogue.tasks import enqueue_open_intervals
from framework.forms.domain_errors import errors_as_messages, errors_on_form
from framework.public_ids import decode, encode

SECTION = "listing"
PARTS = ("details", "week", "days", "photo")


def find_claim(request: PageRequest) -> RestaurantClaim:
    """Return the verified claim of the venue, with its restaurant. One query. Raises Http404."""
    claim = commands.find_current_claim(request.access.venue)
    if claim is None or claim.state != RestaurantClaim.State.VERIFIED:
        raise Http404
    claim.venue = request.access.venue
    return claim


def read_key(prefix: str, text: str) -> UUID:
    """Return the key of a public id. Raises Http404."""
    key = decode(prefix, text)
    if key is None:
        raise Http404
    return key


def render_listing(
    request: PageRequest, claim: RestaurantClaim, invalid: Mapping[str, django_forms.Form] | None = None
) -> HttpResponse:
    """Render the page; a part with errors keeps its input. Two queries besides those of the layout and the claim."""
    restaurant = claim.restaurant
    today = timezone.now().astimezone(ZoneInfo(restaurant.market.timezone)).date()
    parts: dict[str, Any] = {
        "details": forms.DetailsForm(restaurant=restaurant, prefix="details"),
        "week": forms.WeekForm(restaurant=restaurant, prefix="week"),
        "days": forms.SpecialDaysForm(prefix="days"),
        "photo": forms.PhotoForm(prefix="photo"),
    } | dict(invalid or {})
    photos = [
        {"photo": photo, "id": encode("ph", photo.pk), "url": thumbnail_path(photo.pk, "small")}
        for photo in editing.list_photos(restaurant)[: editing.MAX_PHOTOS]
    ]
    context = {
        "claim": claim,
        "restaurant": restaurant,
        "forms": parts,
        "special_days": weekly_hours.list_special_days(restaurant.hours, today=today),
        "hours_locked": "hours" in restaurant.locked_fields,
        "photos": photos,
        "is_refused": bool(invalid),
    }
    return render(request, "catalogue/dashboard/listing.html", context, status=400 if invalid else 200)


@page(Right.VENUE, section=SECTION, methods=("POST",))
def save(request: PageRequest, part: str) -> HttpResponse:
    """Save one part of the listing."""
    if part not in PARTS:
        raise Http404
    claim = find_claim(request)
    restaurant = claim.restaurant
    form: Any
    match part:
        case "details":
            form = forms.DetailsForm(request.POST, restaurant=restaurant, prefix=part)
        case "week":
            form = forms.WeekForm(request.POST, restaurant=restaurant, prefix=part)
        case "days":
            form = forms.SpecialDaysForm(request.POST, prefix=part)
        case _:
            form = forms.PhotoForm(request.POST, request.FILES, prefix=part)
    if form.is_valid():
        with errors_on_form(form):
            try:
                is_changed = _save(part, form, claim)
            except editing.RestaurantChanged:
                # The user sees the page as it is now, and may save over it.
                form.data = form.data.copy()
                form.data[f"{part}-shown_version"] = restaurant.version
                raise
            messages.success(request, _("Saved.") if is_changed else _("Nothing has changed."))
            return _redirect(request, part)
    return render_listing(request, claim, {part: form})


def _save(part: str, form: Any, claim: RestaurantClaim) -> bool:
    """Write a valid form; return whether something changed. Raises ApiError."""
    now, restaurant = timezone.now(), claim.restaurant
    match part:
        case "details":
            return bool(
                editing.update_fields(claim, form.values, shown_version=form.cleaned_data["shown_version"], now=now)
            )
        case "week":
            if not form.has_changed():
                return False
            zone = restaurant.market.timezone
            hours = weekly_hours.replace_week(restaurant.hours, form.week, timezone=zone)
            return _save_hours(claim, hours, shown_version=form.cleaned_data["shown_version"])
        case "days":
            values = form.cleaned_data
            hours = weekly_hours.set_special_days(
                restaurant.hours, values["first"], values["last"], values["times"], today=_today(claim)
            )
            return _save_hours(claim, hours, shown_version=restaurant.version)
        case _:
            values = form.cleaned_data
            editing.add_photo(
                claim,
                values["file"],
                kind=values["kind"],
                alt=values["alt"],
                caption=values["caption"] or None,
                now=now,
            )
            return True


def _save_hours(claim: RestaurantClaim, hours: dict[str, Any] | None, *, shown_version: int | None) -> bool:
    changed = editing.update_fields(claim, {"hours": hours}, shown_version=shown_version, now=timezone.now())
    if changed:
        enqueue_open_intervals()
    return bool(changed)


def _today(claim: RestaurantClaim) -> date:
    return timezone.now().astimezone(ZoneInfo(claim.restaurant.market.timezone)).date()


@page(Right.VENUE, section=SECTION, methods=("POST",))
def remove_day(request: PageRequest, day: str) -> HttpResponse:
    """Remove a special day: the week applies again."""
    claim = find_claim(request)
    restaurant = claim.restaurant
    try:
        on = date.fromisoformat(day)
    except ValueError as error:
        raise Http404 from error
    with errors_as_messages(request):
        if restaurant.hours:
            hours = weekly_hours.remove_special_day(restaurant.hours, on, today=_today(claim))
            _save_hours(claim, hours, shown_version=restaurant.version)
    return _redirect(request, "days")


@page(Right.VENUE, section=SECTION, methods=("POST",))
def remove_photo(request: PageRequest, photo: str) -> HttpResponse:
    """Delete a photo of the restaurant's own."""
    with errors_as_messages(request):
        editing.delete_photo(find_claim(request), read_key("ph", photo), now=timezone.now())
        messages.success(request, _("The photo was deleted."))
    return _redirect(request, "photo")


def _redirect(request: PageRequest, part: str) -> HttpResponse:
    return redirect(f"{reverse('listing', kwargs={'venue': request.access.venue.public_id})}#{part}")
