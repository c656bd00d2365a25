"""Sums on processors without AVX-512: all kernels are compiled once more."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core.registry import cpu_target
from sums import wide

from spherapprox._kernels.simd.registers import has_avx512

TESTS = Path(__file__).parents[1]

PORTABLE = """
import sys
sys.path[:0] = sys.argv[1:]
from test_fused import *
import test_shifted as shifted
from spherapprox._kernels.simd.registers import has_avx512
assert not has_avx512()
for concentration in (1.0, 1e3, 1e8):
    for d, columns in ((3, (1,)), (20, (1,)), (14, (6, 190))):
        for normalize in (False, True):
            assert deviation(np.float64, d, columns, concentration, normalize) <= 2e-15, d
for dtype in (np.float64, np.float32):
    for d, p in ((3, 1), (30, 3)):
        assert dots_deviation(dtype, d, p, 8.0, False) <= 0.5, (d, p)
for rate in (0.0, 1.0, 1e8, 1e30):
    for shape in ((3, 131, 1), (25, 64, 6)):
        assert shifted.deviation(np.float64, *shape, rate) <= 2e-15, (rate, shape)
shifted.test_exponentials_below_the_normal_range_are_zero(np.float64)
shifted.test_only_the_nearest_count_at_the_largest_rates(5e299)
shifted.test_mean_angles_keep_their_digits(50.0)
"""


@wide
@pytest.mark.skipif(not has_avx512(), reason="without AVX-512 all tests are of the portable form")
def test_the_portable_form_keeps_its_digits():
    triple, name, features = cpu_target.target_context.codegen().magic_tuple()
    names = [f"-{feature[1:]}" if "avx512" in feature else feature for feature in features.split(",")]
    name = "x86-64-v3" if "x86" in triple else name
    settings = os.environ | {"NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": ",".join(names)}
    folders = [str(TESTS / "spherapprox/summation"), str(TESTS / "reference")]
    subprocess.run([sys.executable, "-c", PORTABLE, *folders], env=settings, check=True)
