"""The measures of nearness that the widgets offer. The list needs no engine, so that widgets open without it."""

from dataclasses import dataclass

__all__ = ["MEASURES", "MEASURES_BY_NAME", "NORMALIZATIONS", "WEIGHTS", "Measure"]


@dataclass(frozen=True)
class Measure:
    """One measure of the engine.

    Attributes
    ----------
    name : str
        The engine's name.
    label : str
        What a person reads.
    accepts : {"mixed", "numeric", "nominal"}
        The attributes that it takes.
    takes_missing : bool
        Whether it has a distance where an attribute is missing.
    """

    name: str
    label: str
    accepts: str = "numeric"
    takes_missing: bool = True


MEASURES = (
    Measure("mixed-euclidean", "Euclidean", "mixed"),
    Measure("gower", "Gower", "mixed"),
    Measure("heom", "HEOM", "mixed"),
    Measure("hamming", "Hamming", "mixed"),
    Measure("euclidean", "Euclidean"),
    Measure("sqeuclidean", "Squared Euclidean"),
    Measure("nan-euclidean", "Euclidean, scaled for missing", "mixed"),
    Measure("manhattan", "Manhattan"),
    Measure("chebyshev", "Chebyshev"),
    Measure("minkowski", "Minkowski"),
    Measure("mahalanobis", "Mahalanobis", takes_missing=False),
    Measure("canberra", "Canberra"),
    Measure("camberra", "Canberra, as RapidMiner has it"),
    Measure("braycurtis", "Bray-Curtis"),
    Measure("cosine", "Cosine"),
    Measure("cosine-similarity", "Angle"),
    Measure("correlation", "Correlation", takes_missing=False),
    Measure("correlation-similarity", "Correlation, as a similarity", takes_missing=False),
    Measure("jaccard", "Jaccard, values as yes and no"),
    Measure("dice", "Dice, values as yes and no"),
    Measure("dice-similarity", "Dice similarity of numbers"),
    Measure("jaccard-similarity", "Jaccard similarity of numbers"),
    Measure("overlap-similarity", "Overlap similarity"),
    Measure("inner-product", "Inner product"),
    Measure("max-product", "Greatest product"),
    Measure("dtw", "Dynamic time warping"),
    Measure("haversine", "Great circle, radians", takes_missing=False),
    Measure("generalized-i", "Generalized I-divergence", takes_missing=False),
    Measure("kl", "Kullback-Leibler", takes_missing=False),
    Measure("itakura-saito", "Itakura-Saito, of one attribute", takes_missing=False),
    Measure("logarithmic-loss", "Logarithmic loss, of one attribute", takes_missing=False),
    Measure("logistic-loss", "Logistic loss, of one attribute", takes_missing=False),
    Measure("squared-loss", "Squared loss, of one attribute", takes_missing=False),
    Measure("nominal-distance", "Number of different values", "nominal"),
    Measure("simple-matching", "Simple matching", "nominal"),
    Measure("nominal-dice", "Dice", "nominal"),
    Measure("nominal-jaccard", "Jaccard", "nominal"),
    Measure("kulczynski", "Kulczynski", "nominal"),
    Measure("rogers-tanimoto", "Rogers-Tanimoto", "nominal"),
    Measure("russell-rao", "Russell-Rao", "nominal"),
)
MEASURES_BY_NAME = {measure.name: measure for measure in MEASURES}

# The engine's names, and what a person reads.
NORMALIZATIONS = (
    ("none", "None"),
    ("range", "To the range 0 to 1"),
    ("z", "To mean 0 and deviation 1"),
    ("proportion", "To shares of the sum"),
    ("interquartile", "By median and interquartile range"),
)
WEIGHTS = (("uniform", "Uniform"), ("distance", "By distances"))
