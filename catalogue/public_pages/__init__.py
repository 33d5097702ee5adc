"""Pages for people: the search with its map, a page of each restaurant, and the sitemap that lists them."""
