"""The product as a WSGI application with timeouts of a second, so that many faults fit into a test."""

import httpx

from config.wsgi import application
from payments.x402 import facilitator_client
from tests.payments.short_timeouts import TIMEOUT_S

__all__ = ["application"]

facilitator_client.TIMEOUT = httpx.Timeout(TIMEOUT_S)
facilitator_client.TOTAL_S = TIMEOUT_S
facilitator_client.RECOVERY_S = 0.2
