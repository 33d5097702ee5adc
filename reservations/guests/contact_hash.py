"""Who of several bookings is the same guest, without keeping who that is."""

from django.db import connection
from django.utils.crypto import salted_hmac

# Of one contact, still to come.
MOST_UPCOMING = 3


def contact_of(*, customer_email: str | None, customer_phone: str | None) -> str:
    """What the bookings of one guest are counted by: a keyed hash of the mail address, or else of the number.

    What stands behind a plus in an address is left out: it reaches the same guest.
    """
    if customer_email:
        name, _, domain = customer_email.casefold().rpartition("@")
        contact = f"{name.partition('+')[0] or name}@{domain}"
    else:
        contact = customer_phone or ""
    # Hashes of this salt are stored, so it keeps the name that it was given first.
    return salted_hmac("catalogue.offers.contact", contact, algorithm="sha256").hexdigest()


def queue_as(name: str) -> None:
    """Be the only one who does what is called so, until the transaction ends. One statement."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [name])
