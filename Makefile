# Lastseat. `make` alone lists what can be done; `make run` and `make test` are all that most people need.
#
# Everything runs inside .venv, which `setup` makes on the first call and again only when pyproject.toml,
# constraints.txt or .ci/setup have changed. PYTHON=python3.12 chooses an interpreter (3.11 or newer).

.DEFAULT_GOAL := help
.NOTPARALLEL:

BIN := .venv/bin
PYTHON ?=
ARGS ?=
# As many as the processors that are promised: many tests measure, or wait for what takes a processor its time.
WORKERS ?= 2

.PHONY: help setup run test lint types unit proofs catalogue mutants docs wheel clean

help: ## List the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' Makefile

setup: ## Make or update .venv with everything Lastseat needs
	@PYTHON="$(PYTHON)" sh .ci/setup

run: setup ## Play the scenarios against the built-in service (ARGS="--seed 7" and the like)
	@$(BIN)/lastseat run $(ARGS)

test: lint types unit ## Run the checks: style, imports, types, tests (the long ones have targets of their own)

lint: setup ## Check style, formatting and the direction of imports
	@echo "==> ruff check: style and likely mistakes"
	@$(BIN)/ruff check .
	@echo "==> ruff format --check: layout"
	@$(BIN)/ruff format --check .
	@echo "==> lint-imports: the rooms import one way"
	@$(BIN)/lint-imports

types: setup ## Check types (mypy, strict)
	@echo "==> mypy: types"
	@$(BIN)/mypy

unit: setup ## Run the tests (ARGS="tests/unit -k trail" narrows them)
	@echo "==> pytest: tests, with real PostgreSQL, Valkey and Toxiproxy"
	@$(BIN)/python -m pytest -m "not catalogue and not proof" -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(ARGS)

proofs: setup ## Run the tests that kill, damage and plant bugs in whole runs to see that it is noticed (minutes)
	@echo "==> pytest: proofs of the bench itself, by whole runs"
	@$(BIN)/python -m pytest -m proof -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(ARGS)

catalogue: setup ## Play every story against the healthy service and check what it tells (minutes, on a quiet machine)
	@echo "==> pytest: the whole catalogue"
	@$(BIN)/python -m pytest -m catalogue tests/scenarios $(ARGS)
	@echo "==> pytest: ten times as many examples of commands at the same time"
	@LASTSEAT_STATEFUL_EXAMPLES=1500 $(BIN)/python -m pytest tests/integration/reservation/test_stateful.py

mutants: setup ## Plant each real-world bug and show which invariant catches it (minutes, on a quiet machine)
	@$(BIN)/lastseat mutants $(ARGS)

docs: setup ## Write the generated pages under docs/reference again
	@$(BIN)/python -m lastseat.reference

wheel: setup ## Build the wheel into dist/
	@$(BIN)/python -m hatchling build -t wheel

clean: ## Remove .venv, caches and built files; runs/ stays
	rm -rf .venv dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
