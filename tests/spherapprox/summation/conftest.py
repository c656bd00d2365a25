"""Settings for the tests of sums."""

import pytest


@pytest.fixture(params=["dense", "numpy"])
def method(request):
    """The methods that take every pair."""
    return request.param
