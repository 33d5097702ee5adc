"""What somebody is asked who adds a passkey."""

from typing import Any

from allauth.mfa.webauthn.forms import AddWebAuthnForm


class AddPasskey(AddWebAuthnForm):  # type: ignore[misc]  # allauth has no types
    """Its name, and whether it signs one in alone."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        name, alone = self.fields["name"], self.fields["passwordless"]
        name.label, name.help_text, name.max_length = "Name", "To recognise it, for example: my phone.", 100
        alone.label, alone.initial = "Passwordless sign-in", True
        alone.help_text = "Sign in without the password. Clear this for a security key without a PIN."
