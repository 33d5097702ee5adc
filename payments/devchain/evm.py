"""The Ethereum virtual machine under the development chain: pyrevm, with what it leaves to its user."""

import re
from dataclasses import dataclass

from pyrevm import EVM, AccountInfo, BlockEnv, CfgEnv, Env

from payments.chain.evm import keccak

# With the name of the fork in artifacts.py: the machine knows newer ones, the compiler should not use more than this.
FORK = "SHANGHAI"
REVERTED = re.compile(r"Revert \{ gas_used: (\d+), output: 0x([0-9a-f]*) \}")
HALTED = re.compile(r"Halt \{ reason: (.+), gas_used: (\d+) \}")
PADDING = 33


class RefusedError(ValueError):
    """The machine did not even begin: too little gas for the call itself, or for its value too little ether."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One log that a contract wrote."""

    address: str
    topics: tuple[str, ...]
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a call ended. `halt` says why it broke off, if not by a revert, whose words are in `output`."""

    is_success: bool
    output: bytes
    gas_used: int
    gas_refunded: int = 0
    logs: tuple[Entry, ...] = ()
    created: str | None = None
    halt: str | None = None


class Machine:
    """Accounts, code and storage. Not for two threads at once. Addresses are in small letters."""

    def __init__(self, *, chain_id: int) -> None:
        self._evm = EVM(env=Env(cfg=CfgEnv(chain_id=chain_id)), spec_id=FORK)

    def balance(self, address: str) -> int:
        """Ether in wei."""
        return self._evm.get_balance(address)

    def nonce(self, address: str) -> int:
        """How many transactions the account has sent."""
        return self._evm.basic(address).nonce

    def code(self, address: str) -> bytes:
        """The code of a contract, b"" for a wallet."""
        code = self._evm.get_code(address) or b""
        # To that of a contract which was created here, pyrevm adds zeros for its own use.
        return code if keccak(code) == self._evm.basic(address).code_hash else code[:-PADDING]

    def storage(self, address: str, slot: int) -> int:
        """One word of a contract's storage."""
        return self._evm.storage(address, slot)

    def place(self, address: str, code: bytes) -> None:
        """Put code at an address, as if it had always been there."""
        self._evm.insert_account_info(address, AccountInfo(code=code))

    def endow(self, address: str, wei: int) -> None:
        """Make the account's ether this much."""
        self._evm.set_balance(address, wei)

    def enter(self, *, number: int, timestamp: int) -> None:
        """Be in this block from now on."""
        self._evm.set_block_env(BlockEnv(number=number, timestamp=timestamp))

    def charge(self, address: str, *, nonce: int, fee: int) -> None:
        """Take the fee of a transaction and note the number of the next. The machine does neither by itself."""
        left = self._evm.get_balance(address) - fee
        self._evm.insert_account_info(address, AccountInfo(nonce=nonce))
        # The line before has also emptied it.
        self._evm.set_balance(address, left)

    def run(self, *, sender: str, to: str | None, data: bytes, value: int, gas: int) -> Outcome:
        """Call, or create a contract where `to` is None; what it changes stays. Raises RefusedError."""
        created = None
        output = b""
        try:
            if to is None:
                created = self._evm.deploy(sender, data, value=value, gas=gas)
                # Nodes answer the new contract's code to an eth_call that creates one.
                output = self.code(created)
            else:
                output = self._evm.message_call(sender, to, calldata=data, value=value, gas=gas)
        except RuntimeError as error:
            return _failed(str(error))
        result = self._evm.result
        assert result is not None  # noqa: S101 - a call has just ended
        logs = tuple(Entry(log.address.lower(), tuple(log.topics), bytes(log.data[1])) for log in result.logs)
        return Outcome(
            is_success=True,
            output=output,
            gas_used=result.gas_used,
            gas_refunded=result.gas_refunded,
            logs=logs,
            created=created and created.lower(),
        )

    def try_out(self, *, sender: str, to: str | None, data: bytes, value: int, gas: int) -> Outcome:
        """Do as `run` does and then undo it."""
        before = self._evm.snapshot()
        try:
            return self.run(sender=sender, to=to, data=data, value=value, gas=gas)
        finally:
            self._evm.revert(before)


def _failed(words: str) -> Outcome:
    """Read pyrevm's one kind of error."""
    if reverted := REVERTED.fullmatch(words):
        return Outcome(is_success=False, output=bytes.fromhex(reverted[2]), gas_used=int(reverted[1]))
    if halted := HALTED.fullmatch(words):
        return Outcome(is_success=False, output=b"", gas_used=int(halted[2]), halt=halted[1])
    raise RefusedError(words)
