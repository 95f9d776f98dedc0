# The front door of the build; Meson and Ninja do the work (meson.build).
# `make help` lists the targets.

BUILD  ?= build
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc)
MESON   = meson setup -Dwerror=true
NINJA   = ninja -j $(JOBS)

.PHONY: all help setup run test unit check check-all debug asan tsan clang fuzz fault coverage \
        bench bench-quick docs install deb clean

all: ## build build/loci and the libraries; installs nothing
	@tools/setup --check build
	@$(MAKE) --no-print-directory $(BUILD)/build.ninja
	@$(NINJA) -C $(BUILD)

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

setup: ## install what is missing (tools/packages.txt says what and why)
	@tools/setup build

run: setup all ## set up, build, and serve on http://127.0.0.1:8283
	@exec $(BUILD)/loci serve

test: ## set up, build, run every test
	@tools/setup build test
	@$(MAKE) --no-print-directory all
	@tools/run-tests $(BUILD)

unit: all ## the unit tests alone, quick enough for after every edit
	@tools/run-tests $(BUILD) --suite unit

check: ## format, static analysis, layers, stale files (what changed since it last passed)
	@tools/setup build test check
	@$(MAKE) --no-print-directory all
	@tools/check --build $(BUILD)

check-all: ## the same on every file
	@tools/setup build test check
	@$(MAKE) --no-print-directory all
	@tools/check --build $(BUILD) --all

debug: ## build-debug: no optimisation, all symbols
	@test -f build-debug/build.ninja || $(MESON) build-debug -Doptimization=0
	@$(NINJA) -C build-debug

clang: ## build-clang: the second compiler
	@tools/setup build test check
	@test -f build-clang/build.ninja || CC=clang $(MESON) build-clang
	@$(NINJA) -C build-clang

asan: ## every test under AddressSanitizer and UndefinedBehaviorSanitizer
	@tools/setup build test
	@test -f build-asan/build.ninja || $(MESON) build-asan -Db_sanitize=address,undefined -Db_lundef=false
	@$(NINJA) -C build-asan
	@tools/run-tests build-asan

tsan: ## every test under ThreadSanitizer
	@tools/setup build test
	@test -f build-tsan/build.ninja || $(MESON) build-tsan -Db_sanitize=thread -Db_lundef=false
	@$(NINJA) -C build-tsan
	@tools/run-tests build-tsan

fuzz: ## run each fuzz harness for FUZZ_SECONDS (60)
	@tools/setup build test check
	@test -f build-fuzz/build.ninja || CC=clang $(MESON) build-fuzz -Dfuzz=true \
	    -Db_sanitize=address,undefined -Db_lundef=false
	@$(NINJA) -C build-fuzz
	@tools/fuzz build-fuzz

fault: ## stop, starve and cut off the store at every point (make test does a sample)
	@tools/setup build test
	@$(MAKE) --no-print-directory all
	@LOCI_FAULT=all tools/run-tests $(BUILD) --suite fault

coverage: ## run the tests and report what they reach: build-coverage/coverage.txt and .html
	@tools/setup build test check
	@test -f build-coverage/build.ninja || $(MESON) build-coverage -Db_coverage=true -Doptimization=0
	@$(NINJA) -C build-coverage
	@tools/run-tests build-coverage
	@cd build-coverage && gcovr -r .. -f '../src/' --txt coverage.txt --html coverage.html . \
	    && tail -n 3 coverage.txt

bench: all ## the figures of docs/performance.md, each beside a peer or a limit
	@tools/setup bench
	@tools/bench $(BUILD)

bench-quick: all ## a short form of the same
	@tools/setup bench
	@tools/bench $(BUILD) --quick

docs: all ## write the generated references anew
	@tools/gen-docs $(BUILD)

install: all ## into PREFIX (/usr/local): program, libraries, header, man page, completion
	@meson configure $(BUILD) -Dprefix=$(abspath $(PREFIX)) >/dev/null
	@$(NINJA) -C $(BUILD) >/dev/null
	@meson install -C $(BUILD) --no-rebuild --quiet
	@echo "installed in $(PREFIX)"

deb: all ## a Debian package, build/loci_VERSION_ARCH.deb
	@tools/make-deb $(BUILD)

clean: ## remove what was built
	@rm -rf build build-debug build-clang build-asan build-tsan build-fuzz build-coverage

$(BUILD)/build.ninja:
	@$(MESON) $(BUILD) -Dtests=$(if $(shell pkg-config --exists cmocka && echo y),true,false)
