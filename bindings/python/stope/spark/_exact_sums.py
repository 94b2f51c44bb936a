"""Sums of powers of float64 values without any rounding, so that no order and no partition shows.

A value is an integer of 53 bits times a power of two. It is cut into three limbs of 18 bits. Products of limbs are
summed as int64 for each exponent, and the few sums that are left are added as Python's integers.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

__all__ = ["PowerSums", "Moments", "power_sums"]

_LIMB = 18
_MASK = (1 << _LIMB) - 1
_UNIT = 1126  # 2^-1126 divides every float64: the smallest is 2^-1074, and its integer of 53 bits ends 52 bits below
_SPLIT = 32  # third powers of limbs have up to 57 bits: they are summed in two halves


@dataclass
class PowerSums:
    """The sums of x, x^2 and x^3 of ``count`` finite values, in units of 2^-1126, its square and its cube."""

    count: int = 0
    first: int = 0
    second: int = 0
    third: int = 0

    def add(self, other):
        self.count += other.count
        self.first += other.first
        self.second += other.second
        self.third += other.third

    def to_list(self):
        return [self.count, hex(self.first), hex(self.second), hex(self.third)]

    @classmethod
    def of_list(cls, values):
        return cls(values[0], *(int(each, 16) for each in values[1:]))

    def moments(self):
        """The moments of the values, each the real number rounded once."""
        unit = 1 << _UNIT
        first, second, third = Fraction(self.first, unit), Fraction(self.second, unit**2), Fraction(self.third, unit**3)
        n = self.count
        found = Moments(sum=_rounded(first))
        if n == 0:
            return found
        mean = first / n
        found.mean = _rounded(mean)
        m2 = second - first * mean
        if n > 1:
            found.variance = _rounded(m2 / (n - 1))
            found.std = _root(m2 / (n - 1))
        if m2:
            m3 = third - 3 * mean * second + 2 * mean * mean * first
            size = _root((m3 / n) ** 2 / (m2 / n) ** 3)
            found.skewness = -size if m3 < 0 else size
        return found


@dataclass
class Moments:
    """Sum, mean, variance (ddof 1), its square root, and the population's skewness. NaN where there is none."""

    sum: float = 0.0
    mean: float = math.nan
    variance: float = math.nan
    std: float = math.nan
    skewness: float = math.nan


def power_sums(values):
    """The sums of the powers of a float64 array of finite values, at most 2^24 of them."""
    if len(values) == 0:
        return PowerSums()
    fractions, exponents = np.frexp(np.abs(values))
    order = np.argsort(exponents.astype(np.int16), kind="stable")
    exponents = exponents[order].astype(np.int64) - 53 + _UNIT
    exponents[fractions[order] == 0] = _UNIT  # a zero adds nothing
    starts = np.flatnonzero(np.concatenate([[True], exponents[1:] != exponents[:-1]]))
    shifts = exponents[starts].tolist()
    whole = np.ldexp(fractions[order], 53).astype(np.int64)
    signs = np.where(np.signbit(values[order]), np.int64(-1), np.int64(1))
    a, b, c = whole >> (2 * _LIMB), (whole >> _LIMB) & _MASK, whole & _MASK
    aa, ab, bb, cc = a * a, a * b, b * b, c * c
    first = [c, b, a]
    second = [cc, 2 * b * c, 2 * a * c + bb, 2 * ab, aa]
    third = [cc * c, 3 * b * cc, 3 * (a * cc + bb * c), bb * b + 6 * ab * c, 3 * (aa * c + a * bb), 3 * aa * b, aa * a]
    return PowerSums(
        len(values),
        _total([signs * limb for limb in first], starts, shifts, 1),
        _total(second, starts, shifts, 2),
        _total([signs * limb for limb in third], starts, shifts, 3),
    )


def _total(limbs, starts, shifts, power):
    """The sum of limbs of one exponent after the other, as one integer."""
    total = 0
    for place, limb in enumerate(limbs):
        low = np.add.reduceat(limb & ((1 << _SPLIT) - 1), starts).tolist()
        high = np.add.reduceat(limb >> _SPLIT, starts).tolist()
        for shift, of_low, of_high in zip(shifts, low, high):
            total += (of_low + (of_high << _SPLIT)) << (power * shift + place * _LIMB)
    return total


def _rounded(number):
    """The float64 next to a fraction; infinity beyond the largest."""
    try:
        return number.numerator / number.denominator
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _root(number):
    """The float64 next to the square root of a fraction."""
    if number == 0:
        return 0.0
    shift = max(140 - number.numerator.bit_length() + number.denominator.bit_length(), 0)
    shift += shift % 2
    scaled, rest = divmod(number.numerator << shift, number.denominator)
    root = math.isqrt(scaled)
    inexact = rest != 0 or root * root != scaled  # one more bit tells a tie from what lies above it
    return _rounded(Fraction(2 * root + inexact, 1 << (shift // 2 + 1)))
