# Two commands for everybody: `make render` and `make test`. Each does its own set-up in .venv.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --quiet --disable-pip-version-check
DATA   := copier.yml $(shell find mlxtpl templates values -type f -not -path '*/__pycache__/*' 2>/dev/null)
# The names in scaffold/ are Jinja, which is no prerequisite of make.
STALE  := $(if $(shell find scaffold -newer $(VENV)/.wheel 2>/dev/null),stale)

.PHONY: help render test check bench format docs tables scaffold clean stale
help:
	@echo "make render   print the manifest of values/prod.yaml"
	@echo "make test     build the wheel, install it, run all tests on it"
	@echo "make check    format, lint, types, generated docs"
	@echo "make bench    measure the speed beside helm and kustomize; writes docs/performance.md"
	@echo "make tables   write the tables of Kubernetes' schema again, from kubernetes-validate"
	@echo "make scaffold write the generated parts of the scaffold again: manifests, base images, version"
	@echo "make docs     write the generated docs again"
	@echo "make format   format the code"
	@echo "make clean    remove what make made"

render: $(VENV)/.wheel
	@$(BIN)/mlxtpl render values/prod.yaml

test: $(VENV)/.wheel $(VENV)/.test
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -Im pytest -q tests

check: $(VENV)/.wheel $(VENV)/.dev
	@$(BIN)/ruff format --check mlxtpl tests docs benchmarks
	@$(BIN)/ruff check mlxtpl tests docs benchmarks
	@$(BIN)/mypy
	@$(BIN)/python docs/generate.py --check
	@$(BIN)/python docs/kube_tables.py --check
	@$(BIN)/python docs/scaffold.py --check

bench: $(VENV)/.wheel $(VENV)/.test
	@$(BIN)/python benchmarks/bench.py $(VENV)/bench

tables: $(VENV)/.test
	@$(BIN)/python docs/kube_tables.py

scaffold: $(VENV)/.wheel
	@$(BIN)/python docs/scaffold.py

docs: $(VENV)/.wheel
	@$(BIN)/python docs/generate.py

format: $(VENV)/.dev
	@$(BIN)/ruff format mlxtpl tests docs benchmarks
	@$(BIN)/ruff check --fix mlxtpl tests docs benchmarks

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 10) else "mlxtpl needs python 3.10 or newer, found " + sys.version.split()[0])'
	@$(PYTHON) -m venv $(VENV) || { echo "python3 cannot make a virtual environment: install its venv package (Debian: apt-get install python3-venv)"; exit 1; }
	@touch $@

# The wheel is what users get, so it is what render and the tests use.
$(VENV)/.wheel: $(VENV)/.made pyproject.toml README.md $(DATA) $(STALE)
	@rm -rf $(VENV)/wheel
	@$(PIP) wheel --no-deps --wheel-dir $(VENV)/wheel .
	@$(PIP) install $(VENV)/wheel/*.whl
	@$(PIP) install --force-reinstall --no-deps $(VENV)/wheel/*.whl
	@touch $@

# pip older than 25.1 knows no dependency groups: they are read from pyproject.toml.
$(VENV)/.test: $(VENV)/.made pyproject.toml
	@$(BIN)/python docs/groups.py test > $(VENV)/test.txt
	@$(PIP) install -r $(VENV)/test.txt
	@touch $@

$(VENV)/.dev: $(VENV)/.test pyproject.toml
	@$(BIN)/python docs/groups.py dev > $(VENV)/dev.txt
	@$(PIP) install -r $(VENV)/dev.txt
	@touch $@

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
