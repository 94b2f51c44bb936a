"""The widget Local Discretization Tree (stope), and Orange's viewers of trees."""

import numpy as np
from Orange.data import Domain, Table
from Orange.preprocess.preprocess import Preprocess
from Orange.widgets.tests.base import ParameterMapping, WidgetLearnerTestMixin
from Orange.widgets.visualize.owpythagorastree import OWPythagorasTree
from Orange.widgets.visualize.owtreeviewer import OWTreeGraph

import widget_case
from orangecontrib.stope.rank import CRITERIA
from orangecontrib.stope.tree import LocalDiscretizationTreeLearner
from orangecontrib.stope.widgets.owtree import MISSING, OWStopeTree
from tables import mixed_table, with_missing_classes


class TestAsEveryLearnerWidgetOfOrange(widget_case.WidgetCase, WidgetLearnerTestMixin):
    """Orange's own tests of learner widgets."""

    def setUp(self):
        self.widget = self.create_widget(OWStopeTree, stored_settings={"auto_apply": False})
        self.init()
        self.parameters = [
            ParameterMapping("criterion", self.widget.criterion_combo, [name for name, _ in CRITERIA]),
            ParameterMapping("missing", self.widget.missing_combo, [name for name, _ in MISSING]),
            ParameterMapping("min_samples_leaf", self.widget.min_samples_leaf_spin),
        ]


class EverySecond(Preprocess):
    """Leaves every second row out."""

    def __call__(self, data):
        return data[::2]


class TestTree(widget_case.WidgetCase):
    widget_class = OWStopeTree

    def test_the_model_is_the_learners_on_orange_s_tables(self):
        for name in ("iris", "titanic", "heart_disease"):
            data = Table(name)
            self.give(data)
            expected = LocalDiscretizationTreeLearner(min_samples_leaf=2, ccp_alpha=0.01)(data)
            self.assertTrue(np.array_equal(self.sent("model")(data, 1), expected(data, 1)), name)

    def test_tree_viewer_and_pythagorean_tree_show_it_and_select_its_rows(self):
        data = with_missing_classes(Table("heart_disease"), [0, 9])
        self.give(data)
        model = self.sent("model")
        viewer = self.create_widget(OWTreeGraph)
        self.send_signal(viewer.Inputs.tree, model, widget=viewer)
        nodes = viewer.scene.nodes()
        self.assertEqual(len(nodes), model.node_count())
        self.assertIn(f"{model.node_count()} nodes, {model.leaf_count()} leaves", viewer.infolabel.text())
        leaf = next(node for node in nodes if not node.node_inst.children)
        leaf.setSelected(True)
        viewer.update_selection()
        selected = self.get_output(viewer.Outputs.selected_data, widget=viewer)
        self.assertTrue(np.array_equal(selected.ids, data.ids[leaf.node_inst.subset]))
        viewer.color_changed(1)
        self.assertTrue(all(viewer.node_tooltip(node) for node in nodes))
        squares = self.create_widget(OWPythagorasTree)
        self.send_signal(squares.Inputs.tree, model, widget=squares)
        self.assertEqual(squares.tree_adapter.num_nodes, model.node_count())

    def test_nodes_have_the_rows_that_a_preprocessor_has_left(self):
        data = Table("heart_disease")
        self.send_signal(self.widget.Inputs.preprocessor, EverySecond(), widget=self.widget)
        self.give(data)
        leaf = max(self.sent("model").root.children, key=lambda node: node.subset.max())
        rows = self.sent("model").get_instances([leaf])
        self.assertTrue(np.array_equal(rows.ids, data[::2].ids[leaf.subset]))

    def test_trees_of_one_leaf_are_shown_too(self):
        data = mixed_table(10, missing=0)
        with data.unlocked():
            data.X[:] = 0
        self.give(data)
        self.assertEqual(self.sent("model").node_count(), 1)
        viewer = self.create_widget(OWTreeGraph)
        self.send_signal(viewer.Inputs.tree, self.sent("model"), widget=viewer)
        self.assertEqual(len(viewer.scene.nodes()), 1)

    def test_three_mistakes_are_told_in_words(self):
        self.give(Table("housing"))
        self.assert_says(self.shown("Error"), "Categorical class variable expected")
        iris = Table("iris")
        self.give(iris.transform(Domain([], iris.domain.class_var)))
        self.assert_says(self.shown("Error"), "no attributes")
        self.give(with_missing_classes(iris, slice(None)))
        self.assert_says(self.shown("Error"), "No row has a class")
        self.give(iris)
        self.assertEqual(self.shown("Error"), [])

    def test_sizes_reach_the_learner_only_where_they_are_checked(self):
        self.assertIsNone(self.widget.learner.max_depth)
        self.widget.controls.limit_depth.click()
        self.widget.controls.prune.click()
        self.widget.controls.use_holdout.click()
        self.widget.controls.balanced.click()
        learner = self.widget.learner
        self.assertEqual(
            (learner.max_depth, learner.ccp_alpha, learner.prune_holdout, learner.balanced), (10, 0.0, 0.3, True)
        )

    def test_settings_come_back_with_a_workflow(self):
        self.choose(self.widget.criterion_combo, 2)
        self.widget.controls.limit_depth.click()
        again = self.reopened()
        self.assertEqual((again.criterion, again.limit_depth), ("entropy", True))

    def test_the_report_has_the_settings_and_the_tree(self):
        self.give(Table("iris"))
        self.widget.send_report()
        self.assertIn("Pairs of rows that it separates", self.widget.report_html)
        self.assertIn("petal length &lt; 2.45", self.widget.report_html)
