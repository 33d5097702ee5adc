"""The node of a development chain as a WSGI application: JSON-RPC over HTTP, for this machine only."""

import inspect
import json
import os
import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any
from wsgiref.types import StartResponse, WSGIEnvironment

from payments.chain.evm import ZERO_ADDRESS
from payments.devchain import rpc_formatting as formatting
from payments.devchain.addresses import CHAIN_ID
from payments.devchain.chain import BASE_FEE, GAS_LIMIT, Chain
from payments.devchain.evm import ExecutionResult, read_code
from payments.devchain.transactions import InvalidTransaction

MAX_BYTES = 1 << 20
MAX_BATCH = 100
# An estimate is raised by a fifth: storage costs more or less by what ran before.
MARGIN = 5
MAX_FEE_HISTORY = 1024


class RpcFailure(Exception):
    """The error of a call: its code, by JSON-RPC or by custom of Ethereum's nodes, its message and its data."""

    def __init__(self, code: int, message: str, data: str | None = None) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message, **({} if data is None else {"data": data})}


def invalid_params(message: str) -> RpcFailure:
    return RpcFailure(-32602, message)


class Node:
    """Serves one chain, one request at a time. `clock` returns Unix seconds."""

    def __init__(self, chain: Chain, *, clock: Callable[[], float] = time.time) -> None:
        self.chain = chain
        self.clock = clock
        self.lock = threading.Lock()
        self.methods: Mapping[str, Callable[..., Any]] = {
            "web3_clientVersion": lambda: "tablewire-devchain",
            "net_version": lambda: str(CHAIN_ID),
            "eth_chainId": lambda: hex(CHAIN_ID),
            "eth_syncing": lambda: False,
            "eth_accounts": list,
            "eth_blockNumber": lambda: hex(chain.head.number),
            "eth_gasPrice": lambda: hex(BASE_FEE),
            "eth_maxPriorityFeePerGas": lambda: "0x0",
            "eth_feeHistory": self.fee_history,
            "eth_getBalance": self.balance,
            "eth_getCode": self.code,
            "eth_getStorageAt": self.storage,
            "eth_getTransactionCount": self.transaction_count,
            "eth_call": self.call,
            "eth_estimateGas": self.estimate_gas,
            "eth_sendRawTransaction": self.send,
            "eth_getTransactionByHash": self.transaction,
            "eth_getTransactionReceipt": self.receipt,
            "eth_getBlockByNumber": self.block_by_number,
            "eth_getBlockByHash": self.block_by_hash,
            "eth_getLogs": self.logs,
        }

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a POST with JSON-RPC, and any other request with a health status."""
        if environ["REQUEST_METHOD"] != "POST":
            return _json_response(start_response, "200 OK", {"status": "ok"})
        content = environ["wsgi.input"].read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            return _json_response(start_response, "413 Content Too Large", {"error": "more than a MiB"})
        try:
            request = json.loads(content)
        except (ValueError, RecursionError):
            response = _error(None, RpcFailure(-32700, "this is not JSON"))
        else:
            with self.lock:
                response = self.respond(request)
        return _json_response(start_response, "200 OK", response)

    def respond(self, content: Any) -> Any:
        """Return the response to a request or a batch; None where none is expected."""
        if not isinstance(content, list):
            return self._respond_to_one(content)
        if not content or len(content) > MAX_BATCH:
            return _error(None, RpcFailure(-32600, f"a batch holds 1 to {MAX_BATCH} calls"))
        responses = [response for response in map(self._respond_to_one, content) if response is not None]
        return responses or None

    def _respond_to_one(self, request: Any) -> dict[str, Any] | None:
        if not isinstance(request, dict) or not isinstance(request.get("method"), str):
            return _error(None, RpcFailure(-32600, "a call is an object with a method"))
        params = request.get("params", [])
        try:
            method = self.methods.get(request["method"])
            if method is None:
                raise RpcFailure(-32601, f"the method {request['method']} does not exist/is not available")
            if not isinstance(params, list):
                raise invalid_params("params is a list")
            try:
                inspect.signature(method).bind(*params)
            except TypeError:
                raise invalid_params("missing or superfluous params") from None
            result = method(*params)
        except RpcFailure as failure:
            return _error(request.get("id"), failure)
        except (InvalidTransaction, OSError) as error:
            return _error(request.get("id"), RpcFailure(-32000, str(error)))
        # A notification, which has no id, gets no response.
        return {"jsonrpc": "2.0", "id": request["id"], "result": result} if "id" in request else None

    def balance(self, address: Any, at: Any = "latest") -> str:
        self._require_latest(at)
        return hex(self.chain.evm.get_balance(_address(address)))

    def code(self, address: Any, at: Any = "latest") -> str:
        self._require_latest(at)
        return formatting.to_hex(read_code(self.chain.evm, _address(address)))

    def storage(self, address: Any, slot: Any, at: Any = "latest") -> str:
        self._require_latest(at)
        return f"0x{self.chain.evm.storage(_address(address), _number(slot)):064x}"

    def transaction_count(self, address: Any, at: Any = "latest") -> str:
        self._require_latest(at)
        return hex(self.chain.evm.basic(_address(address)).nonce)

    def call(self, params: Any, at: Any = "latest") -> str:
        self._require_latest(at)
        return formatting.to_hex(self._simulate(_call(params)).output)

    def estimate_gas(self, params: Any, at: Any = "latest") -> str:
        """Return an amount of gas with which the transaction succeeds."""
        self._require_latest(at)
        call = _call(params)
        result = self._simulate(call)
        gas = result.gas_used + result.gas_refunded
        gas += gas // MARGIN if call["data"] or call["to"] is None else 0
        # A nested call gets a part of the remaining gas only, so more may be needed than was used.
        while gas < GAS_LIMIT and not self.chain.call(**{**call, "gas": gas}, now=self._now()).is_success:
            gas += gas // MARGIN
        return hex(min(gas, GAS_LIMIT))

    def send(self, raw: Any) -> str:
        return formatting.to_hex(self.chain.send(_bytes(raw), now=self._now()))

    def transaction(self, transaction_hash: Any) -> dict[str, Any] | None:
        found = self.chain.find(_bytes(transaction_hash, size=32))
        return formatting.format_transaction(found[1].transaction, block=found[0]) if found else None

    def receipt(self, transaction_hash: Any) -> dict[str, Any] | None:
        found = self.chain.find(_bytes(transaction_hash, size=32))
        return formatting.format_receipt(*found) if found else None

    def block_by_number(self, at: Any, full: Any = False) -> dict[str, Any] | None:
        number = self._block_number(at)
        found = self.chain.blocks[number : number + 1]
        return formatting.format_block(found[0], full=bool(full)) if found else None

    def block_by_hash(self, block_hash: Any, full: Any = False) -> dict[str, Any] | None:
        found = self.chain.find_block(_bytes(block_hash, size=32))
        return formatting.format_block(found, full=bool(full)) if found else None

    def logs(self, query: Any) -> list[dict[str, Any]]:
        if not isinstance(query, dict):
            raise invalid_params("a filter is an object")
        addresses = {_address(address) for address in _list(query.get("address"))}
        topics = [
            {formatting.to_hex(_bytes(topic, size=32)) for topic in _list(choice)}
            for choice in _list(query.get("topics"))
        ]
        if "blockHash" in query:
            block = self.chain.find_block(_bytes(query["blockHash"], size=32))
            if block is None:
                raise RpcFailure(-32000, "unknown block")
            first = last = block.number
        else:
            first, last = self._block_number(query.get("fromBlock")), self._block_number(query.get("toBlock"))
        return [
            formatting.format_log(block, mined, index, entry)
            for block, mined, index, entry in self.chain.logs(first, last)
            if (not addresses or entry.address in addresses)
            and len(entry.topics) >= len(topics)
            and all(not choice or topic in choice for choice, topic in zip(topics, entry.topics, strict=False))
        ]

    def fee_history(self, count: Any, newest: Any, percentiles: Any = ()) -> dict[str, Any]:
        last = min(self._block_number(newest), self.chain.head.number)
        blocks = self.chain.blocks[max(0, last - min(_number(count), MAX_FEE_HISTORY) + 1) : last + 1]
        return {
            "oldestBlock": hex(blocks[0].number if blocks else last),
            "baseFeePerGas": [hex(BASE_FEE)] * (len(blocks) + 1),
            "gasUsedRatio": [(block.mined.result.gas_used if block.mined else 0) / GAS_LIMIT for block in blocks],
            "reward": [["0x0" for _ in percentiles or ()] for _ in blocks],
        }

    def _now(self) -> int:
        return int(self.clock())

    def _simulate(self, call: Mapping[str, Any]) -> ExecutionResult:
        """Return the result of a call that succeeds. Raises RpcFailure as nodes do for one that fails."""
        result = self.chain.call(**call, now=self._now())
        if result.is_success:
            return result
        if result.halt:
            raise RpcFailure(-32000, f"execution failed: {result.halt}")
        reason = formatting.revert_reason(result.output)
        message = "execution reverted" + (f": {reason}" if reason else "")
        raise RpcFailure(3, message, formatting.to_hex(result.output))

    def _block_number(self, at: Any) -> int:
        """Return the number of a block by number or tag; without either, of the latest."""
        if at in (None, "latest", "pending", "safe", "finalized"):
            return self.chain.head.number
        return 0 if at == "earliest" else _number(at)

    def _require_latest(self, at: Any) -> None:
        """Raise RpcFailure for the state of an earlier block, which is not stored."""
        if isinstance(at, dict):
            at = at.get("blockNumber", "latest")
        if self._block_number(at) != self.chain.head.number:
            raise RpcFailure(-32000, "this node knows the state after its latest block only")


def application() -> Node:
    """Return the node of the chain whose directory and secret the environment names (config/dev_stack)."""
    return Node(Chain(Path(os.environ["DEVCHAIN_HOME"]), secret=os.environ["DEVCHAIN_SECRET"]))


def _json_response(start_response: StartResponse, status: str, body: Any) -> list[bytes]:
    content = b"" if body is None else json.dumps(body).encode()
    start_response(status, [("Content-Type", "application/json"), ("Content-Length", str(len(content)))])
    return [content]


def _error(request_id: Any, failure: RpcFailure) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "error": failure.error}


def _call(params: Any) -> dict[str, Any]:
    """Return the parameters of eth_call as arguments of Chain.call."""
    if not isinstance(params, dict):
        raise invalid_params("a call is an object")
    return {
        "sender": _address(params.get("from") or ZERO_ADDRESS),
        "to": _address(params["to"]) if params.get("to") else None,
        "data": _bytes(params.get("input") or params.get("data") or "0x"),
        "value": _number(params.get("value") or "0x0"),
        "gas": _number(params["gas"]) if params.get("gas") else GAS_LIMIT,
    }


def _list(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _address(value: Any) -> str:
    return formatting.to_hex(_bytes(value, size=20))


def _number(value: Any) -> int:
    if not isinstance(value, str) or not re.fullmatch("0x[0-9a-fA-F]{1,64}", value):
        raise invalid_params(f"{str(value)[:80]!r} is no quantity")
    return int(value, 16)


def _bytes(value: Any, *, size: int | None = None) -> bytes:
    if not isinstance(value, str) or not re.fullmatch("0x([0-9a-fA-F]{2})*", value):
        raise invalid_params(f"{str(value)[:80]!r} is not 0x and hexadecimal digits")
    content = bytes.fromhex(value[2:])
    if size is not None and len(content) != size:
        raise invalid_params(f"{value[:80]!r} has not {size} bytes")
    return content
