"""Error reasons of facilitators, grouped by what is certain of the payment."""

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

# Reasons that facilitators give before they send anything: ours, those of the x402 SDKs and its specification, and
# hosted ones. Complete names, because similar reasons are given for payments that were sent.
REFUSED = frozenset(
    {
        WRONG_ASSET,
        WRONG_PAY_TO,
        WRONG_TRANSFER,
        TOO_MUCH_GAS,
        WOULD_FAIL,
        "asset_not_deployed_contract",
        "eip6492_factory_not_allowed",
        "insufficient_funds",
        "invalid_exact_evm_failed_to_get_asset_info",
        "invalid_exact_evm_failed_to_get_network_config",
        "invalid_exact_evm_failed_to_verify_signature",
        "invalid_exact_evm_insufficient_balance",
        "invalid_exact_evm_payload_authorization_from_address_kyt",
        "invalid_exact_evm_payload_authorization_to_address_kyt",
        "invalid_exact_evm_payload_authorization_typed_data_message",
        "invalid_exact_evm_payload_authorization_valid_after",
        "invalid_exact_evm_payload_authorization_valid_before",
        "invalid_exact_evm_payload_authorization_value",
        "invalid_exact_evm_payload_authorization_value_mismatch",
        "invalid_exact_evm_payload_authorization_value_too_low",
        "invalid_exact_evm_payload_recipient_mismatch",
        "invalid_exact_evm_payload_signature",
        "invalid_exact_evm_payload_signature_address",
        "invalid_exact_evm_payload_undeployed_smart_wallet",
        "invalid_exact_evm_token_name_mismatch",
        "invalid_exact_evm_token_version_mismatch",
        "invalid_network",
        "invalid_payload",
        "invalid_payment_requirements",
        "invalid_scheme",
        "invalid_x402_version",
        "missing_eip712_domain",
        "network_mismatch",
        "unsupported_scheme",
    }
)
PENDING = "settlement_pending"

# The authorization is used already, or may be: then the money is here or on its way, and a node that does not show it
# lags.
USED = "invalid_exact_evm_nonce_already_used"
SIMULATION_FAILED = "invalid_exact_evm_transaction_simulation_failed"
MAYBE_USED = frozenset({USED, SIMULATION_FAILED, "duplicate_settlement", "nonce_already_used"})
