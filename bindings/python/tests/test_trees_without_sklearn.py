"""Trees, cuts and models where scikit-learn is not installed."""

import subprocess
import sys

PROGRAM = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name == "sklearn" or name.startswith("sklearn."):
            raise ImportError(name)
sys.meta_path.insert(0, Refuse())
import pickle
import tempfile
import numpy as np
import stope
X = np.arange(20.0).reshape(10, 2)
y = np.array(list("aaaaabbbbb"))
tree = stope.LocalDiscretizationTreeClassifier().fit(X, y)
assert tree.score(X, y) == 1.0 and tree.cuts_["x0"].tolist() == [9.0]
assert "max_depth" in tree.get_params() and "not fitted" in type(tree)()._repr_html_()
assert (pickle.loads(pickle.dumps(tree)).predict(X) == y).all()
for wrong in (None, y[:3], np.array([y, y])):
    try:
        tree.fit(X, wrong)
    except ValueError:
        continue
    raise AssertionError(wrong)
try:
    stope.LocalDiscretizationTreeClassifier().predict(X)
except ValueError as error:
    assert "not fitted" in str(error)
codes = stope.SupervisedDiscretizer(encode="onehot").fit(X, y)
assert codes.fit_transform(X, y).shape == (10, 3)
assert list(codes.get_feature_names_out())[0] == "x0_(-inf,9)"
ranker = stope.CutRanker(k=1).fit(X, y, sample_weight=np.ones(10))
assert ranker.transform(X).shape == (10, 1) and list(ranker.get_feature_names_out()) == ["x0"]
with tempfile.TemporaryDirectory() as folder:
    stope.save(tree, folder + "/tree.stope")
    assert (stope.load(folder + "/tree.stope").predict(X) == y).all()
assert "sklearn" not in sys.modules
print("done")
"""


def test_everything_works_without_scikit_learn():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.stdout.strip() == "done", done.stderr
