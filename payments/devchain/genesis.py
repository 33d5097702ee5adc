"""The genesis state of a development chain: contracts at their addresses, and demo wallets with their balances."""

from decimal import Decimal

from payments.chain.evm import ZERO_ADDRESS, encode_call
from payments.devchain import artifacts, wallets
from payments.devchain.addresses import MULTICALL, PRICE_FEED, USDC, UTILITY_TOKEN
from payments.devchain.evm import Evm

GAS = 10_000_000
CONTRACTS = {"Usdc": USDC, "UtilityToken": UTILITY_TOKEN, "PriceFeed": PRICE_FEED, "Multicall": MULTICALL}
# In ether, enough for any number of transactions at this gas price.
ETHER = {wallets.FACILITATOR: Decimal(10_000), wallets.FAUCET: Decimal(1_000_000)}


def apply(evm: Evm, *, secret: str) -> None:
    """Create the state before the first transaction. The same secret gives the same state."""
    for name, address in CONTRACTS.items():
        evm.set_code(address, artifacts.load_artifact(name).runtime)
    evm.set_block(number=0, timestamp=0)
    for name, ether in ETHER.items():
        evm.set_balance(wallets.derive_wallet(secret, name).address, to_atomic(ether, 18))
    _call(evm, ZERO_ADDRESS, PRICE_FEED, "set(int256)", to_atomic(wallets.TOKEN_PRICE_USD, 8))
    for name, balances in wallets.DEMO_HOLDINGS.items():
        owner = wallets.derive_wallet(secret, name).address
        evm.set_balance(owner, to_atomic(balances.ether, 18))
        _call(evm, owner, USDC, "mint(address,uint256)", owner, to_atomic(balances.usdc, 6))
        tokens, staked = to_atomic(balances.tokens, 18), to_atomic(balances.staked, 18)
        _call(evm, owner, UTILITY_TOKEN, "mint(address,uint256)", owner, tokens + staked)
        _call(evm, owner, UTILITY_TOKEN, "stake(uint256)", staked)


def to_atomic(amount: Decimal, decimals: int) -> int:
    """Return an amount in the smallest unit of a coin with this many decimals."""
    return int(amount.scaleb(decimals))


def _call(evm: Evm, sender: str, to: str, function: str, *arguments: int | str) -> None:
    data = bytes.fromhex(encode_call(function, *arguments)[2:])
    result = evm.run(sender=sender, to=to, data=data, value=0, gas=GAS)
    if not result.is_success:
        raise RuntimeError(f"{function} failed: {result}")
