"""Invoices of an account: the months with their sums, the address on them, and the PDF of a month."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.dashboard.decorators import PageRequest, page
from accounts.tenancy.permissions import Right
from payments.dashboard.ledger import parse_month
from payments.invoices import pdf, statement
from payments.models import Billing

SECTION = "data"
MAX_ADDRESS_LINES = 8


class AddressForm(forms.ModelForm[Billing]):
    class Meta:
        model = Billing
        fields = ("address",)
        labels = {"address": gettext_lazy("Address")}
        help_texts = {"address": gettext_lazy("The lines below the name, such as street and tax number.")}
        widgets = {"address": forms.Textarea(attrs={"rows": 4, "autocomplete": "street-address"})}

    def clean_address(self) -> str:
        lines = [line.strip() for line in self.cleaned_data["address"].splitlines() if line.strip()]
        if len(lines) > MAX_ADDRESS_LINES:
            raise forms.ValidationError(_("Enter at most eight lines."))
        return "\n".join(lines)


@page(Right.DATA, section=SECTION, methods=("GET", "HEAD", "POST"))
def invoices(request: PageRequest) -> HttpResponse:
    """List the months, and save the address. Five queries besides those of the `page` decorator."""
    account, now = request.access.account, timezone.now()
    billing = Billing.objects.filter(pk=account.pk).first() or Billing(account=account)
    form = AddressForm(request.POST or None, instance=billing)
    if request.method == "POST" and form.is_valid():
        Billing.objects.update_or_create(account=account, defaults={"address": form.cleaned_data["address"]})
        messages.success(request, _("The address was saved. Invoices that were final before keep theirs."))
        return redirect("data-invoices", venue=request.access.venue.public_id)
    context: dict[str, Any] = {"form": form, "months": statement.list_months(account, now=now)}
    return render(request, "payments/dashboard/invoices.html", context, status=400 if form.errors else 200)


@page(Right.DATA, section=SECTION)
def invoice(request: PageRequest, month: str) -> HttpResponse:
    """Send the PDF of a month."""
    found = parse_month(month)
    shown = statement.load_statement(request.access.account, found, now=timezone.now()) if found else None
    if shown is None:
        raise Http404
    name = f"invoice-{shown.number}.pdf" if shown.is_final else f"preliminary-invoice-{shown.number}.pdf"
    return HttpResponse(
        pdf.render_invoice(shown),
        content_type="application/pdf",
        headers={"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"},
    )
