"""The facilitator's hand on the chain: it sends one transaction after the other, none for more gas than is allowed.

Importing this costs seconds (web3), and is for a facilitator's process only.
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
from payments.facilitator_server.settlement_attempt import current

logger = logging.getLogger("tablewire.facilitator")

# Of one question to the node.
CONNECT_S, READ_S = 1.0, 3.0
# How long a settlement waits for its block before it is called pending.
CONFIRMED_WITHIN_S = 4.5
# A transaction is given a quarter more gas than it seemed to need, and offers a quarter more for it than is asked now.
MARGIN = 4
# With ether for fewer settlements than this at today's price, staff are told.
FEW = 100
# How long our own count of transactions is believed before that of a node, which may not have seen the last one yet.
COUNTED_S = 30.0
# By these words a node has not taken a transaction, whoever else was asked.
NO_GAS = "insufficient funds"
NOT_TAKEN = ("underpriced", "exceeds block gas limit", "intrinsic gas too low", "less than block base fee")


class ChainUnavailable(Exception):
    """The node could not say what is needed before anything can be sent."""


class Provider(HTTPProvider):
    """A node that is not waited for, and whose failures are noted where they count.

    It is asked again once, on a new connection: the node may have closed a kept one just now. A signed transaction may
    be sent twice, too: it stays the same one.
    """

    def __init__(self, url: str) -> None:
        super().__init__(url, request_kwargs={"timeout": (CONNECT_S, READ_S)}, exception_retry_configuration=None)

    def make_request(self, method: RPCEndpoint, params: Any) -> RPCResponse:
        """Ask one thing."""
        try:
            try:
                answer = super().make_request(method, params)
            except requests.ConnectionError:
                answer = super().make_request(method, params)
        except (requests.RequestException, ValueError):
            failed()
            raise
        if is_of_the_node(answer):
            failed()
        return answer

    def numbers(self, *questions: tuple[str, list[str]]) -> list[int]:
        """The numbers that answer these, for one trip; other threads may ask meanwhile. Raises ChainUnavailable."""
        try:
            asked = [(RPCEndpoint(method), params) for method, params in questions]
            try:
                answers: Any = self.make_batch_request(asked)
            except requests.ConnectionError:
                answers = self.make_batch_request(asked)
            return [int(answer["result"], 16) for answer in answers]
        except (requests.RequestException, ValueError, KeyError, TypeError) as error:
            failed()
            raise ChainUnavailable(type(error).__name__) from error


def is_of_the_node(answer: Any) -> bool:
    """Whether this is an error that says nothing of the payment: the node is not well, or has had enough of us."""
    error = answer.get("error") if isinstance(answer, dict) else None
    said = str(error.get("message", "")) if isinstance(error, dict) else ""
    return bool(error) and "execution" not in said and "revert" not in said


def failed() -> None:
    """The chain could not be asked."""
    if current.attempt is not None:
        current.attempt.chain_failed = True


class Signer(FacilitatorWeb3Signer):
    """Signs and sends for one policy. Its key is for this process alone: two would count its transactions apart."""

    def __init__(self, policy: Policy) -> None:
        super().__init__(policy.private_key, policy.rpc_url, confirmation_timeout_seconds=CONFIRMED_WITHIN_S)
        self._provider = Provider(policy.rpc_url)
        self._w3 = Web3(self._provider)
        # Of chains whose blocks say more of themselves than Ethereum's.
        self._w3.middleware_onion.inject(ExtraDataToPOAMiddleware, layer=0)
        self._policy = policy
        self._sending = threading.Lock()
        self._next = 0
        self._counted_until = 0.0
        self.is_low = False

    def write_contract(
        self, address: str, abi: list[dict[str, Any]], function_name: str, *args: Any, data_suffix: str | None = None
    ) -> str:
        """Send a call of a contract and return its hash. Raises Held, or as the contract would revert."""
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
        """Nothing: wallets are not deployed at our cost."""
        raise NotImplementedError

    def _send(self, call: TxParams) -> str:
        attempt = current.attempt
        assert attempt is not None  # noqa: S101 - who verifies sends nothing
        transaction = self._filled(call)
        signed = self._account.sign_transaction(transaction)
        attempt.begin(signed.hash.to_0x_hex())
        try:
            self._w3.eth.send_raw_transaction(signed.raw_transaction)
        except Web3RPCError as error:
            said = str(error)
            if NO_GAS in said:
                attempt.take_back()
                raise attempt.hold(error_codes.NO_GAS_LEFT) from error
            if any(words in said for words in NOT_TAKEN) or not self._is_known(signed.hash):
                attempt.take_back()
                # Whatever it was counted by, is asked again.
                self._counted_until = 0.0
                raise attempt.hold(error_codes.CHAIN_UNAVAILABLE) from error
        except (requests.RequestException, ValueError) as error:
            # It may have the transaction: its receipt will tell.
            logger.warning("the node has not said that it has %s: %s", signed.hash.hex(), type(error).__name__)
        self._next, self._counted_until = transaction["nonce"] + 1, time.monotonic() + COUNTED_S
        return attempt.transaction or ""

    def _filled(self, call: TxParams) -> TxParams:
        """The whole transaction. Raises Held where it would cost more than it may."""
        attempt, policy = current.attempt, self._policy
        assert attempt is not None  # noqa: S101 - as above
        price, count, balance = self._provider.numbers(
            ("eth_gasPrice", []),
            ("eth_getTransactionCount", [self._account.address, "pending"]),
            ("eth_getBalance", [self._account.address, "latest"]),
        )
        if price > policy.most_gas_price:
            logger.warning("gas costs %s wei, more than the %s that are allowed", price, policy.most_gas_price)
            raise attempt.hold(error_codes.GAS_PRICE_TOO_HIGH)
        needed = self._w3.eth.estimate_gas(call)
        if needed > policy.most_gas:
            logger.warning("a settlement needs %s gas, more than the %s that are allowed", needed, policy.most_gas)
            raise attempt.hold(error_codes.TOO_MUCH_GAS)
        gas = min(needed + needed // MARGIN, policy.most_gas)
        offer = min(price + price // MARGIN, policy.most_gas_price)
        self._look_at(balance, cost=gas * offer)
        if balance < gas * offer:
            raise attempt.hold(error_codes.NO_GAS_LEFT)
        nonce = max(count, self._next) if time.monotonic() < self._counted_until else count
        return {
            **call,
            "nonce": Nonce(nonce),
            "gas": gas,
            "gasPrice": Web3.to_wei(offer, "wei"),
            "value": Web3.to_wei(0, "wei"),
            "chainId": policy.network.chain_id,
        }

    def _look_at(self, balance: int, *, cost: int) -> None:
        """Say so when the ether for gas runs out; `cost` is of one settlement."""
        self.is_low = balance < FEW * cost
        if self.is_low:
            left = balance // cost if cost else 0
            logger.warning("%s has ether for %s more settlements: send it some", self._account.address, left)

    def _is_known(self, transaction: Any) -> bool:
        """Whether the node has this transaction, whatever it said."""
        try:
            self._w3.eth.get_transaction(transaction)
        except TransactionNotFound:
            return False
        except (Web3RPCError, requests.RequestException, ValueError):
            return True
        return True
