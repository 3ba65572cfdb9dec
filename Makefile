# pushload: `make run` and `make test` work on a fresh Debian machine with Swift.
SHELL := /bin/bash
PACKAGES := libnghttp2-dev libssl-dev libjemalloc-dev libroaring-dev libsqlite3-dev libcurl4-openssl-dev pkg-config
TEST_PACKAGES := openssl curl nghttp2-client nodejs chromium openmpi-bin slurmctld slurmd slurm-client munge iproute2
CLIENT_PACKAGES := golang-go default-jdk-headless
DEB_PACKAGES := dpkg-dev python3
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
SWIFT_SOURCES := Package.swift Sources Tests mock-apns Benchmarks/Package.swift Benchmarks/Coverage Benchmarks/Sources Benchmarks/Benchmarks \
	Benchmarks/peers/nio/Package.swift Benchmarks/peers/nio/Sources
PREFIX ?= /usr/local
ARGS ?= -n 1M
# Of debug builds (.ci/run sets them).
SWIFT_FLAGS ?=
FIRST ?= 1
SEEDS ?= 2000
SECONDS ?= 600

.PHONY: help screenshots run test newcomer test-clients exam-cards build format lint clean deps test-deps static install deb test-deb example-package asan tsan fuzz simulate simulate-faults build-benchmarks bench bench-instructions bench-peers bench-truths bench-plan bench-memory bench-coverage bench-gate docs-figures bench-costs bench-merge bench-audience bench-devices

help: ## these lines
	@awk -F ":.*## " '/^[a-z-]+:.*## / { printf "  %-20s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Packages of the house's own tools are built where the programs are, of the same rooms with the same flags: once for all. SwiftPM
# keeps the description of what it last built in a folder, and takes it for another package's there too: it is removed around each,
# and no two are built at once.
define built
	@echo swift $(1) -c release --scratch-path .build --package-path $(2); mkdir -p .build; exec 9>.build/description.lock; flock 9; \
	rm -f .build/release.yaml; trap 'rm -f .build/release.yaml' EXIT; \
	swift $(1) -c release --scratch-path .build --package-path $(2) 9>&-
endef

# Debian packages that are not there yet.
define installed
@missing=""; for p in $(1); do dpkg -s $$p >/dev/null 2>&1 || missing="$$missing $$p"; done; \
	if [ -n "$$missing" ]; then echo "installing$$missing"; $(SUDO) apt-get update -qq && \
	$(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $$missing >/dev/null; fi
endef

run: build ## build for release and send a million pushes to the bundled mock
	.build/release/pushload run $(ARGS)

build: deps ## both programs for release, into .build/release
	$(call built,build,.)

static: deps ## both programs with the Swift library inside, into .build/static/release: they need no Swift to run
	for product in pushload mock-apns; do \
	swift build -c release --static-swift-stdlib --scratch-path .build/static --product $$product || exit 1; done

install: static ## them with manual pages, completions and the mock's unit below PREFIX=/usr/local (DESTDIR=… comes before all paths)
	packaging/install .build/static/release "$(PREFIX)" "$(DESTDIR)"

deb: static ## a Debian package of the same, in .build/deb
	$(call installed,$(DEB_PACKAGES))
	rm -rf .build/deb
	packaging/deb .build/static/release .build/deb

test-deb: deb ## that package in a bare Debian, by the steps of the Dockerfile: health check, pushes, removal (needs root)
	$(call installed,mmdebstrap)
	$(SUDO) packaging/test-deb .build/deb/*.deb

test: test-deps build ## every test; those of the programs take them as released
	TESTED_PROGRAMS=$(CURDIR)/.build/release swift test $(SWIFT_FLAGS)

newcomer: build ## a new user's first hour with the release build: a table of what came out otherwise
	Tests/newcomer .build/release --verbose

test-clients: build test-deps ## other people's clients, Go and Java too, against the mock: writes the table of mock-apns/README.md
	$(call installed,$(CLIENT_PACKAGES))
	.build/python/bin/python3 Tests/Clients/run.py .build/release --write mock-apns/README.md

exam-cards: build test-deps ## other people's clients in mock-apns exam: writes the table of docs/exam.md
	Tests/Clients/exam.py .build/release --write docs/exam.md

deps: ## install the Debian packages that building needs
	$(call installed,$(PACKAGES))

test-deps: deps .build/python/installed ## and those of the tests
	$(call installed,$(TEST_PACKAGES))

.build/python/installed: Tests/requirements.txt ## Python with the clients the tests drive
	@python3 -m venv .build/python 2>/dev/null || { $(SUDO) apt-get update -qq && \
	$(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3-venv >/dev/null && \
	python3 -m venv .build/python; }
	.build/python/bin/pip install -q --disable-pip-version-check -r Tests/requirements.txt
	@# By itself: it wants other versions of what the others need too.
	python3 -m venv .build/pyapns2
	.build/pyapns2/bin/pip install -q --disable-pip-version-check apns2==0.7.2 hyper==0.7.0
	@touch $@

format: ## write every source as .swift-format wants it
	swift format --in-place --recursive $(SWIFT_SOURCES)

lint: ## fail where a source is not formatted
	swift format lint --strict --recursive $(SWIFT_SOURCES)

example-package: deps ## the tests of mock-apns/examples/swift-package, which uses the mock as a library
	swift test $(SWIFT_FLAGS) --package-path mock-apns/examples/swift-package

asan: test-deps ## the tests under AddressSanitizer
	ASAN_OPTIONS=detect_leaks=0:suppressions=$(CURDIR)/Tests/asan.supp swift test --disable-default-traits --sanitize=address --scratch-path .build/asan

tsan: test-deps ## the tests under ThreadSanitizer
	TSAN_OPTIONS=suppressions=$(CURDIR)/Tests/tsan.supp swift test --disable-default-traits --sanitize=thread --scratch-path .build/tsan

fuzz: deps ## ten minutes of libFuzzer for everything that reads bytes from strangers (SECONDS=5: less)
	Tests/Fuzzing/fuzz.sh all $(SECONDS)

simulate: deps ## SEEDS=2000 runs of the whole client in virtual time over a hostile network; SEED=… replays one with a log
	$(call built,build,Tests/Simulation)
	.build/release/simulate $(or $(SEED),$(FIRST) $(SEEDS))

simulate-faults: deps ## faults put in on purpose: the simulation must find each
	Tests/Simulation/faults.py

build-benchmarks: deps ## everything in Benchmarks, to see that it compiles
	$(call built,build,Benchmarks)

BENCHMARK := Benchmarks --allow-writing-to-package-directory benchmark

bench: deps ## time a push of every stage; fails when one is 2.5 times as slow as Benchmarks/Thresholds
	$(call built,package,$(BENCHMARK) baseline update current --no-progress)
	$(call built,package,$(BENCHMARK) baseline read current --no-progress)
	$(call built,package,$(BENCHMARK) thresholds check current --path Benchmarks/Thresholds --no-progress)

bench-instructions: deps ## instructions a push of every stage; fails when one moved by 2 % (ARGS=--update: take the new ones)
	$(call installed,valgrind binutils)
	Benchmarks/instructions.py $(filter --update,$(ARGS))

bench-peers: build .build/python/installed ## pushload and mock-apns beside h2load, nginx, nghttpd and what else sends pushes: writes results/peers.md and its picture
	swift build -c release --package-path Benchmarks/peers/nio
	$(call installed,nghttp2-client nghttp2-server nginx-light hey $(CLIENT_PACKAGES))
	Benchmarks/peers/compare.py --write results/peers.md
	Benchmarks/peers/picture.py results/peers.md docs/images/peers.svg
	Benchmarks/idle_connections.py

bench-truths: build ## figures beside what they must be: pace, stall, answer time, search, false alarms
	Benchmarks/truths.py

bench-memory: build ## memory of client and mock after 2 and 10 minutes, with 1 and 100 million pushes: writes a table of docs/performance.md
	Benchmarks/memory.py --write docs/performance.md

bench-costs: build ## CPU a push in all and by stage, over 1 to 10,000 connections, at rates, with 1 to 8 workers: writes tables of docs/performance.md
	Benchmarks/whole.py --write docs/performance.md
	Benchmarks/costs.py --write docs/performance.md

bench-merge: build ## the results of a thousand workers made one: time and memory
	Benchmarks/merge.py

bench-audience: build ## ten million registrations made, indexed, counted, streamed and pushed to
	Benchmarks/audience.py

bench-devices: build ## the mock's CPU a push with the device model beside that without, and its memory: writes tables of docs/performance.md
	Benchmarks/devices.py --write docs/performance.md

bench-coverage: deps ## how often intervals hold the truth and verdicts are wrong, drawn: writes tables of docs/comparing.md, sweeps.md and judging.md
	$(call built,build,. --product coverage)
	$(call built,build,Benchmarks --product run-coverage)
	Benchmarks/coverage.py --write

bench-gate: build .build/scipy/installed ## how often a gate is wrong, and what it catches: writes the tables of docs/gate.md
	.build/scipy/bin/python3 Benchmarks/gate_truths.py --write docs/gate.md
	.build/scipy/bin/python3 Benchmarks/gate-power --baselines 40 --write docs/gate.md

.build/scipy/installed:
	python3 -m venv .build/scipy
	.build/scipy/bin/pip install -q --disable-pip-version-check numpy scipy
	@touch $@

FIGURES := bench-coverage bench-gate bench-plan bench-peers bench-costs bench-devices bench-memory test-clients exam-cards

docs-figures: build ## every table of the documents, from fresh runs; takes a day, and ends with what failed or missed
	@failed=""; for target in $(FIGURES); do $(MAKE) $$target || failed="$$failed $$target"; done; \
	Benchmarks/instructions.py --by-part --write docs/performance.md || failed="$$failed instructions.py"; \
	Benchmarks/start_skew.py --write docs/scaling.md || failed="$$failed start_skew.py"; \
	Benchmarks/figures.py || failed="$$failed figures.py"; \
	[ -z "$$failed" ] || { echo "failed:$$failed"; exit 1; }

bench-plan: build ## pushload plan beside runs: writes the tables of docs/planning.md
	$(call installed,nghttp2-server nginx-light)
	Benchmarks/plan_validation.py --write docs/planning.md

screenshots: build test-deps ## the pictures in docs/images, from fresh runs
	.build/python/bin/pip install -q --disable-pip-version-check pillow
	.build/python/bin/python3 docs/screenshots.py

clean: ## remove what was built, and results/runs
	rm -rf .build results/runs
