"""Time-based offers: slots, availability, discounts and bookings."""

from catalogue.offers.on_sale import Offer, Status
from catalogue.offers.slot_materialization import materialize_slots, release_cancelled_bookings
