"""The texts of mail to guests, by kind of mail, with the placeholders {venue}, {until} and {wait}."""

from collections.abc import Mapping

from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrPromise

TEXTS: Mapping[str, Mapping[str, StrPromise]] = {
    "confirmed": {
        "subject": _("Your table at {venue} is reserved"),
        "opening": _("Your table is reserved."),
        "closing": _("View or change the reservation, or cancel it if you cannot come:"),
    },
    "requested": {
        "subject": _("{venue} has received your request"),
        "opening": _(
            "We have received your request. It is not confirmed yet. We will email you when the restaurant has "
            "answered."
        ),
        "closing": _("View, change or withdraw the request:"),
    },
    "waitlisted": {
        "subject": _("You are on the waiting list of {venue}"),
        "opening": _(
            "No table is free at this time, so you are on the waiting list. When a table becomes free, we will "
            "email you and hold it for a while."
        ),
        "closing": _("View your status, or leave the waiting list:"),
    },
    # Staff have added the party, and quoted a wait to it.
    "waitlisted_quoted": {
        "subject": _("You are on the waiting list of {venue}"),
        "opening": _(
            "You are on the waiting list. The wait is about {wait}. When a table becomes free, we will email you "
            "and hold it for a while."
        ),
        "closing": _("View your status, or leave the waiting list:"),
    },
    "email_confirmation": {
        "subject": _("Confirm your booking at {venue}"),
        "opening": _(
            "This table was booked with your email address. Please confirm the booking by {until}. After that the "
            "table is released."
        ),
        "closing": _("If you did not book, you can ignore this email. To confirm your booking:"),
    },
    "offered": {
        "subject": _("A table at {venue} is available"),
        "opening": _("A table has become available. It is held for you until {until}."),
        "closing": _("Accept or decline it on this page:"),
    },
    "cancelled": {
        "subject": _("Your reservation at {venue} is cancelled"),
        "opening": _("Your reservation was cancelled."),
        "closing": _("View the cancelled reservation:"),
    },
    "changed": {
        "subject": _("Your reservation at {venue} has changed"),
        "opening": _("Your reservation has changed. These are the new details."),
        "closing": _("View, change or cancel the reservation:"),
    },
    # Staff have changed a request that is not confirmed yet.
    "changed_unconfirmed": {
        "subject": _("Your request at {venue} has changed"),
        "opening": _(
            "Your request has changed. These are the new details. It is not confirmed yet; we will email you when "
            "it is."
        ),
        "closing": _("View, change or withdraw the request:"),
    },
    "reminder": {
        "subject": _("Reminder: your table at {venue}"),
        "opening": _("This is a reminder of your reservation."),
        "closing": _("If you cannot come, please change or cancel on this page:"),
    },
}
