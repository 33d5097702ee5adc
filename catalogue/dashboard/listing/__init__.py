"""The pages of a claimed restaurant: claim, fields, hours, photos, replies to reviews and offers."""
