"""Adds markets: a city with what belongs to it, found by its name or by a polygon."""

from catalogue.markets.areas import Area, InvalidArea, read_area
from catalogue.markets.commands import MarketExists, MarketOverlaps, add_market
from catalogue.markets.plans import AmbiguousCity, CityNotFound, InvalidMarket, MarketPlan, plan_market

__all__ = [
    "AmbiguousCity",
    "Area",
    "CityNotFound",
    "InvalidArea",
    "InvalidMarket",
    "MarketExists",
    "MarketOverlaps",
    "MarketPlan",
    "add_market",
    "plan_market",
    "read_area",
]
