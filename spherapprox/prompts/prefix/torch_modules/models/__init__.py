"""Models of transformers: what their attention layers compute, layer by layer."""
