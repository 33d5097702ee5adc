"""A node with a mempool in front of the development chain, which alone mines each transaction at once or refuses it.

As real nodes do, it queues a transaction whose nonce is not the next one, or that offers too little for gas. On demand
it loses transactions.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
from django.conf import settings

from payments.devchain.addresses import CHAIN_ID
from payments.devchain.transactions import Transaction, decode_transaction
from tests.payments.facilitator_server.policies import JSON
from tests.payments.facilitators import serving


class Mempool:
    """The script of the node at `url`. It acknowledges the next `to_lose` transactions and forgets them.

    It mines transactions that offer `min_gas_price`, and says that gas costs `gas_price`. If it does not queue, it
    refuses a transaction whose nonce is not the next one, as the development chain does.
    """

    url: str

    def __init__(self, client: httpx.Client, *, to_lose: int = 0, queues: bool = True) -> None:
        self.chain = settings.RPC_URL
        self.client = client
        self.to_lose = to_lose
        self.queues = queues
        self.min_gas_price = 0
        self.gas_price: int | None = None
        # By nonce: the transactions that are not mined.
        self.queued: dict[int, tuple[Transaction, str]] = {}
        # The hashes of all transactions that were sent to it, in order.
        self.received: list[str] = []
        self.lock = threading.Lock()

    def __call__(self, content: bytes) -> tuple[int, bytes]:
        request = json.loads(content)
        answers = [self.answer(call) for call in (request if isinstance(request, list) else [request])]
        return 200, json.dumps(answers if isinstance(request, list) else answers[0]).encode()

    def answer(self, call: dict[str, Any]) -> dict[str, Any]:
        method, params = call["method"], call.get("params", [])
        if method == "eth_gasPrice" and self.gas_price is not None:
            return result(call, hex(self.gas_price))
        if method == "eth_sendRawTransaction":
            with self.lock:
                return self.send(call, params[0])
        if method == "eth_getTransactionCount" and params[1] == "pending":
            count = self.count(params[0])
            while count in self.queued:
                count += 1
            return result(call, hex(count))
        if method == "eth_getTransactionByHash" and any(params[0] == hash_of(tx) for tx, _ in self.queued.values()):
            return result(call, {"hash": params[0], "blockNumber": None, "blockHash": None, "input": "0x"})
        return self.forward(call)

    def send(self, call: dict[str, Any], raw: str) -> dict[str, Any]:
        transaction = decode_transaction(bytes.fromhex(raw[2:]), chain_id=CHAIN_ID)
        self.received.append(hash_of(transaction))
        if self.to_lose:
            self.to_lose -= 1
            return result(call, hash_of(transaction))
        queued = self.queued.get(transaction.nonce)
        if queued is not None and queued[0].hash != transaction.hash:
            if transaction.max_fee < queued[0].max_fee * 1.1:
                return failure(call, "replacement transaction underpriced")
        elif queued is not None:
            self.mine(transaction.sender)
            return failure(call, "already known")
        if transaction.nonce < self.count(transaction.sender):
            return failure(call, "nonce too low")
        if transaction.nonce > self.count(transaction.sender) and not self.queues:
            return failure(call, "nonce too high")
        self.queued[transaction.nonce] = transaction, raw
        self.mine(transaction.sender)
        return result(call, hash_of(transaction))

    def mine(self, sender: str) -> None:
        """Mine what is next, as long as it offers enough."""
        while (found := self.queued.get(self.count(sender))) and found[0].max_fee >= self.min_gas_price:
            answer = self.forward(
                {"jsonrpc": "2.0", "id": 1, "method": "eth_sendRawTransaction", "params": [found[1]]}
            )
            assert "error" not in answer, answer
            del self.queued[found[0].nonce]

    def count(self, sender: str) -> int:
        call = {"jsonrpc": "2.0", "id": 1, "method": "eth_getTransactionCount", "params": [sender, "latest"]}
        return int(self.forward(call)["result"], 16)

    def forward(self, call: dict[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = self.client.post(self.chain, json=call).json()
        return answer


@contextmanager
def mempool(*, to_lose: int = 0, queues: bool = True) -> Iterator[Mempool]:
    """The node, while it is needed."""
    with httpx.Client(trust_env=False, headers=JSON) as client:
        node = Mempool(client, to_lose=to_lose, queues=queues)
        with serving(node) as server:
            node.url = server.url
            yield node


def hash_of(transaction: Transaction) -> str:
    return "0x" + transaction.hash.hex()


def result(call: dict[str, Any], content: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": call["id"], "result": content}


def failure(call: dict[str, Any], message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": call["id"], "error": {"code": -32000, "message": message}}
