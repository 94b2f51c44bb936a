"""The plain base classes do what scikit-learn's do, and the package imports without scikit-learn."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import sklearn.base
import sklearn.exceptions
import sklearn.utils.validation

from stope import _plain


def _pair(plain, sklearn_bases):
    """The same estimator on both bases."""
    def body(namespace):
        def __init__(self, a=1, *, b="x", inner=None):
            self.a, self.b, self.inner = a, b, inner

        def fit(self, X, y=None):
            self.n_features_in_ = X.shape[1]
            self._n_features_out = 2
            self.mean_ = None if y is None else np.mean(y, axis=0)
            return self

        def predict(self, X):
            return np.asarray(X)[:, 0]

        def transform(self, X):
            return np.asarray(X) * 2

        namespace.update(__init__=__init__, fit=fit, predict=predict, transform=transform)

    import types
    return types.new_class("Thing", plain, exec_body=body), types.new_class("Thing", sklearn_bases, exec_body=body)


PLAIN, SKLEARN = _pair((_plain.ClassifierMixin, _plain.BaseEstimator),
                       (sklearn.base.ClassifierMixin, sklearn.base.BaseEstimator))
X = np.arange(12.0).reshape(6, 2)


def test_parameters_are_read_and_set_as_in_scikit_learn():
    for kind in (PLAIN, SKLEARN):
        thing = kind(3, inner=kind(4))
        assert thing.get_params(deep=False).keys() == {"a", "b", "inner"}
        assert thing.get_params()["inner__a"] == 4
        assert thing.set_params(a=5, inner__b="y") is thing
        assert (thing.a, thing.inner.b) == (5, "y")
        assert thing.set_params(inner=kind(), inner__a=9).inner.a == 9
        with pytest.raises(ValueError, match="Invalid parameter 'c' for estimator"):
            thing.set_params(c=1)


def test_the_repr_names_what_is_not_the_default():
    for kind in (PLAIN, SKLEARN):
        assert repr(kind()) == "Thing()"
        assert repr(kind(2, b="z")) == "Thing(a=2, b='z')"


def test_a_clone_is_a_new_estimator_with_equal_parameters():
    thing = PLAIN(np.arange(3), inner=PLAIN(7)).fit(X)
    for copy in (thing.__sklearn_clone__(), sklearn.base.clone(thing)):
        assert copy is not thing and copy.inner is not thing.inner and copy.inner.a == 7
        assert copy.a is not thing.a and (copy.a == thing.a).all()
        assert not hasattr(copy, "mean_")


def test_an_estimator_that_is_not_fitted_is_told_so():
    for kind, check, error in ((PLAIN, _plain.check_is_fitted, _plain.NotFittedError),
                               (SKLEARN, sklearn.utils.validation.check_is_fitted, sklearn.exceptions.NotFittedError)):
        assert issubclass(error, ValueError) and issubclass(error, AttributeError)
        with pytest.raises(error, match="This Thing instance is not fitted yet. Call 'fit' with appropriate"):
            check(kind())
        check(kind().fit(X))
        check(kind().fit(X), ["mean_", "other_"], all_or_any=any)
        with pytest.raises(error):
            check(kind().fit(X), ["mean_", "other_"])
        with pytest.raises(error, match="^no Thing$"):
            check(kind(), msg="no %(name)s")
        with pytest.raises(TypeError):
            check(3)


@pytest.mark.parametrize("weights", [None, [1, 2, 0, 1, 1, 3]])
def test_classifiers_score_as_in_scikit_learn(weights):
    y = np.array([0, 2, 5, 6, 7, 10])
    assert PLAIN().score(X, y, weights) == pytest.approx(SKLEARN().score(X, y, weights), abs=0)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        PLAIN().score(X, y[:5])


@pytest.mark.parametrize("weights", [None, [1, 2, 0, 1, 1, 3]])
@pytest.mark.parametrize("y", [
    np.array([0, 2, 5, 6, 7, 10.0]), np.full(6, 3.0), X[:, 0],
])
def test_regressors_score_as_in_scikit_learn(y, weights):
    plain, theirs = _pair((_plain.RegressorMixin, _plain.BaseEstimator),
                          (sklearn.base.RegressorMixin, sklearn.base.BaseEstimator))
    assert plain().score(X, y, weights) == pytest.approx(theirs().score(X, y, weights), rel=1e-12)


def test_transformers_have_fit_transform_and_names():
    one, theirs = _pair((_plain.OneToOneFeatureMixin, _plain.TransformerMixin, _plain.BaseEstimator),
                        (sklearn.base.OneToOneFeatureMixin, sklearn.base.TransformerMixin, sklearn.base.BaseEstimator))
    assert (one().fit_transform(X) == X * 2).all()
    for given in (None, ["p", "q"]):
        ours, other = one().fit(X).get_feature_names_out(given), theirs().fit(X).get_feature_names_out(given)
        assert ours.tolist() == other.tolist() and ours.dtype == other.dtype
    with pytest.raises(ValueError, match="input_features should have length equal"):
        one().fit(X).get_feature_names_out(["p"])
    prefixed, _ = _pair((_plain.ClassNamePrefixFeaturesOutMixin, _plain.BaseEstimator), (sklearn.base.BaseEstimator,))
    assert prefixed().fit(X).get_feature_names_out().tolist() == ["thing0", "thing1"]


def test_x_is_checked_without_scikit_learn():
    program = textwrap.dedent("""
        import sys

        class Blocked:
            def find_spec(self, name, path=None, target=None):
                if name.split(".")[0] in ("sklearn", "scipy", "pandas", "joblib"):
                    raise ImportError(name)
        sys.meta_path.insert(0, Blocked())
        import numpy as np
        import stope
        from stope import _base, _data
        assert not _base.HAS_SKLEARN and _base.BaseEstimator.__module__ == "stope._plain"

        class Thing(_base.StopeEstimator):
            def fit(self, X):
                self._begin_fit()
                rows = _data.check_X(self, X, reset=True, categorical_features="from_dtype")
                with self._job() as run:
                    self.table_ = rows.as_table(run)
                return self
        try:
            Thing().report_
        except _base.NotFittedError as error:
            print(error)
        thing = Thing().fit([[1.5, "a"], [2.5, "b"]])
        assert thing.table_.n_columns == 2 and thing.n_features_in_ == 2
        try:
            _data.check_X(thing, [[1.0, np.nan]], reset=False)
        except ValueError as error:
            print(error)
        assert "sklearn" not in sys.modules
    """)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0, done.stderr
    assert "not fitted yet" in done.stdout and "Input X contains NaN" in done.stdout


def test_importing_the_package_loads_neither_numpy_nor_scikit_learn():
    program = "import sys, stope; assert not {'numpy', 'sklearn', 'pandas'} & set(sys.modules), sorted(sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0, done.stderr
