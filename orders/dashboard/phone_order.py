"""An order that is taken on the phone. The server adds, counts and prices, so that it works without a script too."""

import re
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone

from accounts import idempotency
from accounts.dashboard.decorators import PageRequest, page
from accounts.tenancy.permissions import Right
from framework.errors import InvalidRequest
from orders import phone_orders
from orders.dashboard.board import money
from orders.models import Menu, Order

MOST_LINES = 100
MOST_OF_ONE = 999
TOKEN = re.compile(r"[0-9a-f]{32}")
AT_LINE = re.compile(r"items\[(\d+)\]")
# Parts of the page that are fetched anew by themselves, by the id of what they replace.
PARTS = {"dishes": "orders/phone_dishes.html", "taken": "orders/phone_order_lines.html"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line as it stands in the form."""

    ref: str
    quantity: str = "1"
    notes: str = ""

    @property
    def count(self) -> int | str:
        """The number that was typed, or the text where it is none."""
        is_number = self.quantity.isascii() and self.quantity.isdigit() and len(self.quantity) < 10
        return int(self.quantity) if is_number else self.quantity

    def by(self, step: int) -> "Line":
        """One more or less, from 1 to 999."""
        count = self.count if isinstance(self.count, int) else 1
        return replace(self, quantity=str(min(MOST_OF_ONE, max(1, count + step))))


@dataclass(kw_only=True)
class Taken:
    """What has been typed so far, whatever it is."""

    token: str
    lines: list[Line] = field(default_factory=list)
    sought: str = ""
    customer: str = ""
    goes: str = "pickup"
    address: str = ""
    payment: str = ""

    @classmethod
    def of(cls, post: QueryDict) -> "Taken":
        """Read the form. What is not there is empty."""
        refs, quantities, notes = (post.getlist(name)[: MOST_LINES + 1] for name in ("ref", "quantity", "notes"))
        token = post.get("token", "")
        return cls(
            token=token if TOKEN.fullmatch(token) else uuid4().hex,
            lines=[
                Line(ref=ref, quantity=quantity, notes=words.replace("\r\n", "\n"))
                for ref, quantity, words in zip(refs, quantities, notes, strict=False)
            ],
            sought=post.get("sought", "")[:100].replace("\0", ""),
            customer=post.get("customer_id", ""),
            goes="delivery" if post.get("goes") == "delivery" else "pickup",
            address=post.get("delivery_address", "").replace("\r\n", "\n"),
            payment=post.get("payment_method", ""),
        )

    def change(self, verb: str, what: str) -> None:
        """Add a dish, or count a line up or down, or drop it. What is meant for no line changes nothing."""
        if verb == "add":
            self.add(what)
            return
        if not (what.isascii() and what.isdigit() and len(what) < 4 and int(what) < len(self.lines)):
            return
        place = int(what)
        if verb == "drop":
            del self.lines[place]
        elif verb in ("more", "less"):
            self.lines[place] = self.lines[place].by(1 if verb == "more" else -1)

    def add(self, ref: str) -> None:
        """One more of the dish, on the line that it has; a line with notes is left as it is."""
        for place, line in enumerate(self.lines):
            if line.ref == ref and not line.notes:
                self.lines[place] = line.by(1)
                return
        if ref and len(self.lines) < MOST_LINES:
            self.lines.append(Line(ref=ref[:64]))

    @property
    def wanted(self) -> dict[str, Any]:
        """The body that `POST /orders` would have."""
        return {
            "customer_id": self.customer.strip(),
            "items": [{"menu_item_id": line.ref, "quantity": line.count, "notes": line.notes} for line in self.lines],
            "delivery_address": self.address if self.goes == "delivery" else None,
            "payment_method": self.payment,
        }


@page(Right.ORDERS, section="board", methods=("GET", "HEAD", "POST"))
def write_down(request: PageRequest) -> HttpResponse:
    """The form; `do` says which of its buttons was pressed: `add:margherita`, `more:0`, `drop:0`, `place`."""
    venue = request.access.venue
    if request.method != "POST":
        labels = venue.payment_methods or phone_orders.WELL_KNOWN
        return shown(request, Taken(token=uuid4().hex, payment=labels[0]))
    taken = Taken.of(request.POST)
    verb, _, what = request.POST.get("do", "").partition(":")
    if verb != "place":
        # Without a menu, what is sought is what is added.
        taken.change(verb, what or taken.sought.strip() if verb == "add" else what)
        if verb == "add" and not what:
            taken.sought = ""
        return shown(request, taken)
    if taken.goes == "delivery" and not taken.address.strip():
        return shown(request, taken, problems={"delivery_address": ["Where does it go?"]}, status=400)
    try:
        public_id = phone_orders.place(
            venue, now=timezone.now(), actor=request.access.actor, token=taken.token, wanted=taken.wanted
        )
    except InvalidRequest as refusal:
        found: dict[str, list[str]] = {}
        for problem in refusal.details:
            found.setdefault(problem.param or "", []).append(problem.message)
        return shown(request, taken, problems=found, status=400)
    except idempotency.Reused:
        earlier = phone_orders.placed_by(venue, taken.token)
        taken.token = uuid4().hex
        return shown(request, taken, earlier=earlier, status=400)
    order = Order.objects.of(venue).known_as(public_id).get()
    messages.success(request, f"Order {order.number} is placed.")
    return redirect("order", venue=venue.public_id, order=public_id)


def shown(
    request: PageRequest,
    taken: Taken,
    *,
    problems: dict[str, list[str]] | None = None,
    earlier: Order | None = None,
    status: int = 200,
) -> HttpResponse:
    """The form as it was filled in, with what is wrong at its fields; or the part of it that is asked for."""
    venue = request.access.venue
    now = phone_orders.clock(venue, now=timezone.now())
    menu = phone_orders.menu_of(venue)
    found, total = phone_orders.dishes(menu, sought=taken.sought.strip(), at=now) if menu else ([], 0)
    context = {
        "taken": taken,
        "menu": menu,
        "dishes": [(dish, money(dish.item.price, venue.currency)) for dish in found],
        "more_dishes": total - len(found),
        "labels": venue.payment_methods or phone_orders.WELL_KNOWN,
        "earlier": earlier,
        "now": now,
        **priced(request, taken, problems or {}, menu),
    }
    htmx = getattr(request, "htmx", None)
    part = PARTS.get(htmx.target or "") if htmx else None
    return render(request, part or "orders/phone.html", context, status=status)


def priced(request: PageRequest, taken: Taken, problems: dict[str, list[str]], menu: Menu | None) -> dict[str, Any]:
    """The lines with their prices and problems, and what they come to."""
    at_line: dict[int, list[str]] = {}
    elsewhere: dict[str, list[str]] = {}
    for param, words in problems.items():
        place = AT_LINE.match(param)
        if place:
            at_line.setdefault(int(place[1]), []).extend(words)
        else:
            elsewhere.setdefault(param, []).extend(words)
    countable = all(isinstance(line.count, int) and 0 < line.count <= MOST_OF_ONE for line in taken.lines)
    items = [
        {"menu_item_id": line.ref.replace("\0", ""), "quantity": line.count if countable else 1}
        for line in taken.lines
    ]
    quote = phone_orders.quote(request.access.venue, menu, items=items)
    return {
        "lines": [
            {
                "place": place,
                "line": line,
                "name": row.name,
                "each": money(row.unit_price, quote.currency),
                "total": money(row.line_total, quote.currency) if countable else None,
                "problems": at_line.get(place, []),
            }
            for place, (line, row) in enumerate(zip(taken.lines, quote.items.all(), strict=True))
        ],
        "subtotal": money(quote.subtotal, quote.currency),
        "tax": money(quote.tax, quote.currency),
        "total": money(quote.total, quote.currency) if countable else None,
        "problems": elsewhere,
        "is_wrong": bool(problems),
    }
