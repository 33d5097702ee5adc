"""GET /photos/{id}/{size}.webp: the thumbnails of restaurant photos."""

from django.urls import re_path

from catalogue.models import Photo
from catalogue.photos.thumbnails import load_thumbnail
from framework.images.thumbnails import Thumbnail
from framework.images.views import serve_thumbnail
from framework.public_ids import decode


def load(public_id: str, size: str) -> Thumbnail | None:
    pk = decode("ph", public_id)
    photo = pk and Photo.objects.filter(pk=pk, is_hidden=False, restaurant__erased_at=None).first()
    return load_thumbnail(photo, size) if photo else None


urlpatterns = [re_path(r"^(?P<path>[\s\S]*)$", serve_thumbnail, {"load": load}, name="photo")]
