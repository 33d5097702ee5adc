"""The Ethereum Virtual Machine of the development chain: a wrapper of pyrevm, which also charges fees."""

import re
from dataclasses import dataclass

from pyrevm import EVM, AccountInfo, BlockEnv, CfgEnv, Env

from payments.chain.evm import keccak

# As in tests/support/contracts.py: pyrevm knows newer forks, but the compiler must not use more than this.
FORK = "SHANGHAI"
REVERT = re.compile(r"Revert \{ gas_used: (\d+), output: 0x([0-9a-f]*) \}")
HALT = re.compile(r"Halt \{ reason: (.+), gas_used: (\d+) \}")
CODE_PADDING = 33


class CallRejected(ValueError):
    """The EVM did not start the call: too little gas or ether for it."""


@dataclass(frozen=True, slots=True)
class Log:
    """One log that a contract wrote."""

    address: str
    topics: tuple[str, ...]
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionResult:
    """The result of a call. `output` holds returned or revert data, `halt` the reason of any other failure."""

    is_success: bool
    output: bytes
    gas_used: int
    gas_refunded: int = 0
    logs: tuple[Log, ...] = ()
    created: str | None = None
    halt: str | None = None


class Evm:
    """Accounts, code and storage. Not thread-safe. Addresses are in lower case."""

    def __init__(self, *, chain_id: int) -> None:
        self._evm = EVM(env=Env(cfg=CfgEnv(chain_id=chain_id)), spec_id=FORK)

    def balance(self, address: str) -> int:
        return self._evm.get_balance(address)

    def nonce(self, address: str) -> int:
        return self._evm.basic(address).nonce

    def code(self, address: str) -> bytes:
        """Return the code of a contract, b"" for a wallet."""
        code = self._evm.get_code(address) or b""
        # pyrevm pads the code of contracts that were created here with zeros.
        return code if keccak(code) == self._evm.basic(address).code_hash else code[:-CODE_PADDING]

    def storage(self, address: str, slot: int) -> int:
        return self._evm.storage(address, slot)

    def set_code(self, address: str, code: bytes) -> None:
        self._evm.insert_account_info(address, AccountInfo(code=code))

    def set_balance(self, address: str, wei: int) -> None:
        self._evm.set_balance(address, wei)

    def set_block(self, *, number: int, timestamp: int) -> None:
        self._evm.set_block_env(BlockEnv(number=number, timestamp=timestamp))

    def charge(self, address: str, *, nonce: int, fee: int) -> None:
        """Take the fee of a transaction and set the next nonce. pyrevm does neither."""
        balance = self._evm.get_balance(address) - fee
        self._evm.insert_account_info(address, AccountInfo(nonce=nonce))
        # insert_account_info has also emptied the account.
        self._evm.set_balance(address, balance)

    def run(self, *, sender: str, to: str | None, data: bytes, value: int, gas: int) -> ExecutionResult:
        """Call a contract, or create one where `to` is None, and keep its changes. Raises CallRejected."""
        created = None
        try:
            if to is None:
                created = self._evm.deploy(sender, data, value=value, gas=gas)
                # Nodes return the new contract's code from an eth_call that creates one.
                output = self.code(created)
            else:
                output = self._evm.message_call(sender, to, calldata=data, value=value, gas=gas)
        except RuntimeError as error:
            # pyrevm has one class of errors; its text says what happened.
            text = str(error)
            if revert := REVERT.fullmatch(text):
                return ExecutionResult(is_success=False, output=bytes.fromhex(revert[2]), gas_used=int(revert[1]))
            if halt := HALT.fullmatch(text):
                return ExecutionResult(is_success=False, output=b"", gas_used=int(halt[2]), halt=halt[1])
            raise CallRejected(text) from error
        result = self._evm.result
        assert result is not None  # noqa: S101 - a call has just ended
        return ExecutionResult(
            is_success=True,
            output=output,
            gas_used=result.gas_used,
            gas_refunded=result.gas_refunded,
            logs=tuple(Log(log.address.lower(), tuple(log.topics), bytes(log.data[1])) for log in result.logs),
            created=created and created.lower(),
        )

    def simulate(self, *, sender: str, to: str | None, data: bytes, value: int, gas: int) -> ExecutionResult:
        """As `run`, without keeping its changes."""
        snapshot = self._evm.snapshot()
        try:
            return self.run(sender=sender, to=to, data=data, value=value, gas=gas)
        finally:
            self._evm.revert(snapshot)
