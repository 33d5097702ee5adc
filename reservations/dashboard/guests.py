"""Guest pages: search, profile with notes, merging, erasing and download."""

import re
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from accounts.dashboard.decorators import PageRequest, page
from accounts.tenancy.permissions import Right
from framework.errors import ApiError
from framework.public_ids import decode
from reservations.dashboard.url_params import get_reservation, run_with_message
from reservations.guests import erasure, profiles, retention, search
from reservations.guests.profiles import Guest, guest_of_reservation
from reservations.models import Reservation
from reservations.service.display_status import BADGES, stage_of

MAX_QUERY_LENGTH = 100
# Suggestions while staff type, and how much they have to type.
MAX_SUGGESTIONS = 6
MIN_SUGGEST_LENGTH = 3
# The newest visits that a guest's page lists.
MAX_VISITS = 100


@page(Right.GUESTS, section="guests")
def guests(request: PageRequest) -> HttpResponse:
    """Search guests by name, email or phone; without a query, list those with a recent or upcoming reservation."""
    venue = request.access.venue
    now = venue.now()
    query, hint, found = read_query(request), "", []
    if len(query) >= search.MIN_QUERY_LENGTH:
        found = search.search(venue, query, now=now)
    elif query:
        hint = _("Enter at least %(count)s letters or digits.") % {"count": search.MIN_QUERY_LENGTH}
    else:
        found = search.list_recent(venue, now=now)
    context = {"found": found, "query": query, "hint": hint, "max_shown": search.MAX_GUESTS, "venue": venue}
    return render(request, "reservations/guests.html", context | {"is_cut": len(found) >= search.MAX_GUESTS})


def read_query(request: PageRequest) -> str:
    """Return the search query with normalised spaces and without NUL, which PostgreSQL cannot store."""
    return " ".join(request.GET.get("q", "").replace("\x00", " ").split())[:MAX_QUERY_LENGTH]


@page(Right.GUESTS, section="day")
def suggest(request: PageRequest) -> HttpResponse:
    """Return known guests for what staff type into a form of a reservation: a part of a name, number or address."""
    query = read_query(request)
    if re.fullmatch(r"[0-9 ()./-]+", query):
        # Stored numbers have the country code instead of the first zero of a national number.
        query = re.sub(r"^0(?!0)", "", query)
    is_long_enough = len(query) >= MIN_SUGGEST_LENGTH
    found = search.search(request.access.venue, query, now=request.access.venue.now()) if is_long_enough else []
    context = {"found": found[:MAX_SUGGESTIONS], "venue": request.access.venue}
    return render(request, "reservations/guest_suggestions.html", context)


def get_guest(request: PageRequest, public_id: str) -> tuple[Reservation, Guest]:
    """Return the reservation in the URL and booking guest. Raises Http404 if it has no contact data."""
    reservation = get_reservation(request, public_id)
    try:
        return reservation, guest_of_reservation(reservation)
    except profiles.NoContactData as unknown:
        raise Http404(unknown.message) from unknown


class NoteForm(forms.Form):
    note = forms.CharField(
        label=gettext_lazy("Note"),
        required=False,
        max_length=2000,
        widget=forms.Textarea({"rows": 4}),
        help_text=gettext_lazy("Visible to staff only. Guests have the right to request a copy."),
    )
    tags = forms.CharField(
        label=gettext_lazy("Tags"),
        required=False,
        max_length=300,
        help_text=gettext_lazy("Separated by commas: regular, nut allergy"),
    )
    seen = forms.DateTimeField(
        required=False,
        widget=forms.HiddenInput,
        error_messages={"invalid": gettext_lazy("Reload the page and try again.")},
    )

    def clean_note(self) -> str:
        return str(self.cleaned_data["note"]).replace("\r\n", "\n")

    def clean_tags(self) -> list[str]:
        tags = list(dict.fromkeys(tag.strip() for tag in self.cleaned_data["tags"].split(",") if tag.strip()))
        if any(len(tag) > 30 for tag in tags):
            raise forms.ValidationError(_("A tag can have at most 30 characters."))
        if len(tags) > profiles.MAX_TAGS:
            raise forms.ValidationError(_("A guest can have at most %(most)s tags.") % {"most": profiles.MAX_TAGS})
        return tags


@page(Right.GUESTS, section="guests", methods=("GET", "HEAD", "POST"))
def guest(request: PageRequest, *, reservation: str) -> HttpResponse:
    """Show a guest's statistics, notes and visits; a POST saves the note."""
    now = request.access.venue.now()
    booking, found = get_guest(request, reservation)
    profile = found.profile
    initial = {
        "note": profile.note if profile else "",
        "tags": ", ".join(profile.tags) if profile else "",
        "seen": profile.updated_at.isoformat() if profile else "",
    }
    form = NoteForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        values = form.cleaned_data
        try:
            profiles.save_note(found, text=values["note"], tags=values["tags"], seen=values["seen"], now=now)
        except ApiError as refusal:
            form.add_error("note", refusal.message)
        else:
            messages.success(request, _("Note saved."))
            return redirect("guest-of-venue", venue=booking.venue.public_id, reservation=reservation)
    rows = list(found.reservations.order_by("-starts_at", "-id")[: MAX_VISITS + 1])
    context = {
        "reservation": booking,
        "guest": found,
        "name": rows[0].customer_name if rows else booking.customer_name,
        "form": form,
        "profile": profile,
        "merged": list(found.profiles[1:]),
        "statistics": found.statistics(now=now),
        "erasure_due_at": retention.erasure_due_at(found),
        "visits": [{"reservation": row, "badge": BADGES[stage_of(row, now=now)]} for row in rows[:MAX_VISITS]],
        "is_cut": len(rows) > MAX_VISITS,
        "max_shown": MAX_VISITS,
        "venue": booking.venue,
        "sees_day": request.access.may_view(Right.RESERVATIONS),
    }
    return render(request, "reservations/guest_profile.html", context, status=400 if form.errors else 200)


@page(Right.GUESTS, section="guests", methods=("GET", "HEAD", "POST"))
def merge(request: PageRequest, *, reservation: str) -> HttpResponse:
    """Search the other guest and compare both (GET), then merge them (POST)."""
    now = request.access.venue.now()
    booking, found = get_guest(request, reservation)
    other_id = request.POST.get("other") or request.GET.get("other")
    query = read_query(request)
    context: dict[str, Any] = {"reservation": booking, "guest": found, "name": booking.customer_name, "query": query}
    if other_id:
        other, second = get_guest(request, other_id)
        if request.method == "POST":
            run_with_message(request, lambda: profiles.merge(found, second, now=now), _("The guests were merged."))
            return redirect("guest-of-venue", venue=booking.venue.public_id, reservation=reservation)
        context |= {
            "other": other,
            "statistics": found.statistics(now=now),
            "second": second,
            "second_statistics": second.statistics(now=now),
        }
    elif len(query) >= search.MIN_QUERY_LENGTH:
        hits = search.search(booking.venue, query, now=now)
        context["found"] = [hit for hit in hits if not hit.contacts & found.contacts]
    return render(request, "reservations/guests_merge.html", context)


@page(Right.GUESTS, section="guests", methods=("POST",))
def split(request: PageRequest, *, reservation: str) -> HttpResponse:
    booking, found = get_guest(request, reservation)
    key = decode("gst", request.POST.get("profile", ""))
    away = next((profile for profile in found.profiles[1:] if profile.pk == key), None)
    if away is None:
        raise Http404(_("There is no such guest."))
    away.venue = booking.venue
    run_with_message(
        request, lambda: profiles.split(away, now=request.access.venue.now()), _("The guests were separated.")
    )
    return redirect("guest-of-venue", venue=booking.venue.public_id, reservation=reservation)


@page(Right.GUESTS, section="guests", methods=("GET", "HEAD", "POST"))
def erase(request: PageRequest, *, reservation: str) -> HttpResponse:
    """Ask for the name as confirmation (GET), then erase the guest's data (POST)."""
    booking, found = get_guest(request, reservation)
    context: dict[str, Any] = {"reservation": booking, "guest": found, "name": booking.customer_name}
    if request.method == "POST":
        context["typed"] = request.POST.get("typed", "")[:300]
        try:
            count = erasure.erase(
                found,
                name=booking.customer_name,
                typed=context["typed"],
                now=request.access.venue.now(),
                actor=request.access.actor,
            )
        except ApiError as refusal:
            context["error"] = refusal
            return render(request, "reservations/guests_erase.html", context, status=400)
        message = ngettext(
            "The guest was erased. %(count)s reservation was anonymised.",
            "The guest was erased. %(count)s reservations were anonymised.",
            count,
        )
        messages.success(request, message % {"count": count})
        return redirect("guests", venue=booking.venue.public_id)
    return render(
        request,
        "reservations/guests_erase.html",
        context | {"statistics": found.statistics(now=request.access.venue.now())},
    )


@page(Right.GUESTS, section="guests")
def download(request: PageRequest, *, reservation: str) -> HttpResponse:
    booking, found = get_guest(request, reservation)
    answer = JsonResponse(erasure.export_guest(found, now=request.access.venue.now()), json_dumps_params={"indent": 2})
    answer["Content-Disposition"] = f'attachment; filename="guest-{booking.code}.json"'
    return answer
