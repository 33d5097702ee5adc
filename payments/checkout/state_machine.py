"""Runs a checkout as a state machine: a table names the handler of each state and the states that may follow it.

docs/checkout.md draws the tables of both flows.
"""

from collections.abc import Callable, Collection, Mapping
from enum import StrEnum
from typing import TypeVar

from payments.x402 import Receipt

Step = TypeVar("Step", bound=StrEnum)
Checkout = TypeVar("Checkout")
# A handler returns the next state, or the receipt that ends the checkout, or raises the error that ends it.
Handler = Callable[[Checkout], Step | Receipt]
Transitions = Mapping[Step, tuple[Handler[Checkout, Step], Collection[Step]]]


class TransitionNotAllowed(RuntimeError):
    """A handler returned a state that the table does not list."""


def run(table: Transitions[Step, Checkout], checkout: Checkout, *, start: Step) -> Receipt:
    """Follow the table from `start` until a handler returns a receipt or raises."""
    step = start
    while True:
        handler, following = table[step]
        result = handler(checkout)
        if isinstance(result, Receipt):
            return result
        if result not in following:
            raise TransitionNotAllowed(f"{step} to {result}")
        step = result
