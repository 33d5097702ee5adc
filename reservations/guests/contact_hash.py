"""Who of several bookings is the same guest, without keeping who that is."""

from framework.signed_tokens import KeyedHash

# Of one contact, still to come.
MOST_UPCOMING = 3
# Hashes of this purpose are stored, so it keeps its first name.
CONTACT_HASH = KeyedHash("catalogue.offers.contact")


def contact_of(*, customer_email: str | None, customer_phone: str | None) -> str:
    """What the bookings of one guest are counted by: a keyed hash of the mail address, or else of the number.

    What stands behind a plus in an address is left out: it reaches the same guest.
    """
    if customer_email:
        name, _, domain = customer_email.casefold().rpartition("@")
        contact = f"{name.partition('+')[0] or name}@{domain}"
    else:
        contact = customer_phone or ""
    return CONTACT_HASH.hexdigest(contact)
