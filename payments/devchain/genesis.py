"""The genesis state of a development chain: contracts at their addresses, and wallets with their balances."""

import json
from pathlib import Path

from pyrevm import EVM, AccountInfo, BlockEnv

from payments.chain.evm import ZERO_ADDRESS, encode_call
from payments.devchain import wallets
from payments.devchain.addresses import MULTICALL, PRICE_FEED, USDC, UTILITY_TOKEN
from payments.devchain.evm import execute

GAS = 10_000_000
CONTRACTS = {"Usdc": USDC, "UtilityToken": UTILITY_TOKEN, "PriceFeed": PRICE_FEED, "Multicall": MULTICALL}
ETHER, TOKEN, DOLLAR = 10**18, 10**18, 10**6
# Enough wei for any number of transactions at this gas price.
WEI = {wallets.FACILITATOR: 10_000 * ETHER, wallets.FAUCET: 1_000_000 * ETHER}
TOKEN_PRICE_USD = 2 * 10**8
DEMO_USDC, DEMO_WEI = 1000 * DOLLAR, 10 * ETHER
# By demo wallet: the utility tokens that it gets, and those of them that it stakes.
DEMO_TOKENS = {
    "free": (0, 0),
    "pro": (125 * TOKEN, 0),
    "premium": (1000 * TOKEN, 0),
    "enterprise": (60_000 * TOKEN, 60_000 * TOKEN),
}


def apply(evm: EVM, *, secret: str) -> None:
    """Create the state before the first transaction. The same secret gives the same state."""
    for name, address in CONTRACTS.items():
        compiled = json.loads((Path(__file__).parent / "contracts" / f"{name}.json").read_bytes())
        evm.insert_account_info(address, AccountInfo(code=bytes.fromhex(compiled["runtime"])))
    evm.set_block_env(BlockEnv(number=0, timestamp=0))
    for name, wei in WEI.items():
        evm.set_balance(wallets.derive_wallet(secret, name).address, wei)
    _call(evm, ZERO_ADDRESS, PRICE_FEED, "set(int256)", TOKEN_PRICE_USD)
    for name, (tokens, staked) in DEMO_TOKENS.items():
        owner = wallets.derive_wallet(secret, name).address
        evm.set_balance(owner, DEMO_WEI)
        _call(evm, owner, USDC, "mint(address,uint256)", owner, DEMO_USDC)
        _call(evm, owner, UTILITY_TOKEN, "mint(address,uint256)", owner, tokens)
        _call(evm, owner, UTILITY_TOKEN, "stake(uint256)", staked)


def _call(evm: EVM, sender: str, to: str, function: str, *arguments: int | str) -> None:
    data = bytes.fromhex(encode_call(function, *arguments)[2:])
    result = execute(evm, sender=sender, to=to, data=data, value=0, gas=GAS)
    if not result.is_success:
        raise RuntimeError(f"{function} failed: {result}")
