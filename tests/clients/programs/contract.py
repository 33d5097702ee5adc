"""Uses the installed Python client: `python contract.py NAME` reads its input and prints its result as JSON."""

import asyncio
import datetime
import json
import sys
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import httpx
from tablewire_client import (
    ApiError,
    DataClient,
    ManagementClient,
    Payer,
    PaymentNotMade,
    Retries,
    WebhookVerificationError,
    data_client,
    iterate,
    iterate_async,
    iterate_pages,
    management_client,
    verify_webhook,
)
from tablewire_client.data.api.context import get_restaurant_context
from tablewire_client.data.api.restaurants import get_restaurant, search_restaurants
from tablewire_client.data.models import Hit, RestaurantRecord, SearchAnswer
from tablewire_client.management.api.availability import get_availability
from tablewire_client.management.api.menu import change_menu_item
from tablewire_client.management.api.orders import create_order, get_order, list_orders, set_order_status
from tablewire_client.management.api.reservations import create_reservation, get_reservation
from tablewire_client.management.models import (
    NewOrderItemRequest,
    NewOrderRequest,
    NewReservationRequest,
    NewStatusRequest,
    OrderRecord,
    OrderStatus,
    PatchedMenuItemChangesRequest,
    SlotRecordStateEnum,
    SoldOutEnum,
)


def order_body(quantity: int = 1) -> NewOrderRequest:
    item = NewOrderItemRequest(menu_item_id="margherita", quantity=quantity)
    return NewOrderRequest(customer_id="cust_1", items=[item], payment_method="card")


def orders(api: ManagementClient, given: dict[str, Any]) -> dict[str, Any]:
    """Place five orders, complete one, and list them over pages, in both ways."""
    placed = [create_order.sync(client=api, body=order_body(quantity=number)) for number in range(1, 6)]
    completed = set_order_status.sync(
        placed[0].id, client=api, body=NewStatusRequest(status=OrderStatus.COMPLETED), if_match='"1"'
    )
    assert completed.completed_at is not None
    listed: list[OrderRecord] = list(iterate(list_orders.sync, client=api, limit=2))

    async def ids() -> list[str]:
        async with management_client(given["base_url"], given["key"]) as other:
            return [order.id async for order in iterate_async(list_orders.asyncio, client=other, limit=2, page=1)]

    return {
        "placed": [order.id for order in placed],
        "listed": [order.id for order in listed],
        "listed_async": asyncio.run(ids()),
        "pages": [len(page.data) for page in iterate_pages(list_orders.sync, client=api, limit=2)],
        "totals": [order.total for order in listed],
        "status": completed.status,
        "is_later": completed.completed_at >= placed[0].created_at,
    }


def table(api: ManagementClient, given: dict[str, Any]) -> dict[str, Any]:
    """Book the first free time of a day, and read the reservation."""
    date = datetime.date.fromisoformat(given["date"])
    day = get_availability.sync(client=api, date=date, party_size=2)
    time = next(slot.time for slot in day.days[0].slots if slot.state == SlotRecordStateEnum.FREE)
    body = NewReservationRequest(
        customer_name="Ada Lovelace", customer_email="ada@example.com", date=date, time=time, party_size=2
    )
    made = create_reservation.sync(client=api, body=body)
    read = get_reservation.sync(made.id, client=api)
    return {"status": read.status, "date": read.date.isoformat(), "time": read.time, "free_at": time}


def count(api: ManagementClient, given: dict[str, Any]) -> dict[str, Any]:
    """How many orders there are, and which is the newest."""
    ids = [order.id for order in iterate(list_orders.sync, client=api, limit=100)]
    return {"orders": len(ids), "newest": ids[0] if ids else None}


def place(api: ManagementClient, given: dict[str, Any]) -> dict[str, Any]:
    """Place an order."""
    return {"id": create_order.sync(client=api, body=order_body()).id}


def exhaust(api: ManagementClient, given: dict[str, Any]) -> dict[str, Any]:
    """List orders until the allowance is used up."""
    calls = 0
    with management_client(given["base_url"], given["key"], retries=Retries(max_pause_s=0)) as hasty:
        while True:
            try:
                list_orders.sync(client=hasty)
            except ApiError as error:
                return {"calls": calls, "retry_after_s": error.retry_after_s, **fields(error)}
            calls += 1


def sell_out(api: ManagementClient, given: dict[str, Any]) -> dict[str, Any]:
    """Mark a dish as sold out, which takes no Idempotency-Key."""
    try:
        change_menu_item.sync("margherita", client=api, body=PatchedMenuItemChangesRequest(sold_out=SoldOutEnum.TODAY))
    except ApiError as error:
        return fields(error)
    return {}


def retried(api: ManagementClient, given: dict[str, Any]) -> dict[str, Any]:
    """Which first tries are followed by another, by method, key, status and Retry-After."""
    found = []
    for method, key, status, after in given["tries"]:
        request = httpx.Request(method, given["base_url"], headers={"Idempotency-Key": key} if key else {})
        response = httpx.Response(status, headers={"Retry-After": after} if after else {})
        found.append(Retries().pause_s(request, response, 1) is not None)
    return {"retried": found}


def refused(api: ManagementClient, given: dict[str, Any]) -> dict[str, Any]:
    """An order that the API refuses, and one that it does not have."""
    try:
        create_order.sync(client=api, body=order_body(quantity=0))
    except ApiError as error:
        invalid = fields(error) | {"details": [each["param"] for each in error.details]}
    try:
        get_order.sync("ord_none", client=api)
    except ApiError as error:
        return {"invalid": invalid, "missing": fields(error)}
    return {}


def webhook(api: ManagementClient, given: dict[str, Any]) -> dict[str, Any]:
    """Verify a delivery, and refuse a forged one."""
    body = given["body"].encode()
    event = verify_webhook(body, given["headers"], given["secret"])
    refusals = []
    headers: dict[str, str]
    for headers in (given["headers"], given["headers"] | {"webhook-signature": "nonsense"}, {}):
        try:
            verify_webhook(body + b" ", headers, given["secret"])
        except WebhookVerificationError:
            refusals.append("refused")
    return {
        "id": event.id,
        "type": event.type,
        "order": OrderRecord.from_dict(event.data).id,
        "timestamp": event.timestamp.isoformat(),
        "forged": refusals,
    }


def paid(api: ManagementClient, given: dict[str, Any]) -> dict[str, Any]:
    """Find a restaurant, and buy what is around it; then what is above the limit, and without a payer."""

    def client(**options: Any) -> DataClient:
        # An address of its own has a rate limit of its own.
        return data_client(given["base_url"], headers={"X-Forwarded-For": given["address"]}, **options)

    payer = Payer(given["private_key"], max_price_usdc=Decimal("0.002"))
    with client(payer=payer) as buyer:
        page = search_restaurants.sync(client=buyer, market="copenhagen", limit=2)
        assert isinstance(page, SearchAnswer)
        hits: Iterator[Hit | RestaurantRecord] = iterate(search_restaurants.sync, client=buyer, market="copenhagen")
        answer = get_restaurant_context.sync_detailed(next(hits).slug, client=buyer)
        slug = page.data[0].slug
        try:
            get_restaurant.sync(slug, client=buyer, fields="core,photos")
        except PaymentNotMade:
            dear = "not paid"
    with client() as guest:
        try:
            get_restaurant_context.sync(slug, client=guest)
        except ApiError as error:
            unpaid = fields(error)
    return {
        "hits": len(page.data),
        "receipt": answer.headers["PAYMENT-RESPONSE"],
        "entries": len(answer.parsed.entries) if answer.parsed else 0,
        "dear": dear,
        "unpaid": unpaid,
    }


def fields(error: ApiError) -> dict[str, Any]:
    has_id = (error.request_id or "").startswith("req_")
    return {"status": error.status, "code": error.code, "param": error.param, "has_request_id": has_id}


if __name__ == "__main__":
    given = json.load(sys.stdin)
    with management_client(given["base_url"], given["key"], retries=Retries(first_pause_s=0.1)) as client:
        print(json.dumps(globals()[sys.argv[1]](client, given)))
