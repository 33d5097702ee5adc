"""Photos of any app: validation of uploads, atomic storage, thumbnails, and the view that serves them."""
