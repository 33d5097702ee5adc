"""The data service page: wallets, tier and wallet sessions."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.dashboard.decorators import PageRequest, page
from accounts.tenancy.permissions import Right
from framework.api.urls import public_url
from framework.errors import ApiError
from payments.chain import evm
from payments.dashboard import account_summary
from payments.identity import sessions, siwx
from payments.tiers.definitions import describe_token
from payments.wallets import demo_wallets, link_challenge, links
from payments.wallets.demo_wallets import DemoWallet

SECTION = "data"
SAFE_METHODS = {"GET", "HEAD"}
# A reading older than this was not made now, whatever TIER_CACHE_S is.
STALE = timedelta(hours=1)


class AddressForm(forms.Form):
    address = forms.RegexField(
        evm.ADDRESS,
        label=gettext_lazy("Wallet address"),
        max_length=42,
        strip=True,
        help_text=gettext_lazy("0x and 40 hexadecimal digits."),
        error_messages={"invalid": gettext_lazy("An address is 0x and 40 hexadecimal digits.")},
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false", "placeholder": "0x…"}),
    )
    by_browser = forms.BooleanField(required=False, widget=forms.HiddenInput)


class SignatureForm(forms.Form):
    address = forms.RegexField(evm.ADDRESS, max_length=42, widget=forms.HiddenInput)
    nonce = forms.RegexField(link_challenge.NONCE.pattern + r"\Z", max_length=64, widget=forms.HiddenInput)
    signature = forms.RegexField(
        siwx.SIGNATURE,
        label=gettext_lazy("Signature"),
        max_length=siwx.MAX_SIGNATURE_LENGTH + 2,
        strip=True,
        help_text=gettext_lazy("The signature from your wallet: 0x and hexadecimal digits."),
        error_messages={"invalid": gettext_lazy("A signature is 0x and an even number of hexadecimal digits.")},
        widget=forms.Textarea(attrs={"rows": 3, "autocomplete": "off", "spellcheck": "false"}),
    )


@page(Right.DATA, section=SECTION)
def service(request: PageRequest) -> HttpResponse:
    """Show wallets, tier and sessions. Five queries besides those of the `page` decorator."""
    context = {
        "summary": account_summary.load_summary(request.access.account, now=timezone.now()),
        "max_wallets": links.MAX_WALLETS,
        "base_url": public_url(""),
        "token": describe_token(),
    }
    return render(request, "payments/dashboard/service.html", context)


@page(Right.DATA, section=SECTION, methods=("GET", "HEAD", "POST"))
def new(request: PageRequest) -> HttpResponse:
    """Ask for a wallet's address, then for its signature of a message. A demo wallet signs and is linked at once."""
    context: dict[str, Any] = {"form": AddressForm(), "demo_wallets": demo_wallets.list_demo_wallets()}
    if request.method in SAFE_METHODS:
        return render(request, "payments/dashboard/link.html", context)
    demo = next((each for each in context["demo_wallets"] if each.name == request.POST.get("demo")), None)
    if demo is not None:
        return link_demo_wallet(request, demo)
    form = AddressForm(request.POST)
    if not form.is_valid():
        return render(request, "payments/dashboard/link.html", context | {"form": form}, status=400)
    address: str = form.cleaned_data["address"]
    message = link_challenge.create_message(address, account=request.access.account, now=timezone.now())
    signature_form = SignatureForm(initial={"address": message.address, "nonce": message.nonce})
    context = {"message": message, "form": signature_form, "by_browser": form.cleaned_data["by_browser"]}
    return render(request, "payments/dashboard/sign.html", context)


def link_demo_wallet(request: PageRequest, demo: DemoWallet) -> HttpResponse:
    now, account = timezone.now(), request.access.account
    message = link_challenge.create_message(demo.address, account=account, now=now)
    signature = demo_wallets.sign_message(demo, message.text)
    try:
        link_challenge.link_wallet(demo.address, message.nonce, signature, account=account, now=now)
    except ApiError as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, _("The demo wallet was linked."))
    return redirect("data-service", venue=request.access.venue.public_id)


@page(Right.DATA, section=SECTION, methods=("POST",))
def link(request: PageRequest) -> HttpResponse:
    """Verify the signature and link the wallet; otherwise show the message with the error, a new one if need be."""
    now, account = timezone.now(), request.access.account
    form = SignatureForm(request.POST)
    is_spent = False
    if form.is_valid():
        try:
            is_new = link_challenge.link_wallet(**form.cleaned_data, account=account, now=now)
        except (link_challenge.InvalidLinkMessage, siwx.ChallengeAlreadyUsed) as refusal:
            is_spent = True
            form.add_error("signature", _("%(error)s Sign the new message above.") % {"error": refusal.message})
        except ApiError as refusal:
            form.add_error("signature", refusal.message)
        else:
            messages.success(request, _("The wallet was linked.") if is_new else _("The wallet was already linked."))
            return redirect("data-service", venue=request.access.venue.public_id)
    if "address" in form.errors:
        return render(request, "payments/dashboard/link.html", {"form": AddressForm(request.POST)}, status=400)
    address, nonce = form.cleaned_data["address"], "" if is_spent else form.cleaned_data.get("nonce", "")
    try:
        message = link_challenge.read_message(address, nonce, account=account, now=now)
    except link_challenge.InvalidLinkMessage:
        message = link_challenge.create_message(address, account=account, now=now)
    form.data = {**request.POST.dict(), "nonce": message.nonce}
    return render(request, "payments/dashboard/sign.html", {"message": message, "form": form}, status=400)


@page(Right.DATA, section=SECTION, methods=("GET", "HEAD", "POST"))
def unlink(request: PageRequest, address: str) -> HttpResponse:
    account = request.access.account
    if address not in account_summary.list_addresses(account):
        raise Http404
    if request.method in SAFE_METHODS:
        return render(request, "payments/dashboard/unlink.html", {"address": evm.to_checksum_address(address)})
    try:
        links.detach_wallet(address, account=account.pk)
    except ApiError as gone:
        raise Http404 from gone
    messages.success(request, _("The wallet was unlinked."))
    return redirect("data-service", venue=request.access.venue.public_id)


@page(Right.DATA, section=SECTION, methods=("POST",))
def refresh(request: PageRequest, address: str) -> HttpResponse:
    if address not in account_summary.list_addresses(request.access.account):
        raise Http404
    now = timezone.now()
    read_at = links.refresh_if_available(address, now=now).read_at
    if read_at is None or read_at < now - STALE:
        messages.warning(request, _("The chain is not available. The last values are kept. Try again later."))
    else:
        messages.success(request, _("The holdings are up to date. They can be refreshed again after ten minutes."))
    return redirect("data-service", venue=request.access.venue.public_id)


@page(Right.DATA, section=SECTION, methods=("POST",))
def end_session(request: PageRequest, session: UUID) -> HttpResponse:
    wallets = account_summary.list_addresses(request.access.account)
    try:
        ended = sessions.end_session(session, wallets=wallets, now=timezone.now())
    except ApiError as gone:
        raise Http404 from gone
    messages.success(request, _("The session was ended.") if ended else _("The session had already ended."))
    return redirect("data-service", venue=request.access.venue.public_id)
