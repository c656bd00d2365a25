"""Mutations and the tests that should notice: numbers, guards and terms that matter, none that changes nothing."""

from __future__ import annotations

from typing import NamedTuple


class Mutant(NamedTuple):
    """A text that a file has once, what takes its place, and the tests that should fail."""

    file: str
    old: str
    new: str
    tests: tuple[str, ...]


def _of(folder: str, tests: str, table: str) -> list[Mutant]:
    """Read lines ``file | old | new | test file or node, ...``; a backslash and n stands for a new line."""
    found = []
    for line in filter(None, table.splitlines()):
        file, old, new, nodes = (part.strip() for part in line.split(" | "))
        texts = (text.strip("`").replace("\\n", "\n") for text in (old, new))
        found.append(
            Mutant(f"{folder}/{file}.py", *texts, tuple(tests.format(*_split(node)) for node in nodes.split(", ")))
        )
    return found


def _split(node: str) -> tuple[str, str]:
    file, _, name = node.partition("::")
    return file, f"::test_{name}" if name else ""


SCALARS = r"""
bessel | `5 / 16 * z` | `5 / 17 * z` | special::bessel_functions_against_mpmath
bessel | `80727925 / 4096` | `80727925 / 8192` | accuracy
bessel | `SERIES_BELOW = 64.0` | `SERIES_BELOW = 40.0` | accuracy
bessel | `while term > 1e-17 * total` | `while term > 1e-13 * total` | special::bessel_functions_against_mpmath, accuracy
bessel | `x > TINY else math.log(x)` | `x > 0.0 else math.log(x)` | special::log_iv_of_subnormal_numbers, accuracy
bessel | `angle = math.asinh(v / x) if x > 1e-8 * v else` | `angle = math.asinh(v / x) if x > 0.0 else` | special, accuracy
bessel_ratio | `c = (a + 2.0 * (steps + 1.0)) * g\n    top` | `c = (a + 2.0 * steps) * g\n    top` | special::single_ratio_densely, accuracy
bessel_ratio | `top, below = (1.0 + k * h) * top - ((a + 2.0 * k) * g)` | `top, below = (1.0 + k * h) * top - ((a + 2.0 * k + 1.0) * g)` | special::bessel_functions_against_mpmath
bessel_ratio | `rest = (((top - back) - lack) + (lost + rest * x) - p * low) / below` | `rest = 0.0` | special, accuracy
bessel_ratio | `huge = x > 1e17 * (v + 1.0)` | `huge = False` | special, accuracy
bessel_ratio | `return ratio - ratio * (((low - rest) + (more + most)) / below) if x < math.inf else 1.0` | `return ratio if x < math.inf else 1.0` | special, accuracy
bessel_ratio | `if x > TINY:\n        return math.log(x / (x + e))` | `if x > 0.0:\n        return math.log(x / (x + e))` | special, accuracy
bessel_ratio | `return sums - 0.5 * math.log1p(rise / r1)` | `return sums - 0.5 * math.log1p(rise / r1) * (1.0 + 1e-9)` | special::ratio_over_many_steps_against_mpmath, accuracy
gamma | `1 / 1260` | `1 / 1261` | special, accuracy
gamma | `while a < 12.0:` | `while a < 4.0:` | special, accuracy
gamma | `0.17510202604393457` | `0.17510202604943457` | special, accuracy
twofold | `a1 * b2 + a2 * b1) + a2 * b2` | `a1 * b2 + a2 * b1)` | special, accuracy
twofold | `(1 / 3 + q * (1 / 5` | `(1 / 3 + q * (1 / 6` | special, accuracy
beta | `CUT = 40.0` | `CUT = 28.0` | special::cap_measure_and_its_inverse_against_mpmath, accuracy
beta | `if width < 1e-3 * angle:` | `if width < 0.0:` | special, accuracy
beta | `PI_TAIL = 1.2246467991473532e-16` | `PI_TAIL = 0.0` | special, accuracy
beta | `if angle < 0.8:` | `if angle < 1.6:` | special, accuracy
beta | `small = abs(step) < 1e-9` | `small = abs(step) < 1e-3` | special, accuracy
beta | `if m * angle * angle < 1e-17:` | `if m * angle * angle < 1e-3:` | special, accuracy
gegenbauer | `while i < k and abs(term) > 1e-17:` | `while i < k and abs(term) > 1e-12:` | gegenbauer
gegenbauer | `a = j / (j + dim - 1.0)\n        value, before` | `a = j / (j + dim)\n        value, before` | gegenbauer
gegenbauer | `if i >= order and abs(value) + abs(before) < TINY:` | `if i >= order and abs(value) + abs(before) < 1e-200:` | gegenbauer
zonal | `if y > -0.5:` | `if y > -2.0:` | vmf::integrals_against_their_definitions, vmf::integrals_hold_over_the_whole_range, vmf
zonal | `return base.m1 * math.log1p(y)` | `return (base.m1 + 1.0) * math.log1p(y)` | vmf::integrals_against_their_definitions
zonal | `scale -= sign * 2.0 * lam * math.sin(theta0 + 0.5 * sign * w)` | `scale -= sign * 2.0 * lam * math.sin(theta0 + sign * w)` | vmf::integrals_against_their_definitions
zonal | `math.sin(shift) - 2.0 * s * s)\n    else` | `math.sin(shift))\n    else` | vmf::integrals_against_their_definitions, vmf
"""

CELLS = r"""
cap | `math.sqrt(4.0 * math.pi / n) + 0.5` | `math.sqrt(4.0 * math.pi / n)` | partition::collar_counts_are_leopardis
cap | `return n - math.ceil(ideal - 0.5)` | `return n - math.ceil(ideal + 0.5)` | partition::collar_counts_follow_leopardis_algorithm, partition::cells_have_measure_one_over_n
cap | `while first_of(n, cap, fitting, count, j) > k:` | `while first_of(n, cap, fitting, count, j) > k + 1:` | partition, centers
cap | `while colatitude >= boundary(n, south):` | `while colatitude > boundary(n, south):` | centers::cells_are_half_open, centers, partition
collars | `gauss_legendre(20)` | `gauss_legendre(6)` | radius::radius_is_the_largest_of_the_radii, radius
collars | `if abs(change) <= 1e-9 * abs(step) or` | `if abs(change) <= 0.1 * abs(step) or` | radius::radius_is_the_largest_of_the_radii, radius
collars | `close |= abs(ideal - math.floor(ideal) - 0.5) < 1e-12 + 3e-13 * ideal` | `close |= False` | radius
collars | `SMALL = 40` | `SMALL = 100000` | radius::radius_in_high_dimension, radius
largest | `moved = (1.0 / n + 4e-15) / sine` | `moved = 0.0` | radius::rest_of_the_collars_of_the_sphere, radius
largest | `across * across * (1.0 + cot * far) * (1.0 + cot * near)` | `across * across * (1.0 + cot * near)` | radius::rest_of_the_collars_of_the_sphere
largest | `if across > 0.5 * math.pi:` | `if across > math.pi:` | radius::radius_about_a_centre_in_an_interval
zone | `if across > 0.5 * math.pi:\n        # cos d` | `if across > math.pi:\n        # cos d` | kinds::no_other_colatitude_has_a_smaller_radius, radius::radius_of_few_cells, partition
zone | `_NODES, _WEIGHTS = gauss_legendre(32)` | `_NODES, _WEIGHTS = gauss_legendre(10)` | kinds::centroid_of_a_zone_matches_mpmath
zone | `center = min(nearest, equal)` | `center = equal` | kinds::no_other_colatitude_has_a_smaller_radius, kinds
zone | `_NO_LENGTH = 1e-14` | `_NO_LENGTH = 0.0` | kinds
zone | `min(math.pi, 2.0 * (upper if` | `min(math.pi, (upper if` | kinds::diameter_of_a_zone, kinds::diameter_bound_is_the_largest_diameter
zone | `return max(radius(lower, upper, lower, across), radius(lower, upper, upper, across))` | `return radius(lower, upper, upper, across)` | kinds::diameter_of_a_zone, kinds::diameter_bound_is_the_largest_diameter
location | `_DOUBT = 1e-14` | `_DOUBT = -1.0` | centers::cells_are_half_open, centers, partition::every_point_lies_in_one_cell_also_on_the_faces
location | `index[i] += 1 if colatitude >= 0.5 * math.pi else 0` | `index[i] += 1 if colatitude > 0.5 * math.pi else 0` | partition::every_point_lies_in_one_cell_also_on_the_faces, centers::cells_are_half_open, centers
centroids | `return min(width * width / 12.0` | `return min(width * width / 13.0` | radius::spread_of_a_zone, radius
centroids | `0.25 * across * across * before * after\n` | `0.25 * across * across * before\n` | radius::rest_of_the_collars_about_centroids
diameters | `2.0 * math.pi / (south - north)` | `math.pi / (south - north)` | kinds::diameter_bound_is_the_largest_diameter
circle | `if octant % 2:` | `if octant % 4 == 3:` | partition::cells_have_measure_one_over_n, partition::centres_lie_in_their_own_cells
"""

LOOPS = r"""
chords | `count = min(_LANES, i - first)` | `count = min(_LANES, i - first) - 1` | discrepancy::l2_against_forty_digits
caps | `factor *= square * ((k - 1.0) / k)` | `factor *= square * (k / (k + 1.0))` | discrepancy::cap_measure
caps | `above = max(above, after - smaller, larger - before)` | `above = max(above, after - smaller)` | discrepancy::sup_encloses_the_caps_through_points, discrepancy
riesz | `r2[j - start] = scale[j - start]` | `r2[j - start] = 2.0 * scale[j - start]` | refine::energy_and_gradient, refine
riesz | `if bits % 2:` | `if bits % 4:` | refine::energy_and_gradient
features | `some[r, i] = 0.0` | `some[r, i] *= 0.5` | lowrank
features | `count = min(CHUNK, points.shape[0] - start)` | `count = min(CHUNK, points.shape[0] - start - 1)` | lowrank
legendre | `MARGIN = 100.0` | `MARGIN = 1.0` | harmonic_sums
legendre | `if value[i] < _LOW:` | `if value[i] < 0.0:` | harmonic_sums
gridding | `0.11111110744919658` | `0.11111211744919658` | harmonic_sums
decay | `0.00015403723980749256,\n    ),` | `0.0,\n    ),` | fused
decay | `shifter = _constant(kind, 1.5 *` | `shifter = _constant(kind, 1.25 *` | fused
decay | `octaves = 2.0 - float(` | `octaves = 0.02 * float(-` | shifted
fused | `near = smallest(t) < constants[3]` | `near = False` | fused
fused | `store_block(rest, at, plus(load_like(rest, at, block), error))` | `store_block(rest, at, load_like(rest, at, block))` | fused
fused | `out[i] = 0.5 * (whole - rest)` | `out[i] = 0.5 * whole` | fused
shifted | `_rescale(scale, total)` | `_rescale(scale, rest)` | shifted
truncated | `limits[RATE] * (1.0 + limits[SLACK]) * 4.01 - least[0]` | `limits[RATE] * 0.01 - least[0]` | truncated
"""

SPHERES = r"""
sphere | `azimuth[azimuth >= 2.0 * np.pi] = 0.0` | `azimuth[azimuth > 7.0] = 0.0` | sphere, partition
sphere | `radius *= np.sin(array[:, j])` | `radius *= np.abs(np.sin(array[:, j])) + 0.0` | sphere
sphere | `np.hypot(rows[:, 0], rows[:, 1]))\n    east` | `np.sqrt(1.0 - rows[:, 2] ** 2))\n    east` | sphere
vmf | `return 0.5 * (self.dim - 1)` | `return 0.5 * self.dim` | vmf::reference_values
vmf | `value = 0.0 - self.log_normalizer - lam * bessel_ratio.first_ratio(self._order, lam)` | `value = 0.0 - self.log_normalizer` | vmf::density_and_entropy_agree_with_scipy
_kernels/sample | `cost = m * (mode * (raised - 1.0) / below + np.log(below))` | `cost = (m - 1.0) * (mode * (raised - 1.0) / below + np.log(below))` | vmf::samples_follow_the_distribution
coefficients/tail | `rest = log_peak if log_ratio >= 0.0 else` | `rest = -math.inf if log_ratio >= -100.0 else` | spectral_coefficients
coefficients/tail | `np.log1p((dim - 2.0) / (k + 1.0))` | `np.log1p((dim - 1.0) / (k + 1.0))` | spectral_coefficients::tails_against_mpmath
coefficients/riemann | `np.full(n, 1.0 / n) if weights is None` | `np.full(n, 1.0 / (n + 1)) if weights is None` | coefficients
points/gauss | `np.full(degree + 1, 1.0 / (degree + 1))` | `np.full(degree + 1, 1.0 / (degree + 2))` | points::gauss_product_integrates_monomials_exactly
points/gauss | `t = t - value / slope` | `t = t + 0.0 * value` | points, quadrature_quality
points/gauss | `return max(float(theta[0]), math.atan(between.max()))` | `return math.atan(between.max())` | points, quadrature_quality::covering_radius_of_gauss_product
points/sequences | `odd = 2.0 * np.arange(n) + 1.0` | `odd = 2.0 * np.arange(n) + 0.5` | points::fibonacci
quality/separation | `2.0**-24\n` | `0.0\n` | covering_quality
"""

BOUNDS = r"""
sharp/convolution | `return min(math.exp(total - log_integral(base, 0.0, math.pi)), whole, 2.0 * sup_norm)` | `return whole` | convolution
sharp/split | `return math.log(math.ceil(math.pi / radius)) if dim == 1 else -float(log_cap_measure(dim, radius / 6.0))` | `return math.log(math.ceil(math.pi / radius)) if dim == 1 else -float(log_cap_measure(dim, radius / 5.0))` | split, equal
sharp/split | `return 2.0 * math.sin(radius + 0.5 * eta) * math.sin(0.5 * eta)` | `return 2.0 * math.sin(radius + eta) * math.sin(0.5 * eta)` | split
sharp/core | `return smooth + sup_norm * float(kernel.shift_variation(radius))` | `return smooth` | core
sharp/lower | `log = log_points - math.log(problem.dim + 2)\n    return _floor(problem, "lower-c` | `log = log_points\n    return _floor(problem, "lower-c` | lower
sharp/quadrature | `math.log(4.0 / moment)` | `math.log(2.0 / moment)` | quadrature
thesis/lemmas | `math.log(2.0 * reach + dim + 1.0)` | `math.log(2.0 * reach + dim)` | thesis
thesis/lemmas | `return -harmonic * degree * math.expm1(degree * log_b)` | `return -harmonic * math.expm1(degree * log_b)` | thesis
thesis/lemmas | `math.log(3.0 if printed else 1.0)` | `math.log(2.0 if printed else 1.0)` | thesis, covering
thesis/theorems | `problem.eps / (2.0 * root), problem.eps / root` | `problem.eps / 2.0, problem.eps / root` | thesis
covering/formulas | `(1.0 - 1e-15)` | `(1.0 + 1e-9)` | covering
covering/formulas | `-float(log_cap_measure(dim, radius / 2.0))` | `-float(log_cap_measure(dim, radius))` | covering
covering/formulas | `return count + math.log1p(math.exp(-count))` | `return count` | covering
ragozin | `return angle - 0.5 * weight` | `return angle - weight` | ragozin
ragozin | `return 0.5 * q * float(` | `return q * float(` | ragozin
spectral | `np.hypot(z, v + 1.5)` | `np.hypot(z, v + 0.5)` | spectral
certify/radii | `log_cap_measure(dim, radius / 6)` | `log_cap_measure(dim, radius / 5)` | certify, certified
certify/zonal | `return ratio ** (self.dim - 1)` | `return ratio ** self.dim` | certify
"""

MUTANTS = (
    *_of("spherapprox/_kernels", "tests/spherapprox/test_{}.py{}", SCALARS + CELLS + LOOPS),
    *_of("spherapprox", "tests/spherapprox/test_{}.py{}", SPHERES),
    *_of("bounds", "tests/bounds/test_{}.py{}", BOUNDS),
)
