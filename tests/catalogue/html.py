"""The pages of the admin, and their forms sent as a browser would."""

from typing import Any

from django.db.models import Model
from django.test import Client
from django.urls import reverse

from catalogue.models import Restaurant


def address(model: type[Model], kind: str, *key: Any) -> str:
    return reverse(f"admin:catalogue_{model.__name__.lower()}_{kind}", args=key)


def change(staff: Client, place: Restaurant, **fields: Any) -> Any:
    """Send the form of the change page as a browser would, with these fields changed."""
    response = staff.get(address(Restaurant, "change", place.pk))
    form = response.context["adminform"].form
    sent = {name: form[name].value() for name in form.fields}
    sent = {name: "" if value is None else value for name, value in sent.items()}
    sent |= {"phone_verified_at_0": "", "phone_verified_at_1": "", "verified_at_0": "", "verified_at_1": ""}
    for formset in response.context["inline_admin_formsets"]:
        prefix = formset.formset.prefix
        sent |= {f"{prefix}-TOTAL_FORMS": "0", f"{prefix}-INITIAL_FORMS": "0"}
    for name in ("alt_names", "cuisines"):
        sent[name] = ",".join(sent[name]) if isinstance(sent[name], list) else sent[name]
    return staff.post(address(Restaurant, "change", place.pk), {**sent, **fields})
