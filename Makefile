# Two commands do everything on a machine with Python 3.11+ and make: `make demo` and `make test`.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
LOG := $(VENV)/install.log
TOOL := $(VENV)/.installed-tool
DEV := $(VENV)/.installed-dev
DEMO := build/demo
WORKERS ?= 2
IS_ROOT := $(filter 0,$(shell id -u))

# Branch coverage of atomcfg that the tests may not fall below, in percent.
ATOMCFG_COVERAGE := 94

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_INPUT := 1
export PIP_ROOT_USER_ACTION := ignore

# The installer's chatter goes to a log, which is shown when it fails.
quiet = $(1) >>$(LOG) 2>&1 || { cat $(LOG) >&2; exit 1; }

.PHONY: help demo test check fmt unit deck lab test-full bench clean

help:
	@echo "make demo       install, compile a shipped config, rehearse it, show the verdict and the report"
	@echo "make test       all that CI runs: check, unit, deck, demo and, as root, lab"
	@echo "make check      ruff and mypy"
	@echo "make fmt        let ruff format and fix"
	@echo "make unit       the fast tests, with coverage"
	@echo "make deck       the run deck in a headless Chromium"
	@echo "make lab        the tests against real sshd and real containers; needs root"
	@echo "make test-full  make test with far more generated examples"
	@echo "make bench      what a cold start and a cell cost"
	@echo "make clean      remove all that make made"

$(TOOL): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed: make PYTHON=python3.12 ..." if sys.version_info < (3, 11) else 0)'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV) (log: $(LOG))"
	@: >$(LOG)
	@$(call quiet,$(BIN)/python -m pip install 'pip>=25.1')
	@$(call quiet,$(BIN)/python -m pip install --editable '.[all]')
	@touch $@

$(DEV): $(TOOL)
	@$(call quiet,$(BIN)/python -m pip install --group dev)
	@touch $@

demo: $(TOOL)
	@mkdir -p $(DEMO)
	$(BIN)/atomcfg plan examples/demo/mi3xx_atom_demo_single.json --cluster examples/demo/cluster.json -o $(DEMO)/plan.json
	$(BIN)/atomrun rehearse $(DEMO)/plan.json --runs $(DEMO)/runs
	@echo "open in a browser: $$(ls -td $(DEMO)/runs/*/ | head -n 1)report.html"

test: check unit deck demo $(if $(IS_ROOT),lab)
	@$(if $(IS_ROOT),:,echo "not root: the lab tests did not run (make lab)")

check: $(DEV)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

fmt: $(DEV)
	@$(BIN)/ruff check --fix-only .
	@$(BIN)/ruff format .

unit: $(DEV)
	@$(BIN)/python -m pytest -n $(WORKERS) -m "not lab and not browser" --cov --cov-report=
	@$(BIN)/coverage report --include='src/atomcfg/*' --skip-covered --fail-under=$(ATOMCFG_COVERAGE)

deck: $(DEV)
	@sh tests/deck/install.sh
	@$(BIN)/python -m pytest -m browser

lab: $(DEV)
	@sh tests/lab/install.sh
	@$(BIN)/python -m pytest -m lab

test-full:
	@HYPOTHESIS_PROFILE=full $(MAKE) test

bench: $(DEV)
	@$(BIN)/python benchmarks/overhead.py
	@$(BIN)/python benchmarks/judging.py
	@$(BIN)/python benchmarks/compiler.py

clean:
	@rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage .nox
	@find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
