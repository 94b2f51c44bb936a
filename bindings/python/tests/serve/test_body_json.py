"""JSON bodies: their three forms, their types, and what strictness refuses."""

import json

import numpy as np
import pytest

pytest.importorskip("starlette", reason="SKIP: the package starlette is missing")

from stope.serve.bodies import json_text as body_json_text  # noqa: E402
from stope.serve.bodies import Feature, ReadingOptions  # noqa: E402
from stope.serve.problems import Problem  # noqa: E402

from .bodies_in_process import JSON, blocks, column, cut, whole  # noqa: E402

X = [Feature("x")]


@pytest.fixture(params=[1 << 20, 40])
def fill(request, monkeypatch):
    """Characters that are gathered at once: so few that every value is cut somewhere, and the usual number."""
    monkeypatch.setattr(body_json_text, "_FILL", request.param)


FORMS = [
    '{"columns":["x","name"],"rows":[[1,"a"],[null,"b, ] } \\" \\u00fc"],[-2.5e3,null]]}',
    ' [ {"x" : 1 , "name":"a"}, {"name":"b, ] } \\" \\u00fc","x":null}\n,{"x":-2500.0,"name":null} ] \n',
    '{"x":[1,"NaN",-2.5e+3], "name" : ["a","b, ] } \\" \\u00fc",null]}',
]


@pytest.mark.parametrize("text", FORMS)
@pytest.mark.parametrize("size", [0, 1, 5])
def test_the_three_forms_are_one_table(fill, text, size):
    table = whole(cut(text.encode(), size), JSON)
    assert table.columns == ["x", "name"] and table.dtypes == {"x": "integer", "name": "polynominal"}
    assert column(table, "name") == ["a", 'b, ] } " ü', None]
    assert column(table, "x").tolist()[::2] == [1.0, -2500.0] and np.isnan(column(table, "x")[1])
    (block,) = blocks(cut(text.encode(), size), JSON, [Feature("name", "nominal"), *X])
    assert column(block, "name") == column(table, "name") and column(block, "x").tolist()[::2] == [1.0, -2500.0]


@pytest.mark.parametrize("size", [0, 1])
def test_the_short_way_and_the_long_way_are_one(size):
    numbers = np.random.default_rng(0).normal(size=(5, 3)) * 10.0 ** np.arange(-150, 150, 100)
    text = json.dumps({"columns": ["a", "b", "c"], "rows": numbers.tolist()}).encode()
    features = [Feature("c"), Feature("a")]
    (short,) = blocks(text, JSON, features, headers={"content-length": str(len(text))})
    long = np.concatenate(
        [np.column_stack([column(b, "c"), column(b, "a")]) for b in blocks(cut(text, size), JSON, features)]
    )
    assert np.array_equal(np.column_stack([column(short, "c"), column(short, "a")]), numbers[:, [2, 0]])
    assert np.array_equal(long, numbers[:, [2, 0]])


REFUSED = [
    ("NaN", '{"columns":["x"],"rows":[[NaN]]}'),
    ("Infinity", '[{"x":-Infinity}]'),
    ("2^53", '{"columns":["x"],"rows":[[9007199254740993]]}'),
    ("2^53", '{"x":[1.5,-9007199254740994]}'),
    ("range", '{"columns":["x"],"rows":[[1e999]]}'),
    ("2^53", '{"columns":["x"],"rows":[[1' + "0" * 400 + "]]}"),
    ("digits", '{"columns":["x"],"rows":[[1' + "0" * 5000 + "]]}"),
    ("deep", '{"columns":["x"],"rows":[[' + "[" * 100_000 + "]]}"),
    ("no value", '{"columns":["x"],"rows":[[[1]]]}'),
    ("no value", '[{"x":{"y":1}}]'),
    ("1 values", '{"columns":["x","y"],"rows":[[1]]}'),
    ("no list", '{"columns":["x"],"rows":[1]}'),
    ("lacks", '[{"x":1,"y":2},{"x":1}]'),
    ("first lacks", '[{"x":1},{"x":1,"y":2}]'),
    ("twice", '[{"x":1,"y":2},{"x":1,"x":2}]'),
    ("two columns", '{"columns":["x","x"],"rows":[]}'),
    ("two columns", '{"x":[1],"x":[2]}'),
    ("two columns", '[{"x":1,"x":2}]'),
    ("different numbers", '{"x":[1],"y":[1,2]}'),
    ("more after", '{"columns":["x"],"rows":[[1]]} {}'),
    ("more after", '[{"x":1}],'),
    ("expecting", '{"columns":["x"],"rows":[[1],]}'),
    ("xpecting", '{"columns":["x"] "rows":[[1]]}'),
    ("xpecting", '{"columns":["x"],"rows":[[1'),
    ("come the rows", '{"columns":["x"],"row":[[1]]}'),
    ("before", '{"rows":[[1]],"columns":["x"]}'),
    ("no columns", "{}"),
    ("no records", "[]"),
    ("not empty", '{"columns":[""],"rows":[]}'),
    ("NUL", '{"columns":["\\u0000"],"rows":[]}'),
    ("surrogate", '{"columns":["\\ud800"],"rows":[]}'),
    ("characters", json.dumps({"columns": ["n" * 10_001], "rows": []})),
    ("UTF-8", b'{"columns":["x"],"rows":[["\xff"]]}'),
    ("UTF-8", b'[{"x":"\xc3"'),
    ("expecting", "7"),
    ("expecting", '"text"'),
    ("type", '{"columns":[{"name":"x","type":"float"}],"rows":[]}'),
    ("no member", '{"columns":[{"name":"x","kind":"real"}],"rows":[]}'),
    ("values", '{"columns":[{"name":"x","type":"real","values":["a"]}],"rows":[]}'),
    ("one name", '{"columns":[{"type":"real"}],"rows":[]}'),
]


@pytest.mark.parametrize(("words", "text"), REFUSED)
@pytest.mark.parametrize("size", [0, 3])
def test_what_is_not_strict_is_refused(fill, words, text, size):
    data = text if isinstance(text, bytes) else text.encode()
    if size and len(data) > 1000:
        size = 1000
    for read in (
        lambda: whole(cut(data, size), JSON),
        lambda: blocks(cut(data, size), JSON, X),
        lambda: blocks(data, JSON, X, headers={"content-length": str(len(data))}),
    ):
        with pytest.raises(Problem, match=words.replace("^", r"\^")) as refusal:
            read()
        assert (refusal.value.status, refusal.value.code) in ((422, "malformed-json"), (422, "duplicate-column"))


def test_a_place_is_told():
    text = '{"columns": ["x"],\n "rows": [\n  [1],\n  [oops]]}'
    for size in (0, 1):
        with pytest.raises(Problem) as refusal:
            whole(cut(text.encode(), size), JSON)
        assert refusal.value.members["line"] == 4
    with pytest.raises(Problem) as refusal:
        whole(b'{"columns":["n","x"],"rows":[["a",1],["b","c"]]}', JSON, ReadingOptions(numeric=("x",)))
    assert (refusal.value.members["row"], refusal.value.members["column"]) == (1, "x")


def test_types_are_those_of_the_values():
    table = whole(b'{"w":[1,2],"r":[1,2.5],"t":["1","2"],"b":[true,null],"n":[null,null],"s":["NaN","Infinity"]}', JSON)
    assert table.dtypes == {"w": "integer", "r": "real", "t": "polynominal", "b": "binominal", "n": "real", "s": "real"}
    assert column(table, "b") == ["true", None] and column(table, "s")[1] == np.inf


@pytest.mark.parametrize("mixed", ['["a",1]', '[1,"a"]', '[true,1,"a"]', '["a",true]'])
def test_mixed_columns_are_refused_unless_the_options_make_names_of_all(mixed):
    text = f'{{"x":{mixed}}}'.encode()
    with pytest.raises(Problem):
        whole(text, JSON)
    names = [value if isinstance(value, str) else json.dumps(value) for value in json.loads(mixed)]
    assert column(whole(text, JSON, ReadingOptions(nominal=("x",))), "x") == names


def test_names_of_numbers_are_those_of_the_python_package():
    table = whole(b'{"columns":["x"],"rows":[[3],[3.0],[2.5],["3"],[null]]}', JSON, ReadingOptions(nominal=("x",)))
    assert column(table, "x") == ["3", "3", "2.5", "3", None]
    (block,) = blocks(b'{"columns":["x"],"rows":[[3],[3.0],[2.5],["3"],[null]]}', JSON, [Feature("x", "nominal")])
    assert column(block, "x") == ["3", "3", "2.5", "3", None]


def test_declared_types_roles_and_values_hold():
    head = [
        {"name": "d", "type": "date"},
        {"name": "c", "type": "binominal", "values": ["no", "yes"], "role": "label"},
        {"name": "k", "type": "nominal"},
    ]
    text = json.dumps(
        {"columns": head, "rows": [["2020-01-02", "yes", 1], ["1970-01-01T12:00:00Z", None, 2], [7.25, "yes", None]]}
    )
    table = whole(text.encode(), JSON)
    assert table.dtypes == {"d": "date", "c": "binominal", "k": "nominal"} and table.roles["c"] == "label"
    assert column(table, "d").tolist() == [18263.0, 0.5, 7.25] and table.categories("c") == ["no", "yes"]
    assert whole(text.encode(), JSON, ReadingOptions(target="k")).roles == {
        "d": "regular",
        "c": "regular",
        "k": "label",
    }
    with pytest.raises(Problem, match="among"):
        whole(text.replace("null, 2", '"maybe", 2').encode(), JSON)
    with pytest.raises(Problem, match="ISO date"):
        whole(text.replace("2020-01-02", "2.1.2020").encode(), JSON)


def test_a_column_may_be_missing_in_all_first_rows(fill):
    rows = [{"x": None, "c": None}] * 200 + [{"x": 1.5, "c": "late"}, {"x": None, "c": "b"}]
    table = whole(cut(json.dumps(rows).encode(), 50), JSON)
    assert column(table, "c") == [None] * 200 + ["late", "b"] and column(table, "x")[200] == 1.5
    assert table.categories("c") == ["b", "late"]


def test_numbers_may_be_cut_anywhere(fill):
    numbers = [float(f"{n}{n}.5e-{n}") for n in range(1, 300)]
    text = '{"x":[' + ",".join(f"{n}{n}.5e-{n}" for n in range(1, 300)) + "]}"
    for size in (1, 3, 64):
        assert column(whole(cut(text.encode(), size), JSON), "x").tolist() == numbers


def test_half_a_surrogate_pair_is_no_name():
    text = b'{"columns":["x"],"rows":[["a"],["\\ud800"]]}'
    for read in (lambda: whole(text, JSON), lambda: blocks(text, JSON, [Feature("x", "nominal")])):
        with pytest.raises(Problem, match="surrogate") as refusal:
            read()
        assert refusal.value.members["column"] == "x"


def test_order_of_names_is_an_option():
    text = b'{"c":["z","a","z"]}'
    assert whole(text, JSON).categories("c") == ["a", "z"]
    assert whole(text, JSON, ReadingOptions(nominal_order="appearance")).categories("c") == ["z", "a"]


def test_a_text_in_a_column_of_numbers_is_refused_with_its_place():
    rows = "".join(f"[{n}]," for n in range(40_000))
    with pytest.raises(Problem) as refusal:
        blocks(cut(f'{{"columns":["x"],"rows":[{rows}["word"]]}}'.encode(), 10_000), JSON, X)
    assert (refusal.value.members["row"], refusal.value.members["column"]) == (40_000, "x")


def test_true_is_one_for_a_model_of_numbers():
    (block,) = blocks(b'{"columns":["x"],"rows":[[true],[false]]}', JSON, X)
    assert column(block, "x").tolist() == [1.0, 0.0]
