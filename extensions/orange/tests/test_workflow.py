"""The example workflow, as the canvas reads and runs it."""

from pathlib import Path

import numpy as np
import pytest

import orangecontrib.stope.tutorials as tutorials
from workflow import Workflow, registry

EXAMPLE = Path(tutorials.__file__).with_name("heart-disease.ows")


@pytest.fixture(scope="module")
def widgets():
    return registry()


@pytest.fixture
def opened(widgets):
    workflows = []

    def open_workflow(ows):
        workflows.append(Workflow(ows, widgets))
        return workflows[-1]

    yield open_workflow
    for workflow in workflows:
        workflow.close()


def test_the_example_runs_from_the_file_to_the_scores_and_the_tree(opened):
    workflow = opened(EXAMPLE.read_bytes())
    assert workflow.problems == []
    assert workflow.run()
    assert workflow.messages("Error") == {} and workflow.messages("Warning") == {}
    scores = workflow.widgets["Test and Score"].score_table.model
    names = [scores.data(scores.index(row, 0)) for row in range(scores.rowCount())]
    assert names == ["k-NN (stope)", "Local Discretization Tree (stope)"]
    assert all(float(scores.data(scores.index(row, 3))) > 0.7 for row in range(2))
    assert len(workflow.widgets["Tree Viewer"].scene.nodes()) > 3
    assert not np.isnan(workflow.widgets["Filled In"].input.table.X).any()
    assert all(v.is_discrete for v in workflow.widgets["Intervals"].input.table.domain.attributes)


def test_a_saved_workflow_has_the_settings_that_it_was_saved_with(opened):
    first = opened(EXAMPLE.read_bytes())
    assert first.run()
    knn = first.widgets["k-NN (stope)"]
    knn.n_neighbors_spin.setValue(17)
    index = next(i for i in range(knn.measure_combo.count()) if knn.measure_combo.itemText(i).startswith("HEOM"))
    knn.measure_combo.setCurrentIndex(index)
    knn.measure_combo.activated[int].emit(index)
    first.widgets["Rank by Cuts (stope)"].n_selected_spin.setValue(3)
    assert first.run()
    second = opened(first.saved())
    assert second.run()
    knn = second.widgets["k-NN (stope)"]
    assert (knn.n_neighbors, knn.measure) == (17, "heom")
    assert len(second.widgets["Rank by Cuts (stope)"].selected) == 3


def test_a_workflow_with_settings_of_another_version_opens(opened):
    workflow = opened(EXAMPLE.read_bytes())
    knn = next(node for node in workflow.scheme.nodes if node.title == "k-NN (stope)")
    workflow.scheme.sync_node_properties()
    knn.properties = {**knn.properties, "measure": "a measure of a later version", "no_such_setting": 1}
    text = workflow.saved()
    again = opened(text.replace(b"'mixed-euclidean'", b"'of a later version'"))
    assert again.run()
    assert again.widgets["k-NN (stope)"].measure == "mixed-euclidean"
    assert again.messages("Error") == {}
