"""What underflows of weights cost, by kind of model, against exact arithmetic."""

import numpy as np
import pytest
from recurrent_programs import off

from bounds.prompts.recurrent import module_error
from spherapprox.prompts.recurrent import Input, LinState, Program


@pytest.mark.parametrize(
    ("small", "size", "largest"), [(1e-200, 1e300, 1e-97), (1e-300, 1e300, 1e-297), (1e-160, 1.0, 1e-305)]
)
def test_weights_that_underflow_are_counted(small, size, largest):
    x = Input(1)
    for program in (Program(small * (small * x)), Program(LinState(small * x, 0.5, small))):
        for kind, model in (("interpreter", program), ("network", program.compile())):
            limit = module_error(program, [[size], [size]], kind=kind)
            assert (off(program, [[size], [size]], model([[size], [size]])) <= limit).all(), kind
            assert (limit <= largest).all()


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_what_underflowed_is_not_forgotten_by_a_large_factor(sign):
    x = Input(1)
    tiny = LinState(sign * (1e-200 * x), np.zeros((1, 1)), 1e-200)
    for program in (Program(1e300 * (1e-200 * (1e-200 * x))), Program(1e300 * tiny), Program(1e300 * (1e-200 * tiny))):
        for kind, model in (("interpreter", program), ("network", program.compile())):
            for size in (1.0, 1e100):
                limit = module_error(program, [[size]], kind=kind)
                assert (off(program, [[size]], model([[size]])) <= limit).all(), (kind, size)


@pytest.mark.parametrize("kind", ["lstm", "gru"])
def test_units_of_large_values_count_weights_that_underflow(kind):
    torch = pytest.importorskip("torch")
    program = Program(LinState(1e-150 * Input(1), np.zeros((1, 1))))
    module = program.compile().to_torch(kind, value_bound=2.0**600)
    result = module(torch.full((1, 1), 1e170, dtype=torch.float64)).numpy()
    limit = module_error(program, [[1e170]], kind=kind, value_bound=2.0**600)
    assert (off(program, [[1e170]], result) <= limit).all()
    assert limit.max() < 1e22
