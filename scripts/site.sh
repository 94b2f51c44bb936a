#!/usr/bin/env bash
# Builds the documentation site into build/site: scripts/site.sh. The site works without a network, also from the disk.
# It needs .venv (scripts/bootstrap.sh --test), the program and the Python module in build/release; what is missing is
# built. Prints one PASS or FAIL line a step, and exits 1 after the first FAIL.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
top=$PWD
venv=build/site-venv
pages=build/site-pages
stope=$top/build/release/cli/stope

step() {
  local title=$1
  shift
  "$@" || { echo "FAIL site: $title"; exit 1; }
  echo "PASS site: $title"
}

# A virtual environment of the site's own. NumPy, scikit-learn and the like come from .venv, which the tests use, too.
environment() {
  if ! cmp -s requirements-site.txt $venv/requirements-site.txt; then
    rm -rf $venv
    .venv/bin/python -m venv $venv && $venv/bin/pip install -q --disable-pip-version-check -r requirements-site.txt || return 1
    cp requirements-site.txt $venv/
  fi
  .venv/bin/python -c 'import site; print(site.getsitepackages()[0])' >"$($venv/bin/python -c 'import site; print(site.getsitepackages()[0])')/tests.pth"
}

programs() {
  [ -x "$stope" ] && [ -n "$(find build/release/python/stope -name '_core*.so' 2>/dev/null)" ] && return
  cmake --preset release -DSTOPE_BUILD_PYTHON=ON >/dev/null && cmake --build build/release --target stope_cli stope_python
}

lay_out() {
  rm -rf $pages && mkdir -p $pages && $venv/bin/python scripts/site/stage.py . $pages &&
    $venv/bin/python scripts/site/cpp_reference.py . $pages &&
    $venv/bin/python scripts/site/cli_reference.py "$stope" $pages &&
    $venv/bin/python scripts/site/python_reference.py . $pages
}

build() { NO_MKDOCS_2_WARNING=1 $venv/bin/python -m mkdocs build --strict --clean -f scripts/site/mkdocs.yml; }

export PYTHONPATH=$top/build/release/python MPLBACKEND=Agg MPLCONFIGDIR=$top/build/matplotlib
export JUPYTER_PLATFORM_DIRS=1 IPYTHONDIR=$top/build/ipython PYDEVD_DISABLE_FILE_VALIDATION=1
step "environment" environment
step "program and Python module" programs
step "pages and references" lay_out
step "pictures" $venv/bin/python scripts/site/pictures.py . $pages
step "notebook" $venv/bin/python scripts/site/notebook.py docs/python/tour.ipynb $pages/python/tour.md
step "site, strict" build
step "the checker finds planted faults" $venv/bin/python scripts/site/check_site.py --self-test
step "links, anchors, nothing from the network" $venv/bin/python scripts/site/check_site.py build/site
echo "open build/site/index.html"
