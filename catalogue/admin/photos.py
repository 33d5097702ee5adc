"""Photos, for staff: looked through, uploaded, hidden."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from PIL import Image

from catalogue.models import Photo
from catalogue.photos import listing, thumbnails, uploads
from framework.admin.large_tables import LargeTableAdmin


class PhotoForm(forms.ModelForm[Photo]):
    """The words of a photo; for a new one its file too."""

    upload = forms.FileField(
        label="File",
        help_text="JPEG, PNG or WebP, at most 15 MB and 50 megapixels. Where and with what it was taken is removed.",
        widget=forms.ClearableFileInput(attrs={"accept": "image/jpeg,image/png,image/webp"}),
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.picture: Image.Image | None = None
        if "alt" in self.fields:
            self.fields["alt"].required = True

    def clean_upload(self) -> Any:
        """Read the picture. Refuses what is none, or too large."""
        upload = self.cleaned_data["upload"]
        try:
            self.picture = uploads.read(upload.file, length=upload.size)
        except uploads.BadPicture as refusal:
            raise forms.ValidationError(refusal.message) from refusal
        return upload


@admin.register(Photo)
class PhotoAdmin(LargeTableAdmin):
    """Photos. The bytes of an address never change: another picture is another photo."""

    class Media:
        css: ClassVar[dict[str, list[str]]] = {"all": ["catalogue/admin.css"]}

    form = PhotoForm
    list_display = ["preview", "restaurant", "kind", "alt", "is_hidden", "created_at"]
    list_display_links = ["preview", "alt"]
    list_select_related = ["restaurant"]
    list_filter = ["kind", "is_hidden"]
    search_fields = ["restaurant__slug__exact"]
    search_help_text = "The slug of the restaurant, whole"
    autocomplete_fields = ["restaurant", "source"]
    actions = ["hide", "show_again"]

    def get_fields(self, request: HttpRequest, obj: Photo | None = None) -> list[Any]:
        """A new one has a file to be chosen, an old one its preview."""
        words = ["kind", "alt", "caption", ("author", "license", "source")]
        if obj is None:
            return ["restaurant", "upload", *words]
        return ["large", "restaurant", *words, ("width", "height", "created_at"), "is_hidden", "review"]

    def get_readonly_fields(self, request: HttpRequest, obj: Photo | None = None) -> list[str]:
        """What it shows, and of whom; hiding is an action, which counts the reviews anew."""
        if obj is None:
            return []
        return ["large", "restaurant", "source", "width", "height", "created_at", "is_hidden", "review"]

    @admin.display(description="Preview")
    def preview(self, photo: Photo) -> SafeString:
        """The small size; of a hidden one a word, as its bytes are not served."""
        return picture(photo, "small", 120)

    @admin.display(description="Photo")
    def large(self, photo: Photo) -> SafeString:
        """The large size."""
        return picture(photo, "large", 600)

    def save_model(self, request: HttpRequest, obj: Photo, form: Any, change: bool) -> None:
        """Store the picture of a new one; of an old one write its words alone."""
        if not change:
            uploads.add(obj, form.picture, now=timezone.now())
        elif form.changed_data:
            obj.save(update_fields=form.changed_data)

    def delete_model(self, request: HttpRequest, obj: Photo) -> None:
        """With its files."""
        uploads.delete(Photo.objects.filter(pk=obj.pk), now=timezone.now())

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Photo]) -> None:
        """With their files."""
        uploads.delete(queryset, now=timezone.now())

    @admin.action(description="Hide the selected photos", permissions=["change"])
    def hide(self, request: HttpRequest, queryset: QuerySet[Photo]) -> None:
        """Serve 404 instead; copies that others have kept stay with them."""
        hidden = uploads.hide(queryset, hidden=True, now=timezone.now())
        self.message_user(request, f"{hidden} photos are not shown any more.", messages.SUCCESS)

    @admin.action(description="Show the selected photos again", permissions=["change"])
    def show_again(self, request: HttpRequest, queryset: QuerySet[Photo]) -> None:
        """Serve them again."""
        shown = uploads.hide(queryset, hidden=False, now=timezone.now())
        self.message_user(request, f"{shown} photos are shown again.", messages.SUCCESS)


def picture(photo: Photo, size: str, width: int) -> SafeString:
    """A photo in a page of the admin."""
    if photo.is_hidden:
        return format_html("<em>{}</em>", "hidden")
    wide, high = thumbnails.measures(size, width=photo.width, height=photo.height)
    return format_html(
        '<img src="{}" width="{}" height="{}" alt="{}" loading="lazy" class="photo">',
        listing.path(photo.pk, size),
        width,
        round(high * width / wide),
        photo.alt,
    )
