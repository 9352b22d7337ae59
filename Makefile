# Each target works on a fresh clone with nothing but Python >= 3.11.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
ELKJS := https://registry.npmjs.org/elkjs/-/elkjs-0.12.1.tgz
EXTENSIONS := $(shell find autograph runtime -name 'native_*.c' -o -name 'native_*.h')

# Workers and the processes that tests start share the byte code of one compilation.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help

.PHONY: help
help:  ## show this help
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/installed: pyproject.toml setup.py $(EXTENSIONS)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[jit]'
	@touch $@

$(VENV)/installed-dev: pyproject.toml setup.py $(EXTENSIONS)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

.PHONY: demo
demo: $(VENV)/installed  ## install, convert a program, run it, show its graph and result
	$(BIN)/agc convert fixtures/programs/collatz.py::collatz
	$(BIN)/agc run fixtures/programs/collatz.py::collatz --arg n=27:int64 --graph

.PHONY: test
test: $(VENV)/installed-dev  ## install with the dev extra and run the suite
	$(BIN)/python -m pytest --numprocesses $$($(BIN)/python -c "import os; print(1 + os.cpu_count())") --dist loadfile

# The files with a long form read AGC_FUZZ, some of them by way of tests/support. Those with workers are in `hosts`.
LONG_FORMS = $(shell grep --recursive --files-with-matches --extended-regexp 'AGC_FUZZ|support.selection|random_graphs' \
	--include='test_*.py' tests | grep --invert-match tests/runtime/distribute)

.PHONY: fuzz
fuzz: $(VENV)/installed-dev  ## test random programs and graphs; AGC_FUZZ=20000 sets the number
	AGC_FUZZ=$(or $(AGC_FUZZ),2000) $(BIN)/python -m pytest -x $(LONG_FORMS)
	cd tests && ../$(BIN)/python -m support.sized_programs $(or $(AGC_FUZZ),500)
	cd tests && ../$(BIN)/python -m operation_sweep

.PHONY: hosts
hosts: $(VENV)/installed-dev  ## train in two and four processes and on devices, Keras in them, and workers that fail
	AGC_FUZZ=1 $(BIN)/python -m pytest tests/runtime/distribute tests/cli/test_run_workers.py

.PHONY: exhaustive
exhaustive: fuzz hosts  ## try all cases that `make test` leaves out

.PHONY: torch
torch: $(VENV)/installed-dev  ## install PyTorch and test agc.torch with it
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[torch]'
	$(BIN)/python -m pytest tests/torch_backend tests/test_documents.py

.PHONY: stdlib
stdlib: $(VENV)/installed-dev  ## convert the standard library and run CPython's tests
	$(BIN)/python -m tests.stdlib --jobs 2

.PHONY: lint
lint: $(VENV)/installed-dev  ## check style and types with ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy typings/agc/autograph typings/agc/runtime typings/agc/cli typings/agc/explorer typings/agc/arrays typings/agc/jax typings/agc/torch tests/typed

.PHONY: generate
generate: $(VENV)/installed-dev  ## regenerate the generated files: namespaces, missing names, types of operations
	PYTHONPATH=tests $(BIN)/python -m generate

$(VENV)/installed-docs: pyproject.toml $(VENV)/installed-dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@

.PHONY: docs
docs: $(VENV)/installed-docs  ## build the documentation site in build/docs/html; a warning is an error
	$(BIN)/python -m docs.site

.PHONY: vendor
vendor:  ## fetch the layout engine of agc explore from npm, with its license
	cd explorer/vendor && curl --fail --silent $(ELKJS) | tar --extract --gzip --strip-components 1 package/LICENSE.md package/lib/elk-worker.min.js
	cd explorer/vendor && mv LICENSE.md LICENSE-elkjs.md && mv lib/elk-worker.min.js . && rmdir lib

.PHONY: differential
differential:  ## compare with TensorFlow: make differential PEER=path/to/its/python
	PYTHONPATH=typings:tests $(or $(PEER),$(PYTHON)) -m differential $(WITH)

.PHONY: formats
formats:  ## write graphs and run them in TensorFlow: make formats PEER=path/to/its/python
	PYTHONPATH=.:tests $(PYTHON) -m tensorflow_formats --peer $(PEER) $(WITH)

.PHONY: peer
peer:  ## install TensorFlow and Keras into .peers/tensorflow, for make compatibility
	$(PYTHON) -m venv .peers/tensorflow
	.peers/tensorflow/bin/python -m pip install --quiet --disable-pip-version-check --requirement tests/compatibility/peer.txt

.PHONY: compatibility
compatibility: $(VENV)/installed-dev  ## run public programs on agc and TensorFlow: make compatibility PEER=path/to/its/python
	cd tests && ../$(BIN)/python -m compatibility --peer "$(if $(PEER),$(abspath $(PEER)))" $(WITH)

.PHONY: tensorflow-files
tensorflow-files: $(VENV)/installed-dev  ## compare files of TensorFlow: make tensorflow-files PEER=path/to/its/python
	cd tests && ../$(BIN)/python -m tensorflow_formats.reading "$(abspath $(PEER))" $(WITH)

.PHONY: bench
bench: $(VENV)/installed  ## run the benchmarks, also with the installed peers
	$(BIN)/python -m benchmarks --json benchmarks/results/latest.json $(addprefix --peer ,$(wildcard .peers/bin/python))

.PHONY: bench-explorer
bench-explorer: $(VENV)/installed-dev  ## measure the page of agc explore with 10,000 operations, in Chromium
	PYTHONPATH=tests $(BIN)/python -m benchmarks.explorer

.PHONY: peers
peers:  ## install the libraries for comparison by make bench, into .peers
	$(PYTHON) -m venv .peers
	.peers/bin/python -m pip install --quiet --disable-pip-version-check --requirement benchmarks/requirements.txt

.PHONY: clean
clean:  ## remove the files that the other targets created
	rm -rf $(VENV) .peers build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
