"""What somebody is asked who adds a passkey."""

from typing import Any

from allauth.mfa.webauthn.forms import AddWebAuthnForm


class AddPasskey(AddWebAuthnForm):  # type: ignore[misc]  # allauth has no types
    """Its name, and whether it signs one in alone."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        name, alone = self.fields["name"], self.fields["passwordless"]
        name.label, name.help_text, name.max_length = "Name", "To tell it from others: my phone.", 100
        alone.label, alone.initial = "Sign in with it alone", True
        alone.help_text = "Without the password. Untick it for a security key that has no PIN."
