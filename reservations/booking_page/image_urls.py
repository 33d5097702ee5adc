"""GET /photos/img_.../{size}.webp: the logos and photos of booking pages."""

from django.urls import re_path

from framework.images.views import serve_thumbnail
from reservations.booking_page.branding import load_image

urlpatterns = [re_path(r"^(?P<path>[\s\S]*)$", serve_thumbnail, {"load": load_image}, name="branding-image")]
