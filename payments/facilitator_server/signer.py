"""Signs and sends the facilitator's transactions, one after the other, none for more gas than the policy allows.

Importing this takes seconds (web3); only a facilitator's process does.
"""

import logging
import threading
import time
from typing import Any

import requests
from web3 import HTTPProvider, Web3
from web3.exceptions import TransactionNotFound, Web3RPCError
from web3.middleware import ExtraDataToPOAMiddleware
from web3.types import Nonce, RPCEndpoint, RPCResponse, TxParams
from x402.mechanisms.evm import FacilitatorWeb3Signer

from payments.facilitator_server import error_codes
from payments.facilitator_server.policy import Policy
from payments.facilitator_server.settlement import Attempt, current

logger = logging.getLogger("tablewire.facilitator")

# Timeouts of one request to the node.
CONNECT_S, READ_S = 1.0, 3.0
# How long a settlement waits for its block before it is reported as pending.
CONFIRMED_WITHIN_S = 4.5
# A transaction is given a quarter more gas than estimated, and offers a quarter more than the current gas price.
MARGIN_DIVISOR = 4
# With ether for fewer settlements than this at the current gas price, a warning is logged.
LOW_SETTLEMENTS = 100
# How long our own transaction count takes precedence over the node's, which may lag behind our last transaction.
NONCE_TTL_S = 30.0
# Error messages of a node that has not accepted a transaction.
NO_GAS = "insufficient funds"
NOT_ACCEPTED = ("underpriced", "exceeds block gas limit", "intrinsic gas too low", "less than block base fee")


class ChainUnavailable(Exception):
    """The node did not answer what must be known before a transaction is sent."""


class Provider(HTTPProvider):
    """A node with short timeouts, whose failures are recorded in the current settlement.

    A request is repeated once on a new connection, because the node may have closed the old one just then. That is
    safe for signed transactions: the second copy is the same transaction.
    """

    def __init__(self, url: str) -> None:
        super().__init__(url, request_kwargs={"timeout": (CONNECT_S, READ_S)}, exception_retry_configuration=None)

    def make_request(self, method: RPCEndpoint, params: Any) -> RPCResponse:
        try:
            try:
                answer = super().make_request(method, params)
            except requests.ConnectionError:
                answer = super().make_request(method, params)
        except (requests.RequestException, ValueError):
            record_failure()
            raise
        if is_node_error(answer):
            record_failure()
        return answer

    def batch_numbers(self, *calls: tuple[str, list[str]]) -> list[int]:
        """Return the numeric results of several calls in one request; thread-safe. Raises ChainUnavailable."""
        try:
            requested = [(RPCEndpoint(method), params) for method, params in calls]
            try:
                answers: Any = self.make_batch_request(requested)
            except requests.ConnectionError:
                answers = self.make_batch_request(requested)
            return [int(answer["result"], 16) for answer in answers]
        except (requests.RequestException, ValueError, KeyError, TypeError) as error:
            record_failure()
            raise ChainUnavailable(type(error).__name__) from error


def is_node_error(answer: Any) -> bool:
    """Whether this is an error of the node and not of the payment: the node is broken, or limits our requests."""
    error = answer.get("error") if isinstance(answer, dict) else None
    message = str(error.get("message", "")) if isinstance(error, dict) else ""
    return bool(error) and "execution" not in message and "revert" not in message


def record_failure() -> None:
    """Record in the current settlement that the chain could not be asked."""
    if current.attempt is not None:
        current.attempt.chain_failed = True


class Signer(FacilitatorWeb3Signer):
    """Signs and sends for one policy. No other process may use its key: each would count its transactions alone."""

    def __init__(self, policy: Policy) -> None:
        super().__init__(policy.private_key, policy.rpc_url, confirmation_timeout_seconds=CONFIRMED_WITHIN_S)
        self._provider = Provider(policy.rpc_url)
        self._w3 = Web3(self._provider)
        # For chains whose blocks have longer extra data than Ethereum's.
        self._w3.middleware_onion.inject(ExtraDataToPOAMiddleware, layer=0)
        self._policy = policy
        self._sending = threading.Lock()
        self._our_next_nonce = 0
        self._our_nonce_valid_until = 0.0
        self.is_low = False

    def write_contract(
        self, address: str, abi: list[dict[str, Any]], function_name: str, *args: Any, data_suffix: str | None = None
    ) -> str:
        """Send a call of a contract and return its hash. Raises NotSent, or the error of a revert."""
        del data_suffix
        contract = self._w3.eth.contract(address=Web3.to_checksum_address(address), abi=abi)
        call: TxParams = {
            "from": self._account.address,
            "to": contract.address,
            "data": contract.encode_abi(function_name, args),
        }
        with self._sending:
            return self._send(call)

    def send_transaction(self, to: str, data: bytes) -> str:
        """Not supported: we do not pay for the deployment of wallets."""
        raise NotImplementedError

    def _send(self, call: TxParams) -> str:
        attempt = current.attempt
        assert attempt is not None  # noqa: S101 - verification sends nothing
        transaction = self._build(call, attempt)
        signed = self._account.sign_transaction(transaction)
        attempt.begin(signed.hash.to_0x_hex())
        try:
            self._w3.eth.send_raw_transaction(signed.raw_transaction)
        except Web3RPCError as error:
            message = str(error)
            if NO_GAS in message:
                attempt.unset_transaction()
                raise attempt.refuse(error_codes.NO_GAS_LEFT) from error
            if any(text in message for text in NOT_ACCEPTED) or not self._is_known(signed.hash):
                attempt.unset_transaction()
                # The count may be wrong: ask the node next time.
                self._our_nonce_valid_until = 0.0
                raise attempt.refuse(error_codes.CHAIN_UNAVAILABLE) from error
        except (requests.RequestException, ValueError) as error:
            # The node may have the transaction: its receipt will show.
            logger.warning(
                "the node has not confirmed that it accepted %s: %s", signed.hash.hex(), type(error).__name__
            )
        self._our_next_nonce, self._our_nonce_valid_until = transaction["nonce"] + 1, time.monotonic() + NONCE_TTL_S
        return attempt.transaction or ""

    def _build(self, call: TxParams, attempt: Attempt) -> TxParams:
        """Return the complete transaction. Raises NotSent if it would cost more than allowed."""
        policy = self._policy
        price, count, balance = self._provider.batch_numbers(
            ("eth_gasPrice", []),
            ("eth_getTransactionCount", [self._account.address, "pending"]),
            ("eth_getBalance", [self._account.address, "latest"]),
        )
        if price > policy.max_gas_price:
            logger.warning("gas costs %s wei, more than the %s that are allowed", price, policy.max_gas_price)
            raise attempt.refuse(error_codes.GAS_PRICE_TOO_HIGH)
        needed = self._w3.eth.estimate_gas(call)
        if needed > policy.max_gas:
            logger.warning("a settlement needs %s gas, more than the %s that are allowed", needed, policy.max_gas)
            raise attempt.refuse(error_codes.TOO_MUCH_GAS)
        gas = min(needed + needed // MARGIN_DIVISOR, policy.max_gas)
        offer = min(price + price // MARGIN_DIVISOR, policy.max_gas_price)
        self.is_low = balance < LOW_SETTLEMENTS * gas * offer
        if self.is_low:
            left = balance // (gas * offer)
            logger.warning("%s has ether for %s more settlements: send it some", self._account.address, left)
        if balance < gas * offer:
            raise attempt.refuse(error_codes.NO_GAS_LEFT)
        nonce = max(count, self._our_next_nonce) if time.monotonic() < self._our_nonce_valid_until else count
        return {
            **call,
            "nonce": Nonce(nonce),
            "gas": gas,
            "gasPrice": Web3.to_wei(offer, "wei"),
            "value": Web3.to_wei(0, "wei"),
            "chainId": policy.network.chain_id,
        }

    def _is_known(self, transaction: Any) -> bool:
        """Whether the node may have this transaction, whatever it answered."""
        try:
            self._w3.eth.get_transaction(transaction)
        except TransactionNotFound:
            return False
        except (Web3RPCError, requests.RequestException, ValueError):
            return True
        return True
