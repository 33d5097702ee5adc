"""The phone order form. The server adds, counts and prices items, so that the form works without JavaScript."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any
from uuid import uuid4
from zoneinfo import ZoneInfo

import orjson
from django.contrib import messages
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from accounts import idempotency
from accounts.dashboard.decorators import PageRequest, page
from accounts.dashboard.overview import EXAMPLE_ORDER
from accounts.tenancy.permissions import Right
from framework.errors import InvalidRequest, Problem
from framework.forms.domain_errors import errors_as_messages
from orders import phone_orders
from orders.capacity import SlotUnavailable
from orders.dashboard.board import format_money
from orders.menu import photos
from orders.models import Menu, Order
from orders.ordering_page import menu
from orders.ordering_page.basket import find_line
from orders.payment_labels import LABELS
from orders.serializers import NewOrderItem

MAX_LINES = 100
MAX_QUANTITY = 999
TOKEN = re.compile(r"[0-9a-f]{32}")
AT_LINE = re.compile(r"items\[(\d+)\]")
# Templates of the parts that htmx refreshes, by the id of the target element.
PARTS = {"dishes": "orders/phone_dishes.html", "cart": "orders/phone_order_lines.html"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of the form."""

    ref: str
    quantity: str = "1"
    notes: str = ""
    # As the API takes them; None for those that the menu chooses.
    modifiers: list[dict[str, Any]] | None = None

    @property
    def count(self) -> int | str:
        """The quantity as a number, or the text if it is not a number."""
        is_number = self.quantity.isascii() and self.quantity.isdigit() and len(self.quantity) < 10
        return int(self.quantity) if is_number else self.quantity

    @property
    def modifiers_json(self) -> str:
        return "" if self.modifiers is None else orjson.dumps(self.modifiers).decode()

    def change_quantity(self, step: int) -> "Line":
        count = self.count if isinstance(self.count, int) else 1
        return replace(self, quantity=str(min(MAX_QUANTITY, max(1, count + step))))


@dataclass(kw_only=True)
class OrderDraft:
    """The current content of the form, not validated."""

    token: str
    lines: list[Line] = field(default_factory=list)
    search: str = ""
    customer: str = ""
    fulfilment: str = "pickup"
    address: str = ""
    payment: str = ""

    @classmethod
    def of(cls, post: QueryDict) -> "OrderDraft":
        """Read the form. Missing fields are empty."""
        names = ("ref", "quantity", "notes", "modifiers")
        refs, quantities, notes, modifiers = (post.getlist(name)[: MAX_LINES + 1] for name in names)
        token = post.get("token", "")
        return cls(
            token=token if TOKEN.fullmatch(token) else uuid4().hex,
            lines=[
                Line(
                    ref=ref, quantity=quantity, notes=note.replace("\r\n", "\n"), modifiers=read_modifiers(chosen, ref)
                )
                for ref, quantity, note, chosen in zip(
                    refs, quantities, notes, [*modifiers, *[""] * len(refs)], strict=False
                )
            ],
            search=post.get("search", "")[:100].replace("\0", ""),
            customer=post.get("customer_id", ""),
            fulfilment="delivery" if post.get("fulfilment") == "delivery" else "pickup",
            address=post.get("delivery_address", "").replace("\r\n", "\n"),
            payment=post.get("payment_method", ""),
        )

    def change(self, verb: str, target: str) -> None:
        """Add a dish, change the quantity of a line, or remove it. An unknown line changes nothing."""
        if verb == "add":
            self.add(target)
            return
        index = find_line(self.lines, target)
        if index is None:
            return
        if verb == "remove":
            del self.lines[index]
        elif verb in ("increase", "decrease"):
            self.lines[index] = self.lines[index].change_quantity(1 if verb == "increase" else -1)

    def add(self, ref: str) -> None:
        """Add one of the dish to its line, or a new line. A line with notes does not change."""
        for index, line in enumerate(self.lines):
            if line.ref == ref and not line.notes and line.modifiers is None:
                self.lines[index] = line.change_quantity(1)
                return
        if ref and len(self.lines) < MAX_LINES:
            self.lines.append(Line(ref=ref[:64]))

    @property
    def body(self) -> dict[str, Any]:
        """The body of the equivalent `POST /orders` request."""
        return {
            "customer_id": self.customer.strip(),
            "items": [
                {"menu_item_id": line.ref, "quantity": line.count, "notes": line.notes}
                | ({} if line.modifiers is None else {"modifiers": line.modifiers})
                for line in self.lines
            ],
            "delivery_address": self.address if self.fulfilment == "delivery" else None,
            "payment_method": self.payment,
        }


def read_modifiers(text: str, ref: str) -> list[dict[str, Any]] | None:
    """Return the modifiers of a line in the form; None if it has none, or the text is not of this form."""
    try:
        shape = NewOrderItem(data={"menu_item_id": ref, "quantity": 1, "modifiers": orjson.loads(text)})
    except orjson.JSONDecodeError:
        return None
    return list(shape.validated_data["modifiers"]) if shape.is_valid() else None


@page(Right.ORDERS, section="board", methods=("GET", "HEAD", "POST"))
def new_order(request: PageRequest) -> HttpResponse:
    """The form; `do` is the pressed button: `add:margherita`, `increase:0`, `choose:0`, `chosen:0`, `place`."""
    venue = request.access.venue
    if request.method != "POST":
        labels = venue.payment_methods or tuple(LABELS)
        return render_form(request, OrderDraft(token=uuid4().hex, payment=labels[0]))
    draft = OrderDraft.of(request.POST)
    verb, _separator, target = request.POST.get("do", "").partition(":")
    if verb in ("choose", "chosen"):
        return choose_modifiers(request, draft, target, is_answered=verb == "chosen")
    if verb != "place":
        # Without a menu, the search field holds the item id to add.
        draft.change(verb, target or draft.search.strip() if verb == "add" else target)
        if verb == "add" and not target:
            draft.search = ""
        return render_form(request, draft)
    if draft.fulfilment == "delivery" and not draft.address.strip():
        problem = Problem("delivery_address", _("Enter the delivery address."))
        return render_form(request, draft, problems=[problem], status=400)
    try:
        public_id = phone_orders.place_order(
            venue, now=venue.now(), actor=request.access.actor, token=draft.token, body=draft.body
        )
    except (InvalidRequest, SlotUnavailable) as refusal:
        return render_form(request, draft, problems=refusal.details, status=400)
    except idempotency.IdempotencyKeyReused:
        earlier = phone_orders.find_placed_order(venue, draft.token)
        draft.token = uuid4().hex
        return render_form(request, draft, earlier=earlier, status=400)
    order = Order.objects.of(venue).with_public_id(public_id).get()
    messages.success(request, _("Order %(number)s was placed.") % {"number": order.number})
    return redirect("order", venue=venue.public_id, order=public_id)


def choose_modifiers(request: PageRequest, draft: OrderDraft, target: str, *, is_answered: bool) -> HttpResponse:
    """Ask the questions of a line's dish, or store the answers. A line or a dish that is unknown changes nothing."""
    venue = request.access.venue
    published = Menu.objects.filter(venue=venue, is_published=True).first()
    index = find_line(draft.lines, target)
    if published is None or index is None:
        return render_form(request, draft)
    line = draft.lines[index]
    item = menu.find_dish(published, line.ref.replace("\0", ""))
    if item is None:
        return render_form(request, draft)
    published.venue, item.menu = venue, published
    at = venue.now().astimezone(ZoneInfo(venue.timezone))
    chosen: menu.Answers | None = None if line.modifiers is None else menu.ChosenBefore(line.modifiers)
    questions = menu.load_questions(item, request.POST if is_answered else chosen, times=[at])
    modifiers, is_valid = menu.read_answers(questions) if is_answered else ([], False)
    if not is_valid:
        # htmx shows answers of 200 only.
        status = 400 if is_answered and not getattr(request, "htmx", None) else 200
        return render_form(request, draft, questions=(index, questions), status=status)
    draft.lines[index] = replace(line, modifiers=modifiers)
    return render_form(request, draft)


@page(Right.ORDERS, section="board", methods=("POST",))
def place_example_order(request: PageRequest) -> HttpResponse:
    """Place the order of the welcome page in a sandbox, once for each of its forms, and show it on the board."""
    venue, token = request.access.venue, request.POST.get("token", "")
    if not (venue.is_sandbox and TOKEN.fullmatch(token)):
        raise Http404
    with errors_as_messages(request):
        public_id = phone_orders.place_order(
            venue, now=venue.now(), actor=request.access.actor, token=token, body=EXAMPLE_ORDER
        )
        order = Order.objects.of(venue).with_public_id(public_id).get()
        messages.success(request, _("Order %(number)s was placed.") % {"number": order.number})
    return redirect("order-board", venue=venue.public_id)


def render_form(
    request: PageRequest,
    draft: OrderDraft,
    *,
    problems: Sequence[Problem] = (),
    earlier: Order | None = None,
    questions: tuple[int, Sequence[menu.Question]] | None = None,
    status: int = 200,
) -> HttpResponse:
    """Render the form with its content and errors, or only the part that htmx requested.

    `questions` are those of the line with this number, which is being chosen.
    """
    venue = request.access.venue
    now = venue.now().astimezone(ZoneInfo(venue.timezone))
    published = Menu.objects.filter(venue=venue, is_published=True).first()
    dishes, total = phone_orders.search_dishes(published, query=draft.search.strip()) if published else ([], 0)
    context = {
        "draft": draft,
        "menu": published,
        "dishes": [
            (
                dish,
                format_money(dish.price, venue.currency),
                dish.find_obstacle(now),
                photos.thumbnail_path(dish.photo_id, "small") if dish.photo_id else "",
            )
            for dish in dishes
        ],
        "has_photos": any(dish.photo_id for dish in dishes),
        "more_dishes": total - len(dishes),
        "labels": venue.payment_methods or tuple(LABELS),
        "earlier": earlier,
        "now": now,
        **price_lines(request, draft, problems, published, questions),
    }
    htmx = getattr(request, "htmx", None)
    part = PARTS.get(htmx.target or "") if htmx else None
    return render(request, part or "orders/phone.html", context | {"is_part": bool(part)}, status=status)


def price_lines(
    request: PageRequest,
    draft: OrderDraft,
    problems: Sequence[Problem],
    published: Menu | None,
    questions: tuple[int, Sequence[menu.Question]] | None = None,
) -> dict[str, Any]:
    # By the index of the line, or else by the parameter.
    messages_at: dict[int | str, list[str]] = {}
    for problem in problems:
        param = problem.param or ""
        line_match = AT_LINE.match(param)
        messages_at.setdefault(int(line_match[1]) if line_match else param, []).append(problem.message)
    countable = all(isinstance(line.count, int) and 0 < line.count <= MAX_QUANTITY for line in draft.lines)
    items = [
        {"menu_item_id": line.ref.replace("\0", ""), "quantity": line.count if countable else 1}
        | ({} if line.modifiers is None else {"modifiers": line.modifiers})
        for line in draft.lines
    ]
    asking = phone_orders.find_dishes_with_groups(published, [line.ref for line in draft.lines]) if published else ()
    quote = phone_orders.quote(
        request.access.venue, items=items, delivery_address=draft.address if draft.fulfilment == "delivery" else None
    )
    return {
        "lines": [
            {
                "index": index,
                "line": line,
                "name": row.name,
                "total": format_money(row.line_total, quote.currency) if countable else None,
                "modifiers": ", ".join(row.modifier_names),
                "has_groups": line.ref in asking,
                "questions": questions[1] if questions and questions[0] == index else (),
                "problems": messages_at.get(index, []),
            }
            for index, (line, row) in enumerate(zip(draft.lines, quote.items.all(), strict=True))
        ],
        "item_count": sum(item["quantity"] for item in items),
        "subtotal": format_money(quote.subtotal, quote.currency),
        "tax": format_money(quote.tax, quote.currency),
        "total": format_money(quote.total if items or not published else Decimal(0), quote.currency)
        if countable
        else None,
        "problems": messages_at,
        # `problems.items` would be the method of the mapping.
        "cart_problems": messages_at.get("items", []),
        "has_problems": bool(problems),
    }
