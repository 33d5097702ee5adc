"""Sign-up, closure and data export of an account."""
