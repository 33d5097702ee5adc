"""What happens to reservations by the clock of a sandbox, in the order of a step (accounts.sandbox_clock)."""

from datetime import datetime

from accounts.models import Venue
from accounts.sandbox_clock import Work, nightly
from reservations.booking import email_confirmation, holds, waitlist
from reservations.floor import tables
from reservations.guests import retention
from reservations.mail import queue


def process_waitlist(venue: Venue, now: datetime) -> None:
    waitlist.process_waitlist(venue, now=now)
    tables.update_table_names(venue=venue, now=now, actor="system")


def send_mail(venue: Venue, now: datetime) -> bool:
    return queue.send_due(now=now, venue=venue.pk)


GUEST_ERASED_AT = nightly(
    "greatest(reservation.ends_at, reservation.created_at)"
    " + make_interval(days => least(venue.forgets_guests_after_days, nullif(%(guest_days)s, 0)))"
)

WORK = (
    Work(
        due="SELECT min(expires_at) FROM reservations_hold WHERE venue_id = {venue}",
        run=lambda venue, now: holds.delete_expired(now=now, venue=venue.pk),
    ),
    Work(
        due="""
            SELECT min(confirm_by) FROM reservations_reservation
            WHERE venue_id = {venue} AND confirm_by > {after}""",
        run=lambda venue, now: email_confirmation.cancel_unconfirmed(now=now, venue=venue.pk),
    ),
    Work(
        due="""
            SELECT min(offered_until) FROM reservations_reservation
            WHERE venue_id = {venue} AND status = 'pending' AND pending_reason = 'waitlist'
                AND offered_until > {after}""",
        run=process_waitlist,
        follows=True,
    ),
    Work(
        due="""
            SELECT min(starts_at - interval '24 hours') FROM reservations_reservation
            WHERE venue_id = {venue} AND status = 'confirmed' AND arrival IS NULL AND customer_email IS NOT NULL
                AND starts_at - interval '24 hours' > {after}""",
        run=lambda venue, now: queue.queue_reminders(now=now, venue=venue.pk),
    ),
    Work(
        due="""
            SELECT min(greatest(mail.next_attempt_at, mail.leased_until)) FROM reservations_guestmail AS mail
            JOIN reservations_reservation AS reservation ON reservation.id = mail.reservation_id
            WHERE reservation.venue_id = {venue} AND mail.state = 'pending'""",
        run=send_mail,
        follows=True,
    ),
    Work(
        due=f"""
            SELECT min({GUEST_ERASED_AT}) FROM reservations_reservation AS reservation
            JOIN accounts_venue AS venue ON venue.id = reservation.venue_id
            WHERE venue.id = {{venue}} AND reservation.erased_at IS NULL AND {GUEST_ERASED_AT} > {{after}}""",  # noqa: S608  # of constants
        run=lambda venue, now: retention.erase_expired_guests(now=now, venue=venue.pk),
    ),
)
