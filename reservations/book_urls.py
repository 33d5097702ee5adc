"""Paths of the page on which guests book, below /book. Each is served with and without a slash at its end."""

from django.urls import re_path

from reservations.pages import book

VENUE = r"^(?P<venue>[^/]+)"

urlpatterns = [
    re_path(rf"{VENUE}/?$", book.book, name="book"),
    re_path(rf"{VENUE}/booked/(?P<receipt>[^/]+)/?$", book.done, name="book-done"),
]
