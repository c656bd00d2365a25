"""Networks as the layers of a Hawk: temporal parts with real-gated recurrences, and gated MLPs (10.8)."""
