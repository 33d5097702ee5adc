"""Tools for offers, and for the tables that are booked at them."""

from catalogue import contents
from catalogue.filters.flow import Offers
from config.mcp import schemas
from config.mcp.answers import Result
from config.mcp.tools import Call, Tool, Values


def list_offers(call: Call, asked: Values) -> Result:
    """A page of offers."""
    return Result(contents.discounts(asked, now=call.now).body)


LIST_OFFERS = Tool(
    name="list_offers",
    title="Find offers",
    description="Discounts at a time of day that can be booked now, with the seats that are left. Free.",
    operation="search_offers",
    takes={"near": "Around a place."},
    reads=Offers,
    gives=lambda: schemas.result("FlowOfferAnswer"),
    run=list_offers,
)
