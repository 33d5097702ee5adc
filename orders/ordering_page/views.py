"""The page on which guests order: the menu, the checkout, and the order that they have placed.

The page is anonymous: it sets and reads no cookies, so that it also works in a frame. Each form carries the basket and
what the guest has entered, so that it works without JavaScript. Without a session there is nothing for CSRF to abuse,
so its forms need no CSRF token. The limits on orders are in orders.ordering_page.online_orders.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cached_property, wraps
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.csrf import csrf_exempt

from accounts import idempotency
from accounts.models import Venue
from accounts.models.venues import PREFIX
from framework.api.rate_limits.client_ip import client_network
from framework.api.rate_limits.middleware import RateLimitExceeded
from framework.errors import ApiError
from framework.languages import activate_for, format_clock, format_clock_or_date, format_money
from framework.public_ids import decode
from framework.style_policy import allow_style
from orders import capacity, commands
from orders.models import Fulfilment, Menu, Order, OrderingSettings
from orders.order_json import serialize_payment
from orders.ordering_page import basket, links, menu, online_orders, registry
from orders.ordering_page.checkout import CheckoutForm, list_fulfilments, list_payments
from orders.ordering_page.hours import Hours, load_hours
from orders.ordering_page.online_orders import is_payable
from orders.pricing import round_amount
from orders.serializers import NewOrderItem

HEADERS = {
    # Not `no-store`: the guest may go back to the menu.
    "Cache-Control": "no-cache, private",
    "Vary": "Accept-Language",
    "X-Robots-Tag": "noindex",
    "Referrer-Policy": "same-origin",
    # Any site may embed the page.
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors *"
    ),
}
FOLDER = "orders/ordering_page"
# What the guest has entered at the checkout; the other forms carry it.
ENTERED = ("form", "fulfilment", "when", "name", "phone", "tip", "payment")
MAX_NOTES = 500
# Dishes of later orders are judged in these steps.
STEP = timedelta(minutes=15)
# A page of an order asks again after a tenth of the time since its last change, within these bounds.
MIN_REFRESH_S, MAX_REFRESH_S = 10, 120

TOTAL = re.compile(r"[0-9]{1,15}(\.[0-9]{1,3})?")

PageView = Callable[..., HttpResponse]


def ordering_page(*methods: str) -> Callable[[PageView], PageView]:
    """Call the view with the venue in the URL, in the guest's language; the response may be embedded in frames."""

    def decorate(view: PageView) -> PageView:
        @csrf_exempt
        @xframe_options_exempt
        @wraps(view)
        def wrapper(request: HttpRequest, *, venue: str, **params: str) -> HttpResponse:
            headers = dict(HEADERS)
            key = decode(PREFIX, venue)
            rows = Venue.objects.select_related("account", "ordering_settings")
            row = rows.filter(pk=key, account__closed_at=None).first() if key else None
            with activate_for(request, venue=row.language if row else "") as language:
                context: dict[str, Any] = {"language": language}
                if row:
                    look = registry.find_look(row)
                    headers["Content-Security-Policy"] = allow_style(
                        headers["Content-Security-Policy"], look.get("css", "")
                    )
                    action = reverse("ordering", kwargs={"venue": row.public_id})
                    context |= {"venue": row, "look": look, "action": action}
                try:
                    if row is None:
                        raise links.InvalidLink
                    if request.method in methods:
                        response = view(request, row, context, **params)
                    else:
                        response = render(request, f"{FOLDER}/unavailable.html", context, status=405)
                        response["Allow"] = ", ".join(methods)
                except links.LinkExpired:
                    response = render(request, f"{FOLDER}/expired.html", context, status=410)
                except links.InvalidLink:
                    response = render(request, f"{FOLDER}/unavailable.html", context, status=404)
            response["Content-Language"] = language
            for name, value in headers.items():
                response.setdefault(name, value)
            return response

        return wrapper

    return decorate


@dataclass(kw_only=True)
class Visit:
    """A request of a guest: the open page, its menu, the basket, and what is entered in the form."""

    request: HttpRequest
    venue: Venue
    settings: OrderingSettings
    menu: Menu
    now: datetime
    context: dict[str, Any]
    post: QueryDict
    items: list[dict[str, Any]] = field(default_factory=list)
    note: str = ""

    @cached_property
    def hours(self) -> dict[str, Hours]:
        return load_hours(self.venue, now=self.now)

    @property
    def notice(self) -> str:
        """Why no order is taken now; empty if one is."""
        if self.settings.is_paused(now=self.now):
            if self.settings.paused_until is None:
                return _("The restaurant takes no online orders at the moment. Please order from the staff.")
            return _("The restaurant takes no online orders until %(time)s.") % {
                "time": self.format_time(self.settings.paused_until)
            }
        hours = self.hours[self.fulfilment]
        if hours.is_open(self.now):
            return ""
        if len(self.times) > 1:
            return _("Closed now. You can order for pick-up from %(time)s.") % {
                "time": self.format_time(self.times[1])
            }
        opening = hours.find_opening(self.now)
        if opening is None:
            return _("The restaurant is closed.")
        return _("The restaurant is closed now, and opens again: %(time)s.") % {"time": self.format_time(opening)}

    @property
    def can_order(self) -> bool:
        """Whether an order is taken now, or for later."""
        is_paused = self.settings.is_paused(now=self.now)
        return not is_paused and (self.hours[self.fulfilment].is_open(self.now) or len(self.times) > 1)

    def format_time(self, moment: datetime) -> str:
        return format_clock_or_date(moment.astimezone(self.at.tzinfo), today=self.at.date())

    @property
    def at(self) -> datetime:
        """The time at the venue."""
        return self.now.astimezone(ZoneInfo(self.venue.timezone))

    @cached_property
    def times(self) -> list[datetime]:
        """The times for which orders are taken: now, and for pick-up those of the next day."""
        if self.fulfilment != Fulfilment.PICKUP:
            return [self.at]
        zone = self.at.tzinfo
        start = self.now.replace(minute=self.now.minute // 15 * 15, second=0, microsecond=0)
        later = [(start + number * STEP).astimezone(zone) for number in range(1, capacity.HORIZON // STEP + 1)]
        hours = self.hours[Fulfilment.PICKUP]
        return [self.at, *(at for at in later if hours.includes_later(at, now=self.at))]

    @property
    def fulfilments(self) -> list[str]:
        offered = list_fulfilments(self.settings)
        # Guests at a table order for now.
        later = [each for each in offered if each != Fulfilment.DINE_IN]
        return offered if self.hours[Fulfilment.DINE_IN].is_open(self.now) else later or offered

    @property
    def table(self) -> str:
        """The table of the form, or of the QR code."""
        table = self.post.get("table") if "table" in self.post else self.request.GET.get("table", "")
        return (table or "").strip()[:40] if Fulfilment.DINE_IN in self.fulfilments else ""

    @property
    def fulfilment(self) -> str:
        """The chosen fulfilment; at first the table if the guest sits at one."""
        chosen = self.post.get("fulfilment") or (Fulfilment.DINE_IN if self.table else "")
        return chosen if chosen in self.fulfilments else self.fulfilments[0]

    def find_edited(self, ref: str) -> int | None:
        """Return the number of the line of this dish that the form changes; None if it adds one."""
        index = basket.find_line(self.items, self.post.get("line", ""))
        return index if index is not None and self.items[index]["menu_item_id"] == ref else None

    def quote(self) -> basket.Quote:
        return basket.calculate_quote(self.menu, self.items, fulfilment=self.fulfilment)

    def render(self, template: str, context: dict[str, Any], *, status: int = 200) -> HttpResponse:
        carried = [(name, self.post[name]) for name in ENTERED if name in self.post]
        shared = {
            "basket": basket.dump(self.items),
            "count": sum(item["quantity"] for item in self.items),
            "table": self.table,
            "carried": carried,
            "note": self.note,
            "notice": self.notice,
        }
        return render(self.request, f"{FOLDER}/{template}.html", self.context | shared | context, status=status)


@ordering_page("GET", "HEAD", "POST")
def order(request: HttpRequest, venue: Venue, context: dict[str, Any]) -> HttpResponse:
    """Show the menu, a dish or the checkout. `do` is the pressed button, `step` the page on which another was."""
    open_settings = online_orders.find_settings(venue)
    published = Menu.objects.filter(venue=venue, is_published=True).first() if open_settings else None
    if open_settings is None or published is None:
        raise links.InvalidLink
    published.venue = venue
    visit = Visit(
        request=request,
        venue=venue,
        settings=open_settings,
        menu=published,
        now=venue.now(),
        context=context,
        post=request.POST,
        items=basket.read(request.POST.get("basket", "[]")),
    )
    pressed = request.POST.get("do") or request.POST.get("step", "")
    verb, _colon, target = pressed.replace("\0", "").partition(":")
    match verb:
        case "open":
            return show_dish(visit, target)
        case "edit":
            return edit_line(visit, target)
        case "choose" | "add":
            return add_dish(visit, target)
        case "increase" | "decrease" | "remove":
            basket.change(visit.items, verb, target)
            return show_checkout(visit)
        case "checkout":
            return show_checkout(visit)
        case "place":
            return place(visit)
    return show_menu(visit)


def show_menu(visit: Visit, *, status: int = 200) -> HttpResponse:
    """Show the menu: three queries, and at most four for the total of the basket."""
    categories = menu.load_categories(visit.menu, times=visit.times)
    if not categories:
        raise links.InvalidLink
    quote, currency = visit.quote() if visit.items else None, visit.venue.currency
    context = {
        "categories": categories,
        "lines": [(line, money(line.total, currency)) for line in quote.lines] if quote else [],
        "total": money(quote.order.total, currency) if quote else "",
        "can_order": visit.can_order,
        # Of the kitchen; a dish in the basket may take longer.
        "ready_minutes": (quote.prep_minutes if quote else visit.settings.prep_minutes)
        if visit.fulfilment == Fulfilment.PICKUP and not visit.notice
        else None,
    }
    return visit.render("menu", context, status=status)


def show_dish(visit: Visit, ref: str) -> HttpResponse:
    """Ask the questions of a dish; the menu if it is not available."""
    item = menu.find_dish(visit.menu, ref)
    if item is None or not menu.is_orderable(item, visit.times):
        visit.note = _("This dish is not available.")
        return show_menu(visit, status=409)
    item.menu = visit.menu
    answered = visit.post if visit.post.get("step") == f"open:{ref}" else None
    return render_dish(visit, item, menu.load_questions(item, answered, times=visit.times))


def edit_line(visit: Visit, number: str) -> HttpResponse:
    """Ask the questions of a line's dish again, answered as it is."""
    index = basket.find_line(visit.items, number)
    if index is None:
        return show_checkout(visit)
    line = visit.items[index]
    item = menu.find_dish(visit.menu, line["menu_item_id"])
    if item is None or not menu.is_orderable(item, visit.times):
        return show_checkout(visit)
    item.menu = visit.menu
    # Without any, those that the menu chooses.
    chosen = menu.ChosenBefore(line["modifiers"]) if "modifiers" in line else None
    questions = menu.load_questions(item, chosen, times=visit.times)
    return render_dish(visit, item, questions, line=(index, line))


def add_dish(visit: Visit, ref: str) -> HttpResponse:
    """Add a dish to the basket, with its answers and notes."""
    item = menu.find_dish(visit.menu, ref)
    if item is None or not menu.is_orderable(item, visit.times):
        visit.note = _("This dish is not available.")
        return show_menu(visit, status=409)
    item.menu = visit.menu
    is_answered = visit.post.get("do", "").startswith("choose:")
    questions = menu.load_questions(item, visit.post if is_answered else None, times=visit.times)
    modifiers, is_valid = menu.read_answers(questions)
    text = visit.post.get("quantity", "1") if is_answered else "1"
    is_number = text.isascii() and text.isdigit() and len(text) < 4
    quantity = int(text) if is_number else 0
    notes = visit.post.get("notes", "").replace("\r\n", "\n").strip() if is_answered else ""
    errors = {}
    if not 1 <= quantity <= basket.MAX_QUANTITY:
        errors["quantity"] = _("Enter a number from 1 to %(most)s.") % {"most": basket.MAX_QUANTITY}
    if len(notes) > MAX_NOTES:
        errors["notes"] = _("Use at most %(most)s characters.") % {"most": MAX_NOTES}
    line = {"menu_item_id": ref, "quantity": quantity, "notes": notes}
    if not errors and not NewOrderItem(data=line).is_valid():
        errors["notes"] = _("This note has characters that cannot be used.")
    if errors or not is_valid:
        return render_dish(visit, item, questions, errors=errors, status=400)
    # Also without any: an edited line asks its questions again with these answers.
    line |= {"modifiers": modifiers} if questions else {}
    edited = visit.find_edited(ref)
    if edited is not None:
        visit.items[edited] = line
        return show_checkout(visit)
    name = menu.describe_dish(item, visit.menu, times=visit.times, has_groups=False).name
    if basket.add(visit.items, line):
        visit.note = _("Added: %(dish)s.") % {"dish": name}
        return show_menu(visit)
    visit.note = _("An order has at most %(most)s different dishes.") % {"most": basket.MAX_LINES}
    return show_menu(visit, status=409)


def render_dish(
    visit: Visit,
    item: Any,
    questions: Sequence[menu.Question],
    *,
    line: tuple[int, dict[str, Any]] | None = None,
    errors: Any = (),
    status: int = 200,
) -> HttpResponse:
    """Render the questions of a dish. `line` is a line of the basket with its number, to be changed."""
    edited = line[0] if line else visit.find_edited(item.ref)
    context = {
        "dish": menu.describe_dish(item, visit.menu, times=visit.times, has_groups=bool(questions)),
        "questions": questions,
        "quantity": line[1]["quantity"] if line else visit.post.get("quantity", "1"),
        "notes": line[1]["notes"] if line else visit.post.get("notes", ""),
        "edited": edited,
        "errors": dict(errors),
        "max_quantity": basket.MAX_QUANTITY,
        "max_notes": MAX_NOTES,
    }
    return visit.render("dish", context, status=status)


def build_form(visit: Visit, quote: basket.Quote, *, is_bound: bool) -> CheckoutForm:
    soonest, later = basket.list_times(visit.venue, quote, visit.hours, now=visit.now)
    entered = {name: visit.post[name] for name in (*ENTERED, "table") if name in visit.post}
    return CheckoutForm(
        visit.post if is_bound else None,
        venue=visit.venue,
        fulfilments=visit.fulfilments,
        total=quote.order.total,
        times=(soonest, later),
        is_open=visit.hours[Fulfilment.PICKUP].is_open(visit.now) and (quote.is_served(visit.at) or not later),
        now=visit.now,
        initial=entered | {"fulfilment": visit.fulfilment, "table": visit.table},
    )


def show_checkout(visit: Visit) -> HttpResponse:
    """The lines with their problems, and the form as it is filled in, without errors."""
    if not visit.items:
        return show_menu(visit)
    quote = visit.quote()
    form = build_form(visit, quote, is_bound=False)
    payment = str(form.initial["payment"])
    basket.check(visit.venue, visit.items, quote, payment=payment, at=form.chosen_time)
    return render_checkout(visit, quote, form)


def place(visit: Visit) -> HttpResponse:
    """Place the order, and redirect to its page; a form that has placed one already leads there, too."""
    if not visit.items:
        return show_menu(visit)
    quote = visit.quote()
    form = build_form(visit, quote, is_bound=True)
    if not form.is_valid():
        return render_checkout(visit, quote, form, status=400)
    body, token = form.build_body(visit.items), visit.post.get("form", "")
    at = form.cleaned_data.get("when") or visit.now
    try:
        placed = online_orders.place_order(
            visit.venue,
            body=body,
            form=token,
            address=client_network(visit.request),
            hours=visit.hours[visit.fulfilment],
            prep_minutes=quote.prep_minutes,
            expected_total=read_total(visit.post.get("quoted", "")),
            now=visit.now,
        )
    except commands.TotalChanged:
        alert = _("The price of your order has changed. Please check it and order again.")
        quote = visit.quote()
        return render_checkout(visit, quote, build_form(visit, quote, is_bound=True), alert=alert, status=409)
    except online_orders.PagePaused:
        return render_checkout(visit, quote, form, status=409)
    except online_orders.TooManyWaiting:
        alert = _("Many orders wait in the kitchen. Please try again in a few minutes, or order from the staff.")
        return render_checkout(visit, quote, form, alert=alert, status=409)
    except idempotency.IdempotencyKeyReused:
        alert = _("This form has already placed an order. To place another one, order again.")
        return render_checkout(visit, quote, form, alert=alert, is_stale=True, status=409)
    except online_orders.StaleOrderForm:
        alert = _("This page has expired. Please check your order and order again.")
        return render_checkout(visit, quote, form, alert=alert, is_stale=True, status=409)
    except RateLimitExceeded:
        alert = _("Too many orders came from your connection. Please order from the restaurant's staff.")
        return render_checkout(visit, quote, form, alert=alert, status=429)
    except ApiError as refusal:
        return render_refusal(visit, quote, form, refusal, at=at)
    token = links.token_of(placed)
    url = reverse("ordering-placed", kwargs={"venue": visit.venue.public_id, "token": token})
    return redirect(f"{url}?lang={visit.context['language']}")


def read_total(text: str) -> Decimal:
    """Return the total that a page has shown; one that no order has if it has shown none."""
    return Decimal(text) if TOTAL.fullmatch(text) else Decimal(-1)


def render_refusal(
    visit: Visit, quote: basket.Quote, form: CheckoutForm, refusal: ApiError, *, at: datetime
) -> HttpResponse:
    """Show each problem at its line or field."""
    if isinstance(refusal, capacity.SlotUnavailable | online_orders.OutsideOpeningHours):
        # An order at the table has no field for the time.
        if visit.fulfilment == Fulfilment.PICKUP and form.add_refusal(capacity.PARAM):
            return render_checkout(visit, quote, form, status=409)
        quote.problems.append(_("The kitchen cannot take more orders at the moment. Please try again later."))
    else:
        others = basket.explain(refusal, quote, at=at)
        unknown = [param for param in others if not form.add_refusal(param)]
        if unknown or not refusal.details:
            quote.problems.append(_("Your order was not placed. Please try again in a moment."))
    return render_checkout(visit, quote, form, status=409)


def render_checkout(
    visit: Visit,
    quote: basket.Quote,
    form: CheckoutForm,
    *,
    alert: str = "",
    is_stale: bool = False,
    status: int = 200,
) -> HttpResponse:
    submitted = "" if is_stale else visit.post.get("form", "")
    has_line_problems = any(line.problem for line in quote.lines)
    currency, total = visit.venue.currency, quote.order.total
    context = {
        "form": form,
        "form_token": submitted or online_orders.new_form_token(visit.venue, now=visit.now),
        "lines": [(line, money(line.total, currency)) for line in quote.lines],
        "charges": [(name, money(amount, currency)) for name, amount in menu.list_charges(quote.order)],
        "tax": "" if visit.venue.prices_include_tax else money(quote.order.tax, currency),
        "tip": money(form.chosen_tip or None, currency),
        "total": money(None if total is None else total + form.chosen_tip, currency),
        "quoted": str(total),
        "problems": quote.problems,
        "alert": alert,
        "takes_usdc": bool(online_orders.find_usdc_price(visit.settings)),
        "has_problems": bool(quote.problems or form.errors) or has_line_problems,
    }
    return visit.render("checkout", context, status=status)


@ordering_page("GET", "HEAD")
def show_placed(request: HttpRequest, venue: Venue, context: dict[str, Any], *, token: str) -> HttpResponse:
    """Show the order and how far the kitchen is; the page reloads itself until the order is finished."""
    now, zone = venue.now(), ZoneInfo(venue.timezone)
    order = links.find(token, venue=venue, now=now)
    order.venue = venue
    published = Menu.objects.filter(venue=venue, is_published=True).first()
    refreshes = order.status == Order.Status.PENDING
    is_stopped = request.GET.get("refresh") == "off"
    expected = order.promised_at if order.kitchen_stage != Order.Stage.READY else None
    table = {"table": order.table} if order.table else {}
    language = {"lang": context["language"]}
    context |= {
        "order": order,
        "stage": "cancelled" if order.status == Order.Status.CANCELLED else order.stage,
        "stages": list_stages(order),
        "promised": format_clock_or_date(expected.astimezone(zone), today=now.astimezone(zone).date())
        if refreshes and expected
        else "",
        "lines": [(line, money(line.total, order.currency)) for line in basket.describe_lines(order, published)],
        "charges": [(name, money(amount, order.currency)) for name, amount in menu.list_charges(order)],
        "tax": "" if venue.prices_include_tax else money(order.tax, order.currency),
        "tip": money(order.tip, order.currency),
        "total": money(order.total, order.currency),
        "payment": list_payments(venue).get(order.payment_method, order.payment_method),
        "usdc": (serialize_payment(order) or {}).get("amount", ""),
        # catalogue.order_payments
        "pay_url": f"{request.path.rstrip('/')}/pay?{urlencode(language)}" if is_payable(order) else "",
        "refreshes": refreshes,
        "is_stopped": is_stopped,
        "updated": format_clock(now.astimezone(zone)),
        "again": f"{context['action']}?{urlencode(language | table)}",
    }
    response = render(request, f"{FOLDER}/placed.html", context)
    response["Cache-Control"] = "no-store, private"
    if refreshes and not is_stopped:
        # As a header: it does what the element <meta http-equiv="refresh"> does.
        age_s = int((now - order.updated_at).total_seconds())
        response["Refresh"] = str(min(MAX_REFRESH_S, max(MIN_REFRESH_S, age_s // 10)))
    return response


def money(amount: Decimal | None, currency: str) -> str:
    return "" if amount is None else format_money(round_amount(amount, currency), currency)


def list_stages(order: Order) -> list[tuple[str, str]]:
    """Return the stages as guests see them, each with `done`, `current` or `ahead`."""
    labels = {
        Order.Stage.RECEIVED: _("Received"),
        Order.Stage.PREPARING: _("Being prepared"),
        Order.Stage.READY: _("Ready"),
        Order.Stage.HANDED_OVER: _("Handed over"),
    }
    # Guests need not tell an order that the kitchen has accepted from one that it prepares.
    stage = Order.Stage.PREPARING if order.stage == Order.Stage.ACCEPTED else Order.Stage(order.stage)
    reached = list(labels).index(stage)
    states = ["done" if nth < reached else "current" if nth == reached else "ahead" for nth in range(len(labels))]
    return list(zip(labels.values(), states, strict=True))
