"""The menu as a file: downloaded, uploaded, looked at, and then applied."""

from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone

from accounts.dashboard.decorators import PageRequest, page
from accounts.tenancy.permissions import Right
from framework.errors import Refusal
from orders.menu import csv_format, import_file
from orders.models import Menu, MenuUpload

# So many lines of each kind the preview lists; it counts the others.
MOST_LISTED = 500


class UploadForm(forms.Form):
    """A file of dishes."""

    file = forms.FileField(
        label="File",
        help_text="CSV in UTF-8, at most 2,000 lines and 1 MB",
        widget=forms.FileInput(attrs={"accept": ".csv,text/csv"}),
    )

    name = "menu.csv"

    def clean_file(self) -> bytes:
        """What is in it, unless it is too large to be read; what it is called is kept in `name`."""
        file = self.cleaned_data["file"]
        self.name = file.name
        if file.size > csv_format.MOST_BYTES:
            raise forms.ValidationError("This file is larger than 1 MB.")
        content: bytes = file.read()
        return content


@page(Right.MENU, section="menu", methods=("GET", "HEAD", "POST"))
def upload(request: PageRequest) -> HttpResponse:
    """Take a file in; what it would do is shown on the page that follows."""
    form = UploadForm(request.POST, request.FILES) if request.method == "POST" else UploadForm()
    if form.is_valid():
        try:
            made = import_file.keep(
                request.access.venue,
                content=form.cleaned_data["file"],
                file_name=form.name,
                now=timezone.now(),
            )
        except Refusal as refusal:
            form.add_error("file", refusal.message)
        else:
            return redirect("menu-upload-preview", venue=request.access.venue.public_id, key=made.pk)
    status = 400 if request.method == "POST" else 200
    return render(
        request,
        "orders/menu_upload.html",
        {"form": form, "columns": csv_format.COLUMNS, "needed": csv_format.NEEDED},
        status=status,
    )


@page(Right.MENU, section="menu", methods=("GET", "HEAD", "POST"))
def preview(request: PageRequest, *, key: UUID) -> HttpResponse:
    """What the file would add, change and remove; a POST applies it to the menu as it was shown."""
    venue = request.access.venue
    row = get_object_or_404(MenuUpload, venue=venue, pk=key)
    if request.method == "POST":
        removes = request.POST.get("removes_missing") == "on"
        try:
            done = import_file.apply(
                row, version=request.POST.get("version", ""), removes_missing=removes, now=timezone.now()
            )
        except Refusal as refusal:
            messages.error(request, refusal.message)
            return shown(request, row, status=400)
        if done is None:
            messages.info(request, "This file has been applied already; it was not applied again.")
        else:
            gone = len(done.missing) if removes else 0
            messages.success(
                request, f"Applied: {len(done.added)} added, {len(done.changed)} changed, {gone} removed."
            )
        return redirect("menu", venue=venue.public_id)
    return shown(request, row)


def shown(request: PageRequest, row: MenuUpload, status: int = 200) -> HttpResponse:
    """The preview against the menu as it is now."""
    plan = import_file.plan(request.access.venue, csv_format.Sheet.restored(row.content))
    told = {
        "upload": row,
        "plan": plan,
        "most": MOST_LISTED,
        "added": [
            (one.line, [(name, one.values[name]) for name in csv_format.COLUMNS]) for one in plan.added[:MOST_LISTED]
        ],
        "columns": csv_format.COLUMNS,
    }
    return render(request, "orders/menu_upload_preview.html", told, status=status)


@page(Right.MENU, section="menu")
def download(request: PageRequest) -> HttpResponse:
    """The menu as it is. Two queries beside those of the doorway."""
    venue = request.access.venue
    items = import_file.in_order(Menu.objects.filter(venue=venue).first())
    return csv_file(csv_format.write(import_file.cells_of(item, venue.currency) for item in items), "menu.csv")


@page(Right.MENU, section="menu")
def template(request: PageRequest) -> HttpResponse:
    """An example to write over."""
    return csv_file(csv_format.write([csv_format.EXAMPLE]), "menu-template.csv")


def csv_file(text: str, name: str) -> HttpResponse:
    """A download that spreadsheets know to be UTF-8 by its first mark."""
    answer = HttpResponse(f"\N{BYTE ORDER MARK}{text}".encode(), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer
