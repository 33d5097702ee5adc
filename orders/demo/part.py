"""The part of orders in the demo data."""

from datetime import datetime

from accounts.demo.commands import Counts, DemoPart
from accounts.models import Venue
from orders.demo import menu, records
from orders.models import Menu, OrderingSettings


def set_up(venue: Venue, now: datetime) -> Counts:
    dishes = menu.add_menu(venue, now=now)
    if dishes:
        OrderingSettings.objects.get_or_create(venue=venue, defaults={"is_page_open": True})
    return {"dishes": dishes}


def replace(venue: Venue, now: datetime) -> Counts:
    return {"orders": records.replace_orders(venue, now=now)}


def remove(venue: Venue, now: datetime) -> Counts:
    del now
    removed = {"orders": records.remove_orders(venue), "dishes": menu.remove_menu(venue)}
    if removed["dishes"] and not Menu.objects.filter(venue=venue).exists():
        OrderingSettings.objects.filter(venue=venue).update(is_page_open=False)
    return removed


PART = DemoPart(set_up=set_up, replace=replace, remove=remove)
