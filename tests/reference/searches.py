"""Searches for the shortest head with options by name, for tests that vary them."""

from dataclasses import fields

from spherapprox import Target, shortest_head
from spherapprox.shortest import SearchOptions, TokenFormat


def search(target, eps, kind=None, *, dim=None, **options):
    """Call `shortest_head` with the fields of its two records among the options."""
    records = {
        name: record(**{field.name: options.pop(field.name) for field in fields(record) if field.name in options})
        for name, record in (("tokens", TokenFormat), ("search", SearchOptions))
    }
    target = target if dim is None or isinstance(target, Target) else Target(target, dim)
    return shortest_head(target, eps, kind, **records, **options)
