"""A person's path: from a file to predictions."""

import re

import pandas as pd
import pytest

import stope

from page_steps import DATA, csv, says, take_table


def evaluate(page, label, ks):
    page.select_option("#label", label)
    page.fill("#ks", ks)
    page.click("#evaluate button")
    page.wait_for_selector("#scores", state="visible")


def scores_on(page):
    return [[cell.inner_text().strip() for cell in row.query_selector_all("th, td")] for row in page.query_selector_all("#score-table tbody tr")]


def download(page):
    with page.expect_download() as waiting:
        page.click("#predict-result a")
    return waiting.value.suggested_filename, pd.read_csv(waiting.value.path())


def test_a_person_gets_from_a_file_to_predictions(open_page, tmp_path):
    page = open_page(accept_downloads=True)
    take_table(page, DATA / "iris-train.csv")
    train = pd.read_csv(DATA / "iris-train.csv")
    assert f"{len(train)} rows and 5 columns" in page.inner_text("#table-facts")
    row = page.inner_text("#column-table tbody tr:nth-child(1)")
    assert "sepal_length" in row and f"{train.sepal_length.mean():.5g}" in row
    bars = page.query_selector("#column-table tr:nth-child(5) svg").get_attribute("aria-label")
    for name, rows in train.species.value_counts().items():
        assert f"{name} {rows}" in bars

    evaluate(page, "species", "1-3, 7")
    assert [row[0] for row in scores_on(page)] == ["1", "2", "3", "7"]
    page.wait_for_selector("#confusion", state="visible")
    best = max(scores_on(page), key=lambda row: float(row[1].split()[0]))
    cells = [int(cell.inner_text()) for cell in page.query_selector_all("#confusion .cell")]
    assert sum(cells) == len(train)
    right = sum(int(cell.inner_text()) for cell in page.query_selector_all("#confusion .right"))
    assert f"{right / len(train) * 100:.1f} %" == best[1]
    assert page.input_value("#predict-k") == best[0]
    assert "k = " in page.query_selector("#score-chart svg").get_attribute("aria-label")

    page.click("#grow button")
    page.wait_for_selector("#tree-result svg .leaf")
    assert page.locator("#tree-result svg .node.leaf").count() >= 3
    page.click("#tree-result summary")
    says(page, "#tree-result pre", "then")

    page.click("#rank button")
    page.wait_for_selector("#cut-pictures .bar")
    assert page.locator("#cut-pictures figure").count() == 4
    for figure in page.query_selector_all("#cut-pictures figure"):
        name, cut = re.match(r"(\w+) < ([\d.]+)", figure.inner_text()).groups()
        left, right = figure.query_selector("svg").get_attribute("aria-label").split("On the left: ")[1].split(" On the right: ")
        for side, rows in ((left, train[train[name] < float(cut)]), (right, train[train[name] >= float(cut)])):
            assert dict(part.rsplit(" ", 1) for part in side.rstrip(".").split(", ")) == rows.species.value_counts().astype(str).to_dict()

    page.set_input_files("#predict-file", str(DATA / "iris-test.csv"))
    page.fill("#predict-k", "3")
    page.click("#predict button")
    page.wait_for_selector("#predict-result", state="visible")
    name, found = download(page)
    assert name == "iris-test-predictions.csv"
    test = pd.read_csv(DATA / "iris-test.csv").drop(columns="species")
    model = stope.KNeighborsClassifier(3, metric="mixed-euclidean").fit(train.drop(columns="species"), train.species)
    assert list(found["prediction"]) == list(model.predict(test))
    assert (found[[f"confidence({name})" for name in model.classes_]].to_numpy() == model.predict_proba(test)).all()


def test_another_k_brings_its_own_confusion_matrix(open_page):
    page = open_page()
    take_table(page, DATA / "iris.csv")
    evaluate(page, "species", "1, 60")
    page.wait_for_selector("#confusion", state="visible")
    page.check("#use-k-60")
    says(page, "#confusion caption", "k = 60")
    right = sum(int(cell.inner_text()) for cell in page.query_selector_all("#confusion .right"))
    assert f"{right / 150 * 100:.1f} %" == scores_on(page)[1][1]
    assert page.input_value("#predict-k") == "60"


def test_a_label_of_numbers_gets_errors_and_no_classes(open_page):
    page = open_page()
    take_table(page, DATA / "iris.csv")
    evaluate(page, "petal_width", "1, 5, 9")
    assert "RMSE" in page.inner_text("#score-table thead")
    assert "Lower is better" in page.inner_text("#score-caption")
    assert page.is_hidden("#confusion")
    assert page.is_disabled("#grow button") and page.is_disabled("#rank button")
    assert "needs a label of classes" in page.inner_text("#tree-needs")
    page.set_input_files("#predict-file", str(DATA / "iris.csv"))
    page.click("#predict button")
    page.wait_for_selector("#predict-result", state="visible")
    assert "150 rows predicted" in page.inner_text("#predict-words")


def test_numbers_become_classes_on_request(open_page):
    rows = "".join(f"{i % 7},{i % 2}\n" for i in range(60))
    page = open_page()
    take_table(page, csv("a,y\n" + rows))
    page.select_option("#label", "y")
    assert page.is_disabled("#grow button")
    page.check("#label-is-nominal")
    page.wait_for_selector("#grow button:enabled")
    assert page.input_value("#label") == "y"
    evaluate(page, "y", "1, 3")
    assert "Accuracy" in page.inner_text("#score-table thead")


def test_a_tree_asks_for_dates_as_dates(open_page):
    page = open_page()
    take_table(page, csv("day,y\n" + "".join(f"2024-03-{i:02d},{'no' if i < 11 else 'yes'}\n" for i in range(1, 31))))
    page.select_option("#label", "y")
    page.click("#grow button")
    page.wait_for_selector("#tree-result svg .leaf")
    assert "2024-03-10 12:00:00" in page.query_selector("#tree-result svg").get_attribute("aria-label")
    assert page.inner_text("#tree-words") == "2 leaves, at most 1 question deep. The questions are about day."


def test_columns_that_are_left_out_do_not_take_part(open_page):
    page = open_page()
    rows = "".join(f"{i % 3},{i * 7919 % 60},{'xyz'[i % 3]}\n" for i in range(60))
    take_table(page, csv("tells,noise,y\n" + rows))
    page.select_option("select[aria-label='Role of tells']", "ignore")
    page.select_option("#label", "y")
    page.click("#rank button")
    page.wait_for_selector("#cuts-result summary")
    page.click("#cuts-result summary")
    listed = page.inner_text("#cuts-result table")
    assert "noise" in listed and "tells" not in listed


def test_a_mixed_table_with_missing_values_goes_all_the_way(open_page):
    page = open_page()
    take_table(page, DATA / "labor-train.csv")
    train = pd.read_csv(DATA / "labor-train.csv")
    assert "numeric" not in page.inner_text("#metric")
    text = page.inner_text("#column-table tr:has-text('pension')")
    assert f"{train.pension.isna().sum()} (" in text
    page.select_option("#metric", "gower")
    evaluate(page, "class", "1, 3, 5")
    page.wait_for_selector("#confusion", state="visible")
    page.click("#grow button")
    page.wait_for_selector("#tree-result svg .leaf")
    page.click("#rank button")
    page.wait_for_selector("#cut-pictures .bar")
    # Missing is a value of its own, so every row is on one of the two sides.
    for picture in page.query_selector_all("#cut-pictures svg"):
        sides = picture.get_attribute("aria-label").split("On the left: ")[1]
        assert sum(int(rows) for rows in re.findall(r"(?:good|bad) (\d+)", sides)) == len(train)
    page.set_input_files("#predict-file", str(DATA / "labor-test.csv"))
    page.select_option("#predict-model", "tree")
    page.click("#predict button")
    page.wait_for_selector("#predict-result", state="visible")
    assert f"{len(pd.read_csv(DATA / 'labor-test.csv'))} rows predicted" in page.inner_text("#predict-words")


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "json"])
def test_other_formats_show_the_same_columns(open_page, tmp_path, suffix):
    frame = pd.read_csv(DATA / "iris.csv")
    path = tmp_path / f"iris.{suffix}"
    if suffix == "json":
        path.write_text(frame.to_json(orient="records"))
    elif suffix == "parquet":
        frame.to_parquet(path)
    else:
        import pyarrow as pa

        table = pa.Table.from_pandas(frame)
        with pa.ipc.new_stream(str(path), table.schema) as writer:
            writer.write_table(table)
    page = open_page()
    take_table(page, path)
    assert "150 rows and 5 columns" in page.inner_text("#table-facts")
    assert f"{frame.petal_width.mean():.5g}" in page.inner_text("#column-table tbody tr:nth-child(4)")


def test_a_table_of_the_server_is_opened_by_name(open_page, page_server):
    import httpx

    httpx.put(f"{page_server}v1/tables/flowers", content=(DATA / "iris.csv").read_bytes(), headers={"Content-Type": "text/csv"}).raise_for_status()
    page = open_page()
    page.wait_for_selector("#stored", state="visible")
    page.select_option("#stored-table", "flowers")
    page.click("#open-stored")
    page.wait_for_selector("#work", state="visible")
    assert "flowers has 150 rows" in page.inner_text("#table-facts")
    httpx.delete(f"{page_server}v1/tables/flowers")


def test_dates_are_shown_and_cut_as_dates(open_page):
    rows = "".join(f"2024-0{1 + i % 9}-1{i % 10},{'early' if i % 9 < 4 else 'late'}\n" for i in range(90))
    page = open_page()
    take_table(page, csv("when,y\n" + rows))
    text = page.inner_text("#column-table tbody tr:nth-child(1)")
    assert "2024-01-10" in text and "2024-09-19" in text
    page.select_option("#label", "y")
    page.click("#rank button")
    page.wait_for_selector("#cut-pictures .bar")
    words = page.query_selector("#cut-pictures svg").get_attribute("aria-label")
    assert "On the left: early 40. On the right: late 50." in words
    assert "when < 2024-0" in page.inner_text("#cut-pictures figcaption")


def test_what_the_engine_warns_of_is_said(open_page):
    page = open_page()
    take_table(page, csv("a,b,y\n" + "".join(f"{i * 1000},{i % 7 / 10},{'xy'[i % 2]}\n" for i in range(60))))
    evaluate(page, "y", "3")
    says(page, "#evaluate-problem .note", "will dominate the distance")
    page.select_option("#normalize", "z")
    evaluate(page, "y", "3")
    page.wait_for_selector("#evaluate-problem .note", state="detached")


def test_a_file_is_read_again_with_other_options(open_page):
    page = open_page()
    take_table(page, csv("zip,b\n1000,1\n2000,-\n3000,3\n"))
    assert "real" in page.inner_text("#column-table tbody tr:nth-child(1)") or "integer" in page.inner_text("#column-table tbody tr:nth-child(1)")
    page.click("#upload summary")
    page.fill("#nominal", " zip ")
    page.fill("#missing_values", "-, ?")
    page.click("#read-again")
    says(page, "#column-table tbody tr:nth-child(1)", "nominal")
    says(page, "#column-table tbody tr:nth-child(2)", "1 (33 %)")
