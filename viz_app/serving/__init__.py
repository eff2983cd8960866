"""Model serving: registry, loader, request queue, result cache, translation service. Knows no page, no session."""
