"""Slow, independent references in double precision: distances, votes, imputation and best cuts in plain loops."""

import math

NAN = float("nan")


def spans(X, discrete):
    """(low, high) of every numeric attribute; None for discrete ones."""
    found = []
    for j in range(len(X[0])):
        known = [row[j] for row in X if not math.isnan(row[j])]
        found.append(None if discrete[j] else (min(known), max(known)))
    return found


def gower(x, y, discrete, spans):
    """The mean of the differences of the attributes that both rows have; NaN where there is none."""
    total, n = 0.0, 0
    for j, (a, b) in enumerate(zip(x, y)):
        if math.isnan(a) or math.isnan(b):
            continue
        n += 1
        if discrete[j]:
            total += float(a != b)
        else:
            total += abs(a - b) / (spans[j][1] - spans[j][0])
    return total / n if n else NAN


def mixed_euclidean(x, y, discrete, spans):
    """The root of the sum of squares, where numbers are scaled to the range 0 to 1; what one row lacks is skipped."""
    total, n = 0.0, 0
    for j, (a, b) in enumerate(zip(x, y)):
        if math.isnan(a) or math.isnan(b):
            continue
        n += 1
        if discrete[j]:
            total += float(a != b)
        else:
            low, width = spans[j][0], spans[j][1] - spans[j][0]
            total += ((a - low) / width - (b - low) / width) ** 2
    return math.sqrt(total) if n else NAN


def scaled_euclidean(x, y, discrete, spans):
    """As mixed_euclidean, with the sum scaled up for the attributes that one of the rows lacks."""
    both = sum(not (math.isnan(a) or math.isnan(b)) for a, b in zip(x, y))
    if both == 0:
        return NAN
    return math.sqrt(len(x) / both) * mixed_euclidean(x, y, discrete, spans)


def nearest(train, query, distance, k):
    """(distance, row) of the k nearest training rows; of equal distances the first row."""
    pairs = [(distance(row, query), i) for i, row in enumerate(train)]
    pairs.sort(key=lambda pair: (math.isnan(pair[0]), pair))
    return pairs[:k]


def vote(pairs, y, n_classes, by_distance):
    """The classes' shares of the votes."""
    votes = [0.0] * n_classes
    at_zero = any(distance == 0 for distance, _ in pairs)
    for distance, row in pairs:
        if not by_distance:
            weight = 1.0
        elif at_zero:
            weight = float(distance == 0)
        else:
            weight = 1.0 / distance
        votes[int(y[row])] += weight
    total = sum(votes)
    return [one / total for one in votes]


def pairs_separated(left, right):
    """How many pairs of rows of different classes lie on different sides; both are counts by class."""
    return sum(left) * sum(right) - sum(a * b for a, b in zip(left, right))


def best_cut(values, y, n_classes):
    """(score, cut) of a numeric attribute; missing is a value of its own, below all numbers."""
    best = (0, None)
    known = sorted({value for value in values if not math.isnan(value)})
    cuts = [-math.inf] if any(math.isnan(value) for value in values) and known else []
    cuts += [(low + high) / 2 for low, high in zip(known, known[1:])]
    for cut in cuts:
        left, right = [0] * n_classes, [0] * n_classes
        for value, label in zip(values, y):
            side = right if not math.isnan(value) and value >= cut else left
            side[int(label)] += 1
        score = pairs_separated(left, right)
        if score > best[0]:
            best = (score, cut)
    return best
