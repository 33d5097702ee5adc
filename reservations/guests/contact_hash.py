"""Identifies a guest across bookings without storing contact data."""

from framework.signed_tokens import KeyedHash

# Upcoming bookings of one contact.
MAX_UPCOMING = 3
# Hashes of this purpose are stored, so it keeps its first name.
CONTACT_HASH = KeyedHash("catalogue.offers.contact")


def hash_contact(*, customer_email: str | None, customer_phone: str | None) -> str:
    """Return a keyed hash of the email address, or else of the number; a suffix like `+news` is ignored."""
    if customer_email:
        name, _, domain = customer_email.casefold().rpartition("@")
        contact = f"{name.partition('+')[0] or name}@{domain}"
    else:
        contact = customer_phone or ""
    return CONTACT_HASH.hexdigest(contact)
