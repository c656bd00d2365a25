"""Caches of whole models made shorter: queries collected, tokens chosen or fitted, a cache that `generate` takes."""
