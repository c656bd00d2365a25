"""Prefixes in closed form: programs of a layer, and virtual tokens."""
