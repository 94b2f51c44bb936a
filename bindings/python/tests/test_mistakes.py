"""What a newcomer does wrong: each message says what to do instead."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import stope

NUMBERS = pd.DataFrame({"age": [1.0, 2.0, 3.0, 4.0], "size": [4.0, 3.0, 2.0, 1.0]})
WORDS = NUMBERS.assign(colour=["red", "blue", "red", "blue"])
GAPS = NUMBERS.assign(age=[1.0, np.nan, 3.0, 4.0])
CLASSES = ["a", "a", "b", "b"]


@pytest.mark.parametrize("X", [WORDS, WORDS.astype({"colour": "category"}), WORDS.to_dict("list")])
@pytest.mark.parametrize("estimator", [
    stope.KNeighborsClassifier(categorical_features=None), stope.SupervisedDiscretizer(categorical_features=["size"]),
])
def test_a_column_of_words_that_may_not_be_nominal_is_named_with_the_parameter_that_allows_it(X, estimator):
    with pytest.raises(ValueError, match="column 'colour': could not convert string to float: '(red|blue)'; "
                                         "categorical_features='from_dtype' takes columns of text as nominal$"):
        estimator.fit(X, CLASSES)


def test_a_column_of_words_is_named_where_an_estimator_takes_numbers_only():
    with pytest.raises(ValueError, match="^column 'colour': could not convert string to float: 'red'$"):
        stope.PCA().fit(WORDS)


def test_words_in_a_column_that_had_numbers_in_fit_are_no_matter_of_a_parameter():
    model = stope.KNeighborsClassifier(n_neighbors=1, categorical_features=None).fit(NUMBERS, CLASSES)
    with pytest.raises(ValueError, match="^column 'size': could not convert string to float: 'small'$"):
        model.predict(NUMBERS.assign(size="small"))


@pytest.mark.parametrize("name, words", [
    ("KNeighborsClassifier", ["missing='skip'", "gower"]), ("RadiusNeighborsClassifier", ["missing='skip'"]),
    ("LocalDiscretizationTreeClassifier", ["missing='value', 'drop' or 'fill'"]),
    ("SupervisedDiscretizer", ["missing='value', 'drop' or 'fill'"]), ("CutRanker", ["missing='value'"]),
    ("PCA", ["missing='mean'"]), ("Ridge", ["missing='mean'"]), ("LinearRegression", ["missing='mean'"]),
    ("TruncatedSVD", ["stope.KNNImputer"]),
])
def test_a_missing_value_names_the_parameter_that_takes_it(name, words):
    with pytest.raises(ValueError, match=f"^Input X contains NaN.\n{name} does not accept missing values") as caught:
        getattr(stope, name)().fit(GAPS, [0, 0, 1, 1])
    assert all(word in str(caught.value) for word in words)


def test_what_the_message_of_a_missing_value_says_works():
    for missing in ("value", "drop", "fill"):
        for name in ("LocalDiscretizationTreeClassifier", "SupervisedDiscretizer", "CutRanker"):
            getattr(stope, name)(missing=missing).fit(GAPS, CLASSES)
    for metric in ("gower", "heom", "nan_euclidean"):
        stope.KNeighborsClassifier(metric=metric).fit(GAPS, CLASSES)
    stope.KNeighborsClassifier(missing="skip").fit(GAPS, CLASSES)
    for name in ("PCA", "Ridge", "LinearRegression"):
        getattr(stope, name)(missing="mean").fit(GAPS, [0, 0, 1, 1])


def test_more_neighbours_than_rows_are_refused_with_both_numbers():
    model = stope.KNeighborsClassifier(n_neighbors=9).fit(NUMBERS, CLASSES)
    with pytest.raises(ValueError, match="n_neighbors = 9, n_samples_fit = 4"):
        model.predict(NUMBERS)


def test_a_misspelt_metric_is_answered_with_the_nearest_name_and_the_list():
    with pytest.raises(ValueError, match="'euclidian' not valid: .*did you mean 'euclidean'.*gower"):
        stope.KNeighborsClassifier(metric="euclidian").fit(NUMBERS, CLASSES)


def test_a_misspelt_metric_is_named_before_the_missing_values_that_it_would_take():
    with pytest.raises(ValueError, match="'gowr' not valid"):
        stope.KNeighborsClassifier(metric="gowr").fit(GAPS, CLASSES)


def test_a_sparse_matrix_is_refused_with_the_call_that_makes_it_dense():
    for X in (sparse.csr_matrix(NUMBERS.to_numpy()), sparse.csr_array(NUMBERS.to_numpy())):
        with pytest.raises(TypeError, match=r"X\.toarray\(\)"):
            stope.KNeighborsClassifier().fit(X, CLASSES)
