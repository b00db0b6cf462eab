.DEFAULT_GOAL := help
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
STAMP := $(VENV)/.installed

.PHONY: help setup check format test

help:  ## Show what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

setup: $(STAMP)  ## Make the virtual environment

$(STAMP): pyproject.toml
	@test -x $(PY) || $(PYTHON) -m venv $(VENV)
	@$(PY) -m pip install -q --disable-pip-version-check -e '.[dev]'
	@touch $(STAMP)

check: setup  ## Format, lint, strict types
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy -p gregor
	@$(BIN)/mypy -p tests -p benchmarks

format: setup  ## Format and fix
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

test: setup  ## Run the tests; TESTS=path runs a part
	@$(PY) -m pytest $(TESTS)
