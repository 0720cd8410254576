# `make demo` runs the main job, `make test` passes the tests. Both need Python 3.11 or later, pip
# and a compiler, and install everything else into .venv.

PYTHON ?= python3
BIN := .venv/bin
# Some tests wait for servers more than they compute, and each process loads all of them; those of
# one file share what it sets up. In the order of tests/conftest.py, which begins with the files that
# take longest.
PARALLEL ?= -n 5 --dist loadfile --no-loadscope-reorder
# Tests start hundreds of processes, none of which should compile every module anew.
unexport PYTHONDONTWRITEBYTECODE
# Tests write some 24 GB and delete them again, for which memory takes less time than a disk.
ifndef TMPDIR
export TMPDIR := $(or $(shell grep -s ' /dev/shm ' /proc/mounts | grep -qv noexec && \
    df -k /dev/shm | awk 'NR == 2 && $$4 > 8000000 {print "/dev/shm"}'),/tmp)
endif

LINTERS := lint-types lint-format lint-rules lint-workflows

.PHONY: demo test quick room coverage test-tests quick-tests lint $(LINTERS) golden docs site locks clean

demo: .venv/installed
	$(BIN)/python examples/demo.py

# Beside the linters, of which mypy uses one processor for longer than the others use all.
test quick: .venv/installed
	@$(MAKE) --no-print-directory --jobs $(LINTERS) $@-tests

# In a clean checkout, pytest rewrites every assertion; once, and not in each process.
.venv/compiled-tests: .venv/installed
	@$(BIN)/python -m pytest --collect-only -qq > /dev/null || true
	@touch $@

test-tests: .venv/compiled-tests
	$(BIN)/python -m pytest $(PARALLEL)

quick-tests: .venv/compiled-tests
	$(BIN)/python -m pytest $(PARALLEL) -m "not slow"

# The quick tests of one folder of foundry/: `make room ROOM=stores` or ROOM=runtime/chat.
room: .venv/installed
	tests=$$($(BIN)/python tools/room_tests.py "$(ROOM)") && \
	$(BIN)/python -m pytest $(PARALLEL) -m "not slow" $$tests

# Which lines of foundry/ no quick test runs, except in servers and readers that are started anew.
coverage: .venv/installed
	$(BIN)/python -m pytest $(PARALLEL) -m "not slow" --cov --cov-report=term

lint: .venv/installed
	@$(MAKE) --no-print-directory --jobs $(LINTERS)

lint-rules:
	$(BIN)/ruff check .

lint-format:
	$(BIN)/black --check --quiet .

lint-types:
	$(BIN)/mypy

lint-workflows:
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml

golden: .venv/installed
	$(BIN)/python -m pytest tests/test_golden.py -k golden_one --update-golden

docs: .venv/installed
	$(BIN)/python tools/write_references.py

# The pages of docs/ as a site, in site/; a link that leads nowhere fails.
site: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --config-file tools/mkdocs.yml

# What exported servers depend on, resolved anew after a bound in their pyproject.toml has changed;
# `make locks UPGRADE=--upgrade` takes what has been released since.
locks: .venv/installed
	$(BIN)/python tools/lock_templates.py $(UPGRADE)

clean:
	rm -rf .venv .demo site examples/*/.foundry examples/*/dist

# Compiled by all processors, unlike by pip; some packages have files that no Python compiles.
.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable '.[dev]'
	$(BIN)/python -m compileall -qq -j 0 .venv/lib || true
	touch $@
