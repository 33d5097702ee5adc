"""What every app uses. Nothing here imports an app or a module of settings."""
