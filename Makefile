# Three commands matter: `make demo`, `make test` and, while one works, `make test-fast`. Both need Python 3.11 or later and make.
PYTHON ?= python3
PORT ?= 8000
HOST ?= 127.0.0.1
VENV := .venv
BIN := $(VENV)/bin
# Or `PIP="uv -q pip"`, which takes a tenth of the time.
PIP ?= $(BIN)/python -m pip --disable-pip-version-check --quiet
RUNTIME := $(VENV)/.installed
DEVELOPMENT := $(VENV)/.installed-dev
DEMO := $(VENV)/.installed-demo
PYTEST_WORKERS ?= 2
DOCS := $(shell find docs -name '*.md' -o -name '*.toml' -o -name '*.ipynb' -o -path 'docs/site/*' -type f ! -name '*.pyc') benchmarks_app/static/benchmarks_app/benchwright.css
# What builds it comes with either; a checkout that has one needs not the other.
BUILDER := $(if $(wildcard $(VENV)/.installed-demo),$(DEMO),$(DEVELOPMENT))

.PHONY: demo docs release release-check test test-fast test-all check bench mutants readers clients messages screenshots openapi fuzz-api fuzz-files two-hosts lock clean

$(RUNTIME): requirements.lock pyproject.toml benchwright/reading/_scanner.c benchwright/evaluation/_mappings.c
	@command -v $(PYTHON) >/dev/null || { echo "make: $(PYTHON) not found; install Python 3.11 or later, or set PYTHON=…"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "make: Python 3.11 or later is needed; $(PYTHON) is $$($(PYTHON) --version)"; exit 1; }
	@echo "Installing Benchwright into $(VENV) …"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) install --require-hashes -r requirements.lock
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(DEVELOPMENT): requirements-dev.lock pyproject.toml $(RUNTIME)
	@echo "Installing what the tests need …"
	@$(PIP) install --require-hashes -r requirements-dev.lock
	@touch $@

# The demo's dense system is a package of its own, as are its judges': without them the demo has four
# systems, not five, and shows its cases without asking a judge.
$(DEMO): requirements-demo.lock $(RUNTIME)
	@$(PIP) install --require-hashes -r requirements-demo.lock || echo "make: the demo goes on without its dense system and judges, which could not be installed"
	@touch $@

demo: $(RUNTIME) $(DEMO)
	@$(MAKE) --no-print-directory docs || echo "make: the demo shows the chapters without their search, which could not be built"
	@$(BIN)/python manage.py demo --serve --host $(HOST) --port $(PORT)

test: $(DEVELOPMENT)
	@$(BIN)/python -m pytest -n $(PYTEST_WORKERS) --dist loadgroup -q -rs $(ARGS)

# What to run while one works, in under a minute: the library's heart, and one path through each
# app, from a file to qrels, a release and a board.
FAST := $(addprefix tests/benchwright/, comparison measures qrels reading releases splits) \
  $(addprefix tests/benchmarks_app/, importing/test_importing.py releases/test_releasing.py) \
  $(addprefix tests/annotation/, judging/test_claiming.py judging/test_exchange.py judging/test_judging.py \
    pools/test_pooling.py labels/test_publishing.py) \
  $(addprefix tests/scoring/, submissions/test_submitting.py boards/test_boards.py) \
  tests/test_docs.py
test-fast: $(DEVELOPMENT)
	@$(BIN)/python -m pytest -n $(PYTEST_WORKERS) --dist loadgroup -q --nomigrations -m "not slow and not data" $(FAST) $(ARGS)

# With a browser and a broker, which must be there.
test-all: export BENCHWRIGHT_REQUIRE_SERVICES = 1
test-all: test

check: $(DEVELOPMENT)
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash .ci/check

# In a virtual environment of its own, installed as users do it; the peers never reach the tests.
bench:
	@test -x $(VENV)-bench/bin/python || $(PYTHON) -m venv $(VENV)-bench
	@$(VENV)-bench/bin/python -m pip --disable-pip-version-check --quiet install --require-hashes --no-deps -r requirements-bench.lock
	@rm -rf build
	@BENCHWRIGHT_REQUIRE_EXTENSION=1 $(VENV)-bench/bin/python -m pip --disable-pip-version-check --quiet install --no-deps --no-build-isolation --force-reinstall .
	@$(VENV)-bench/bin/python -m tests.performance $(PARTS)

# Small mistakes put into the numeric core and the claiming of labels, which tests have to notice
# (docs/testing.md). Long: SAMPLE=200 takes so many an area, AREAS="measures gating" some areas; a run
# that was broken off goes on where it was.
AREAS ?=
SAMPLE ?= 0
SEED ?= 0
MUTANT_WORKERS ?= 2
mutants: $(DEVELOPMENT)
	@$(PIP) install --require-hashes --no-deps --upgrade --target $(VENV)-mutants -r tests/mutants/mutants.lock
	@PYTHONPATH=$(VENV)-mutants $(BIN)/python -m tests.mutants $(AREAS) --sample $(SAMPLE) --seed $(SEED) --workers $(MUTANT_WORKERS)

# The field's readers that run models, on exports of the demo, a toy and Cranfield (docs/formats.md).
# PyTorch is wanted without CUDA: where pip finds only the other build, it says so and stops.
TORCH ?= torch==2.13.0+cpu
readers: $(DEVELOPMENT)
	@test -x $(VENV)-readers-heavy/bin/python || $(PYTHON) -m venv $(VENV)-readers-heavy
	@$(VENV)-readers-heavy/bin/python -m pip --disable-pip-version-check --quiet install '$(TORCH)'
	@$(VENV)-readers-heavy/bin/python -m pip --disable-pip-version-check --quiet install --require-hashes --no-deps -r tests/readers/heavy.lock
	@$(BIN)/python -m tests.readers.make_exports var/readers
	@$(VENV)-readers-heavy/bin/python tests/readers/check_light.py var/readers
	@$(VENV)-readers-heavy/bin/python tests/readers/check_heavy.py var/readers

# What generates clients of the API, and compiles one (docs/own-client.md): beside the tests, which use it.
clients:
	@test -x $(VENV)-clients/bin/python || $(PYTHON) -m venv $(VENV)-clients
	@$(VENV)-clients/bin/python -m pip --disable-pip-version-check --quiet install --no-compile --require-hashes --no-deps -r tests/clients/generators.lock
	@cp tests/clients/package.json tests/clients/package-lock.json tests/clients/.npmrc $(VENV)-clients
	@cd $(VENV)-clients && npm ci --silent

# The words of translated pages, gathered from the sources into benchmarks_app/locale (docs/translating.md).
messages: $(DEVELOPMENT)
	@BENCHWRIGHT_DATA=$$(mktemp -d) DJANGO_SETTINGS_MODULE=benchmarks_app.settings $(BIN)/python -m tests.catalogues

# What a release lacks (docs/releasing.md); it builds apart, and sends nothing.
release: $(DEVELOPMENT)
	@$(BIN)/python .ci/release.py "$(VERSION)"

release-check: $(DEVELOPMENT)
	@$(BIN)/python .ci/release_check.py

# The documentation as static files, in docs_site/: the site serves them at /docs/, any web server can.
docs: docs_site/index.html
docs_site/index.html: $(DOCS) | $(BUILDER)
	@$(BIN)/python docs/site/build.py docs_site
	@echo "make: the documentation is in docs_site/"

screenshots: $(DEVELOPMENT)
	@$(BIN)/python -m tests.browser.screenshots docs/images

# One site on two hosts, with a store of objects and either broker: a host is killed in each stage of
# the work (docs/operating.md). It needs PostgreSQL (DATABASE_URL), RabbitMQ and Redis.
two-hosts: export BENCHWRIGHT_REQUIRE_SERVICES = 1
two-hosts: export TWO_HOSTS_ALL = 1
two-hosts: export TWO_HOSTS_PEOPLE ?= 32
two-hosts: export TWO_HOSTS_QUERIES ?= 40
two-hosts: $(DEVELOPMENT)
	@$(BIN)/python -m pytest -q -s -p no:cacheprovider --nomigrations tests/system/test_two_hosts.py $(ARGS)

# The description of the API and the list of errors that are checked in; tests say when they are out of date.
openapi: $(RUNTIME)
	@BENCHWRIGHT_DATA=$$(mktemp -d) $(BIN)/python manage.py spectacular --format openapi-json --validate --fail-on-warn --file docs/openapi.json
	@BENCHWRIGHT_DATA=$$(mktemp -d) DJANGO_SETTINGS_MODULE=benchmarks_app.settings $(BIN)/python -m tests.errors_page
	@BENCHWRIGHT_DATA=$$(mktemp -d) DJANGO_SETTINGS_MODULE=benchmarks_app.settings $(BIN)/python -m tests.reference_pages

# Many requests made up from that description, against a furnished site in this process.
fuzz-api: export FUZZ_EXAMPLES ?= 200
fuzz-api: $(DEVELOPMENT)
	@$(BIN)/python -m pytest -q -s -p no:cacheprovider tests/system/test_schemathesis.py $(ARGS)

# Damaged files of every kind that is read, through a site of processes (docs/testing.md). Long: a
# run that was stopped goes on with START=n; MINUTES=10 ends it after so long.
FILES ?= 20000
START ?= 0
MINUTES ?= 0
fuzz-files: $(DEVELOPMENT)
	@$(BIN)/python -m tests.fuzz_files --files $(FILES) --seed $(SEED) --start $(START) --minutes $(MINUTES) $(ARGS)

# Needs uv and npm. Hashes of every file, no address of any index.
lock:
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --extra install --extra site pyproject.toml -o requirements.lock
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --extra install --extra site --extra docs --extra dev -c requirements.lock pyproject.toml -o requirements-dev.lock
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --extra install --extra site --extra docs --extra demo -c requirements-dev.lock pyproject.toml -o requirements-demo.lock
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --extra install --extra site --extra bench -c requirements.lock --overrides tests/performance/bench.overrides pyproject.toml -o requirements-bench.lock
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --excludes tests/readers/light.excludes tests/readers/light.in -o tests/readers/light.lock
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header tests/clients/generators.in -o tests/clients/generators.lock
	cd tests/clients && npm install --package-lock-only --silent
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header .ci/uv.in -o .ci/uv.lock
	uv pip compile -q --no-deps --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header tests/mutants/mutants.in -o tests/mutants/mutants.lock
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --excludes tests/readers/heavy.excludes tests/readers/heavy.in -o tests/readers/heavy.lock

clean:
	rm -rf $(VENV) $(VENV)-bench $(VENV)-mutants $(VENV)-readers $(VENV)-readers-heavy $(VENV)-clients .pytest_cache .mypy_cache .ruff_cache .hypothesis
