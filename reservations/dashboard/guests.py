"""The guests of a venue: found, looked at, noted, joined, and erased where they ask for it."""

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
from framework.errors import Refusal
from framework.public_ids import decode
from reservations.dashboard.url_params import reservation_of, say
from reservations.guests import erasure, profiles, retention, search
from reservations.guests.profiles import Guest, guest_of
from reservations.models import Reservation
from reservations.service.display_status import LOOKS, stage_of

LONGEST_SEARCH = 100
# Of one guest's reservations the newest.
MOST_VISITS = 100


@page(Right.GUESTS, section="guests")
def guests(request: PageRequest) -> HttpResponse:
    """Guests whose name, address or number holds the text, or those of these days."""
    now, venue = timezone.now(), request.access.venue
    asked, hint, found = text_of(request), "", []
    if len(asked) >= search.SHORTEST:
        found = search.search(venue, asked, now=now)
    elif asked:
        hint = f"Type at least {search.SHORTEST} letters or digits."
    else:
        found = search.around(venue, now=now)
    known = {"found": found, "asked": asked, "hint": hint, "most": search.MOST_GUESTS, "venue": venue}
    return render(request, "reservations/guests.html", known | {"is_cut": len(found) >= search.MOST_GUESTS})


def text_of(request: PageRequest) -> str:
    """What is searched for; no database keeps a NUL."""
    return " ".join(request.GET.get("q", "").replace("\x00", " ").split())[:LONGEST_SEARCH]


def found_of(request: PageRequest, public_id: str) -> tuple[Reservation, Guest]:
    """A guest, and the reservation by which the page names them. Raises Http404 where nobody is known by it."""
    reservation = reservation_of(request, public_id)
    try:
        return reservation, guest_of(reservation)
    except profiles.NoContactKnown as unknown:
        raise Http404(unknown.message) from unknown


class NoteForm(forms.Form):
    """What staff know of a guest."""

    note = forms.CharField(
        required=False,
        max_length=2000,
        widget=forms.Textarea({"rows": 4}),
        help_text="For the staff alone. The guest can ask to read it.",
    )
    tags = forms.CharField(required=False, max_length=300, help_text="Separated by commas: regular, nut allergy")
    seen = forms.CharField(required=False, max_length=40, widget=forms.HiddenInput)

    def clean_note(self) -> str:
        """The text with plain ends of lines."""
        return str(self.cleaned_data["note"]).replace("\r\n", "\n")

    def clean_tags(self) -> list[str]:
        """Each once, of at most 30 letters."""
        tags = list(dict.fromkeys(tag.strip() for tag in self.cleaned_data["tags"].split(",") if tag.strip()))
        if any(len(tag) > 30 for tag in tags):
            raise forms.ValidationError("A tag has at most 30 letters.")
        if len(tags) > profiles.MOST_TAGS:
            raise forms.ValidationError(f"A guest has at most {profiles.MOST_TAGS} tags.")
        return tags

    def clean_seen(self) -> Any:
        """When the note that was shown was written."""
        try:
            return parse_datetime(self.cleaned_data["seen"]) if self.cleaned_data["seen"] else None
        except ValueError as error:
            raise forms.ValidationError("Open the page again.") from error


@page(Right.GUESTS, section="guests", methods=("GET", "HEAD", "POST"))
def guest(request: PageRequest, *, reservation: str) -> HttpResponse:
    """One guest: numbers, notes, visits. POST writes the note."""
    now = timezone.now()
    its, found = found_of(request, reservation)
    noted = found.visitor
    shown = {
        "note": noted.note if noted else "",
        "tags": ", ".join(noted.tags) if noted else "",
        "seen": noted.updated_at.isoformat() if noted else "",
    }
    form = NoteForm(request.POST or None, initial=shown)
    if request.method == "POST" and form.is_valid():
        wrote = form.cleaned_data
        try:
            profiles.note(found, text=wrote["note"], tags=wrote["tags"], seen=wrote["seen"], now=now)
        except Refusal as refusal:
            form.add_error("note", refusal.message)
        else:
            messages.success(request, "The note is kept.")
            return redirect(address_of(request, its))
    rows = list(found.reservations.order_by("-starts_at", "-id")[: MOST_VISITS + 1])
    known = {
        "its": its,
        "guest": found,
        "name": rows[0].customer_name if rows else its.customer_name,
        "form": form,
        "noted": noted,
        "merged": list(found.visitors[1:]),
        "tally": found.tally(now=now),
        "forgotten_at": retention.forgotten_at(found),
        "visits": [{"reservation": row, "look": LOOKS[stage_of(row, now=now)]} for row in rows[:MOST_VISITS]],
        "is_cut": len(rows) > MOST_VISITS,
        "most": MOST_VISITS,
        "venue": its.venue,
        "sees_day": request.access.may(Right.RESERVATIONS),
    }
    return render(request, "reservations/guest_profile.html", known, status=400 if form.errors else 200)


def address_of(request: PageRequest, reservation: Reservation) -> str:
    """The page of the guest who made it."""
    named = {"venue": request.access.venue.public_id, "reservation": reservation.public_id}
    return reverse("guest-of-venue", kwargs=named)


@page(Right.GUESTS, section="guests", methods=("GET", "HEAD", "POST"))
def merge(request: PageRequest, *, reservation: str) -> HttpResponse:
    """Look for the other (GET), see both beside each other, and make them one (POST)."""
    now = timezone.now()
    its, found = found_of(request, reservation)
    other_id = request.POST.get("other") or request.GET.get("other")
    known: dict[str, Any] = {"its": its, "guest": found, "name": its.customer_name, "asked": text_of(request)}
    if other_id:
        other, second = found_of(request, other_id)
        if request.method == "POST":
            say(request, lambda: profiles.merge(found, second, now=now), "They are one guest now.")
            return redirect(address_of(request, its))
        known |= {"other": other, "tally": found.tally(now=now), "second": second, "others": second.tally(now=now)}
    elif len(known["asked"]) >= search.SHORTEST:
        hits = search.search(its.venue, known["asked"], now=now)
        known["found"] = [one for one in hits if not one.contacts & found.contacts]
    return render(request, "reservations/guests_merge.html", known)


@page(Right.GUESTS, section="guests", methods=("POST",))
def split(request: PageRequest, *, reservation: str) -> HttpResponse:
    """Take a merged guest out again."""
    its, found = found_of(request, reservation)
    key = decode("gst", request.POST.get("visitor", ""))
    away = next((visitor for visitor in found.visitors[1:] if visitor.pk == key), None)
    if away is None:
        raise Http404("There is no such guest.")
    away.venue = its.venue
    say(request, lambda: profiles.split(away, now=timezone.now()), "They are two guests again.")
    return redirect(address_of(request, its))


@page(Right.GUESTS, section="guests", methods=("GET", "HEAD", "POST"))
def erase(request: PageRequest, *, reservation: str) -> HttpResponse:
    """Ask for the name (GET), then forget who the guest was (POST)."""
    its, found = found_of(request, reservation)
    known: dict[str, Any] = {"its": its, "guest": found, "name": its.customer_name}
    if request.method == "POST":
        known["typed"] = request.POST.get("typed", "")[:300]
        try:
            count = erasure.erase(
                found,
                name=its.customer_name,
                typed=known["typed"],
                now=timezone.now(),
                actor=request.access.actor,
            )
        except Refusal as refusal:
            known["refused"] = refusal
            return render(request, "reservations/guests_erase.html", known, status=400)
        visits = "1 reservation is" if count == 1 else f"{count} reservations are"
        messages.success(request, f"The guest is erased. {visits} nobody's now.")
        return redirect("guests", venue=its.venue.public_id)
    return render(request, "reservations/guests_erase.html", known | {"tally": found.tally(now=timezone.now())})


@page(Right.GUESTS, section="guests")
def download(request: PageRequest, *, reservation: str) -> HttpResponse:
    """All that is known of a guest, as a file for the guest."""
    its, found = found_of(request, reservation)
    answer = JsonResponse(erasure.kept(found, now=timezone.now()), json_dumps_params={"indent": 2})
    answer["Content-Disposition"] = f'attachment; filename="guest-{its.code}.json"'
    return answer
