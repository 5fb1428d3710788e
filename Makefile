# `make run` and `make test` are the two main commands. On Debian they first install missing
# packages.
PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
BUILD := build/release
SECONDS ?= 60
SOURCES := find src bindings tests -type f '(' -name '*.cpp' -o -name '*.h' -o -name '*.cu' ')' -print0

.PHONY: help run build test test-slow check-fast bench asan tsan fuzz format format-check lint docs site install uninstall package wheel clean packages

help:
	@echo 'make run        build the shell and run scripts/tutorial/01_first_run.lua'
	@echo 'make test       build everything and run the tests (without those labelled slow)'
	@echo 'make build      build everything: build/release/pushdown and the tests'
	@echo 'make check-fast run the tests that take less than three seconds each'
	@echo 'make test-slow  run the tests labelled slow'
	@echo 'make bench      run the benchmarks'
	@echo 'make asan       build and test with the address and undefined-behaviour sanitizers'
	@echo 'make tsan       build and test with the thread sanitizer'
	@echo 'make fuzz       run each fuzz target for SECONDS (now $(SECONDS)); needs Clang'
	@echo 'make format     rewrite the C++ sources in the project style'
	@echo 'make lint       check the C++ style, common mistakes in C++, the Lua sources and Markdown'
	@echo 'make docs       generate docs/api.md, docs/cookbook.md and docs/tutorial'
	@echo 'make site       make the documentation as a site in build/site (needs mkdocs-material)'
	@echo 'make install    install to PREFIX (now $(PREFIX))'
	@echo 'make uninstall  remove what make install put into PREFIX'
	@echo 'make package    make a Debian package of it in $(BUILD)'
	@echo 'make wheel      make the Python package in build/wheel/dist, for TORCH="folders of torch"'
	@echo 'make clean      remove build/'

# The targets of this call, from which the expected time is computed.
run: PURPOSE := run
test: PURPOSE := test
PURPOSE ?= build

packages:
	@scripts/tools/install_packages.sh $(PURPOSE)

$(BUILD)/build.ninja:
	cmake --preset release

run: packages $(BUILD)/build.ninja
	@scripts/tools/build.sh release $(JOBS) shell core notebooks
	$(BUILD)/pushdown --threads $(JOBS) scripts/tutorial/01_first_run.lua

build: packages $(BUILD)/build.ninja
	cmake --build --preset release -j $(JOBS)

test: build
	ctest --preset release -LE 'slow|single' -j2

check-fast: build
	ctest --preset release -LE 'slow|single|long' -j2

test-slow: build
	ctest --preset release -L slow

bench: build
	@if [ -x $(BUILD)/bench ]; then $(BUILD)/bench; else echo 'No benchmark was built.' >&2; exit 1; fi

asan: packages
	cmake --preset asan
	cmake --build --preset asan -j $(JOBS)
	ctest --preset asan -LE 'slow|single' -j2

tsan: packages
	cmake --preset tsan
	cmake --build --preset tsan -j $(JOBS)
	ctest --preset tsan -LE 'slow|single' -j2
# Failing inputs are written to build/fuzz/failed. Keep them as tests/fuzz/NAME/found-*.
fuzz:
	@scripts/tools/install_packages.sh fuzz
	@test -e build/fuzz/build.ninja || cmake --preset fuzz -D CMAKE_CXX_COMPILER="$$(scripts/tools/find_clang.sh)"
	cmake --build --preset fuzz -j $(JOBS)
	tests/fuzz/run.sh build/fuzz $(SECONDS)

format:
	@scripts/tools/install_packages.sh check
	$(SOURCES) | xargs -0 clang-format -i

format-check:
	@scripts/tools/install_packages.sh check
	$(SOURCES) | xargs -0 clang-format --dry-run -Werror

lint: format-check
	luacheck -q scripts grammars tests
	find *.md docs -name '*.md' | grep -v '^docs/api.md' | \
	  xargs mdl -s .mdl_style.rb
	scripts/tools/tidy.sh
	luajit scripts/tools/count_forms.lua

docs: build
	$(BUILD)/pushdown scripts/tools/make_api.lua
	$(BUILD)/pushdown scripts/tools/make_cookbook.lua
	$(BUILD)/pushdown scripts/tools/make_tutorial.lua

site: build
	$(BUILD)/pushdown scripts/tools/make_site.lua

install: build
	cmake --install $(BUILD) --prefix '$(PREFIX)'

uninstall:
	@cmake -D PREFIX='$(PREFIX)' -P cmake/uninstall.cmake

package: packages
	cmake --preset release -D PUSHDOWN_PROCESSORS=all
	cmake --build --preset release -j $(JOBS)
	cd $(BUILD) && cpack -G DEB

wheel: packages
	scripts/tools/make_wheel.sh $(TORCH)

clean:
	rm -rf build
