"""Signs and sends the facilitator's transactions, one after the other, none for more gas than the policy allows.

A transaction is written to the journal before it is sent, and sent again until it is mined: a node, or the facilitator
itself, may lose it. Importing this takes seconds (web3); only a facilitator's process does.
"""

import contextlib
import itertools
import logging
import math
import sqlite3
import threading
import time
from typing import Any

import requests
import rlp
from eth_typing import BlockNumber, HexStr
from web3 import HTTPProvider, Web3
from web3.exceptions import TimeExhausted, TransactionNotFound, Web3RPCError
from web3.middleware import ExtraDataToPOAMiddleware
from web3.types import Nonce, RPCEndpoint, RPCResponse, TxParams, TxReceipt
from x402.mechanisms.evm import FacilitatorWeb3Signer
from x402.mechanisms.evm.types import TransactionReceipt

from payments.chain.evm import encode_topic
from payments.chain.usdc import AUTHORIZATION_USED
from payments.facilitator_server import error_codes
from payments.facilitator_server.journal import MAX_INTEGER, Journal, Sent
from payments.facilitator_server.policy import Policy
from payments.facilitator_server.settlement import Attempt, current

logger = logging.getLogger("tablewire.facilitator")

# Timeouts of one request to the node.
CONNECT_S, READ_S = 1.0, 3.0
# How long a settlement waits for its block before it is reported as pending, and how often it looks.
CONFIRMED_WITHIN_S = 4.5
POLL_INTERVAL_S = 0.1
# A transaction is given a quarter more gas than estimated, and offers a quarter more than the current gas price.
MARGIN_DIVISOR = 4
# Transactions that are not mined are sent again so often.
RESEND_INTERVAL_S = 1.0
# After this time a transaction that is not mined is replaced by one that offers more, if gas has become so much
# dearer that nodes accept it: by an eighth.
REPLACED_AFTER_S = 10.0
BUMP_DIVISOR = 8
# With so many transactions that are not mined no further one is sent: nodes queue some dozens of one sender.
MAX_UNMINED = 16
# With ether for fewer settlements than this at the current gas price, a warning is logged.
LOW_SETTLEMENTS = 100
# How many blocks before a revert another sender's use of the authorization is looked for.
USED_WITHIN_BLOCKS = 1_000
# Error messages of a node that has not accepted a transaction.
NO_GAS = "insufficient funds"
NOT_ACCEPTED = ("underpriced", "exceeds block gas limit", "intrinsic gas too low", "less than block base fee")
# Of a node that does not queue transactions: one before this is missing.
EARLIER_IS_MISSING = "nonce too high"


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
        super().__init__(policy.private_key, policy.rpc_url)
        self._provider = Provider(policy.rpc_url)
        self._w3 = Web3(self._provider)
        # For chains whose blocks have longer extra data than Ethereum's.
        self._w3.middleware_onion.inject(ExtraDataToPOAMiddleware, layer=0)
        self._policy = policy
        self._sending = threading.Lock()
        self.journal = Journal(policy.journal)
        self.is_low = False
        threading.Thread(target=self._keep_sending, daemon=True).start()

    # Sending
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
        sent = self._sign(self._build(call, attempt), authorization=attempt.key, valid_before=attempt.valid_before)
        attempt.begin(sent.hash)
        try:
            self.journal.add(sent)
        except sqlite3.Error as error:
            attempt.unset_transaction()
            raise attempt.refuse(error_codes.FAILED) from error
        try:
            self._w3.eth.send_raw_transaction(sent.raw)
        except Web3RPCError as error:
            if EARLIER_IS_MISSING in str(error):
                self._broadcast()
            elif (reason := self._find_refusal_reason(error, sent)) is not None:
                self.journal.remove(sent)
                attempt.unset_transaction()
                raise attempt.refuse(reason) from error
        except (requests.RequestException, ValueError) as error:
            # The node may have the transaction: its receipt will show.
            logger.warning("the node has not confirmed that it accepted %s: %s", sent.hash, type(error).__name__)
        return sent.hash

    def _build(self, call: TxParams, attempt: Attempt) -> TxParams:
        """Return the complete transaction, after a simulation. Raises NotSent if it would cost more than allowed."""
        policy = self._policy
        price, count, balance = self._provider.batch_numbers(
            ("eth_gasPrice", []),
            ("eth_getTransactionCount", [self._account.address, "pending"]),
            ("eth_getBalance", [self._account.address, "latest"]),
        )
        if price > policy.max_gas_price:
            logger.warning("gas costs %s wei, more than the %s that are allowed", price, policy.max_gas_price)
            raise attempt.refuse(error_codes.GAS_PRICE_TOO_HIGH)
        offer = self._offer(price)
        # With the gas price, which the payer's contract can read.
        needed = self._w3.eth.estimate_gas({**call, "gasPrice": Web3.to_wei(offer, "wei")})
        if needed > policy.max_gas:
            logger.warning("a settlement needs %s gas, more than the %s that are allowed", needed, policy.max_gas)
            raise attempt.refuse(error_codes.TOO_MUCH_GAS)
        gas = min(needed + needed // MARGIN_DIVISOR, policy.max_gas)
        self.is_low = balance < LOW_SETTLEMENTS * gas * offer
        if self.is_low:
            left = balance // (gas * offer)
            logger.warning("%s has ether for %s more settlements: send it some", self._account.address, left)
        if balance < gas * offer:
            raise attempt.refuse(error_codes.NO_GAS_LEFT)
        journal = self.journal.list_all()
        if len({sent.nonce for sent in journal if sent.mined_at is None}) >= MAX_UNMINED:
            raise attempt.refuse(error_codes.CHAIN_UNAVAILABLE)
        # The node may not know of our latest transactions, and a number that was left out is used now.
        taken = {sent.nonce for sent in journal}
        nonce = next(number for number in itertools.count(count) if number not in taken)
        return {
            **call,
            "nonce": Nonce(nonce),
            "gas": gas,
            "gasPrice": Web3.to_wei(offer, "wei"),
            "value": Web3.to_wei(0, "wei"),
            "chainId": policy.network.chain_id,
        }

    def _offer(self, price: int) -> int:
        return min(price + price // MARGIN_DIVISOR, self._policy.max_gas_price)

    def _sign(self, transaction: TxParams, *, authorization: str, valid_before: int) -> Sent:
        signed = self._account.sign_transaction(transaction)
        return Sent(
            hash=signed.hash.to_0x_hex(),
            nonce=transaction["nonce"],
            authorization=authorization,
            valid_before=min(valid_before, MAX_INTEGER),
            gas_price=int(transaction["gasPrice"]),
            raw=bytes(signed.raw_transaction),
            signed_at=time.time(),
        )

    def _find_refusal_reason(self, error: Web3RPCError, sent: Sent) -> str | None:
        """Return why the node has certainly not accepted a transaction; None if it may have it."""
        message = str(error)
        if NO_GAS in message:
            return error_codes.NO_GAS_LEFT
        if any(text in message for text in NOT_ACCEPTED) or not self._is_known(sent.hash):
            return error_codes.CHAIN_UNAVAILABLE
        return None

    def _is_known(self, tx_hash: str) -> bool:
        """Whether the node may have this transaction, whatever it answered."""
        try:
            self._w3.eth.get_transaction(HexStr(tx_hash))
        except TransactionNotFound:
            return False
        except (Web3RPCError, requests.RequestException, ValueError):
            return True
        return True

    # Sending again
    def _keep_sending(self) -> None:
        has_failed = False
        while True:
            time.sleep(RESEND_INTERVAL_S)
            try:
                self.resend()
                has_failed = False
            except (ChainUnavailable, Web3RPCError, requests.RequestException, ValueError, sqlite3.Error) as error:
                if not has_failed:
                    logger.warning("transactions could not be sent again: %s", type(error).__name__)
                has_failed = True

    def resend(self) -> None:
        """Send the transactions that are not mined again. Two requests to the node, and one for each; none for none.

        Raises ChainUnavailable, and other errors of the node.
        """
        self.journal.purge()
        if not self.journal.list_all():
            return
        price, count = self._provider.batch_numbers(
            ("eth_gasPrice", []), ("eth_getTransactionCount", [self._account.address, "latest"])
        )
        self.journal.mark_unmined(count)
        self._look_for_mined(count)
        self._replace_underpriced(price)
        self._broadcast(signed_before=time.time() - RESEND_INTERVAL_S)

    def _look_for_mined(self, count: int) -> None:
        """Record which transactions below this nonce, which is the next one on the chain, are mined."""
        below = [sent for sent in self.journal.list_all() if sent.mined_at is None and sent.nonce < count]
        for nonce, several in itertools.groupby(below, key=lambda sent: sent.nonce):
            sents = list(several)
            if any(self._find_receipt(sent) for sent in sents):
                continue
            # The node may lag behind itself; else the key was used elsewhere, or an earlier journal was lost.
            if all(sent.signed_at < time.time() - REPLACED_AFTER_S for sent in sents):
                logger.warning("another transaction than %s has used the nonce %s", sents[0].hash, nonce)
                self.journal.mark_mined(nonce)

    def _replace_underpriced(self, price: int) -> None:
        """Sign transactions again that have not been mined for long, if more is to be offered for gas now."""
        newest: dict[int, Sent] = {}
        for sent in self.journal.list_all():
            if sent.mined_at is None:
                newest.setdefault(sent.nonce, sent)
        offer = self._offer(price)
        for sent in newest.values():
            is_stuck = sent.signed_at < time.time() - REPLACED_AFTER_S
            if not is_stuck or offer <= sent.gas_price + sent.gas_price // BUMP_DIVISOR:
                continue
            _, _, gas, to, _, data, *_ = rlp.decode(sent.raw)
            transaction: TxParams = {
                "to": Web3.to_checksum_address(to),
                "data": data,
                "nonce": Nonce(sent.nonce),
                "gas": int.from_bytes(gas),
                "gasPrice": Web3.to_wei(offer, "wei"),
                "value": Web3.to_wei(0, "wei"),
                "chainId": self._policy.network.chain_id,
            }
            replacement = self._sign(transaction, authorization=sent.authorization, valid_before=sent.valid_before)
            self.journal.add(replacement)
            logger.warning("%s is not mined: it is replaced by %s, which offers more", sent.hash, replacement.hash)
            self._w3.eth.send_raw_transaction(replacement.raw)

    def _broadcast(self, *, signed_before: float = math.inf) -> None:
        """Send the transactions that are not mined, the same bytes, in the order of their nonces."""
        for sent in self.journal.list_all():
            if sent.mined_at is None and sent.signed_at < signed_before:
                # A node that has it, or a block that holds it, answers with an error.
                with contextlib.suppress(Web3RPCError):
                    self._w3.eth.send_raw_transaction(sent.raw)

    # The outcome
    def find_sent(self, authorization: str) -> str | None:
        """Return the newest transaction that uses this authorization and was not reported as settled.

        A settlement is reported once: a seller may rely on that for its protection against replays.
        """
        sents = self.journal.list_all()
        return next(
            (sent.hash for sent in sents if sent.authorization == authorization and not sent.is_reported), None
        )

    def wait_for_transaction_receipt(self, tx_hash: str) -> TransactionReceipt:
        """Return the receipt of a transaction of the journal, or of its replacement, once it is confirmed.

        Raises TimeExhausted after CONFIRMED_WITHIN_S.
        """
        until = time.monotonic() + CONFIRMED_WITHIN_S
        while True:
            with contextlib.suppress(requests.RequestException, ValueError, Web3RPCError):
                receipt = self._find_confirmed(tx_hash)
                if receipt is not None:
                    return receipt
            if time.monotonic() > until:
                raise TimeExhausted(f"{tx_hash} is not confirmed within {CONFIRMED_WITHIN_S} s")
            time.sleep(POLL_INTERVAL_S)

    def _find_confirmed(self, tx_hash: str) -> TransactionReceipt | None:
        """Return the receipt of the transaction or its replacement; None while it is in too few blocks."""
        journal = self.journal.list_all()
        nonces = {sent.nonce for sent in journal if sent.hash == tx_hash}
        for sent in journal:
            receipt = self._find_receipt(sent) if sent.nonce in nonces else None
            if receipt is None:
                continue
            if self._policy.confirmations > 1:
                latest = self._w3.eth.block_number
                if latest - receipt["blockNumber"] + 1 < self._policy.confirmations:
                    return None
            if current.attempt is not None:
                current.attempt.transaction = sent.hash
            return TransactionReceipt(
                status=receipt["status"],
                block_number=receipt["blockNumber"],
                tx_hash=sent.hash,
                logs=list(receipt["logs"]),
            )
        return None

    def _find_receipt(self, sent: Sent) -> TxReceipt | None:
        """Return the receipt of a transaction, and record in the journal that it is mined; None without a receipt."""
        try:
            receipt = self._w3.eth.get_transaction_receipt(HexStr(sent.hash))
        except TransactionNotFound:
            return None
        if receipt["status"] != 1 and not self._is_excused(sent, receipt):
            payer = sent.authorization.partition(":")[0]
            logger.warning("the settlement %s of a payment by %s was reverted, at our cost", sent.hash, payer)
            self.journal.record_revert(sent.hash, payer)
        self.journal.mark_mined(sent.nonce)
        return receipt

    def _is_excused(self, sent: Sent, receipt: TxReceipt) -> bool:
        """Whether a revert is not the payer's doing: we were late, or another sender has settled the payment."""
        if self._w3.eth.get_block(receipt["blockNumber"])["timestamp"] >= sent.valid_before:
            return True
        payer, _, nonce = sent.authorization.partition(":")
        used = self._w3.eth.get_logs(
            {
                "address": receipt["to"],
                "topics": [HexStr(topic) for topic in (AUTHORIZATION_USED, encode_topic(payer), nonce)],
                "fromBlock": BlockNumber(max(receipt["blockNumber"] - USED_WITHIN_BLOCKS, 0)),
                "toBlock": receipt["blockNumber"],
            }
        )
        return bool(used)
