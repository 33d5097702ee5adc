"""Error reasons of facilitators, grouped by what is certain of the payment."""

from pathlib import Path

# Given before anything is sent, and temporary: the same payment may succeed later.
BUSY = "facilitator_busy"
CHAIN_UNAVAILABLE = "chain_unavailable"
GAS_PRICE_TOO_HIGH = "gas_price_too_high"
NO_GAS_LEFT = "facilitator_has_no_gas"
FAILED = "facilitator_failed"
RETRYABLE = frozenset({BUSY, CHAIN_UNAVAILABLE, GAS_PRICE_TOO_HIGH, NO_GAS_LEFT, FAILED})

# Permanent: our facilitator does not settle this payment, or it costs too much gas.
WRONG_ASSET = "invalid_asset"
WRONG_PAY_TO = "invalid_pay_to"
WRONG_TRANSFER = "invalid_transfer_method"
TOO_MUCH_GAS = "invalid_settlement_needs_too_much_gas"
WOULD_FAIL = "invalid_settlement_would_fail"
# For a while: settlements of this payer were mined and reverted, at our cost.
PAYER_REVERTS = "invalid_payer_settlements_reverted"

# Reasons that facilitators give before they send anything: ours, those of the x402 SDKs and its specification, and
# hosted ones. Complete names, because similar reasons are given for payments that were sent.
THEIRS = (Path(__file__).parent / "refused_reasons.txt").read_text(encoding="utf-8").split()
REFUSED = frozenset({*THEIRS, WRONG_ASSET, WRONG_PAY_TO, WRONG_TRANSFER, TOO_MUCH_GAS, WOULD_FAIL, PAYER_REVERTS})
PENDING = "settlement_pending"
# Mined, and nothing was moved.
REVERTED = "transaction_failed"

# The authorization is used already, or may be: then the money is here or on its way, and a node that does not show it
# lags.
USED = "invalid_exact_evm_nonce_already_used"
SIMULATION_FAILED = "invalid_exact_evm_transaction_simulation_failed"
MAYBE_USED = frozenset({USED, SIMULATION_FAILED, "duplicate_settlement", "nonce_already_used"})
