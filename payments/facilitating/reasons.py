"""Why our facilitator has sent nothing, in the words by which the seller knows that nothing has moved."""

# What it says before it has sent anything, and what time heals: the same payment is good later.
BUSY = "facilitator_busy"
CHAIN_UNAVAILABLE = "chain_unavailable"
GAS_PRICE_TOO_HIGH = "gas_price_too_high"
NO_GAS_LEFT = "facilitator_has_no_gas"
FAILED = "facilitator_failed"
LATER = frozenset({BUSY, CHAIN_UNAVAILABLE, GAS_PRICE_TOO_HIGH, NO_GAS_LEFT, FAILED})

# What no time heals: the payment is not for us to settle, or costs too much.
WRONG_ASSET = "invalid_asset"
WRONG_PAY_TO = "invalid_pay_to"
WRONG_TRANSFER = "invalid_transfer_method"
TOO_MUCH_GAS = "invalid_settlement_needs_too_much_gas"
WOULD_FAIL = "invalid_exact_evm_transaction_simulation_failed"

# Besides all that begin with invalid_: what other facilitators say before they have sent anything.
REFUSED = frozenset(
    {
        "asset_not_deployed_contract",
        "eip6492_factory_not_allowed",
        "insufficient_funds",
        "missing_eip712_domain",
        "network_mismatch",
        "unsupported_scheme",
    }
)
PENDING = "settlement_pending"


def sends_nothing(reason: str) -> bool:
    """Whether a facilitator that gives this reason has refused the payment before it sent anything."""
    return reason.startswith("invalid_") or reason in REFUSED
