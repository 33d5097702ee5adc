"""Time-based offers: the slots that follow from the rules, what is on sale, and the tables that are booked there."""

from catalogue.offers.on_sale import Offer, Status
from catalogue.offers.slot_materialization import lay_out, release

__all__ = ["Offer", "Status", "lay_out", "release"]
