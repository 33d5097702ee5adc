"""The first state of a development chain: contracts at their addresses, and demo wallets with their holdings."""

from decimal import Decimal

from payments.chain.evm import ZERO_ADDRESS, call_data
from payments.devchain import artifacts, wallets
from payments.devchain.addresses import MULTICALL, PRICE_FEED, USDC, UTILITY_TOKEN
from payments.devchain.evm import Machine

GAS = 10_000_000
CONTRACTS = {"Usdc": USDC, "UtilityToken": UTILITY_TOKEN, "PriceFeed": PRICE_FEED, "Multicall": MULTICALL}
# In ether, enough for any number of transactions at this gas price.
ETHER = {wallets.FACILITATOR: Decimal(10_000), wallets.FAUCET: Decimal(1_000_000)}


def apply(machine: Machine, *, secret: str) -> None:
    """Create the state before the first transaction. The same secret gives the same state."""
    for name, address in CONTRACTS.items():
        machine.set_code(address, artifacts.read(name).runtime)
    machine.set_block(number=0, timestamp=0)
    for name, ether in ETHER.items():
        machine.set_balance(wallets.derive(secret, name).address, atomic(ether, 18))
    _call(machine, ZERO_ADDRESS, PRICE_FEED, "set(int256)", atomic(wallets.TOKEN_PRICE_USD, 8))
    for name, holding in wallets.DEMO.items():
        owner = wallets.derive(secret, name).address
        machine.set_balance(owner, atomic(holding.ether, 18))
        _call(machine, owner, USDC, "mint(address,uint256)", owner, atomic(holding.usdc, 6))
        tokens, staked = atomic(holding.tokens, 18), atomic(holding.staked, 18)
        _call(machine, owner, UTILITY_TOKEN, "mint(address,uint256)", owner, tokens + staked)
        _call(machine, owner, UTILITY_TOKEN, "stake(uint256)", staked)


def atomic(amount: Decimal, decimals: int) -> int:
    """Return an amount in the smallest unit of a coin with this many decimals."""
    return int(amount.scaleb(decimals))


def _call(machine: Machine, sender: str, to: str, function: str, *arguments: int | str) -> None:
    data = bytes.fromhex(call_data(function, *arguments)[2:])
    outcome = machine.run(sender=sender, to=to, data=data, value=0, gas=GAS)
    if not outcome.is_success:
        raise RuntimeError(f"{function} failed: {outcome}")
