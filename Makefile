# demo: the main job on the bundled suite · test: everything · check: format, lint, types, content
# fix: format and lint what can be · bench: measurements, never part of the tests
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin

.PHONY: demo test check fix bench clean

demo: $(VENV)/.base
	$(BIN)/inspect eval workbench/quickstart --router bm25 --model none

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n auto --dist loadscope

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/structure

fix: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.dev
	for script in bench/*.py; do $(BIN)/python $$script || exit 1; done

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.base: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@ $(VENV)/.base

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache
