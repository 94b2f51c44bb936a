"""Odd but right text: comments, blanks, long titles, ARFF as people write it, ragged records of several threads."""

import pyarrow as pa
import pyarrow.ipc
import pytest

from program import run


def csv_of(path, *options):
    return run("convert", path, "-", *options).text


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_comments_end_where_lines_end(tmp_path, end):
    (tmp_path / "t.csv").write_bytes(end.join(["# head", "x,c", "1,p", "#", "# 2,q", "3,r", "# the end"]).encode())
    assert csv_of(tmp_path / "t.csv", "--comment", "#") == "x,c\n1,p\n3,r\n"


def test_blanks_that_separate_fields_may_end_the_file(tmp_path):
    for name, text in [("a", "x c\n1  p\n2 q  "), ("b", "x c\n1 p\n2 'q'\n"), ("c", "  x c  \n  1 p\n 2   q\n\n")]:
        (tmp_path / name).write_text(text)
        assert csv_of(tmp_path / name, "--sep", " ").replace("'", "") == "x,c\n1,p\n2,q\n"
    (tmp_path / "open").write_text('x c\n1 "p\n2 q')
    assert "the quote that opens here is never closed" in run("info", tmp_path / "open", "--sep", " ", code=3).err


def test_a_long_value_is_cut_between_two_letters(tmp_path):
    for letters, shown in [("é" * 100, "é" * 20), ("x" + "é" * 100, "x" + "é" * 19), ("日" * 80, "日" * 13), ("x" * 99, "x" * 40)]:
        (tmp_path / "t.csv").write_text("x,c\n" + "".join(f"{i},{i}\n" for i in range(400)) + f"{letters},1\n")
        assert f"line 402 of {tmp_path}/t.csv has '{shown}...'" in run("info", tmp_path / "t.csv").err


@pytest.mark.parametrize("chunk", ["16", "40", "1000"])
def test_ragged_records_are_counted_by_all_threads_and_the_first_is_told(tmp_path, chunk):
    lines = ["x,y,z"] + [f"{i},{i}" if i % 7 == 3 else f"{i},{i},{i},9" if i % 11 == 5 else f"{i},{i},{i}" for i in range(300)]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    words = ["info", tmp_path / "t.csv", "--allow-ragged", "--json"]
    expected = run(*words).json()["warnings"]
    for threads in [1, 2, 3]:
        assert run(*words, "--threads", threads, env={"STOPE_CSV_CHUNK": chunk}).json()["warnings"] == expected


def arff(folder, header, data):
    (folder / "t.arff").write_text(f"@relation r\n{header}\n@data\n{data}")
    return folder / "t.arff"


def test_arff_words_end_at_braces_quotes_and_brackets(tmp_path):
    header = '@attribute x real[0,9]\n@attribute "a b" integer [1,2]\n@attribute c{p,\'q r\',"s"}\n@attribute d date"yyyy-MM-dd"'
    path = arff(tmp_path, header, "1,\t2 ,p,1970-01-02\n\t3\t,4,'q r'\t, \"1970-01-03\"\n5 , 6,\"s\",?\n")
    assert csv_of(path) == "x,a b,c,d\n1.0,2,p,1970-01-02\n3.0,4,q r,1970-01-03\n5.0,6,s,\n"


def test_arff_numbers_stand_between_blanks_and_tabs(tmp_path):
    header = "\n".join(f"@attribute {name} real" for name in "abc")
    path = arff(tmp_path, header, "1\t,2 ,\t3\n 4,\t5\t, 6 \n7,8,9\t\n")
    assert csv_of(path) == "a,b,c\n1.0,2.0,3.0\n4.0,5.0,6.0\n7.0,8.0,9.0\n"


def test_arff_escapes_may_end_a_word(tmp_path):
    path = arff(tmp_path, "@attribute c string", "'a\\\\'\n'tab\\t'\n'\\101\\60'\n'q\\''\n")
    assert csv_of(path) == "c\na\\\n\"tab\t\"\nA0\nq'\n"
    for damaged in ["'a\\", "'a\\1", "'", '"a']:
        assert "t.arff:4:" in run("info", arff(tmp_path, "@attribute c string", damaged), code=3).err


def test_a_word_that_only_begins_like_a_type_is_none(tmp_path):
    for word in ["realistic", "stringy", "dates", "numerical"]:
        assert "t.arff:2:" in run("info", arff(tmp_path, f"@attribute x {word}", "1\n"), code=3).err


def test_digits_that_a_number_loses_are_told_in_arff(tmp_path):
    path = arff(tmp_path, "@attribute x real\n@attribute y real", "0.12345678901234567891,1\n2,9007199254740993\n")
    assert run("info", path).err.count("warning") >= 1


@pytest.mark.parametrize("data, place", [
    ("{0 1,1 a}\n{0 2,1 ?}\n", "t.arff:6:8: "),
    ("{0 1,1 a}\n{1 ?}\n", "t.arff:6:4: "),
    ("1,a\n?,?\n", "t.arff:6:3: "),
])
def test_a_missing_label_is_found_in_sparse_and_dense_rows(tmp_path, data, place):
    path = arff(tmp_path, "@attribute x real\n@attribute c {b,a}", data)
    text = path.read_text().replace("@attribute c", "@attribute class")
    path.write_text(text)
    assert place in run("evaluate", path, "--target", "class", code=3).err
    assert place in run("evaluate", path, "--names", "u,v", "--header", "yes", "--target", "v", code=3).err


def test_a_missing_label_is_found_within_the_memory_limit(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n1,p\n2,\n")
    assert "t.csv:3:3: " in run("evaluate", tmp_path / "t.csv", "--target", "y", "--memory-limit", "100MB", code=3).err


def test_a_date_with_more_decimals_than_a_double_has_may_be_declared(tmp_path):
    (tmp_path / "t.csv").write_text("d,x\n2024-01-01T00:00:00.123456789012,1\n2024-01-02T00:00:00,2\n")
    assert run("info", tmp_path / "t.csv", "--date", "d", "--json").json()["columns"][0]["type"] == "date"
    assert run("info", tmp_path / "t.csv", "--json").json()["columns"][0]["type"] == "polynominal"


def test_a_stream_that_is_damaged_in_a_pipe_is_refused(tmp_path):
    sink = pa.BufferOutputStream()
    table = pa.table({"x": [1.0] * 1000, "c": ["a", "b"] * 500})
    with pa.ipc.new_stream(sink, table.schema) as writer:
        for batch in table.to_batches(max_chunksize=100):
            writer.write_batch(batch)
    whole = sink.getvalue().to_pybytes()
    for cut in [6, 40, len(whole) // 2, len(whole) - 20]:
        done = run("info", "-", stdin=whole[:cut], code=None)
        assert done.code in (0, 3) and len(done.error_lines()) == (done.code != 0), done.err
    for at in range(8, 300, 7):
        done = run("info", "-", stdin=whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1:], code=None)
        assert done.code in (0, 3, 4) and len(done.error_lines()) == (done.code != 0), done.err


def test_threads_of_a_long_file_tell_its_first_ragged_record(tmp_path):
    lines = ["x,y,z"] + [f"{i},{i}" if i % 70_001 == 3 else f"{i},{i},{i},9" if i % 90_001 == 5 else f"{i},{i},{i}" for i in range(400_000)]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    expected = run("info", tmp_path / "t.csv", "--allow-ragged", "--threads", 1, "--json").json()["warnings"]
    assert any("line 5" in str(warning) for warning in expected), expected
    for threads in [2, 4]:
        assert run("info", tmp_path / "t.csv", "--allow-ragged", "--threads", threads, "--json").json()["warnings"] == expected


def test_many_columns_keep_the_order_in_which_their_values_appear(tmp_path):
    n = 30_000
    (tmp_path / "t.csv").write_text(",".join(f"c{i}" for i in range(n)) + "\n" + "\n".join(",".join([v] * n) for v in "zay") + "\n")
    words = ["info", tmp_path / "t.csv", "--json", "--nominal-order"]
    for order, wanted in [("appearance", ["z", "a", "y"]), ("sorted", ["a", "y", "z"])]:
        assert {tuple(column["values"]) for column in run(*words, order).json()["columns"]} == {tuple(wanted)}
