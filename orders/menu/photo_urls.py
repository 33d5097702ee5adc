"""GET /photos/dish_.../{size}.webp: the thumbnails of dish photos."""

from django.urls import re_path

from framework.images.views import serve_thumbnail
from orders.menu import photos

urlpatterns = [re_path(r"^(?P<path>[\s\S]*)$", serve_thumbnail, {"load": photos.load}, name="dish-photo")]
