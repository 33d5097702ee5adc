"""Online booking: the form token, the limits, and the booking itself."""

import hashlib
from dataclasses import asdict, dataclass
from datetime import date, datetime, time, timedelta
from uuid import UUID

from django.db import transaction
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from accounts.models import Venue
from framework.db.locks import AdvisoryLock
from framework.errors import ApiError, ErrorCode, InvalidRequest
from framework.public_ids import new_id
from framework.signed_tokens import BadSignature, KeyedHash, TokenSigner
from reservations.booking import commands, email_confirmation
from reservations.booking.availability import ONE_DAY
from reservations.guests.profiles import MAX_UPCOMING, hash_contact
from reservations.models import Area, GuestMail, OnlineBooking, Reservation
from reservations.self_service import links

# From one IP address at one venue, within 24 hours.
MAX_PER_DAY = 10
# People take longer to fill in the form.
MIN_FILL_S = 2
FORM_LIFETIME = timedelta(hours=12)

FORM_LOCK = AdvisoryLock("online booking form")
CONTACT_LOCK = AdvisoryLock("online booking contact")
ADDRESS_LOCK = AdvisoryLock("online booking address")
ADDRESS_HASH = KeyedHash("reservations.booking_page.online_booking.address")
FORM_SIGNER = TokenSigner("reservations.booking_page.online_booking.form")
RECEIPT_SIGNER = TokenSigner("reservations.booking_page.online_booking.receipt", separator="~")


class TooManyBookings(ApiError):
    """The contact or the IP address has reached the limit of online bookings."""

    code = ErrorCode.TOO_MANY_BOOKINGS


class StaleBookingForm(InvalidRequest):
    """The form token is invalid or expired, or its form has already booked something else."""


class SubmittedTooFast(InvalidRequest):
    """The form was submitted faster than a person can fill it in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BookingRequest:
    """The values of the booking form, in the venue's local time."""

    customer_name: str
    day: date
    at: time
    party_size: int
    customer_email: str | None = None
    customer_phone: str | None = None
    special_requests: str = ""
    area: Area | None = None

    @property
    def content_hash(self) -> str:
        return hashlib.sha256(repr(self).encode()).hexdigest()


def is_open(venue: Venue) -> bool:
    """Return whether the venue has online booking. Needs its account."""
    return venue.is_bookable_online and venue.account.closed_at is None


def book(venue: Venue, request: BookingRequest, *, form: str, address: str, now: datetime) -> Reservation:
    """Book by the rule of the API (commands.book). Submitting a form again returns its reservation.

    Raises StaleBookingForm, SubmittedTooFast, TooManyBookings, ContactRequired if the venue confirms by email and the
    guest has no address, and the errors of commands.book; then nothing is stored. About twenty statements.
    """
    form_key = validate_form_token(form, venue=venue, now=now)
    contact = hash_contact(customer_email=request.customer_email, customer_phone=request.customer_phone)
    ip_hash = ADDRESS_HASH.hexdigest(address)
    with transaction.atomic():
        # 1. A form books once.
        FORM_LOCK.acquire(form_key)
        earlier = OnlineBooking.objects.select_related("reservation__venue").filter(form_key=form_key).first()
        if earlier:
            if earlier.content_hash != request.content_hash:
                raise StaleBookingForm(
                    _("This form has already booked a table. To book another one, submit it again.")
                )
            return earlier.reservation
        if venue.proves_guests and not request.customer_email:
            raise commands.ContactRequired(
                _("This restaurant confirms bookings by email. Enter an email address."), param="customer_email"
            )
        # 2. Limits.
        bookings = OnlineBooking.objects.filter(reservation__venue=venue)
        CONTACT_LOCK.acquire(contact)
        upcoming = bookings.filter(contact_hash=contact, reservation__starts_at__gt=now).exclude(
            reservation__status=Reservation.Status.CANCELLED
        )
        if upcoming.count() >= MAX_UPCOMING:
            message = _(
                "You already have %(count)s upcoming bookings, the maximum for online booking. Please call the"
                " restaurant."
            )
            raise TooManyBookings(message % {"count": MAX_UPCOMING})
        ADDRESS_LOCK.acquire(ip_hash)
        if bookings.filter(ip_hash=ip_hash, created_at__gt=now - ONE_DAY).count() >= MAX_PER_DAY:
            message = _(
                "%(count)s bookings were made from your connection within a day, the maximum for online booking."
                " Please call the restaurant."
            )
            raise TooManyBookings(message % {"count": MAX_PER_DAY})
        # 3. The booking.
        reservation = commands.book(
            venue,
            now=now,
            actor="guest",
            confirm_by=now + email_confirmation.CONFIRMATION_PERIOD if venue.proves_guests else None,
            requests_deposit_times=True,
            language=get_language() or "",
            **asdict(request),
        )
        OnlineBooking.objects.create(
            form_key=form_key,
            reservation=reservation,
            content_hash=request.content_hash,
            contact_hash=contact,
            ip_hash=ip_hash,
            created_at=now,
        )
    return reservation


def new_form_token(venue: Venue, *, now: datetime) -> str:
    """Return a signed token for a form: its venue, a new key and the time."""
    return FORM_SIGNER.dump([venue.public_id, new_id().hex, int(now.timestamp())])


def validate_form_token(token: str, *, venue: Venue, now: datetime) -> UUID:
    """Return the key of the form. Raises StaleBookingForm, SubmittedTooFast."""
    expired = StaleBookingForm(_("This page has expired. Please check your booking and submit it again."))
    try:
        venue_id, key, created_s = FORM_SIGNER.load(token)
    except BadSignature as error:
        raise expired from error
    age_s = int(now.timestamp()) - created_s
    if venue_id != venue.public_id or age_s > FORM_LIFETIME.total_seconds():
        raise expired
    if age_s < MIN_FILL_S:
        raise SubmittedTooFast(_("The form was submitted too quickly. Please check your booking and submit it again."))
    return UUID(hex=key)


def receipt_of(reservation: Reservation) -> str:
    """Return the token in the URL of the page after the booking; it does not allow changes."""
    return RECEIPT_SIGNER.sign(reservation.public_id)


def find_by_receipt(receipt: str, *, venue: Venue) -> Reservation:
    """Return the reservation of a receipt. One query. Raises links.InvalidLink."""
    reservation = links.find(receipt, signer=RECEIPT_SIGNER)
    if reservation.venue_id != venue.pk:
        raise links.InvalidLink
    return reservation


def manage_link(reservation: Reservation) -> str | None:
    """Return the guest's link; None if only the email may contain it, because the guest has to confirm. One query."""
    if reservation.guest_mails.filter(kind=GuestMail.Kind.EMAIL_CONFIRMATION).exists():
        return None
    return links.url_of(reservation)
