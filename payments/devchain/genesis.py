"""How a development chain begins: contracts at their addresses, demo wallets with what gives them their tiers."""

from decimal import Decimal

from config.dev_stack.chain import MULTICALL, PRICE_FEED, USDC, UTILITY_TOKEN
from payments.chain.evm import NOBODY, call_data
from payments.devchain import artifacts, wallets
from payments.devchain.evm import Machine

GAS = 10_000_000
PLACES = {"Usdc": USDC, "UtilityToken": UTILITY_TOKEN, "PriceFeed": PRICE_FEED, "Multicall": MULTICALL}
# In ether, enough for any number of transactions at the price of gas here.
ENDOWED = {wallets.FACILITATOR: Decimal(10_000), wallets.FAUCET: Decimal(1_000_000)}


def lay(machine: Machine, *, secret: str) -> None:
    """Make the state in which the first transaction finds the chain; it is the same each time for one secret."""
    for name, address in PLACES.items():
        machine.place(address, artifacts.read(name).runtime)
    machine.enter(number=0, timestamp=0)
    for name, ether in ENDOWED.items():
        machine.endow(wallets.derive(secret, name).address, atomic(ether, 18))
    _call(machine, NOBODY, PRICE_FEED, "set(int256)", atomic(wallets.TOKEN_PRICE_USD, 8))
    for name, holding in wallets.DEMO.items():
        owner = wallets.derive(secret, name).address
        machine.endow(owner, atomic(holding.ether, 18))
        _call(machine, owner, USDC, "mint(address,uint256)", owner, atomic(holding.usdc, 6))
        tokens, staked = atomic(holding.tokens, 18), atomic(holding.staked, 18)
        _call(machine, owner, UTILITY_TOKEN, "mint(address,uint256)", owner, tokens + staked)
        _call(machine, owner, UTILITY_TOKEN, "stake(uint256)", staked)


def atomic(amount: Decimal, decimals: int) -> int:
    """An amount in the smallest unit of what has this many decimals."""
    return int(amount.scaleb(decimals))


def _call(machine: Machine, sender: str, to: str, function: str, *arguments: int | str) -> None:
    data = bytes.fromhex(call_data(function, *arguments)[2:])
    outcome = machine.run(sender=sender, to=to, data=data, value=0, gas=GAS)
    if not outcome.is_success:
        raise RuntimeError(f"{function} failed: {outcome}")
