"""Settings: the look of the booking page."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.dashboard.decorators import PageRequest, page
from accounts.tenancy.permissions import Right
from reservations.booking_page import colors
from reservations.booking_page.branding import IMAGES, find_branding, set_image
from reservations.forms.branding import BrandingForm
from reservations.models import Branding


@page(Right.VENUE, section="venue", methods=("GET", "HEAD", "POST"))
def edit(request: PageRequest) -> HttpResponse:
    """Show the colour, logo and photo of a venue's booking page (GET), and change them (POST)."""
    venue = request.access.venue
    branding = find_branding(venue)
    sent = (request.POST, request.FILES) if request.method == "POST" else ()
    form = BrandingForm(*sent, branding=branding)
    if form.is_valid():
        values, now = form.cleaned_data, timezone.now()
        Branding.objects.update_or_create(venue=venue, defaults={"color": values["color"]})
        for name in IMAGES:
            if values[name] or values.get(f"removes_{name}"):
                set_image(venue, name, values[name], now=now)
        messages.success(request, _("Saved."))
        return redirect("setup-branding", venue=venue.public_id)
    color = (branding and branding.color) or colors.OUR_COLOR
    context = {
        "form": form,
        "palettes": zip((_("Light"), _("Dark")), colors.make_palettes(color), colors.PAPERS, strict=True),
        "explanation": colors.explain(color),
    }
    return render(request, "reservations/setup_branding.html", context, status=400 if form.is_bound else 200)
