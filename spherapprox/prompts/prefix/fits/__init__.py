"""Prefixes that give a layer the outputs that are asked for."""
