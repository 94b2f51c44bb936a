"""--report of evaluate, tree, stats and pca: the page beside the usual output."""

import re
import shlex

import pytest

from program import records, run
from report_page import Page, number, percent
from test_report import check_structure, flowers, houses

JOBS = {
    "evaluate": ["--target", "kind", "--normalize", "z", "-k", "1,5,9", "--cv", "5"],
    "tree": ["--target", "kind", "--missing-policy", "value", "--cv", "5", "--prune-holdout", "0.3"],
    "stats": ["--by", "kind"],
    "pca": ["--target", "kind", "--numeric-only", "--impute", "mean", "--normalize", "z"],
}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return flowers(tmp_path_factory.mktemp("option") / "flowers.csv")


@pytest.mark.parametrize("job", JOBS)
def test_the_page_comes_beside_the_same_output(table, tmp_path, job):
    plain = run(job, table, *JOBS[job])
    both = run(job, table, *JOBS[job], "--report", tmp_path / "p.html")
    assert (both.out, both.err) == (plain.out, plain.err)
    page = Page((tmp_path / "p.html").read_bytes())
    check_structure(page)
    (command,) = page.commands()
    assert shlex.split(command) == ["stope", job, str(table), *shlex.split(command)[3:]]
    again = run(*shlex.split(command)[1:], "--report", tmp_path / "again.html")
    assert again.out == plain.out and (tmp_path / "again.html").read_bytes() == page.bytes


def test_the_pages_show_what_the_command_found(table, tmp_path):
    def page_of(job, *more):
        done = run(job, table, *JOBS[job], *more, "--json", "--report", tmp_path / f"{job}.html").json()
        return done, Page((tmp_path / f"{job}.html").read_bytes())

    scores, page = page_of("evaluate")
    head, *rows = page.table("Scores for each k")
    assert head[4:] == ["kappa", "macro F1", "balanced accuracy", "ROC AUC", "log loss"]
    for row, expected in zip(rows, scores["of_k"], strict=True):
        assert percent(row[1]) == pytest.approx(expected["scores"]["accuracy"], abs=6e-4)
        assert percent(row[6]) == pytest.approx(expected["scores"]["balanced_accuracy"], abs=6e-4)
        for place, name in ((4, "kappa"), (5, "macro_f1"), (7, "roc_auc"), (8, "log_loss")):
            assert number(row[place]) == pytest.approx(expected["scores"][name], rel=1e-3)
    assert f"ROC AUC {scores['scores']['roc_auc']:.4g}, log loss {scores['scores']['log_loss']:.4g}." in page.words("confusions")
    tree, page = page_of("tree")
    assert f"{tree['tree']['leaves']} leaves, depth {tree['tree']['depth']}" in page.words("tree")
    assert len(page.table("The boxes of the picture")) - 1 == tree["tree"]["nodes"]
    assert [one.tag for one in page.section("tree").iter("ol")] == ["ol"]
    assert len(list(page.section("tree").iter("li"))) >= tree["tree"]["leaves"]
    _, page = page_of("stats")
    assert len(page.all("article")) == 4 and "“kind”" not in [a.findtext("div/h3/bdi") for a in page.all("article")]
    found, page = page_of("pca")
    shares = [percent(row[2]) for row in page.table("Variance of the components")[1:]]
    assert shares == pytest.approx(found["explained_variance_ratio"][: len(shares)], abs=6e-4)


def test_a_numeric_label_gets_a_page_of_errors(tmp_path):
    table = houses(tmp_path / "houses.csv")
    run("evaluate", table, "--target", "price", "--normalize", "z", "-k", "1..9", "--report", tmp_path / "p.html")
    page = Page((tmp_path / "p.html").read_bytes())
    check_structure(page)
    assert len(page.table("Scores for each k")) == 10 and "RMSE" in page.words()


def test_every_model_that_is_scored_has_a_page(table, tmp_path):
    done = run("evaluate", table, "--target", "kind", "--model", "tree", "--missing-policy", "value", "--cv", "5", "--json",
               "--report", tmp_path / "t.html").json()
    page = Page((tmp_path / "t.html").read_bytes())
    check_structure(page)
    cells = [[int(c) for c in row[1:]] for row in page.table("Rows of each true class")[1:]]
    assert sum(cells[i][i] for i in range(3)) / 150 == pytest.approx(done["scores"]["accuracy"], abs=1e-12)
    assert f"ROC AUC {done['scores']['roc_auc']:.4g}" in page.words("confusions")
    run("evaluate", houses(tmp_path / "houses.csv"), "--target", "price", "--model", "lsq", "--numeric-only", "--cv", "5",
        "--report", tmp_path / "l.html")
    page = Page((tmp_path / "l.html").read_bytes())
    check_structure(page)
    assert len(page.table("Error (RMSE) of each fold")) == 6


def test_several_measures_make_a_page_of_the_best_and_repeats_no_narrower_intervals(table, tmp_path):
    options = ["--target", "kind", "-k", "5", "--cv", "5", "--normalize", "z"]
    run("evaluate", table, *options, "--metric", "gower,mixed-euclidean", "--report", tmp_path / "m.html")
    assert re.search("Distance: (gower|mixed-euclidean)", Page((tmp_path / "m.html").read_bytes()).words())
    widths = []
    for repeats in ("1", "4"):
        run("evaluate", table, *options, "--repeats", repeats, "--report", tmp_path / "r.html")
        row = Page((tmp_path / "r.html").read_bytes()).table("Scores for each k")[1]
        widths.append(percent(row[3]) - percent(row[2]))
    assert widths[1] == pytest.approx(widths[0], rel=0.15)


def test_a_page_shows_the_means_by_which_its_best_line_was_chosen(tmp_path):
    table = houses(tmp_path / "houses.csv", n=40)
    options = ["--target", "price", "--normalize", "z", "-k", "1..6", "--holdout", "0.3", "--repeats", "5"]
    run("evaluate", table, *options, "-o", tmp_path / "s.csv", "--report", tmp_path / "p.html")
    lines = records((tmp_path / "s.csv").read_text())
    rows = Page((tmp_path / "p.html").read_bytes()).table("Scores for each k")[1:]
    for row, line in zip(rows, lines, strict=True):
        for place, name in ((1, "rmse"), (4, "mae"), (5, "r2")):
            assert number(row[place]) == pytest.approx(float(line[name]), rel=1e-3)


def test_a_page_says_why_it_has_no_roc_auc(tmp_path):
    (tmp_path / "many.csv").write_text("x,y\n" + "".join(f"{i},c{i % 5000}\n" for i in range(10000)))
    done = run("evaluate", "many.csv", "--target", "y", "-k", "1..3", "--cv", "2", "--json", "--report", "p.html", cwd=tmp_path)
    page = Page((tmp_path / "p.html").read_bytes())
    assert "ROC AUC and log loss are left out: their confidences would take more than 1 GiB." in page.words("confusions")
    assert page.table("Scores for each k")[0][-1] == "balanced accuracy"
    assert any("no ROC AUC and no log loss" in text for text in done.json()["warnings"])


@pytest.mark.bad_input
@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("path,words", [("p.csv", "possible are .html"), ("absent/p.html", "absent"), ("-", "stdout")])
def test_a_page_that_cannot_be_written_is_refused_before_the_work(table, tmp_path, job, path, words):
    done = run(job, table, *JOBS[job], "--report", path, code=None, cwd=tmp_path)
    assert done.code == (3 if words == "absent" else 2) and words in done.err and done.out == b""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.bad_input
def test_applied_components_have_no_page(table, tmp_path):
    fit = ["pca", table, *JOBS["pca"], "--n-components", "2", "-o", tmp_path / "s.csv", "--components-out", tmp_path / "c.csv"]
    run(*fit)
    done = run("pca", table, "--numeric-only", "--impute", "mean", "--apply", tmp_path / "c.csv", "--report", tmp_path / "p.html", code=2)
    assert "--report cannot be used with --apply" in done.err
