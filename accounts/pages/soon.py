"""A page that is on its way."""

from django.http import HttpResponse
from django.shortcuts import render

from accounts.pages.doorway import PageRequest, page


@page()
def soon(request: PageRequest) -> HttpResponse:
    """The frame alone."""
    return render(request, "pages/shell.html")
