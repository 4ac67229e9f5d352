# `make` alone says what there is.
.DEFAULT_GOAL := help
SHELL := bash
BIN := .venv/bin
LOCK = $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
	--no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock' $(LOCKFLAGS)
UV = $(shell command -v .tools/bin/uv || command -v uv || echo .tools/bin/uv)
NOT_HERE := docker or live or slow
# By file: what a module's fixtures build at some cost is built once.
SPREAD := --dist loadfile --no-loadscope-reorder

# GitHub's own description of its API, which the tests' GitHub is held against.
OPENAPI := tests/github_server/node_modules/.package-lock.json

# A machine without a home folder (a bare container) is given one inside the checkout.
ifndef HOME
export HOME := $(CURDIR)/.cache/home
endif
# What this machine's user has set for Python must not reach the tests.
# nor keep it from keeping what it has compiled, which each of hundreds of processes would do again.
unexport PYTHONPATH PYTHONHOME PYTHONDONTWRITEBYTECODE

.PHONY: help setup demo live-demo collect test test-all lint format docs lock clean

help: ## say what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## install what is needed: system packages, then everything locked into .venv
	@bash infra/setup.sh

demo: setup ## mine a small repository that the demo writes, into ./demo; minutes
	@$(BIN)/python -m flows.demo

live-demo: setup $(OPENAPI) ## crawl, validate, mine and release twice under a real server; minutes
	@$(BIN)/python -m tests.live_demo

# What tests import is compiled once, not by each of the processes that test. These find the tests
# themselves: here no function has the name of one, for which pytest ends with 5.
collect: $(OPENAPI)
	@said=$$($(BIN)/python -m pytest --collect-only -qq -o python_functions=none -o python_classes=None) || \
		[ $$? = 5 ] || { echo "$$said"; exit 1; }

# Lint has one core's work for a minute: it runs beside the tests, and says at once what it finds.
beside_lint = $(MAKE) --no-print-directory --assume-old=setup lint & lint=$$!; \
	$(MAKE) --no-print-directory --assume-old=setup collect && $(BIN)/python -m pytest $(1); tested=$$?; \
	wait $$lint && exit $$tested

test: setup $(OPENAPI) ## what CI runs: lint, and every test but those marked docker, live or slow
	@$(call beside_lint,-n 4 $(SPREAD) -m 'not ($(NOT_HERE))')

test-all: setup $(OPENAPI) ## all tests, also those that need Docker, a server, a browser or patience
	@$(call beside_lint,-n 4 $(SPREAD))

$(OPENAPI): tests/github_server/package-lock.json | setup
	@bash infra/setup.sh npm

lint: setup ## style, types and the direction of imports
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python infra/check_host_paths.py

format: setup ## lay out the code and mend what can be mended by itself
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

docs: setup ## write what is generated of docs/, and build the manual strictly into dist/manual
	@$(BIN)/python -m filters.reasons
	@$(BIN)/python -m packagers.dictionary
	@$(BIN)/python -m packagers.figures_page
	@$(BIN)/python -m flows.command_page
	@$(BIN)/sphinx-build -q -W --keep-going -b html docs dist/manual

lock: setup ## write the locks anew; LOCKFLAGS=--upgrade for the newest versions
	@$(LOCK) requirements-setup.in -o requirements-setup.lock
	@$(LOCK) pyproject.toml --all-extras --group dev -c requirements-setup.lock -o requirements-dev.lock
	@$(LOCK) pyproject.toml --extra evaluate --group pipeline -c requirements-dev.lock -o requirements.lock

clean: ## remove what was made here, but not a store, a release or .venv
	@rm -rf demo dist build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
	@find . -name __pycache__ -not -path './.venv/*' -not -path './.tools/*' -prune -exec rm -rf {} +
