"""Runs a checkout as a state machine: each state is a function, and a table names the states that may follow it.

docs/checkout.md draws the tables of both flows.
"""

from collections.abc import Callable, Collection, Mapping
from typing import TypeVar

from payments.x402.receipts import Receipt

Checkout = TypeVar("Checkout")
# Returns the next state, or the receipt that ends the checkout, or raises the error that ends it.
State = Callable[[Checkout], "State[Checkout] | Receipt"]
Transitions = Mapping[State[Checkout], Collection[State[Checkout]]]


class TransitionNotAllowed(RuntimeError):
    """A state returned another one that the table does not list."""


def run(table: Transitions[Checkout], checkout: Checkout) -> Receipt:
    """Follow the table from its first state until one returns a receipt or raises."""
    state = next(iter(table))
    while True:
        result = state(checkout)
        if isinstance(result, Receipt):
            return result
        if result not in table[state]:
            raise TransitionNotAllowed(f"{state.__name__} to {result.__name__}")
        state = result
