"""The tree learner in scripts, and the nodes that Orange's viewers read."""

import pickle

import numpy as np
import pytest
from Orange.data import ContinuousVariable, DiscreteVariable, Domain, Table
from Orange.evaluation import CA, CrossValidation
from Orange.widgets.visualize.utils.tree.treeadapter import TreeAdapter

import oracle
import stope
from orangecontrib.stope import LocalDiscretizationTreeLearner
from orangecontrib.stope.table import DataError, attribute_table, to_stope
from orangecontrib.stope.tree_nodes import CutNode, MissingNode, ValueNode
from tables import mixed_table, numeric_class, with_missing_classes, without_class

TABLES = {
    "iris": Table("iris"), "titanic": Table("titanic"), "heart_disease": Table("heart_disease"), "zoo": Table("zoo"),
    "mixed": mixed_table(120, missing=0.2),
}


def nodes_under(node):
    yield node
    for child in node.children:
        yield from nodes_under(child)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("missing", ["value", "fill"])
def test_predictions_are_the_engines_bit_for_bit_and_the_nodes_say_the_same(name, missing):
    data = TABLES[name]
    model = LocalDiscretizationTreeLearner(missing=missing, ccp_alpha=0.005)(data)
    engine = stope.LocalDiscretizationTreeClassifier(missing=missing, ccp_alpha=0.005)
    names = np.array(data.domain.class_var.values, dtype=object)
    X = stope.Table(attribute_table(data))
    engine.fit(X, names[data.Y.astype(int)])
    other = mixed_table(200, seed=9, missing=0.3) if name == "mixed" else data
    expected = engine.predict_proba(stope.Table(attribute_table(other)))
    order = [list(engine.classes_).index(value) if value in engine.classes_ else None for value in names]
    shares = model(other, model.Probs)
    for code, place in enumerate(order):
        assert np.array_equal(shares[:, code], 0 * shares[:, code] if place is None else expected[:, place])
    walked = model.get_values_by_nodes(other.X)
    assert np.array_equal(walked / walked.sum(axis=1, keepdims=True), shares)
    assert np.array_equal(model(other), shares.argmax(axis=1))
    assert np.array_equal(model.get_values(other.X), walked)


def test_the_first_split_separates_the_most_pairs_that_plain_loops_find():
    data = mixed_table(50, seed=11)
    found = []
    for place, variable in enumerate(data.domain.attributes):
        if not variable.is_discrete:
            found.append((oracle.best_cut(data.X[:, place].tolist(), data.Y, 3), place))
    numeric = data.transform(Domain([data.domain.attributes[place] for _, place in found], data.domain.class_var))
    root = LocalDiscretizationTreeLearner(max_depth=1)(numeric).root
    (best, cut), place = max(found, key=lambda one: one[0][0])
    assert root.attr.name == data.domain.attributes[place].name
    if isinstance(root, MissingNode):
        assert cut == -np.inf
    else:
        assert root.cut == cut
    left, right = (child.value for child in root.children)
    assert oracle.pairs_separated(left, right) == best


def test_every_row_lies_in_one_leaf_and_the_counts_are_those_of_the_rows():
    data = TABLES["heart_disease"]
    model = LocalDiscretizationTreeLearner(min_samples_leaf=5)(data)
    leaves = [node for node in nodes_under(model.root) if not node.children]
    assert np.array_equal(np.sort(np.concatenate([leaf.subset for leaf in leaves])), np.arange(len(data)))
    for node in nodes_under(model.root):
        assert np.array_equal(node.value, np.bincount(data.Y[node.subset].astype(int), minlength=2))
    assert min(len(leaf.subset) for leaf in leaves) >= 5
    assert model.leaf_count() == len(leaves)


def test_a_value_that_equals_the_cut_goes_right_and_the_one_below_left():
    data = TABLES["iris"]
    root = LocalDiscretizationTreeLearner(max_depth=1)(data).root
    assert isinstance(root, CutNode)
    row = np.zeros(4)
    row[root.attr_idx] = root.cut
    assert root.descend(row) == 1
    row[root.attr_idx] = np.nextafter(root.cut, -np.inf)
    assert root.descend(row) == 0
    assert [child.description for child in root.children] == [f"< {root.cut:.10g}", f"≥ {root.cut:.10g}"]


def test_rules_are_true_of_the_rows_and_name_the_lower_end_as_included():
    data = TABLES["iris"]
    model = LocalDiscretizationTreeLearner()(data)
    for node in nodes_under(model.root):
        for rule in model.rule(node):
            words = rule.split(" ")
            if words[-2] == "≥":
                values = data.get_column(" ".join(words[:-2]))[node.subset]
                assert (values >= float(words[-1])).all(), rule
            elif words[-2] == "<" and words[1] != "≤":
                values = data.get_column(" ".join(words[:-2]))[node.subset]
                assert (values < float(words[-1])).all(), rule


def test_discrete_attributes_split_one_value_off():
    model = LocalDiscretizationTreeLearner(max_depth=2)(TABLES["titanic"])
    inner = [node for node in nodes_under(model.root) if isinstance(node, ValueNode)]
    assert inner
    for node in inner:
        right = node.children[1]
        values = TABLES["titanic"].X[right.subset, node.attr_idx]
        assert set(values) == {float(node.code)}
        assert right.description == node.attr.values[node.code]


def test_a_missing_value_may_be_what_divides_the_rows():
    data = mixed_table(40, missing=0)
    with data.unlocked():
        data.X[:, 0] = np.where(data.Y == 1, np.nan, 3.0)
        data.X[:, 1:] = 0
    model = LocalDiscretizationTreeLearner(max_depth=1)(data)
    assert isinstance(model.root, MissingNode)
    assert {child.description for child in model.root.children} == {"is missing", "is known"}
    assert "a is missing" in [rule for child in model.root.children for rule in model.rule(child)]
    assert (model(data)[data.Y == 1] == 1).all()


def test_oranges_tree_adapter_reads_the_tree():
    model = LocalDiscretizationTreeLearner(ccp_alpha=0.01)(TABLES["heart_disease"])
    adapter = TreeAdapter(model)
    assert adapter.num_nodes == model.node_count() and adapter.max_depth == model.depth()
    child = model.root.children[0]
    assert len(adapter.get_instances_in_nodes([child])) == len(child.subset)
    assert 0 < adapter.weight(child) < 1
    assert model.root.attr.name in model.print_tree()


def test_rows_without_a_class_are_left_out_and_subsets_count_the_given_rows():
    data = mixed_table(60)
    holes = with_missing_classes(data, [0, 1, 17])
    model = LocalDiscretizationTreeLearner()(holes)
    assert np.array_equal(model.root.subset, [i for i in range(60) if i not in (0, 1, 17)])
    assert len(model.instances) == 60
    kept = data[model.root.subset]
    assert np.array_equal(LocalDiscretizationTreeLearner()(kept)(data, 1), model(data, 1))


def test_weights_count_as_rows_do():
    data = mixed_table(40, weights=True)
    repeated = data[np.repeat(np.arange(40), data.W.reshape(-1).astype(int))]
    with repeated.unlocked(repeated.W):
        repeated.W = np.empty((len(repeated), 0))
    weighted = LocalDiscretizationTreeLearner(max_depth=3)(data)
    assert np.array_equal(weighted(data, 1), LocalDiscretizationTreeLearner(max_depth=3)(repeated)(data, 1))
    for node in nodes_under(weighted.root):
        assert np.isclose(node.value.sum(), len(node.subset))


def test_a_tree_pruned_by_some_of_the_rows_is_the_engines():
    data = TABLES["heart_disease"]
    model = LocalDiscretizationTreeLearner(prune_holdout=0.3, random_state=5)(data)
    engine = stope.LocalDiscretizationTreeClassifier(missing="value", prune_holdout=0.3, random_state=5)
    table = to_stope(data)
    engine.fit(stope.Table(attribute_table(data)), table[data.domain.class_var.name])
    assert model.node_count() == engine.tree_.node_count
    assert np.array_equal(model(data, 1), engine.predict_proba(stope.Table(attribute_table(data))))


def test_a_tree_too_deep_for_orange_is_cut_off_and_says_so():
    n = 400
    weights = 2.0 ** -np.minimum(np.arange(n) * 0.5, 18)  # each end is worth more than all that follows
    domain = Domain([ContinuousVariable("x")], DiscreteVariable("y", ("a", "b")))
    data = Table.from_numpy(domain, np.arange(n, dtype=float)[:, None], np.arange(n) % 2.0, W=weights)
    model = LocalDiscretizationTreeLearner("gini")(data)
    assert model.depth() == 100
    assert "cut off at 100 levels" in model.remarks[-1]
    assert np.array_equal(pickle.loads(pickle.dumps(model))(data), model(data))
    assert LocalDiscretizationTreeLearner("gini", max_depth=50)(data).remarks == []


def test_the_tree_survives_pickle_and_reads_arrays_and_single_rows():
    data = TABLES["mixed"]
    model = pickle.loads(pickle.dumps(LocalDiscretizationTreeLearner()))(data)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again(data, 1), model(data, 1))
    assert again.root.children[0].description == model.root.children[0].description
    assert model(data[2]) == model(data)[2]
    assert np.array_equal(model(data.X), model(data))


def test_other_tables_are_brought_into_the_models_domain():
    data = TABLES["mixed"]
    model = LocalDiscretizationTreeLearner()(data)
    shuffled = data.transform(Domain(data.domain.attributes[::-1], data.domain.class_var))
    assert np.array_equal(model(shuffled), model(data))


def test_cross_validation_takes_the_learner():
    assert CA(CrossValidation(k=3)(TABLES["heart_disease"], [LocalDiscretizationTreeLearner(ccp_alpha=0.01)]))[0] > 0.7


def test_what_cannot_be_learned_from_is_refused_in_words():
    data = TABLES["mixed"]
    with pytest.raises(ValueError, match="Categorical class variable expected"):
        LocalDiscretizationTreeLearner()(numeric_class(data))
    with pytest.raises(ValueError, match="[Cc]lass variable expected"):
        LocalDiscretizationTreeLearner()(without_class(data))
    with pytest.raises(DataError, match="No row has a class"):
        LocalDiscretizationTreeLearner()(with_missing_classes(data, slice(None)))
    with pytest.raises(DataError, match="sparse"):
        LocalDiscretizationTreeLearner()(Table("iris").to_sparse())
    with pytest.raises(ValueError, match="missing is 'drop'"):
        LocalDiscretizationTreeLearner(missing="drop")(data)
    with pytest.raises(ValueError, match="criterion"):
        LocalDiscretizationTreeLearner(criterion="ginni")(data)
