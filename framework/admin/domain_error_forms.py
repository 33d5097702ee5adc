"""Admin forms for rules that are only checked on saving: the form is shown again with the error."""

from typing import Any, ClassVar

from django.contrib import admin
from django.core.exceptions import NON_FIELD_ERRORS
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse

from framework.errors import ApiError


class DomainErrorForm(ModelForm[Any]):
    """A form that is invalid because saving it raised `domain_error`."""

    domain_error: ClassVar[ApiError | None] = None

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        if self.domain_error:
            self.add_domain_error(self.domain_error)
        return values

    def add_domain_error(self, error: ApiError) -> None:
        self.add_error(error.param if error.param in self.fields else NON_FIELD_ERRORS, error.message)


class DomainErrorAdmin(admin.ModelAdmin[Any]):
    """Saves all of a form or nothing; shows it again if saving raises an ApiError."""

    form = DomainErrorForm

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **options: Any) -> Any:
        form: Any = super().get_form(request, obj, change, **options)
        form.domain_error = getattr(request, "domain_error", None)
        return form

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        try:
            return super().changeform_view(request, object_id, form_url, extra_context)
        except ApiError as error:
            request.domain_error = error  # type: ignore[attr-defined]
            return super().changeform_view(request, object_id, form_url, extra_context)
