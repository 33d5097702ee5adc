"""What happens to orders by the clock of a sandbox (accounts.sandbox_clock)."""

from accounts.sandbox_clock import Work, nightly
from orders import checkout_retention, contact_retention
from orders.models import CheckoutSession

CONTACT_ERASED_AT = nightly(
    "greatest(placed.created_at, placed.requested_at)"
    " + make_interval(days => least(venue.forgets_guests_after_days, nullif(%(guest_days)s, 0)))"
)
CHECKOUT_DELETED_AT = f"""
    CASE state
        WHEN 'completed' THEN completed_at + interval '{CheckoutSession.COMPLETED_RETENTION.total_seconds()} seconds'
        WHEN 'placed' THEN NULL
        ELSE expires_at + interval '{CheckoutSession.EXPIRED_RETENTION.total_seconds()} seconds'
    END"""

WORK = (
    Work(
        due=f"""
            SELECT min({CONTACT_ERASED_AT}) FROM orders_order AS placed
            JOIN accounts_venue AS venue ON venue.id = placed.venue_id
            WHERE venue.id = {{venue}} AND {CONTACT_ERASED_AT} > {{after}}
                AND NOT (placed.contact_name = '' AND placed.contact_phone = '' AND placed.contact_email = '')""",  # noqa: S608  # of constants
        run=lambda venue, now: contact_retention.erase_expired_contacts(now=now, venue=venue.pk),
    ),
    Work(
        due=f"SELECT min({CHECKOUT_DELETED_AT}) FROM orders_checkoutsession WHERE venue_id = {{venue}}",  # noqa: S608  # of constants
        run=lambda venue, now: checkout_retention.delete_past(now=now, venue=venue.pk),
    ),
)
