"""gram_matvec and GramOperator: NumPy's numbers, one pass, and memory that is lent or copied as promised."""

import gc
import threading
import weakref

import numpy as np
import pytest
import scipy.sparse.linalg

from stope import gram_matvec
from stope.gram import GramOperator


def matrix(n, p, dtype="f8"):
    return np.random.default_rng(n + p).normal(size=(n, p)).astype(dtype)


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12 * max(np.abs(b).max(), 1.0))


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", ">f8", "i4", "u1", "?"])
@pytest.mark.parametrize("n, p", [(1, 1), (7, 3), (3, 700), (1000, 20)])
def test_products_are_numpys(n, p, dtype):
    A = (matrix(n, p) * 3).astype(dtype)
    wide, rng = A.astype(np.float64), np.random.default_rng(0)
    x, y, X, Y = rng.normal(size=p), rng.normal(size=n), rng.normal(size=(p, 11)), rng.normal(size=(n, 3))
    close(gram_matvec(A, x), wide.T @ (wide @ x))
    operator = GramOperator(A)
    assert operator.shape == (n, p)
    close(operator.matvec(x), wide @ x)
    close(operator.rmatvec(y), wide.T @ y)
    close(operator.gram(X), wide.T @ (wide @ X))
    close(operator.matvec(X), wide @ X)
    close(operator.rmatvec(Y), wide.T @ Y)
    close(operator @ x, wide @ x)


def test_shift_and_scale_give_covariances():
    A = matrix(300, 6) + 1e6
    operator = GramOperator(A, shift=A.mean(axis=0), scale=1 / A.std(axis=0, ddof=1))
    np.testing.assert_allclose(operator.gram(np.eye(6)) / 299, np.corrcoef(A.T), atol=1e-9)
    once = gram_matvec(A, np.eye(6), shift=A.mean(axis=0), scale=1 / A.std(axis=0, ddof=1))
    assert np.array_equal(once, operator.gram(np.eye(6)))


def test_every_memory_layout_gives_the_same_bits():
    A, x = matrix(200, 30), np.ones(30)
    wide = np.zeros((400, 60))
    wide[::2, ::2] = A
    packed = np.zeros(200, np.dtype([("pad", "i1"), ("a", "f8", 30)]))
    packed["a"] = A
    expected = gram_matvec(A, x)
    for layout in (np.asfortranarray(A), wide[::2, ::2], packed["a"], A[::-1].copy()[::-1], A.tolist()):
        assert np.array_equal(gram_matvec(layout, x), expected)
        for copy in (None, True, False):
            assert np.array_equal(GramOperator(layout, copy=copy).gram(x), expected)


def test_eight_vectors_have_the_bits_of_each_alone():
    A, X = matrix(500, 40), matrix(40, 19)
    together = GramOperator(A).gram(X)
    for i in range(19):
        assert np.array_equal(together[:, i], gram_matvec(A, X[:, i]))


def test_an_array_that_may_change_is_copied():
    A, x = matrix(50, 4), np.ones(4)
    kept, lent = GramOperator(A), GramOperator(A, copy=False)
    before = kept.gram(x)
    A *= 2
    assert np.array_equal(kept.gram(x), before)
    close(lent.gram(x), 4 * before)


class Watched(np.ndarray):
    """An array that can be watched as it goes."""


def test_a_lent_array_lives_as_long_as_its_operator():
    A = matrix(50, 4).view(Watched)
    A.flags.writeable = False
    base = weakref.ref(A)
    operator = GramOperator(A)
    expected = operator.gram(np.ones(4))
    del A
    gc.collect()
    assert np.array_equal(operator.gram(np.ones(4)), expected)
    del operator
    gc.collect()
    assert base() is None


def test_scipys_solvers_take_the_operator():
    A = matrix(200, 10)
    operator = GramOperator(A)
    s = np.linalg.svd(A, compute_uv=False)
    close(np.sort(scipy.sparse.linalg.svds(operator.as_linear_operator(), 3, return_singular_vectors=False))[::-1], s[:3])
    gram = operator.as_linear_operator("gram")
    close(np.sort(scipy.sparse.linalg.eigsh(gram, 2, return_eigenvectors=False))[::-1], s[:2] ** 2)
    b = matrix(200, 1)[:, 0]
    found = scipy.sparse.linalg.lsqr(operator.as_linear_operator(), b, atol=1e-14, btol=1e-14)[0]
    np.testing.assert_allclose(found, np.linalg.lstsq(A, b, rcond=None)[0], rtol=1e-8)
    with pytest.raises(ValueError, match="gram"):
        operator.as_linear_operator("inverse")


def test_threads_wait_for_one_another():
    A = matrix(2000, 30)
    operator, X = GramOperator(A), matrix(30, 16)
    expected = [operator.gram(X[:, i]) for i in range(16)]
    wrong = []

    def call(i):
        for _ in range(50):
            if not np.array_equal(operator.gram(X[:, i]), expected[i]):
                wrong.append(i)

    threads = [threading.Thread(target=call, args=(i,)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize(
    "A, x, options, error, words",
    [
        (np.zeros((3, 2)), np.zeros(3), {}, ValueError, "2 numbers"),
        (np.zeros((3, 2)), np.zeros((1, 2)), {}, ValueError, "2 numbers"),
        (np.zeros((3, 2)), np.zeros(2, complex), {}, TypeError, "real"),
        (np.zeros((3, 2)), ["a", "b"], {}, TypeError, "real"),
        (np.zeros((3, 2), complex), np.zeros(2), {}, TypeError, "complex"),
        (np.zeros(3), np.zeros(3), {}, ValueError, "dimensions"),
        (np.zeros((0, 3)), np.zeros(3), {}, ValueError, "0 rows"),
        (np.zeros((3, 0)), np.zeros(0), {}, ValueError, "0 columns"),
        (np.zeros((3, 2)), np.zeros(2), {"shift": [1.0]}, ValueError, "shift"),
        (np.zeros((3, 2)), np.zeros(2), {"scale": np.ones((2, 1))}, ValueError, "scale"),
        (np.zeros((3, 2)), np.zeros(2), {"device": "abacus"}, ValueError, "unknown device 'abacus'"),
        (scipy.sparse.csr_array(np.eye(3)), np.zeros(3), {}, TypeError, "sparse"),
    ],
)
def test_what_cannot_be_multiplied_is_refused(A, x, options, error, words):
    with pytest.raises(error, match=words):
        gram_matvec(A, x, **options)


def test_nan_and_infinities_reach_what_they_touch():
    A = np.array([[1.0, np.nan], [1.0, 1.0]])
    assert np.isnan(gram_matvec(A, np.ones(2))).all()
    assert GramOperator(A).matvec(np.ones(2))[1] == 2.0


def test_masked_entries_are_not_numbers():
    A = np.ma.array([[1.0, 2.0], [3.0, 999.0]], mask=[[False, False], [False, True]])
    assert np.isnan(gram_matvec(A, [1.0, 1.0])).all()


def test_rows_that_repeat_and_bytes_in_another_order_are_read():
    A = np.broadcast_to(np.arange(3.0), (5, 3))
    assert gram_matvec(A, np.ones(3)).tolist() == (A.T @ (A @ np.ones(3))).tolist()
    assert gram_matvec(A.astype(">f4"), np.ones(3)).tolist() == gram_matvec(A, np.ones(3)).tolist()


def test_no_vector_has_no_product():
    assert GramOperator(np.ones((3, 2))).gram(np.ones((2, 0))).shape == (2, 0)


def test_an_operator_tells_its_passes_and_is_not_pickled():
    import pickle

    operator = GramOperator(matrix(100, 5), device="cpu")
    operator.gram(matrix(5, 9))
    assert operator.report_["passes"] == 2 and "method" in str(operator.report_)
    assert "(100, 5)" in repr(operator)
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(operator)
