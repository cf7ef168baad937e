# The commands of this project. `make demo` shows it working, `make test` proves it.
PYTHON ?= python3
BIN := .venv/bin
LOCKED := --constraint constraints.txt
UV_INSTALL := $(BIN)/uv pip install --quiet --python $(BIN)/python $(LOCKED) --build-constraint constraints.txt
# Where pip looks for torch besides its usual places: an index of builds without CUDA, for example.
TORCH_INDEX ?=
# How tests measure coverage, which doubles what tests in their own processes take: `make coverage`.
COVERAGE ?=
# Tests at a time: one more than there are processors, because some only wait for a crawl.
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)

# Each crawl of the tests is a process: compiling everything anew takes a quarter of its start.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help install upgrade demo test tests coverage steady check format bench faults fuzz docs deploy clean

help:  ## what can be made
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet $(LOCKED) uv
	$(UV_INSTALL) --editable '.[dev]'
	touch $@

# pip, not uv: it takes a build of torch without CUDA where the machine has one.
.venv/trains: .venv/installed
	$(BIN)/pip install --quiet $(LOCKED) $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX)) torch
	$(UV_INSTALL) --editable '.[dev,train,spark]'
	touch $@

install: .venv/installed  ## a virtual environment with everything in it

upgrade: .venv/installed  ## move the locked versions in constraints.txt to the newest that fit
	$(BIN)/uv pip compile --quiet --universal --upgrade --all-extras --python-version 3.11 \
		--no-annotate --custom-compile-command 'make upgrade' \
		--output-file constraints.txt pyproject.toml

demo: .venv/installed  ## serve a small bilingual site on loopback, crawl it, show the pairs
	$(BIN)/python -m demo

# Checks run beside the tests, and their outcome is shown last.
test: .venv/trains  ## everything: style, types, tests
	@mkdir -p build
	@$(MAKE) --no-print-directory check > build/check.log 2>&1 & checks=$$!; \
	$(MAKE) --no-print-directory tests; failed=$$?; \
	wait $$checks || failed=1; cat build/check.log; exit $$failed

tests: .venv/trains  ## the tests without style and types
	tools/system_packages.sh
	$(BIN)/python -m pytest -m 'not alone' --durations=10 \
		--numprocesses=$(WORKERS) --dist=loadfile --no-loadscope-reorder $(COVERAGE)
	$(if $(COVERAGE),@echo "Coverage: $$($(BIN)/coverage report --format=total) % of the lines (crawls that tests start are not traced)")
	$(BIN)/python -m pytest -m alone --durations=10 $$(grep -rl --include='test_*.py' mark.alone tests)

coverage:  ## the tests, and the share of lines that they run
	@$(MAKE) --no-print-directory tests COVERAGE='--cov --cov-report='

steady: .venv/trains  ## the tests five times in a row beside four busy loops: none may fail
	$(BIN)/python -m tools.steady

check: .venv/trains  ## style and types alone
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: .venv/installed  ## put the code in shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/installed  ## measure against Scrapy's own parts, side by side
	$(UV_INSTALL) --editable '.[dev,bench]'
	$(BIN)/python -m benchmarks

deploy: .venv/installed  ## send the project with its models to the scrapyd of scrapy.cfg
	$(BIN)/scrapyd-deploy $(TARGET)

faults: .venv/installed  ## break workers and Redis while a crawl runs, and check what it promises
	tools/system_packages.sh
	$(BIN)/python -m tools.faults

fuzz: .venv/installed  ## feed every reader with broken and hostile inputs for a few minutes
	$(BIN)/python -m tools.fuzz

docs: .venv/installed  ## write the generated pages and build the site into build/site, without network
	$(BIN)/python -m tools.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

clean:  ## forget the virtual environment and the caches
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage* build *.egg-info
