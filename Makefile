# Needs Python 3.11 or newer, make, and the network for the first run; all else goes into .venv.
#
#   make demo                     the refund case, from an empty store
#   make test PYTHON=python3.13   another interpreter for a new .venv

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --disable-pip-version-check --quiet

# Empty files that say what .venv holds, so that a second run does not ask pip again.
CORE := $(VENV)/.installed-core
DEV := $(VENV)/.installed-dev

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-slow check check-static format bench clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

demo: $(CORE) ## play the refund case and show its windows, state, history and handoff
	@$(BIN)/context-ledger demo

test: $(DEV) ## run the tests on all cores
	@$(BIN)/python -m pytest -n auto --dist loadgroup

test-slow: $(DEV) ## run the tests that take long or install packages
	@$(BIN)/python -m pytest -m slow

check: check-static test ## all static checks, then the tests

check-static: $(DEV) ## format, lint, types and import directions
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: $(DEV) ## format the code and mend what can be mended
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

bench: $(DEV) ## run the benchmarks, each beside its floor
	@$(BIN)/python -m bench

clean: ## remove .venv and everything that tools left behind
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Order-only where it is used: the interpreter's own time must not cause a new installation.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else \
	  "Python 3.11 or newer is needed, this is " + sys.version.split()[0] + ": make PYTHON=python3.13 ...")'
	@echo "Making $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)

# A development install includes the core, so the core is installed alone only where nothing was before.
$(CORE): pyproject.toml | $(BIN)/python
	@echo "Installing the core ..."
	@$(INSTALL) --editable .
	@touch $@

$(DEV): pyproject.toml | $(BIN)/python
	@echo "Installing the core and the tools of development ..."
	@$(INSTALL) --editable '.[dev]'
	@touch $(CORE) $@
