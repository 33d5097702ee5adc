"""The one trip to the facilitator: what is sent, and over whose connections. How it may end: test_settling.py."""

import json
import os
from collections.abc import Mapping

import pytest
from django.conf import LazySettings

from payments import evm, facilitator, wire
from payments.facilitator import Outcome, Settled
from payments.networks import BASE_SEPOLIA
from tests.payments.buying import asked
from tests.payments.facilitators import Server, says, serving

HASH = "0x" + "5A" * 32
PAYER = "0x857b06519e91e3a54538791bdbb0e22373e36b66"
PAY_TO = "0x209693bc6afc0c5328ba36faf03c514ef312287c"
SIGNED: Mapping[str, object] = {"signature": "0x11", "authorization": {"value": "2000"}}
SETTLED = says(200, {"success": True, "transaction": HASH, "network": "eip155:84532", "payer": evm.checksummed(PAYER)})


@pytest.fixture(autouse=True)
def _our_address(settings: LazySettings) -> None:
    settings.PAY_TO = PAY_TO
    settings.PUBLIC_BASE_URL = "https://api.example.com"


def settle(server: Server, settings: LazySettings, *, slash: str = "") -> Outcome:
    """Have this server settle."""
    settings.FACILITATOR_URL = server.url + slash
    return facilitator.settle(
        payload=dict(SIGNED),
        requirement=wire.requirement(BASE_SEPOLIA, 2000),
        resource=wire.resource(asked()),
        payer=PAYER,
    )


@pytest.mark.parametrize("slash", ["", "/"])
def test_a_settlement_is_asked_for_in_version_2(settings: LazySettings, slash: str) -> None:
    with serving(SETTLED) as server:
        assert settle(server, settings, slash=slash) == Settled(HASH.lower())
    requirement = {
        "scheme": "exact",
        "network": "eip155:84532",
        "asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
        "amount": "2000",
        "payTo": "0x209693Bc6afc0C5328bA36FaF03C514EF312287C",
        "maxTimeoutSeconds": 60,
        "extra": {"name": "USDC", "version": "2"},
    }
    resource = {"url": "https://api.example.com/v1/restaurants/noma?fields=context", "mimeType": "application/json"}
    (question,) = server.asked
    assert json.loads(question) == {
        "x402Version": 2,
        "paymentPayload": {"x402Version": 2, "payload": SIGNED, "accepted": requirement, "resource": resource},
        "paymentRequirements": requirement,
    }


def test_a_forked_process_has_connections_of_its_own(settings: LazySettings) -> None:
    with serving(SETTLED) as server:
        settle(server, settings)
        mine = facilitator.connections.open()
        child = os.fork()
        if child == 0:
            is_fresh = facilitator.connections.client is None
            os._exit(0 if is_fresh and isinstance(settle(server, settings), Settled) else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert facilitator.connections.open() is mine
