"""Hostile tables, bad files, wrong settings, jobs that are cancelled: said in words, where they belong."""

import random
import time

import httpx
import pytest

from page_steps import DATA, csv, is_ready, says, take_table

EVIL = ["<img src=x onerror=alert(1)>", "<script>alert(2)</script>", "__proto__", "constructor", "a,b", '"quoted"', "=1+1", "é\u202e\u0301", "x" * 400]


def quoted(text):
    return '"' + text.replace('"', '""') + '"'


def test_names_and_values_from_a_table_are_never_markup(open_page):
    lines = [",".join(map(quoted, [*EVIL, "class<b>"]))]
    for i in range(40):
        lines.append(",".join([*(quoted(f"<b>{EVIL[j]}</b>{(i + j) % 3}") for j in range(2)), *(str((i * (j + 3)) % 11) for j in range(len(EVIL) - 2)),
                               quoted(["<i>no</i>", "<svg onload=alert(3)>"][i % 2])]))
    page = open_page()
    take_table(page, csv("\n".join(lines) + "\n"))
    assert page.locator("#column-table tbody tr").count() == len(EVIL) + 1
    page.select_option("#label", "class<b>")
    page.fill("#ks", "1, 3")
    page.click("#evaluate button")
    page.wait_for_selector("#confusion", state="visible")
    page.click("#grow button")
    page.wait_for_selector("#tree-result svg .node")
    page.click("#rank button")
    page.wait_for_selector("#cut-pictures .bar")
    page.set_input_files("#predict-file", csv("\n".join(lines) + "\n", "<img src=x onerror=alert(4)>.csv"))
    page.click("#predict button")
    page.wait_for_selector("#predict-result", state="visible")
    assert page.locator("main img, main script, main b, main i, main svg[onload]").count() == 0
    assert "<svg onload=alert(3)>" in page.inner_text("#confusion")
    assert EVIL[0] in page.inner_text("#column-table")


def test_a_file_that_is_no_table_is_refused_in_the_servers_words(open_page):
    page = open_page()
    is_ready(page)
    page.set_input_files("#file", csv("a,b\n1,2\n3,4,5\n", "bad.csv"))
    page.wait_for_selector("#upload-problem .problem")
    assert "3" in page.inner_text("#upload-problem") and page.is_hidden("#work")
    page.set_input_files("#file", {"name": "bad.parquet", "mimeType": "", "buffer": b"PAR1 not really"})
    says(page, "#upload-problem", "parquet")
    take_table(page, DATA / "iris.csv")
    assert page.inner_text("#upload-problem") == ""


def test_settings_that_cannot_be_are_said_beside_the_form(open_page):
    page = open_page()
    take_table(page, DATA / "iris.csv")
    page.click("#predict button")
    page.fill("#ks", "1, x")
    page.select_option("#label", "species")
    page.click("#evaluate button")
    page.wait_for_selector("#evaluate-problem .problem")
    assert '"x" is not a whole number' in page.inner_text("#evaluate-problem")
    page.fill("#ks", "149")
    page.click("#evaluate button")
    says(page, "#evaluate-problem", "149")
    assert "exceeds" in page.inner_text("#evaluate-problem")
    assert page.is_hidden("#scores")


def test_a_table_without_the_models_columns_is_refused_by_name(open_page):
    page = open_page()
    take_table(page, DATA / "iris.csv")
    page.select_option("#label", "species")
    page.set_input_files("#predict-file", csv("sepal_length,sepal_width\n5,3\n"))
    page.click("#predict button")
    page.wait_for_selector("#predict-problem .problem")
    assert "petal_length" in page.inner_text("#predict-problem")
    assert page.is_hidden("#predict-result")


@pytest.fixture(scope="module")
def slow_table(page_server):
    """A table whose evaluation takes minutes on one thread; it is sent once."""
    random.seed(1)
    lines = ["".join(f"x{i}," for i in range(40)) + "y"]
    lines += [",".join(f"{random.random():.6f}" for _ in range(40)) + random.choice([",a", ",b"]) for _ in range(30000)]
    httpx.put(f"{page_server}v1/tables/slow", content="\n".join(lines) + "\n", headers={"Content-Type": "text/csv"}, timeout=120).raise_for_status()
    yield "slow"
    httpx.delete(f"{page_server}v1/tables/slow")


def begin_slow_evaluation(open_page, name):
    page = open_page()
    page.wait_for_selector("#stored", state="visible")
    page.select_option("#stored-table", name)
    page.click("#open-stored")
    page.wait_for_selector("#columns[aria-busy]", state="detached")
    page.select_option("#label", "y")
    page.select_option("#metric", "canberra")
    page.select_option("#scheme", "leave-one-out")
    page.click("#evaluate button")
    says(page, "#evaluate-job .job-state", "%")
    return page


def wait_for_states(address, wanted):
    """Wait until the server's evaluations, the last one first, begin with these states."""
    for _ in range(300):
        states = [job["state"] for job in httpx.get(f"{address}v1/jobs").json()["jobs"] if job["what"] == "evaluate"]
        if states[:len(wanted)] == wanted:
            return
        time.sleep(0.1)
    raise AssertionError(states)


def test_a_long_job_shows_its_progress_and_is_cancelled(open_page, page_server, slow_table):
    page = begin_slow_evaluation(open_page, slow_table)
    wait_for_states(page_server, ["running"])
    page.click("#evaluate-job button")
    page.wait_for_selector("#evaluate-problem .note")
    assert page.inner_text("#evaluate-problem") == "Cancelled."
    assert page.is_hidden("#evaluate-job") and page.is_hidden("#scores")
    wait_for_states(page_server, ["cancelled"])


def test_a_new_question_gives_up_the_job_of_the_one_before(open_page, page_server, slow_table):
    page = begin_slow_evaluation(open_page, slow_table)
    page.fill("#ks", "7")
    page.click("#evaluate button")
    wait_for_states(page_server, ["running", "cancelled"])
    page.wait_for_selector("#evaluate-job progress")
    assert page.inner_text("#evaluate-problem") == ""
    page.select_option("select[aria-label='Role of x3']", "ignore")  # the answer would be one of other columns
    wait_for_states(page_server, ["cancelled", "cancelled"])
    page.wait_for_selector("#evaluate-job", state="hidden")


def test_ten_thousand_columns_are_shown_in_parts(open_page):
    n = 10000
    rows = [",".join(str((i * (row + 1)) % 97) for i in range(n)) for row in range(4)]
    page = open_page()
    take_table(page, csv(",".join(f"c{i}" for i in range(n)) + "\n" + "\n".join(rows) + "\n"))
    assert "4 rows and 10,000 columns" in page.inner_text("#table-facts")
    assert "The first 100 of 10,000 columns are shown." in page.inner_text("#columns-left-out")
    assert page.locator("#column-table tbody tr").count() == 100
    page.click("#more-columns")
    assert page.locator("#column-table tbody tr").count() == 200
    page.fill("#column-filter", "c9999")
    assert page.locator("#column-table tbody tr").count() == 1
    assert page.locator("#column-table .small-bars").count() == 1
    page.select_option("select[aria-label='Role of c9999']", "label")
    assert page.input_value("#label") == "c9999"


def test_a_server_that_is_gone_is_said_in_words(open_page):
    page = open_page()
    take_table(page, DATA / "iris.csv")
    page.select_option("#label", "species")
    page.context.set_offline(True)
    page.click("#evaluate button")
    says(page, "#evaluate-problem", "does not answer")
    page.context.set_offline(False)
    page.click("#evaluate button")
    page.wait_for_selector("#scores", state="visible")
    assert page.inner_text("#evaluate-problem") == ""
