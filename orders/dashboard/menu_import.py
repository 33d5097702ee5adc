"""Menu files: download, upload, preview and apply."""

from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.dashboard.decorators import PageRequest, page
from accounts.tenancy.permissions import Right
from framework.errors import ApiError
from orders.menu import csv_format, import_file
from orders.models import Menu, MenuUpload

# The preview lists at most so many lines of each kind, and counts the others.
MAX_LISTED = 500


class UploadForm(forms.Form):
    file = forms.FileField(
        label=gettext_lazy("File"),
        help_text=gettext_lazy("CSV in UTF-8, at most 2,000 lines and 1 MB"),
        widget=forms.FileInput(attrs={"accept": ".csv,text/csv"}),
    )


@page(Right.MENU, section="menu", methods=("GET", "HEAD", "POST"))
def upload(request: PageRequest) -> HttpResponse:
    form = UploadForm(request.POST, request.FILES) if request.method == "POST" else UploadForm()
    if form.is_valid():
        file = form.cleaned_data["file"]
        try:
            content = file.read(csv_format.MAX_BYTES + 1)
            upload_row = import_file.store_upload(
                request.access.venue, content=content, file_name=file.name, now=request.access.venue.now()
            )
        except ApiError as refusal:
            form.add_error("file", refusal.message)
        else:
            return redirect("menu-upload-preview", venue=request.access.venue.public_id, key=upload_row.pk)
    context = {"form": form, "columns": csv_format.COLUMNS, "required": csv_format.REQUIRED}
    return render(request, "orders/menu_upload.html", context, status=400 if form.is_bound else 200)


@page(Right.MENU, section="menu", methods=("GET", "HEAD", "POST"))
def preview(request: PageRequest, *, key: UUID) -> HttpResponse:
    """Preview what the file adds, changes and deletes; a POST applies it to the previewed version of the menu."""
    venue = request.access.venue
    row = get_object_or_404(MenuUpload, venue=venue, pk=key)
    if request.method == "POST":
        removes = request.POST.get("removes_missing") == "on"
        try:
            applied = import_file.apply_upload(
                row,
                version=request.POST.get("version", ""),
                removes_missing=removes,
                actor=request.access.actor,
                now=request.access.venue.now(),
            )
        except ApiError as refusal:
            messages.error(request, refusal.message)
            return render_preview(request, row, status=400)
        if applied is None:
            messages.info(request, _("This file was already applied. It was not applied again."))
        else:
            deleted = len(applied.missing) if removes else 0
            message = _("Applied: %(added)s added, %(changed)s changed, %(deleted)s deleted.")
            counts = {"added": len(applied.added), "changed": len(applied.changed), "deleted": deleted}
            messages.success(request, message % counts)
        return redirect("menu", venue=venue.public_id)
    return render_preview(request, row)


def render_preview(request: PageRequest, row: MenuUpload, status: int = 200) -> HttpResponse:
    sheet = csv_format.Sheet.from_json(row.content)
    plan = import_file.plan_import(request.access.venue, sheet, stock=row.content.get("stock"))
    # Columns in which no added dish has a value are left out.
    columns = [name for name in csv_format.COLUMNS if any(dish.values[name] for dish in plan.added)]
    context = {
        "upload": row,
        "plan": plan,
        "max_listed": MAX_LISTED,
        "added": [(dish.line, [(name, dish.values[name]) for name in columns]) for dish in plan.added[:MAX_LISTED]],
        "columns": columns,
    }
    return render(request, "orders/menu_upload_preview.html", context, status=status)


@page(Right.MENU, section="menu")
def download(request: PageRequest) -> HttpResponse:
    """Download the current menu. Two queries besides those of the `page` decorator."""
    venue = request.access.venue
    items = import_file.list_items(Menu.objects.filter(venue=venue).first())
    return csv_file(csv_format.write(import_file.format_item(item, venue.currency) for item in items), "menu.csv")


@page(Right.MENU, section="menu")
def template(request: PageRequest) -> HttpResponse:
    return csv_file(csv_format.write([csv_format.EXAMPLE]), "menu-template.csv")


def csv_file(text: str, name: str) -> HttpResponse:
    """Return a CSV download; the byte order mark tells spreadsheets that it is UTF-8."""
    content = f"\N{BYTE ORDER MARK}{text}".encode()
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(content, content_type="text/csv; charset=utf-8", headers=headers)
