"""Guest pages: search, profile with notes, merging, erasing and download."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from accounts.dashboard.decorators import PageRequest, page
from accounts.tenancy.permissions import Right
from framework.errors import ApiError
from framework.public_ids import decode
from reservations.dashboard.url_params import reservation_of, say
from reservations.guests import erasure, profiles, retention, search
from reservations.guests.profiles import Guest, guest_of
from reservations.models import Reservation
from reservations.service.display_status import LOOKS, stage_of

MAX_QUERY_LENGTH = 100
# The newest visits that a guest's page lists.
MAX_VISITS = 100


@page(Right.GUESTS, section="guests")
def guests(request: PageRequest) -> HttpResponse:
    """Search guests by name, email or phone; without a query, list those with a recent or upcoming reservation."""
    now, venue = timezone.now(), request.access.venue
    query, hint, found = query_of(request), "", []
    if len(query) >= search.SHORTEST:
        found = search.search(venue, query, now=now)
    elif query:
        hint = f"Enter at least {search.SHORTEST} letters or digits."
    else:
        found = search.around(venue, now=now)
    context = {"found": found, "query": query, "hint": hint, "max_shown": search.MOST_GUESTS, "venue": venue}
    return render(request, "reservations/guests.html", context | {"is_cut": len(found) >= search.MOST_GUESTS})


def query_of(request: PageRequest) -> str:
    """Return the search query with normalised spaces and without NUL, which PostgreSQL cannot store."""
    return " ".join(request.GET.get("q", "").replace("\x00", " ").split())[:MAX_QUERY_LENGTH]


def found_of(request: PageRequest, public_id: str) -> tuple[Reservation, Guest]:
    """Return the reservation in the URL and its guest. Raises Http404 if it has no contact data."""
    reservation = reservation_of(request, public_id)
    try:
        return reservation, guest_of(reservation)
    except profiles.NoContactKnown as unknown:
        raise Http404(unknown.message) from unknown


class NoteForm(forms.Form):
    """Staff notes and tags of a guest."""

    note = forms.CharField(
        required=False,
        max_length=2000,
        widget=forms.Textarea({"rows": 4}),
        help_text="Visible to staff only. Guests have the right to request a copy.",
    )
    tags = forms.CharField(required=False, max_length=300, help_text="Separated by commas: regular, nut allergy")
    seen = forms.CharField(required=False, max_length=40, widget=forms.HiddenInput)

    def clean_note(self) -> str:
        """Normalise line endings."""
        return str(self.cleaned_data["note"]).replace("\r\n", "\n")

    def clean_tags(self) -> list[str]:
        """Split the tags, remove duplicates, and check their length and number."""
        tags = list(dict.fromkeys(tag.strip() for tag in self.cleaned_data["tags"].split(",") if tag.strip()))
        if any(len(tag) > 30 for tag in tags):
            raise forms.ValidationError("A tag can have at most 30 characters.")
        if len(tags) > profiles.MOST_TAGS:
            raise forms.ValidationError(f"A guest can have at most {profiles.MOST_TAGS} tags.")
        return tags

    def clean_seen(self) -> Any:
        """Parse the time of the note that the form showed."""
        try:
            return parse_datetime(self.cleaned_data["seen"]) if self.cleaned_data["seen"] else None
        except ValueError as error:
            raise forms.ValidationError("Reload the page and try again.") from error


@page(Right.GUESTS, section="guests", methods=("GET", "HEAD", "POST"))
def guest(request: PageRequest, *, reservation: str) -> HttpResponse:
    """Show a guest's statistics, notes and visits; a POST saves the note."""
    now = timezone.now()
    its, found = found_of(request, reservation)
    visitor = found.visitor
    initial = {
        "note": visitor.note if visitor else "",
        "tags": ", ".join(visitor.tags) if visitor else "",
        "seen": visitor.updated_at.isoformat() if visitor else "",
    }
    form = NoteForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        values = form.cleaned_data
        try:
            profiles.note(found, text=values["note"], tags=values["tags"], seen=values["seen"], now=now)
        except ApiError as refusal:
            form.add_error("note", refusal.message)
        else:
            messages.success(request, "Note saved.")
            return redirect(address_of(request, its))
    rows = list(found.reservations.order_by("-starts_at", "-id")[: MAX_VISITS + 1])
    context = {
        "reservation": its,
        "guest": found,
        "name": rows[0].customer_name if rows else its.customer_name,
        "form": form,
        "visitor": visitor,
        "merged": list(found.visitors[1:]),
        "tally": found.tally(now=now),
        "forgotten_at": retention.forgotten_at(found),
        "visits": [{"reservation": row, "look": LOOKS[stage_of(row, now=now)]} for row in rows[:MAX_VISITS]],
        "is_cut": len(rows) > MAX_VISITS,
        "max_shown": MAX_VISITS,
        "venue": its.venue,
        "sees_day": request.access.may(Right.RESERVATIONS),
    }
    return render(request, "reservations/guest_profile.html", context, status=400 if form.errors else 200)


def address_of(request: PageRequest, reservation: Reservation) -> str:
    """Return the URL of the reservation's guest."""
    named = {"venue": request.access.venue.public_id, "reservation": reservation.public_id}
    return reverse("guest-of-venue", kwargs=named)


@page(Right.GUESTS, section="guests", methods=("GET", "HEAD", "POST"))
def merge(request: PageRequest, *, reservation: str) -> HttpResponse:
    """Search the other guest and compare both (GET), then merge them (POST)."""
    now = timezone.now()
    its, found = found_of(request, reservation)
    other_id = request.POST.get("other") or request.GET.get("other")
    query = query_of(request)
    context: dict[str, Any] = {"reservation": its, "guest": found, "name": its.customer_name, "query": query}
    if other_id:
        other, second = found_of(request, other_id)
        if request.method == "POST":
            say(request, lambda: profiles.merge(found, second, now=now), "The guests were merged.")
            return redirect(address_of(request, its))
        context |= {"other": other, "tally": found.tally(now=now), "second": second, "others": second.tally(now=now)}
    elif len(query) >= search.SHORTEST:
        hits = search.search(its.venue, query, now=now)
        context["found"] = [hit for hit in hits if not hit.contacts & found.contacts]
    return render(request, "reservations/guests_merge.html", context)


@page(Right.GUESTS, section="guests", methods=("POST",))
def split(request: PageRequest, *, reservation: str) -> HttpResponse:
    """Separate a merged guest."""
    its, found = found_of(request, reservation)
    key = decode("gst", request.POST.get("visitor", ""))
    away = next((visitor for visitor in found.visitors[1:] if visitor.pk == key), None)
    if away is None:
        raise Http404("There is no such guest.")
    away.venue = its.venue
    say(request, lambda: profiles.split(away, now=timezone.now()), "The guests were separated.")
    return redirect(address_of(request, its))


@page(Right.GUESTS, section="guests", methods=("GET", "HEAD", "POST"))
def erase(request: PageRequest, *, reservation: str) -> HttpResponse:
    """Ask for the name as confirmation (GET), then erase the guest's data (POST)."""
    its, found = found_of(request, reservation)
    context: dict[str, Any] = {"reservation": its, "guest": found, "name": its.customer_name}
    if request.method == "POST":
        context["typed"] = request.POST.get("typed", "")[:300]
        try:
            count = erasure.erase(
                found,
                name=its.customer_name,
                typed=context["typed"],
                now=timezone.now(),
                actor=request.access.actor,
            )
        except ApiError as refusal:
            context["error"] = refusal
            return render(request, "reservations/guests_erase.html", context, status=400)
        reservations = "1 reservation was" if count == 1 else f"{count} reservations were"
        messages.success(request, f"The guest was erased. {reservations} anonymised.")
        return redirect("guests", venue=its.venue.public_id)
    return render(request, "reservations/guests_erase.html", context | {"tally": found.tally(now=timezone.now())})


@page(Right.GUESTS, section="guests")
def download(request: PageRequest, *, reservation: str) -> HttpResponse:
    """Download all data of a guest as JSON."""
    its, found = found_of(request, reservation)
    answer = JsonResponse(erasure.kept(found, now=timezone.now()), json_dumps_params={"indent": 2})
    answer["Content-Disposition"] = f'attachment; filename="guest-{its.code}.json"'
    return answer
