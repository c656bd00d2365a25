"""Validations of small heads, and what they say."""

from bounds import validate
from spherapprox import EqualMeasurePartition, SplitHead, sphere


def verdicts(validation):
    """Return the verdicts of theorems by their names."""
    return {check.theorem: check.verdict for check in validation.checks}


def attempted(target, b=None, n=2000, **options):
    """Validate a small split head, of which only the claims are at issue."""
    b = EqualMeasurePartition(target.dim, 40) if b is None else b
    head = SplitHead.from_target(target, b, 20.0)
    return validate(head, target, n=n, examine=["claims"], **options)


def claim(validation, name):
    """Return the one claim of a name."""
    (result,) = (claim for claim in validation.claims if claim.name == name)
    return result


def turned(dim, seed=1):
    """Return a random point: nothing is aligned with the axes."""
    return sphere.uniform(dim, 1, rng=seed)[0]
