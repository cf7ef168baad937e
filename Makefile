# The commands of this project. `make demo` shows it working, `make test` proves it.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: help install demo test check format bench faults docs deploy clean

help:  ## what can be made
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python --editable '.[dev]'
	touch $@

# pip, not uv: it takes a build of torch without CUDA where one lies on the machine.
.venv/trains: .venv/installed
	$(BIN)/pip install --quiet torch==2.13.0
	$(BIN)/uv pip install --quiet --python $(BIN)/python --editable '.[dev,train]'
	touch $@

install: .venv/installed  ## a virtual environment with everything in it

demo: .venv/installed  ## serve a small bilingual site on loopback, crawl it, show the pairs
	$(BIN)/python -m demo

test: check  ## everything: style, types, tests
	tools/system_packages.sh
	$(BIN)/python -m pytest -m 'not crawl' --numprocesses=auto --dist=loadfile --no-loadscope-reorder
	$(BIN)/python -m pytest -m crawl

check: .venv/trains  ## style and types alone
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: .venv/installed  ## put the code in shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/installed  ## measure against Scrapy's own parts, side by side
	$(BIN)/uv pip install --quiet --python $(BIN)/python --editable '.[dev,bench]'
	$(BIN)/python -m benchmarks

deploy: .venv/installed  ## send the project with its models to the scrapyd of scrapy.cfg
	$(BIN)/scrapyd-deploy $(TARGET)

faults: .venv/installed  ## break workers and Redis while a crawl runs, and check what it promises
	tools/system_packages.sh
	$(BIN)/python -m tools.faults

docs: .venv/installed  ## write the generated pages of docs/
	$(BIN)/python -m tools.docs

clean:  ## forget the virtual environment and the caches
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis build *.egg-info
