"""Paths of the pages for people."""

from django.urls import re_path

from catalogue.public_pages import views

urlpatterns = [
    re_path("^restaurants/?$", views.search_restaurants, name="restaurants"),
    re_path("^restaurants/(?P<slug>[a-zA-Z0-9_-]{1,120})/?$", views.show_restaurant, name="restaurant"),
    re_path(r"^sitemap-restaurants-(?P<number>[1-9][0-9]{0,3})\.xml$", views.show_sitemap),
]
