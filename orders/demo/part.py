"""The part of orders in the demo data."""

from datetime import datetime

from accounts.demo.commands import Counts, DemoPart
from accounts.models import Venue
from orders.demo import menu, records
from orders.models import OrderingSettings


def set_up(venue: Venue, now: datetime) -> Counts:
    OrderingSettings.objects.get_or_create(venue=venue, defaults={"is_page_open": True})
    return {"dishes": menu.add_menu(venue, now=now)}


def replace(venue: Venue, now: datetime) -> Counts:
    return {"orders": records.replace_orders(venue, now=now)}


def remove(venue: Venue, now: datetime) -> Counts:
    del now
    return {"orders": records.remove_orders(venue), "dishes": menu.remove_menu(venue)}


PART = DemoPart(set_up=set_up, replace=replace, remove=remove)
