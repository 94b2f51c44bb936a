"""The gram operator: A x, A^T y and A^T (A x), which reads A only once (docs/numerics/gram.md)."""

import json

import numpy as np

from . import _core
from ._columns import plain_layout
from ._data import array_of
from ._run import Report, job

__all__ = ["GramOperator", "gram_matvec"]


def gram_matvec(A, x, *, shift=None, scale=None, device="auto"):
    """Return A^T (A x), in one pass over A.

    Parameters
    ----------
    A : array of shape (n_rows, n_columns)
        float32 and float64 are read as they are; other numbers are converted to float64 first. A row-major array is
        read where it lies, any other is copied by rows.
    x : array of shape (n_columns,) or (n_columns, n_vectors)
        One vector, or a column for each; eight are multiplied in one pass.
    shift, scale : array of shape (n_columns,) or None, default=None
        The matrix that is multiplied has the entries (A_ij - shift_j) * scale_j. It is never formed. Its Gram matrix
        is the covariance where shift holds the means, but for the factor 1 / (n_rows - 1).
    device : str, default="auto"
        "auto", "cpu", "cuda", or "cuda:0,1".

    Returns
    -------
    z : ndarray of the shape of x, float64
        Products and sums are computed in double precision. The bits do not depend on threads or device.

    Examples
    --------
    >>> import numpy as np
    >>> from stope import gram_matvec
    >>> gram_matvec(np.array([[1.0, 2.0], [3.0, 4.0]]), [1.0, 1.0])
    array([24., 34.])
    """
    return GramOperator(A, shift=shift, scale=scale, copy=False, device=device).gram(x)


class GramOperator:
    """A matrix that is only multiplied with vectors: A', a'_ij = (A_ij - shift_j) * scale_j, which is never formed.

    Parameters
    ----------
    A : array of shape (n_rows, n_columns)
        At least one row and one column. float32 and float64 are read as they are; other numbers are converted to
        float64 first.
    shift, scale : array of shape (n_columns,) or None, default=None
        None stands for zeros, and for ones.
    copy : bool or None, default=None
        None copies A if somebody may write to it: an array that is writeable. True copies. False reads a row-major A
        where it lies, as long as the operator lives; if A is changed meanwhile, results are wrong without notice.
    device : str, default="auto"
        "auto", "cpu", "cuda", or "cuda:0,1". Threads and the memory limit are those of ``config_context`` here.

    Attributes
    ----------
    shape : tuple (n_rows, n_columns)
    dtype : dtype
        float64, that of vectors and results.
    report_ : Report
        How the operator works, and what all calls so far have done.

    Notes
    -----
    Products of several threads wait for one another. NaN and infinities reach what they touch.
    """

    dtype = np.dtype(np.float64)

    def __init__(self, A, *, shift=None, scale=None, copy=None, device="auto"):
        array = _matrix(A)
        if copy or (copy is None and array.flags.writeable):
            array = np.array(array, order="C")
        with job(device=device) as run:
            self._operator = _core.GramOperator(
                array, True, _per_column("shift", shift, array), _per_column("scale", scale, array), run
            )
        self.shape = (self._operator.n_rows, self._operator.n_columns)

    def matvec(self, x):
        """Return A' x for x of shape (n_columns,) or (n_columns, n_vectors); one pass for each vector."""
        return self._product(self._operator.multiply, x, self.shape[1])

    def rmatvec(self, y):
        """Return A'^T y for y of shape (n_rows,) or (n_rows, n_vectors); one pass for each vector."""
        return self._product(self._operator.multiply_transposed, y, self.shape[0])

    def gram(self, x):
        """Return A'^T (A' x) for x of shape (n_columns,) or (n_columns, n_vectors); one pass for eight vectors."""
        return self._product(self._operator.gram, x, self.shape[1])

    matmat = matvec
    rmatmat = rmatvec

    def __matmul__(self, x):
        return self.matvec(x)

    def as_linear_operator(self, of="matrix"):
        """Return a scipy.sparse.linalg.LinearOperator, for eigsh, svds, lsqr and others. Needs SciPy.

        Parameters
        ----------
        of : {"matrix", "gram"}, default="matrix"
            "matrix": A' itself. "gram": the symmetric A'^T A', which needs one pass a product instead of two.
        """
        from scipy.sparse.linalg import LinearOperator

        if of == "gram":
            size = (self.shape[1], self.shape[1])
            return LinearOperator(
                size, matvec=self.gram, rmatvec=self.gram, matmat=self.gram, rmatmat=self.gram, dtype=self.dtype
            )
        if of != "matrix":
            raise ValueError(f'of is "matrix" or "gram", not {of!r}')
        return LinearOperator(
            self.shape, matvec=self.matvec, rmatvec=self.rmatvec, matmat=self.matvec, rmatmat=self.rmatvec,
            dtype=self.dtype,
        )

    @property
    def report_(self):
        return Report(json.loads(self._operator.report_json()), self._operator.report_text())

    def __repr__(self):
        return f"GramOperator of shape {self.shape}"

    def __reduce__(self):
        raise TypeError("a GramOperator cannot be pickled: it refers to memory and devices; make one where it is used")

    def _product(self, product, vectors, length):
        vectors = np.asarray(vectors)
        if vectors.dtype.kind not in "fiub":
            raise TypeError(f"vectors are real numbers, not {vectors.dtype}")
        if vectors.ndim not in (1, 2) or vectors.shape[0] != length:
            raise ValueError(f"vectors of this product have {length} numbers; these have the shape {vectors.shape}")
        by_rows = np.ascontiguousarray(vectors.astype(np.float64, copy=False).reshape(length, -1).T)
        products = product(by_rows)
        return products[0] if vectors.ndim == 1 else np.ascontiguousarray(products.T)


def _matrix(A):
    """A as a two-dimensional array that the engine reads."""
    if hasattr(A, "toarray") and hasattr(A, "nnz"):
        raise TypeError("stope takes dense data, not sparse matrices; use A.toarray()")
    array = array_of(A)
    if array.ndim != 2:
        raise ValueError(f"A has {array.ndim} dimensions; it needs 2")
    if array.dtype.kind == "c":
        raise TypeError("A is complex; the engine multiplies real numbers")
    if array.dtype.newbyteorder("=") not in (np.float32, np.float64):
        wide = np.float32 if array.dtype.kind == "f" and array.dtype.itemsize <= 4 else np.float64
        array = array.astype(wide)
        array.flags.writeable = False  # a copy that nobody else sees
    return plain_layout(array)


def _per_column(name, values, array):
    if values is None:
        return []
    values = np.asarray(values, np.float64)
    if values.shape != (array.shape[1],):
        raise ValueError(f"{name} has the shape {values.shape}; A has {array.shape[1]} columns")
    return values.tolist()
