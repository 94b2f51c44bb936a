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


def _squares(x, y, discrete, spans):
    """(sum, number) of the squares over the attributes that both rows have; numbers are scaled to the range 0 to 1."""
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
    return total, n


def mixed_euclidean(x, y, discrete, spans):
    """The root of the sum of squares; what one row lacks is skipped."""
    total, n = _squares(x, y, discrete, spans)
    return math.sqrt(total) if n else NAN


def scaled_euclidean(x, y, discrete, spans):
    """The root of the sum of squares, scaled up for the attributes that one of the rows lacks."""
    total, n = _squares(x, y, discrete, spans)
    return math.sqrt(len(x) / n * total) if n else NAN


def nearest(train, query, distance, k):
    """(distance, row) of the k nearest training rows; of equal distances the first row."""
    pairs = [(distance(row, query), i) for i, row in enumerate(train)]
    pairs.sort(key=lambda pair: (math.isnan(pair[0]), pair))
    return pairs[:k]


def vote_weights(distances, by_distance):
    """What each vote weighs: 1, or 1 / distance, where distance 0 takes all."""
    if not by_distance:
        return [1.0] * len(distances)
    if 0 in distances:
        return [float(distance == 0) for distance in distances]
    return [1.0 / distance for distance in distances]


def vote(pairs, y, n_classes, by_distance):
    """The classes' shares of the votes."""
    votes = [0.0] * n_classes
    for (_, row), weight in zip(pairs, vote_weights([distance for distance, _ in pairs], by_distance)):
        votes[int(y[row])] += weight
    return [one / sum(votes) for one in votes]


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
