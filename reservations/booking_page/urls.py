"""Paths of the page on which guests book, below /book. Each is served with and without a slash at its end."""

from django.urls import re_path

from reservations.booking_page import views

VENUE = r"^(?P<venue>[^/]+)"

urlpatterns = [
    re_path(rf"{VENUE}/?$", views.book, name="book"),
    re_path(rf"{VENUE}/booked/(?P<receipt>[^/]+)/?$", views.done, name="book-done"),
]
