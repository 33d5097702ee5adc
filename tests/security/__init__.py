"""Each attack that payments have to survive, and the test that proves it: on a real chain, with a real facilitator.

After each of them the ledger and the balance of the chain are compared (fixture `books`, tests/support/fixtures.py).

one payment for another resource     test_copies: ..for_two_records_at_once..; payments/test_gate
20 and 100 copies, two processes     test_copies: ..copies_at_once_on_two_processes..; payments/test_gate
tampered, other network, asset, pay_to                    payments/test_gate: ..tampered.. ..signed_for..
underpaid, expired                                        payments/test_gate: ..signed_for_something_else..
cancelled or spent between check and settlement           test_between: ..cancelled_after.. ..money_spent_after..
sent to the chain by somebody else                        test_between: ..sends_after.. ; payments/test_settling
a poor payer burns our gas                                test_between: ..burns_none_of_our_gas ..burn_gas_once
facilitator down, slow, 5xx, junk, truncated, pending     payments/test_settling ; payments/test_faults (random)
killed between settlement and answer                      test_between: ..killed_before.. ; chaos/test_payments
clocks that differ                                        test_between: ..clock..
contract wallets                                          test_between: ..contract.. ; payments/test_authorizations
a flood of headers                                        test_from_outside: ..flood..
shared caches                                             test_from_outside: ..shared_cache.. ..without_a_payment..
somebody else's hash                                      test_copies: ..harvested_hash.. ; payments/test_transactions
a hash again after the caches were emptied                test_copies: ..caches_were_emptied..

Through the MCP endpoint, and across its door and that of REST (test_doors; those of chaos kill and freeze):

a payment of REST copied to MCP, replayed either way      ..spent_at_rest.. ..spent_at_mcp.. ..at_both_doors..
a payment for a cheap tool used for a dear one            ..for_a_cheap_tool..
arguments swapped after the quote                         ..changed_after_the_quote..
somebody else's requestState                              ..question_of_another_caller..
instructions written into a review                        ..instructions_in_a_review..
a page of a foreign origin, a name bound to us anew       ..foreign_origin.. ..bound_to_our_address..
killed under paid calls, counts frozen                    chaos/test_mcp
hostile and random bodies and headers                     mcp/test_fuzz ; chaos/test_mcp (time and memory)
"""
