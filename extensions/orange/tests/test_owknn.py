"""The widget k-NN (stope)."""

import threading

import numpy as np
import pytest
from Orange.data import Domain, Table
from Orange.widgets.evaluate.owpredictions import OWPredictions
from Orange.widgets.evaluate.owtestandscore import OWTestAndScore
from Orange.widgets.tests.base import ParameterMapping, WidgetLearnerTestMixin

import widget_case
from orangecontrib.stope.knn import KnnLearner
from orangecontrib.stope.measures import NORMALIZATIONS, WEIGHTS
from orangecontrib.stope.widgets.owknn import METRICS, OWStopeKnn
from tables import mixed_table, with_missing_classes


class TestAsEveryLearnerWidgetOfOrange(widget_case.WidgetCase, WidgetLearnerTestMixin):
    """Orange's own tests of learner widgets."""

    def setUp(self):
        self.widget = self.create_widget(OWStopeKnn, stored_settings={"auto_apply": False})
        self.init()
        numeric = [name for name, _ in METRICS if name in ("gower", "heom", "mixed-euclidean", "hamming")]
        self.parameters = [
            ParameterMapping("n_neighbors", self.widget.n_neighbors_spin),
            ParameterMapping("metric", self.widget.measure_combo, numeric),
            ParameterMapping("weights", self.widget.weights_combo, [name for name, _ in WEIGHTS]),
            ParameterMapping("normalize", self.widget.normalize_combo, [name for name, _ in NORMALIZATIONS]),
        ]


class TestKnn(widget_case.WidgetCase):
    widget_class = OWStopeKnn

    def test_the_model_is_the_learners_on_orange_s_tables(self):
        for name in ("iris", "titanic", "heart_disease", "housing"):
            data = Table(name)
            self.give(data)
            expected = KnnLearner()(data)
            self.assertTrue(np.array_equal(self.sent("model")(data), expected(data)), name)
            self.assertEqual(self.shown("Error"), [])

    def test_missing_values_are_kept_and_a_model_comes(self):
        data = mixed_table(missing=0.3)
        self.give(data)
        self.assertEqual(len(self.sent("model")(data)), len(data))
        self.assertEqual(self.shown("Error") + self.shown("Warning"), [])

    def test_a_measure_for_numbers_on_a_mixed_table_is_an_error_that_names_others(self):
        self.give(mixed_table())
        self.choose(self.widget.measure_combo, [name for name, _ in METRICS].index("euclidean"))
        self.assert_says(self.shown("Error"), "Choose Gower")
        self.assertIsNone(self.sent("model"))
        self.choose(self.widget.measure_combo, [name for name, _ in METRICS].index("gower"))
        self.assertEqual(self.shown("Error"), [])
        self.assertIsNotNone(self.sent("model"))

    def test_data_without_a_class_sparse_data_and_one_class_are_told_in_words(self):
        iris = Table("iris")
        self.give(iris.transform(Domain(iris.domain.attributes)))
        self.assert_says(self.shown("Error"), "no target variable")
        self.give(iris.to_sparse())
        self.assert_says(self.shown("Error"), "takes dense tables")
        self.give(iris[:50])
        self.assert_says(self.shown("Error"), "same class")
        self.give(with_missing_classes(iris, slice(None)))
        self.assert_says(self.shown("Error"), "No row has a class")
        self.give(with_missing_classes(iris, slice(50, None)))
        self.assert_says(self.shown("Error"), "same class")
        self.give(iris)
        self.assertEqual(self.shown("Error"), [])

    def test_rows_without_a_class_are_counted(self):
        self.give(with_missing_classes(Table("iris"), [1, 2]))
        self.assert_says(self.shown("Information"), "2 rows without a class")
        self.assertIsNotNone(self.sent("model"))

    def test_more_neighbours_than_rows_are_a_warning(self):
        self.widget.n_neighbors_spin.setValue(100)
        self.give(mixed_table(20))
        self.assert_says(self.shown("Warning"), "20 rows, fewer than 100")

    def test_the_power_of_minkowski_can_be_set_for_minkowski_alone(self):
        self.assertFalse(self.widget.p_spin.isEnabled())
        self.choose(self.widget.measure_combo, [name for name, _ in METRICS].index("minkowski"))
        self.assertTrue(self.widget.p_spin.isEnabled())
        self.assertEqual(self.widget.learner.get_params("classification")["metric_params"], {"p": 3.0})

    def test_a_gpu_that_is_not_there_is_an_error_in_words(self):
        from orangecontrib.stope import engine

        try:
            with engine.job("cuda") as run:
                engine.native().require_backend(run)
        except RuntimeError:
            pass
        else:
            pytest.skip("there is a GPU")
        self.give(Table("iris"))
        self.choose(self.widget.device_combo, 2)
        self.assert_says(self.shown("Error"), "CUDA")

    def test_settings_come_back_with_a_workflow_and_unknown_ones_become_the_default(self):
        self.choose(self.widget.measure_combo, [name for name, _ in METRICS].index("heom"))
        self.widget.n_neighbors_spin.setValue(7)
        again = self.reopened()
        self.assertEqual((again.measure, again.n_neighbors), ("heom", 7))
        self.assertEqual(again.measure_combo.currentText(), dict(METRICS)["heom"])
        other = self.reopened(measure="a measure of a later version")
        self.assertEqual(other.measure, "mixed-euclidean")

    def test_the_report_names_the_measure_and_the_data(self):
        self.give(Table("iris"))
        self.widget.send_report()
        self.assertIn("Euclidean (mixed)", self.widget.report_html)

    def test_test_and_score_and_predictions_take_the_outputs(self):
        data = Table("heart_disease")
        self.give(data)
        learner = self.sent("learner")
        judge = self.create_widget(OWTestAndScore)
        self.send_signal(judge.Inputs.train_data, data, widget=judge)
        self.send_signal(judge.Inputs.learner, learner, 0, widget=judge)
        results = self.get_output(judge.Outputs.evaluations_results, widget=judge, wait=30000)
        self.assertGreater((results.predicted[0] == results.actual).mean(), 0.75)
        seer = self.create_widget(OWPredictions)
        self.send_signal(seer.Inputs.data, data, widget=seer)
        self.send_signal(seer.Inputs.predictors, self.sent("model"), 0, widget=seer)
        predicted = self.get_output(seer.Outputs.annotated, widget=seer)
        column = predicted.get_column(self.widget.effective_learner_name())
        self.assertTrue(np.array_equal(column, self.sent("model")(data)))

    def test_new_data_end_the_fit_that_runs(self):
        started, go_on, ended = threading.Event(), threading.Event(), []
        learner_class = type(self.widget).LEARNER

        class Slow(learner_class):
            def __call__(self, data, progress_callback=None):
                from orangecontrib.stope.engine import _watcher

                started.set()
                go_on.wait(20)
                try:
                    _watcher.get()(0.5)
                except BaseException as error:
                    ended.append(type(error).__name__)
                    raise
                return super().__call__(data)

        self.widget.LEARNER = Slow
        self.widget.update_learner()
        self.send_signal(self.widget.Inputs.data, Table("iris"), widget=self.widget)
        self.assertTrue(started.wait(20))
        self.widget.LEARNER = learner_class
        self.widget.update_learner()
        self.send_signal(self.widget.Inputs.data, Table("heart_disease"), widget=self.widget)
        go_on.set()
        self.wait_until_finished(self.widget)
        self.assertEqual(ended, ["Interrupted"])
        self.assertEqual(len(self.sent("model").domain.attributes), 13)
