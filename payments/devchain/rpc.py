"""The node's methods: JSON-RPC questions to the development chain, one or several at a time."""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from payments.chain.evm import NOBODY
from payments.devchain import rpc_formatting
from payments.devchain.chain import BASE_FEE, CHAIN_ID, GAS_LIMIT, Block, Chain
from payments.devchain.evm import Outcome
from payments.devchain.transactions import InvalidTransactionError

MOST_CALLS = 100
# A margin over what an estimate used: storage costs more or less by what came before.
MARGIN = 5
Method = Callable[..., Any]


class AnswerError(Exception):
    """A call that has no result: its code, by JSON-RPC or by custom of Ethereum's nodes, and what is added to it."""

    def __init__(self, code: int, message: str, added: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.added = added


def wrong(message: str) -> AnswerError:
    """Parameters that cannot be read."""
    return AnswerError(-32602, message)


class Rpc:
    """Answers for one chain. Not for two threads at once; `clock` gives Unix seconds."""

    def __init__(self, chain: Chain, *, clock: Callable[[], float]) -> None:
        self.chain = chain
        self.clock = clock
        self.methods: Mapping[str, Method] = {
            "web3_clientVersion": lambda: "tablewire-devchain",
            "net_version": lambda: str(CHAIN_ID),
            "eth_chainId": lambda: rpc_formatting.quantity(CHAIN_ID),
            "eth_syncing": lambda: False,
            "eth_accounts": list,
            "eth_blockNumber": lambda: rpc_formatting.quantity(chain.head.number),
            "eth_gasPrice": lambda: rpc_formatting.quantity(BASE_FEE),
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

    def answer(self, asked: Any) -> Any:
        """The answer to a question or to a list of them; None where none is expected."""
        if not isinstance(asked, list):
            return self._answer_one(asked)
        if not asked or len(asked) > MOST_CALLS:
            return _error(None, AnswerError(-32600, f"a batch holds 1 to {MOST_CALLS} calls"))
        told = [answer for answer in map(self._answer_one, asked) if answer is not None]
        return told or None

    def _answer_one(self, asked: Any) -> dict[str, Any] | None:
        if not isinstance(asked, dict) or not isinstance(asked.get("method"), str):
            return _error(None, AnswerError(-32600, "a call is an object with a method"))
        number, params = asked.get("id"), asked.get("params", [])
        try:
            if asked["method"] not in self.methods:
                raise AnswerError(-32601, f"the method {asked['method']} does not exist/is not available")
            if not isinstance(params, list):
                raise wrong("params is a list")
            result = self._ask(self.methods[asked["method"]], params)
        except AnswerError as error:
            return _error(number, error)
        # Without an id nobody waits for an answer.
        return {"jsonrpc": "2.0", "id": number, "result": result} if "id" in asked else None

    def _ask(self, method: Method, params: Sequence[Any]) -> Any:
        try:
            inspect.signature(method).bind(*params)
        except TypeError:
            raise wrong("missing or superfluous params") from None
        try:
            return method(*params)
        except InvalidTransactionError as error:
            raise AnswerError(-32000, str(error)) from None
        except OSError as error:
            raise AnswerError(-32000, f"the transaction could not be stored: {error.strerror or error}") from None

    def now(self) -> int:
        """Whole seconds."""
        return int(self.clock())

    # Accounts
    def balance(self, address: Any, at: Any = "latest") -> str:
        """Ether in wei."""
        self._only_now(at)
        return rpc_formatting.quantity(self.chain.machine.balance(_address(address)))

    def code(self, address: Any, at: Any = "latest") -> str:
        """The code of a contract."""
        self._only_now(at)
        return rpc_formatting.raw(self.chain.machine.code(_address(address)))

    def storage(self, address: Any, slot: Any, at: Any = "latest") -> str:
        """One word of storage."""
        self._only_now(at)
        return f"0x{self.chain.machine.storage(_address(address), _number(slot)):064x}"

    def transaction_count(self, address: Any, at: Any = "latest") -> str:
        """The number of the account's next transaction."""
        self._only_now(at)
        return rpc_formatting.quantity(self.chain.machine.nonce(_address(address)))

    # Calls and transactions
    def call(self, wish: Any, at: Any = "latest") -> str:
        """What a contract answers."""
        self._only_now(at)
        outcome = self._try(_wish(wish))
        if not outcome.is_success:
            raise _failure(outcome)
        return rpc_formatting.raw(outcome.output)

    def estimate_gas(self, wish: Any, at: Any = "latest") -> str:
        """With how much gas a transaction would do."""
        self._only_now(at)
        read = _wish(wish)
        outcome = self._try(read)
        if not outcome.is_success:
            raise _failure(outcome)
        needed = outcome.gas_used + outcome.gas_refunded
        needed += needed // MARGIN if read["data"] or read["to"] is None else 0
        # A call inside the call is given a part of the gas only.
        while needed < GAS_LIMIT and not self._try({**read, "gas": needed}).is_success:
            needed += needed // MARGIN
        return rpc_formatting.quantity(min(needed, GAS_LIMIT))

    def send(self, raw: Any) -> str:
        """Accept a signed transaction and give its hash."""
        return rpc_formatting.raw(self.chain.send(_bytes(raw), now=self.now()))

    def transaction(self, transaction_hash: Any) -> dict[str, Any] | None:
        """A transaction by its hash."""
        wanted = _bytes(transaction_hash, size=32)
        if found := self.chain.find(wanted):
            return rpc_formatting.transaction(found[1].transaction, of=found[0])
        waiting = self.chain.find_waiting(wanted)
        return rpc_formatting.transaction(waiting, of=None) if waiting else None

    def receipt(self, transaction_hash: Any) -> dict[str, Any] | None:
        """How a transaction ended; None before it has."""
        found = self.chain.find(_bytes(transaction_hash, size=32))
        return rpc_formatting.receipt(*found) if found else None

    # Blocks and logs
    def block_by_number(self, at: Any, whole: Any = False) -> dict[str, Any] | None:
        """A block by its number or its name."""
        number = self._block_number(at)
        found = self.chain.blocks[number : number + 1]
        return rpc_formatting.block(found[0], whole=bool(whole)) if found else None

    def block_by_hash(self, block_hash: Any, whole: Any = False) -> dict[str, Any] | None:
        """A block by its hash."""
        found = self.chain.find_block(_bytes(block_hash, size=32))
        return rpc_formatting.block(found, whole=bool(whole)) if found else None

    def logs(self, wanted: Any) -> list[dict[str, Any]]:
        """The logs of some blocks that are of some contracts and have some topics."""
        if not isinstance(wanted, dict):
            raise wrong("a filter is an object")
        addresses = {_address(one) for one in _several(wanted.get("address"))}
        topics = [
            {rpc_formatting.raw(_bytes(one, size=32)) for one in _several(choice)}
            for choice in _several(wanted.get("topics"))
        ]
        first, last = self._range(wanted)
        return [
            rpc_formatting.log(block, mined, place, entry)
            for block, mined, place, entry in self.chain.logs(first, last)
            if (not addresses or entry.address in addresses)
            and len(entry.topics) >= len(topics)
            and all(not choice or topic in choice for choice, topic in zip(topics, entry.topics, strict=False))
        ]

    def fee_history(self, count: Any, newest: Any, percentiles: Any = ()) -> dict[str, Any]:
        """The fees of the latest blocks: always the same."""
        last = min(self._block_number(newest), self.chain.head.number)
        blocks = self.chain.blocks[max(0, last - min(_number(count), 1024) + 1) : last + 1]
        return {
            "oldestBlock": rpc_formatting.quantity(blocks[0].number if blocks else last),
            "baseFeePerGas": [rpc_formatting.quantity(BASE_FEE)] * (len(blocks) + 1),
            "gasUsedRatio": [(one.mined.outcome.gas_used if one.mined else 0) / GAS_LIMIT for one in blocks],
            "reward": [["0x0" for _ in percentiles or ()] for _ in blocks],
        }

    def _try(self, wish: Mapping[str, Any]) -> Outcome:
        return self.chain.call(**wish, now=self.now())

    def _range(self, wanted: Mapping[str, Any]) -> tuple[int, int]:
        if "blockHash" not in wanted:
            return self._block_number(wanted.get("fromBlock")), self._block_number(wanted.get("toBlock"))
        block: Block | None = self.chain.find_block(_bytes(wanted["blockHash"], size=32))
        if block is None:
            raise AnswerError(-32000, "unknown block")
        return block.number, block.number

    def _block_number(self, at: Any) -> int:
        """The number of a block by number or name; without either, of the latest."""
        if at in (None, "latest", "pending", "safe", "finalized"):
            return self.chain.head.number
        return 0 if at == "earliest" else _number(at)

    def _only_now(self, at: Any) -> None:
        """Raise AnswerError for the state of an earlier block, which is not kept."""
        if isinstance(at, dict):
            at = at.get("blockNumber", "latest")
        if self._block_number(at) != self.chain.head.number:
            raise AnswerError(-32000, "this node knows the state after its latest block only")


def _failure(outcome: Outcome) -> AnswerError:
    """A call that did not succeed, in the words and with the data by which clients know why."""
    if outcome.halt:
        return AnswerError(-32000, f"execution failed: {outcome.halt}")
    said = rpc_formatting.words_of(outcome.output)
    return AnswerError(3, "execution reverted" + (f": {said}" if said else ""), rpc_formatting.raw(outcome.output))


def _error(number: Any, error: AnswerError) -> dict[str, Any]:
    body: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.added is not None:
        body["data"] = error.added
    return {"jsonrpc": "2.0", "id": number, "error": body}


def _wish(wish: Any) -> dict[str, Any]:
    """A call as the chain takes it."""
    if not isinstance(wish, dict):
        raise wrong("a call is an object")
    return {
        "sender": _address(wish.get("from") or NOBODY),
        "to": _address(wish["to"]) if wish.get("to") else None,
        "data": _bytes(wish.get("input") or wish.get("data") or "0x"),
        "value": _number(wish.get("value") or "0x0"),
        "gas": _number(wish["gas"]) if wish.get("gas") else GAS_LIMIT,
    }


def _several(value: Any) -> list[Any]:
    """One, several or none, as filters take them."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _address(value: Any) -> str:
    return rpc_formatting.raw(_bytes(value, size=20))


def _number(value: Any) -> int:
    if not isinstance(value, str) or not re.fullmatch("0x[0-9a-fA-F]{1,64}", value):
        raise wrong(f"{str(value)[:80]!r} is no quantity")
    return int(value, 16)


def _bytes(value: Any, *, size: int | None = None) -> bytes:
    if not isinstance(value, str) or not re.fullmatch("0x([0-9a-fA-F]{2})*", value):
        raise wrong(f"{str(value)[:80]!r} is not 0x and hexadecimal digits")
    content = bytes.fromhex(value[2:])
    if size is not None and len(content) != size:
        raise wrong(f"{value[:80]!r} has not {size} bytes")
    return content
