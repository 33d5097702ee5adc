"""The data service of an account: its wallets, its tier, and who is signed in with a wallet."""

from datetime import timedelta
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from accounts.dashboard.decorators import PageRequest, page
from accounts.tenancy.permissions import Right
from framework.api.urls import public_url
from framework.errors import Refusal
from payments.chain import evm
from payments.dashboard import account_summary
from payments.identity import sessions, siwx
from payments.wallets import link_challenge, links

SECTION = "data"
ASKED = {"GET", "HEAD"}
# A reading older than this was not made just now, whatever TIER_CACHE_S says.
STALE = timedelta(hours=1)


class AddressForm(forms.Form):
    """Which wallet is to be linked."""

    address = forms.RegexField(
        evm.ADDRESS,
        label="Address of the wallet",
        max_length=42,
        strip=True,
        help_text="0x and 40 hexadecimal digits.",
        error_messages={"invalid": "An address is 0x and 40 hexadecimal digits."},
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false", "placeholder": "0x…"}),
    )
    by_browser = forms.BooleanField(required=False, widget=forms.HiddenInput)


class SignatureForm(forms.Form):
    """What the wallet has signed."""

    address = forms.RegexField(evm.ADDRESS, max_length=42, widget=forms.HiddenInput)
    nonce = forms.RegexField(link_challenge.NONCE.pattern + r"\Z", max_length=64, widget=forms.HiddenInput)
    signature = forms.RegexField(
        siwx.SIGNATURE,
        label="Signature",
        max_length=siwx.LONGEST_SIGNATURE + 2,
        strip=True,
        help_text="What your wallet gives back when it has signed the message: 0x and hexadecimal digits.",
        error_messages={"invalid": "A signature is 0x and an even number of hexadecimal digits."},
        widget=forms.Textarea(attrs={"rows": 3, "autocomplete": "off", "spellcheck": "false"}),
    )


@page(Right.DATA, section=SECTION)
def service(request: PageRequest) -> HttpResponse:
    """Wallets, tier and sessions. Five queries beside those of the doorway."""
    shown = account_summary.of(request.access.account, now=timezone.now())
    told = {"shown": shown, "most": links.MOST, "base_url": public_url("")}
    return render(request, "payments/dashboard/service.html", told)


@page(Right.DATA, section=SECTION, methods=("GET", "HEAD", "POST"))
def new(request: PageRequest) -> HttpResponse:
    """Ask for the address of a wallet, and then for its signature of a message that is made for it."""
    if request.method in ASKED:
        return render(request, "payments/dashboard/link.html", {"form": AddressForm()})
    form = AddressForm(request.POST)
    if not form.is_valid():
        return render(request, "payments/dashboard/link.html", {"form": form}, status=400)
    address: str = form.cleaned_data["address"]
    letter = link_challenge.letter(address, account=request.access.account, now=timezone.now())
    signed = SignatureForm(initial={"address": letter.address, "nonce": letter.nonce})
    told = {"letter": letter, "form": signed, "by_browser": form.cleaned_data["by_browser"]}
    return render(request, "payments/dashboard/sign.html", told)


@page(Right.DATA, section=SECTION, methods=("POST",))
def link(request: PageRequest) -> HttpResponse:
    """Link the wallet whose signature this is; else show a fresh message, with what is wrong."""
    now, account = timezone.now(), request.access.account
    form = SignatureForm(request.POST)
    if form.is_valid():
        try:
            linked = link_challenge.link(**form.cleaned_data, account=account, now=now)
        except Refusal as refusal:
            form.add_error("signature", refusal.message)
        else:
            words = "The wallet is linked." if linked.is_new else "The wallet was linked already."
            messages.success(request, words)
            return redirect("data-service", venue=request.access.venue.public_id)
    if "address" in form.errors:
        return render(request, "payments/dashboard/link.html", {"form": AddressForm(request.POST)}, status=400)
    # A fresh one beside what is wrong with the last: it may have been too old.
    letter = link_challenge.letter(form.cleaned_data["address"], account=account, now=now)
    form.data = {**request.POST.dict(), "nonce": letter.nonce}
    return render(request, "payments/dashboard/sign.html", {"letter": letter, "form": form}, status=400)


@page(Right.DATA, section=SECTION, methods=("GET", "HEAD", "POST"))
def unlink(request: PageRequest, address: str) -> HttpResponse:
    """Ask, then end the link."""
    account = request.access.account
    if address not in account_summary.addresses_of(account):
        raise Http404
    if request.method in ASKED:
        return render(request, "payments/dashboard/unlink.html", {"address": evm.checksummed(address)})
    try:
        links.detach(address, account=account.pk)
    except Refusal as gone:
        raise Http404 from gone
    messages.success(request, "The wallet is not linked any more.")
    return redirect("data-service", venue=request.access.venue.public_id)


@page(Right.DATA, section=SECTION, methods=("POST",))
def look_again(request: PageRequest, address: str) -> HttpResponse:
    """Have the chain asked what the wallet holds now."""
    if address not in account_summary.addresses_of(request.access.account):
        raise Http404
    now = timezone.now()
    read_at = links.as_read(address, now=now).read_at
    if read_at is None or read_at < now - STALE:
        messages.warning(request, "The chain cannot be asked just now. What was read last stays; try again later.")
    else:
        messages.success(request, "This is what the wallet holds. The chain is asked again after ten minutes.")
    return redirect("data-service", venue=request.access.venue.public_id)


@page(Right.DATA, section=SECTION, methods=("POST",))
def end_session(request: PageRequest, session: UUID) -> HttpResponse:
    """End a session of one of the account's wallets."""
    wallets = account_summary.addresses_of(request.access.account)
    try:
        ended = sessions.end(session, wallets=wallets, now=timezone.now())
    except Refusal as gone:
        raise Http404 from gone
    messages.success(request, "The session is ended." if ended else "The session had ended already.")
    return redirect("data-service", venue=request.access.venue.public_id)
