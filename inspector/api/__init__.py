"""The REST API under `/api/v1`: what the pages show, from the same query functions, and ways to bring results in."""
