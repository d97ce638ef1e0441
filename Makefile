# Keelson: everything a developer runs. `make` alone lists the targets.
# A fresh machine needs only Node (any, >= 20) and Go (>= 1.26): the rest is installed and built by the targets that need it,
# the pinned Node into node_modules, third-party parts into a cache outside the checkout (see testbed/).

SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help up test check test-parts test-e2e test-faults test-pack bench generate build image clean install parts

export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
NODE   := node_modules/.bin/node
RUN    := $(NODE) --conditions=keelson-source --disable-warning=ExperimentalWarning
VITEST := $(NODE) node_modules/vitest/vitest.mjs
LIBRARIES := packages/schema packages/kube packages/runtime testbed packages/testenv examples/website operators/security apps/cli

help: ## this list
	@awk 'BEGIN { FS = ":.*## " } /^[a-z0-9-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

up: install ## a cluster on this machine, the operators in it, samples applied; Ctrl-C ends it all (KUBECONFIG=file: use that cluster)
	@bin/keelson up $(if $(filter command line,$(origin KUBECONFIG)),--kubeconfig $(KUBECONFIG))

test: install parts ## unit tests, and tests against a real API server and simulated nodes
	@$(VITEST) run --project beside $(ARGS)

check: install ## types, lint, layers, dead code, generated files
	@echo '· types'      && tsc -p tsconfig.json
	@echo '· lint, format, import layers and cycles' && biome check --error-on-warnings
	@echo '· dead code'  && knip
	@echo '· generated files are fresh' && bin/keelson generate --check
	@echo 'check: all good'

test-faults: install parts ## kills, cut streams, lost leases, and 60 s of silence, against real processes
	@$(VITEST) run --project faults $(ARGS)

test-pack: install build ## the packages install into an empty project and run on Node 22 and 24
	@$(VITEST) run --project pack $(ARGS)

test-parts: install parts ## what we generate, given to the programs that read it: the real OpenTelemetry Collector, Elasticsearch and OpenSearch (needs JDK 17 and Maven)
	@$(RUN) testbed/src/main.ts ensure otelcol elasticsearch7 opensearch
	@$(VITEST) run --project parts $(ARGS)

test-e2e: ## a real kubelet and containerd (comes with the installation on a real cluster)
	@echo 'make test-e2e: no suite yet. It comes with the installation on a real cluster, where pods must really run.' >&2; exit 1

bench: install parts build ## memory beside peers, in one run; figures for docs/benchmarks.md
	@$(RUN) --expose-gc bench/main.ts $(ARGS)

generate: install ## write deploy/ and docs/reference out of the code
	@bin/keelson generate

build: install ## compile every package to dist/
	@for p in $(LIBRARIES); do echo "· $$p"; rm -rf $$p/dist; tsc -p $$p/tsconfig.build.json || exit 1; done

image: ## the container image (comes with the installation on a real cluster)
	@echo 'make image: no image yet. It comes with the installation on a real cluster, the first place that needs one.' >&2; exit 1

clean: ## remove what was installed and built here (the cache of third-party parts stays: `keelson-testbed clean` empties it)
	rm -rf node_modules packages/*/dist testbed/dist examples/*/dist operators/*/dist apps/*/dist

install: node_modules/.keelson-installed

node_modules/.keelson-installed: package.json package-lock.json $(wildcard packages/*/package.json testbed/package.json examples/*/package.json operators/*/package.json apps/*/package.json bench/package.json)
	@sh bin/check-tools
	@# Not `npm ci`: it refuses a lock file that lacks the binaries of platforms which a mirror does not carry.
	@echo '· installing npm packages and the pinned Node' && npm install --no-save --loglevel=error --no-progress
	@touch $@

parts: install
	@$(RUN) testbed/src/main.ts ensure controlplane kwok crds
