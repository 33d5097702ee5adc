"""Cancellations by staff, and their undo within the minute in which the guest is not emailed."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.utils.translation import gettext as _

from accounts.dashboard.decorators import PageRequest, page
from accounts.tenancy.permissions import Right
from framework.errors import ApiError
from framework.signed_tokens import BadSignature, TokenSigner
from reservations.booking import commands, table_assignment
from reservations.dashboard.url_params import choose_mail_delay, get_reservation, redirect_back, store_undo
from reservations.models import Reservation
from reservations.notifications import GRACE_PERIOD, NO_DELAY, find_unsent_mail
from reservations.self_service import registry
from reservations.service.check_in import DEPARTED

UNDO_SIGNER = TokenSigner("reservations.dashboard.cancellation.undo")
MOMENTS = ("offered_until", "confirm_by")


def can_undo(reservation: Reservation) -> bool:
    """Return whether a cancellation could be undone. An offer sells the seats of a cancelled booking again."""
    return reservation.arrival not in DEPARTED and not registry.is_fixed(reservation)


def cancel(request: PageRequest, booking: Reservation, command: Callable[..., Any], done: str) -> None:
    """Cancel by the command, and offer Undo on the next page, or show the error there."""
    now = request.access.venue.now()
    try:
        with transaction.atomic():
            table_assignment.lock_reservation(booking)
            version, has_undo = booking.version, can_undo(booking)
            former = {name: getattr(booking, name) for name in commands.CANCELLATION_FIELDS}
            mail_after = choose_mail_delay(request, delay=GRACE_PERIOD if has_undo else NO_DELAY)
            command(booking, mail_after=mail_after, now=now, actor=request.access.actor)
    except ApiError as refusal:
        messages.error(request, refusal.message)
        return
    if not has_undo or booking.version == version:
        messages.success(request, done)
        return
    unsent = find_unsent_mail(booking, now=now)
    mail = str(unsent.pk) if unsent and unsent.created_at == now else ""
    store_undo(
        request,
        {
            "reservation": booking.public_id,
            "token": UNDO_SIGNER.dump([booking.public_id, booking.version, mail, to_json(former)]),
            "mail": mail,
            "message": done,
        },
    )


def to_json(former: dict[str, Any]) -> dict[str, Any]:
    return former | {name: former[name] and former[name].isoformat() for name in MOMENTS}


def from_json(former: dict[str, Any]) -> dict[str, Any]:
    return former | {name: former[name] and datetime.fromisoformat(former[name]) for name in MOMENTS}


@page(Right.RESERVATIONS, section="day", methods=("POST",))
def restore(request: PageRequest, *, reservation: str) -> HttpResponse:
    """Undo a cancellation, by the token of its message."""
    booking = get_reservation(request, reservation)
    try:
        key, version, mail, former = UNDO_SIGNER.load(request.POST.get("token", ""), max_age=GRACE_PERIOD)
    except BadSignature:
        key = None
    if key != booking.public_id:
        messages.error(request, _("It is too late to undo this. Make a new reservation for the guest."))
        return redirect_back(request, booking)
    run = partial(commands.undo_cancellation, booking, from_json(former), version=version)
    try:
        run(mail=UUID(mail) if mail else None, now=request.access.venue.now(), actor=request.access.actor)
    except ApiError as refusal:
        messages.error(request, _("Not undone. %(reason)s") % {"reason": refusal.message})
        return redirect_back(request, booking)
    values = {"guest": booking.customer_name, "tables": ", ".join(booking.tables)}
    if booking.tables:
        message = _("The reservation of %(guest)s is restored at %(tables)s.") % values
    else:
        message = _("The reservation of %(guest)s is restored.") % values
    if former["tables"] != booking.tables:
        message += " " + _("%(tables)s was taken in the meantime.") % {"tables": ", ".join(former["tables"])}
    messages.success(request, message)
    return redirect_back(request, booking)
