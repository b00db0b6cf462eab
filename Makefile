.DEFAULT_GOAL := help
SHELL := bash
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
STAMP := $(VENV)/.installed
BARE := $(VENV)/.bare
NATIVE := $(VENV)/.native
PIP := $(PY) -m pip install --disable-pip-version-check --progress-bar off
TOLD := sed -un -E 's/^ *(Collecting|Downloading|Building|Installing collected|ERROR|error)/  &/p'
SHARED ?= ../shared
CASES ?= $(SHARED)/conformance
WEB ?= $(SHARED)/realweb
PROFILE ?= plain
INPUTS ?= 1000000
SEEDS ?= 0:300
ROUNDS ?= 1
SEED ?= 1
ITEMS ?= $(SHARED)/search/known_open.jsonl
ENGINE ?= tantivy
DATA ?= data

.PHONY: help setup native check format test mutants crawl bench conformance reported realweb fuzz fuzz-native simulation \
	ordering revisits forecast search-quality up down demo-cluster chaos

help:  ## Show what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

setup: $(STAMP) $(NATIVE)  ## Make the virtual environment

$(STAMP): pyproject.toml
	@echo "Setting up $(VENV) with all that tests need, once; this takes a minute or more" >&2
	@test -x $(PY) || $(PYTHON) -m venv $(VENV)
	@set -o pipefail; $(PIP) -e '.[dev]' 2>&1 | $(TOLD) >&2
	@$(PY) -m compileall -q worker search partitioner schemas
	@touch $(STAMP) $(BARE)

native: $(STAMP)  ## Build the native reading core into it, where there is a C++ compiler
	@native/build.sh $(abspath $(PY))
	@touch $(NATIVE)

$(NATIVE): $(STAMP) $(wildcard native/*.* native/src/* native/gregor_native/*)
	@native/build.sh $(abspath $(PY)) || true
	@touch $@

$(BARE): pyproject.toml
	@echo "Setting up $(VENV), once: a Python environment, then these packages (a minute or two)" >&2
	@test -x $(PY) || $(PYTHON) -m venv $(VENV)
	@set -o pipefail; $(PIP) -e . 2>&1 | $(TOLD) >&2
	@echo "  Compiling" >&2
	@$(PY) -m compileall -q worker search partitioner schemas
	@touch $(BARE)

crawl: $(if $(wildcard $(STAMP)),setup,$(BARE))  ## Crawl URL=https://…; without URL, a bundled small web on loopback
	@$(if $(URL),$(BIN)/gregor crawl $(URL) --data $(DATA),$(PY) -m gregor.worker.demo)

check: setup  ## Format, lint, strict types
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy -p gregor
	@$(BIN)/mypy -p tests -p benchmarks -p monitoring

format: setup  ## Format and fix
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

test: setup  ## Run the tests; TESTS=path runs a part, JOBS=n that many side by side
	@$(PY) -m pytest $(if $(JOBS),-n $(JOBS)) $(TESTS)

mutants: setup  ## Single faults that tests must see; a TENTH=commit of them, or ONLY=text in rules or file
	@$(PY) -m tests.mutants $(if $(TENTH),--tenth $(TENTH)) $(if $(ONLY),--only '$(ONLY)') $(if $(JOBS),--jobs $(JOBS))

conformance: setup  ## Published cases in CASES=folder
	@$(PY) -m tests.web.conformance $(CASES)

reported: CASES = $(SHARED)/cases/reported.jsonl
reported: setup  ## Reported problems in CASES=file, each against the whole crawler
	@$(PY) -m tests.web.reported $(CASES)

realweb: setup  ## Recorded web in WEB=folder under PROFILE=plain|polite|sitemaps
	@$(PY) -m tests.web.realweb $(WEB) $(PROFILE)

fuzz: setup  ## INPUTS=n generated inputs of every kind
	@$(PY) -m tests.web.fuzz --inputs $(INPUTS)

fuzz-native:  ## INPUTS=n inputs for the native reading core, built with sanitizers (address, undefined)
	@native/fuzz/run.sh $(abspath $(PY)) $(INPUTS)

simulation: setup  ## Whole crawls on a virtual clock with faults, SEEDS=first:last
	@$(PY) -m tests.simulation --seeds $(SEEDS)

revisits: setup  ## How fresh pages are kept, against the best that is possible: PAGES=n of three distributions, seed SEED=s
	@$(PY) -m benchmarks.revisits --pages $(or $(PAGES),20000) --seed $(SEED)

ordering: setup  ## What the first pages of a crawl are worth, by policy: WEB=folder and a made-up web of PAGES=n, seed SEED=s
	@$(PY) -m benchmarks.ordering --web $(WEB) --pages $(or $(PAGES),100000) --seed $(SEED)

forecast: setup  ## How far forecasts are from what came, on the recorded web: WEB=folder
	@$(PY) -m benchmarks.forecast --web $(WEB)

search-quality: setup  ## How well known items of ITEMS=file are found in WEB=folder; ENGINE=opensearch: by that
	@$(PY) -m tests.search.quality $(ITEMS) $(WEB) --engine $(ENGINE)

bench: setup  ## Everything that is measured, into build/bench.json
	@$(PY) -m pip install -q --disable-pip-version-check -e '.[bench]'
	@$(PY) -m compileall -q worker search partitioner schemas
	@$(PY) -m benchmarks

up: setup  ## Start Kafka, ZooKeeper, Redis, Cassandra, with INDEX=1 OpenSearch; print the config that reaches them
	@$(PY) -m tests.cluster.servers up $(if $(INDEX),--index)

down: setup  ## End them
	@$(PY) -m tests.cluster.servers down

demo-cluster: setup  ## Servers, two workers, a crawl of the bundled web, and everything down again
	@$(PY) -m tests.cluster.demo

chaos: setup  ## ROUNDS=n rounds of faults on real servers, from SEED=s on
	@$(PY) -m tests.cluster.chaos --rounds $(ROUNDS) --seed $(SEED)
