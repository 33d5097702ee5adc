"""docs/webhooks.md and the OpenAPI document say what is: the snippet runs, the examples have the real fields."""

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.conf import settings as project
from django.utils import timezone
from pytest_django import Settings

from accounts.models import EventType, Venue, WebhookDelivery
from accounts.webhooks import dispatcher, endpoints, openapi
from orders.serializers import OrderRecord
from reservations.serializers import ReservationRecord
from tests.accounts.webhook_receivers import Answer, Received, receiving
from tests.support import builders

PAGE = (Path(project.BASE_DIR) / "docs" / "webhooks.md").read_text()


@pytest.mark.django_db(transaction=True)
def test_the_snippet_receives_what_we_send_once_and_refuses_what_others_send(
    venue: Venue, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.WEBHOOKS_TO_LOOPBACK = True
    snippet, _catch_up = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    theirs: dict[str, Any] = {}
    exec(snippet, theirs)  # noqa: S102  # the page's own words
    secrets: list[str] = []

    def script(received: Received, _before: int) -> Answer:
        assert theirs["receive"](received.body + b" ", received.headers, secrets[0]) == 400
        assert theirs["receive"](received.body, received.headers, "whsec_" + "A" * 44) == 400
        return Answer(theirs["receive"](received.body, received.headers, secrets[0]))

    with receiving(script) as receiver:
        endpoint, secret = endpoints.create(venue, url=receiver.url)
        secrets.append(secret)
        order = builders.order(venue)
        dispatcher.run(clock=timezone.now, claim_s=0.2)
        endpoints.resend(endpoint.deliveries.get(), now=timezone.now())
        dispatcher.run(clock=timezone.now, claim_s=0.2)
        assert len(receiver.received) == 2
    assert WebhookDelivery.objects.get().state == "delivered"
    assert capsys.readouterr().out == f"order.created {order.public_id}\n"


def test_the_recipe_catches_up_with_each_missed_event_once(venue: Venue, capsys: pytest.CaptureFixture[str]) -> None:
    _receiver, recipe = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    theirs: dict[str, Any] = {}
    exec(recipe, theirs)  # noqa: S102  # the page's own words
    orders = [builders.order(venue) for _ in range(150)]
    key, known = builders.key(venue).text, set[str]()
    client = builders.client_with(key)

    def answer(request: httpx.Request) -> httpx.Response:
        response = client.get(request.url.raw_path.decode())
        return httpx.Response(response.status_code, content=response.content)

    with httpx.Client(base_url="http://testserver", transport=httpx.MockTransport(answer)) as api:
        cursor = theirs["catch_up"](api, "", known)
        assert capsys.readouterr().out == "".join(f"order.created {order.public_id}\n" for order in orders)
        later = builders.order(venue)
        theirs["catch_up"](api, cursor, known)
    assert capsys.readouterr().out == f"order.created {later.public_id}\n"


def test_the_examples_have_the_fields_that_are_sent() -> None:
    order, reservation, ping = (json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL))
    assert list(order["data"]) == list(OrderRecord.Meta.fields)
    assert list(reservation["data"]) == list(ReservationRecord.Meta.fields)
    assert list(ping["data"]) == openapi.TEXTS["schemas"]["webhook"]["required"]
    for example in (order, reservation, ping):
        assert list(example) == ["type", "timestamp", "data"]


RECORDS = {"OrderRecord", "ReservationRecord", "MenuItemRecord"}


def test_the_page_names_every_type() -> None:
    assert set(re.findall(r"^\| `([a-z]+\.[a-z_]+)`", PAGE, re.MULTILINE)) == set(EventType.values)


def test_the_openapi_document_has_every_type_that_is_sent_with_its_record() -> None:
    section = openapi.build_webhooks_section()
    assert set(section) == set(EventType.values)
    management = json.loads((Path(project.BASE_DIR) / "docs" / "openapi" / "management.json").read_text())
    assert set(re.findall(r"#/components/schemas/(\w+)", json.dumps(section))) == RECORDS
    assert set(management["components"]["schemas"]) >= RECORDS
    assert section["order.created"]["post"]["requestBody"]["required"] is True
