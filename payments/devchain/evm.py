"""Executes calls in pyrevm, an Ethereum Virtual Machine, and does what it leaves out: results, and fees."""

import re
from dataclasses import dataclass

from pyrevm import EVM, AccountInfo

from payments.chain.evm import keccak
from payments.devchain.transactions import InvalidTransaction

# As in tests/support/contracts.py: pyrevm knows newer forks, but the compiler must not use more than this.
FORK = "SHANGHAI"
REVERT = re.compile(r"Revert \{ gas_used: (\d+), output: 0x([0-9a-f]*) \}")
HALT = re.compile(r"Halt \{ reason: (.+), gas_used: (\d+) \}")
CODE_PADDING = 33


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


def execute(evm: EVM, *, sender: str, to: str | None, data: bytes, value: int, gas: int) -> ExecutionResult:
    """Call a contract, or create one where `to` is None, and keep its changes.

    Raises InvalidTransaction where the call did not start: too little gas or ether for it.
    """
    created = None
    try:
        if to is None:
            created = evm.deploy(sender, data, value=value, gas=gas)
            # Nodes return the new contract's code from an eth_call that creates one.
            output = read_code(evm, created)
        else:
            output = evm.message_call(sender, to, calldata=data, value=value, gas=gas)
    except RuntimeError as error:
        # pyrevm has one class of errors; its text says what happened.
        text = str(error)
        if revert := REVERT.fullmatch(text):
            return ExecutionResult(is_success=False, output=bytes.fromhex(revert[2]), gas_used=int(revert[1]))
        if halt := HALT.fullmatch(text):
            return ExecutionResult(is_success=False, output=b"", gas_used=int(halt[2]), halt=halt[1])
        raise InvalidTransaction(text) from error
    result = evm.result
    assert result is not None  # noqa: S101 - a call has just ended
    return ExecutionResult(
        is_success=True,
        output=output,
        gas_used=result.gas_used,
        gas_refunded=result.gas_refunded,
        logs=tuple(Log(log.address.lower(), tuple(log.topics), bytes(log.data[1])) for log in result.logs),
        created=created and created.lower(),
    )


def read_code(evm: EVM, address: str) -> bytes:
    """Return the code of a contract, b"" for a wallet."""
    code = evm.get_code(address) or b""
    # pyrevm pads the code of contracts that were created here with zeros.
    return code if keccak(code) == evm.basic(address).code_hash else code[:-CODE_PADDING]


def charge(evm: EVM, address: str, *, nonce: int, fee: int) -> None:
    """Take the fee of a transaction and set the next nonce. pyrevm does neither."""
    balance = evm.get_balance(address) - fee
    evm.insert_account_info(address, AccountInfo(nonce=nonce))
    # insert_account_info has also emptied the account.
    evm.set_balance(address, balance)
