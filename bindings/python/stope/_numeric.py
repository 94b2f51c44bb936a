"""The rows of an X as the decompositions take them, and seeds."""

import numpy as np

__all__ = ["numeric_table", "seed_of"]


def numeric_table(rows, run):
    """The rows as a table that lives no longer than the job, so X lends its memory where the engine can read it."""
    return rows.as_table(run, share=True)


def seed_of(random_state):
    """A seed for the engine: 0 for None, so that two fits agree; drawn from a generator, where one is given."""
    if random_state is None:
        return 0
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    return int(random_state) % 2**64
