# heddle: a cycle-level GPU simulator. `make help` lists the targets.

# ---- settings: give them on the command line --------------------------------------------------

CFLAGS   ?= $(if $(SANITIZER),-O1,-O3) -g# yours; the project's own flags are added
LDFLAGS  ?=
LANES_OPT = $(if $(SANITIZER),-O1,-O3)# optimisation of the lane functions
SANITIZER =# address,undefined for example
WERROR    =# 1: a warning is an error
V         =# 1: shows the commands
T         =# tests to run, such as sim/test_link or sim/%; all when empty
QUICK     =# 1: leaves out tests/*/test_slow_*.c
SOAK      = 100# factor by which `make soak` multiplies the counts of random tests
FUZZ_TIME = 30# seconds for each fuzzer
PREFIX   ?= /usr/local
DESTDIR  ?=
JOBS     := $(shell getconf _NPROCESSORS_ONLN)# compilers and tests at a time

ifeq ($(origin CC),default)
CC := gcc
endif

# ---- where things go --------------------------------------------------------------------------

# Each compiler and sanitizer has a folder of its own below build/; gcc's plain build is build/ itself.
comma  := ,
empty  :=
space  := $(empty) $(empty)
VARIANT = $(subst $(space),-,$(strip $(filter-out gcc,$(notdir $(CC))) $(subst $(comma),-,$(SANITIZER))))
BUILD   = build$(VARIANT:%=/%)
BIN     = $(BUILD)/heddle
LIB     = $(BUILD)/libheddle.a

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules --no-print-directory
Q := $(if $(V),,@)

# Makes further down take their jobs from the first one.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(JOBS)
endif

# `make deps X` looks for the libraries again once they are installed, hence the second make.
ifneq (,$(filter deps,$(MAKECMDGOALS)))
.NOTPARALLEL:
.PHONY: $(MAKECMDGOALS)
deps:
	@.ci/deps
$(filter-out deps,$(MAKECMDGOALS)): deps
	+@$(MAKE) $@
else

# ---- sources ----------------------------------------------------------------------------------

LIB_SRCS  := $(filter-out isa/lanes.c host/cli/%, \
               $(wildcard sim/base/*.c isa/*.c cf/*.c tm/*.c sim/*.c sim/*/*.c host/*/*.c))
LIB_SRCS  := $(sort $(LIB_SRCS))
CLI_SRCS  := $(sort $(wildcard host/cli/*.c))
TEST_SRCS := $(sort $(wildcard tests/*/test_*.c))
FUZZ_SRCS := $(sort $(wildcard tests/fuzz/fuzz_*.c))
BENCH_SRCS := $(sort $(wildcard tests/bench/*.c))
# Other C files beside the tests are linked into each test of their folder, ahead of the library.
HELP_SRCS := $(filter-out tests/bench/% tests/fuzz/%,$(filter-out $(TEST_SRCS),$(wildcard tests/*/*.c)))

# The lane functions are one file, compiled for each width and instruction set (isa/lanes.h).
LANES_OBJS := $(foreach b,baseline avx2,$(foreach w,1 8 16 32 64,$(BUILD)/obj/isa/lanes_$(b)_$(w).o))

obj = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
LIB_OBJS   := $(call obj,$(LIB_SRCS)) $(if $(wildcard isa/lanes.c),$(LANES_OBJS))
CLI_OBJS   := $(call obj,$(CLI_SRCS))
TEST_OBJS  := $(call obj,$(TEST_SRCS) $(HELP_SRCS))
BENCH_OBJS := $(call obj,$(BENCH_SRCS))
ALL_OBJS   := $(LIB_OBJS) $(CLI_OBJS) $(TEST_OBJS) $(BENCH_OBJS)
TESTS      := $(TEST_SRCS:%.c=$(BUILD)/%)
FUZZERS    := $(FUZZ_SRCS:%.c=$(BUILD)/%)

# ---- flags ------------------------------------------------------------------------------------

# One value of a run must have the same bits everywhere: no contraction, nothing of fast-math.
PROJECT := -std=c17 -D_POSIX_C_SOURCE=200809L -I. -ffp-contract=off
WARN    := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla \
           $(if $(WERROR),-Werror)
SAN     := $(if $(SANITIZER),-fsanitize=$(SANITIZER) -fno-sanitize-recover=all -fno-omit-frame-pointer)

LUA_CFLAGS    := $(shell pkg-config --cflags lua5.4 2>/dev/null)
CJSON_CFLAGS  := $(shell pkg-config --cflags libcjson 2>/dev/null)
CMOCKA_CFLAGS := $(shell pkg-config --cflags cmocka 2>/dev/null)
LIBS          := $(shell pkg-config --libs lua5.4 libcjson 2>/dev/null || echo -llua5.4 -lcjson) -lm
CMOCKA_LIBS   := $(shell pkg-config --libs cmocka 2>/dev/null || echo -lcmocka)

BASE_FLAGS = $(PROJECT) $(WARN) $(CFLAGS) $(SAN)
$(BUILD)/obj/host/%:  FOLDER_FLAGS := $(LUA_CFLAGS) $(CJSON_CFLAGS)
$(BUILD)/obj/tests/%: FOLDER_FLAGS := $(LUA_CFLAGS) $(CJSON_CFLAGS) $(CMOCKA_CFLAGS)

COMPILE = @mkdir -p $(@D)$(if $(Q),; echo "  CC    $(@:$(BUILD)/obj/%=%)")
LINK    = @mkdir -p $(@D)$(if $(Q),; echo "  LINK  $@")

# ---- build ------------------------------------------------------------------------------------

.PHONY: all objects deps run test soak compilers bench counts lint format sanitize fuzz install clean help FORCE

all: $(BIN) $(LIB)  ## builds build/heddle and build/libheddle.a (the default)

deps:  ## installs what is missing (Debian), or says what to install

$(BIN): $(CLI_OBJS) $(LIB)
	$(LINK)
	$(Q)$(CC) $(BASE_FLAGS) $(LDFLAGS) -o $@ $(CLI_OBJS) $(LIB) $(LIBS)

$(LIB): $(LIB_OBJS)
	$(Q)mkdir -p $(@D) && rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	$(COMPILE)
	$(Q)$(CC) $(BASE_FLAGS) $(FOLDER_FLAGS) -MMD -MP -c -o $@ $<

# Below -O2, and under sanitizers, clang cannot do all that the lane loops ask of it.
LANES_WARN = $(if $(SANITIZER)$(filter-out -O2 -O3,$(LANES_OPT)),-Wno-pass-failed)

define lanes_rule
$(BUILD)/obj/isa/lanes_$(1)_$(2).o: isa/lanes.c $(BUILD)/flags
	$$(COMPILE)
	$$(Q)$$(CC) $$(BASE_FLAGS) $$(LANES_OPT) $$(LANES_WARN) $(3) -DISA_LANES_WIDTH=$(2) -DISA_LANES_BUILD=$(1) \
	    -MMD -MP -c -o $$@ $$<
endef
$(foreach w,1 8 16 32 64,$(eval $(call lanes_rule,baseline,$(w),)))
$(foreach w,1 8 16 32 64,$(eval $(call lanes_rule,avx2,$(w),-mavx2 -mfma)))

# Everything is compiled again when the flags change.
ALL_FLAGS = $(CC) $(BASE_FLAGS) $(LANES_OPT) $(LUA_CFLAGS) $(CJSON_CFLAGS) $(CMOCKA_CFLAGS)
$(BUILD)/flags: FORCE
	@mkdir -p $(@D); echo '$(ALL_FLAGS)' | cmp -s - $@ || echo '$(ALL_FLAGS)' > $@

objects: $(ALL_OBJS)

-include $(ALL_OBJS:.o=.d)

# ---- the main job -----------------------------------------------------------------------------

QUICKSTART := results/quickstart

run: $(BIN)  ## the main job: VEC and the pipeline on the p100 preset, schedulers side by side
	@mkdir -p $(QUICKSTART)/pipeline
	$(Q)$(BIN) compare workloads/dag/vec.lua --config p100 --out $(QUICKSTART) \
	    --trace $(QUICKSTART)/vec.trace.json
	@echo
	$(Q)$(BIN) compare workloads/dag/pipeline.lua --config p100 --out $(QUICKSTART)/pipeline \
	    --trace $(QUICKSTART)/pipeline/pipeline.trace.json
	@echo
	@echo "Results and traces: $(QUICKSTART)/ and $(QUICKSTART)/pipeline/; open a trace in ui.perfetto.dev"

# ---- reproductions ----------------------------------------------------------------------------

# Results in git are those of the default size. Rows are taken up again as long as simulator, programs and configurations are as they were.
SIZE    = default# of reproduce-dag: default, large, quick, smoke
KEEP    =# 1: keeps rows of another build
DAG_OUT = $(if $(filter default,$(SIZE)),results/dag,build/reproduce-dag/$(SIZE))
DAG_SET = $(BIN) $(sort $(wildcard workloads/dag/* workloads/lib/dag.lua workloads/lib/*.hasm configs/*.json))

.PHONY: reproduce reproduce-dag

reproduce: reproduce-dag  ## makes everything in results/ anew

reproduce-dag: $(BIN)  ## results/dag: the figures of the DAG scheduler's paper; SIZE=quick takes minutes
	@mkdir -p $(DAG_OUT)
	@cat $(DAG_SET) | cksum > $(DAG_OUT)/$(SIZE).set.new
	@cmp -s $(DAG_OUT)/$(SIZE).set.new $(DAG_OUT)/$(SIZE).set $(if $(KEEP),|| true,\
	    || rm -f $(DAG_OUT)/$(SIZE).jsonl $(DAG_OUT)/$(SIZE).jsonl.part)
	@mv $(DAG_OUT)/$(SIZE).set.new $(DAG_OUT)/$(SIZE).set
	$(Q)$(BIN) sweep results/dag/$(SIZE).lua --out $(DAG_OUT)/$(SIZE).jsonl --resume -j $(JOBS)

# ---- tests ------------------------------------------------------------------------------------

TEST_SET = $(if $(T),$(filter $(T:%=$(BUILD)/tests/%),$(TESTS)),$(TESTS))
RUN_SET  = $(if $(QUICK),$(foreach t,$(TEST_SET),$(if $(findstring /test_slow_,$(t)),,$(t))),$(TEST_SET))

define test_rule
$(BUILD)/$(1:.c=): $(call obj,$(1) $(filter $(dir $(1))%,$(HELP_SRCS))) $(LIB)
	$$(LINK)
	$$(Q)$$(CC) $$(BASE_FLAGS) $$(LDFLAGS) -o $$@ $$(filter %.o,$$^) $(LIB) $$(CMOCKA_LIBS) $$(LIBS)
endef
$(foreach t,$(TEST_SRCS),$(eval $(call test_rule,$(t))))
# The random goto programs of the assembler's tests are run by a unit, too.
$(BUILD)/tests/cf/test_transactions: $(call obj,tests/isa/goto_programs.c)

# Instruction counts are compared where all tests run, in the build that they were recorded with.
COUNTED = $(if $(T)$(QUICK)$(SANITIZER)$(filter-out gcc,$(CC)),,$(BUILD)/bench-heddle)

test: $(RUN_SET) $(BIN) $(COUNTED)  ## runs all tests; T=sim/test_link or T=sim/% runs some, QUICK=1 the quick ones
	@HEDDLE=$(BIN) tests/run $(JOBS) $(BUILD)/tests $(RUN_SET)
	$(if $(COUNTED),@tests/bench/counts $(COUNTED))

soak: $(RUN_SET) $(BIN)  ## the same with the counts of random tests times SOAK=100, then compilers
	@HEDDLE=$(BIN) HEDDLE_SOAK=$(SOAK) TEST_TIMEOUT=7200 tests/run $(JOBS) $(BUILD)/tests $(RUN_SET)
	+$(Q)$(MAKE) compilers

# A build of each compiler at each level, in build/compilers/.
COMPILED := $(foreach c,gcc clang,$(foreach o,O1 O3,$(c)-$(o)))

compilers: $(COMPILED:%=compilers-%)  ## checks that gcc and clang builds, at -O1 and -O3, write the same bytes
	@tests/system/compilers.sh $(COMPILED:%=build/compilers/%/heddle)

.PHONY: $(COMPILED:%=compilers-%)
$(COMPILED:%=compilers-%): compilers-%:
	+$(Q)$(MAKE) BUILD=build/compilers/$* CC=$(firstword $(subst -, ,$*)) SANITIZER= \
	    CFLAGS="-$(lastword $(subst -, ,$*)) -g" LANES_OPT=-$(lastword $(subst -, ,$*)) build/compilers/$*/heddle

sanitize:  ## runs the tests under the address, leak and undefined-behaviour sanitizers
	+$(Q)$(MAKE) SANITIZER=address,undefined test

fuzz:  ## runs each fuzzer for FUZZ_TIME=30 seconds (clang)
	+$(Q)$(MAKE) CC=clang SANITIZER=address,undefined VARIANT=fuzz LANES_OPT=-O0 \
	    CFLAGS="-O1 -g -fsanitize=fuzzer-no-link" \
	    fuzz-run

.PHONY: fuzz-run
fuzz-run: $(FUZZERS)
	@tests/fuzz/run $(FUZZ_TIME) $(BUILD)/fuzz $(FUZZERS)

$(FUZZERS): $(BUILD)/%: $(BUILD)/obj/%.o $(LIB)
	$(LINK)
	$(Q)$(CC) $(BASE_FLAGS) -fsanitize=fuzzer $(LDFLAGS) -o $@ $^ $(LIBS)

counts: $(BUILD)/bench-heddle  ## instructions that the simulator takes for each row of the benchmark
	@tests/bench/counts $<

bench: $(BUILD)/bench-heddle  ## speed of the simulator: a table, and build/bench.json
	@$< $(BUILD)/bench.json

$(BUILD)/bench-heddle: $(BENCH_OBJS) $(LIB)
	$(LINK)
	$(Q)$(CC) $(BASE_FLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

# ---- care of the source -----------------------------------------------------------------------

FORMATTED = $(shell git ls-files -co --exclude-standard '*.c' '*.h' '*.def')

# gcc warns of some mistakes from -O2 on only.
lint:  ## checks layout, include directions, sizes, format, and that no compiler warns
	@tests/lint/run
	+$(Q)$(MAKE) CC=gcc VARIANT=lint-gcc WERROR=1 CFLAGS=-O2 LANES_OPT=-O2 objects
	+$(Q)$(MAKE) CC=clang VARIANT=lint-clang WERROR=1 CFLAGS=-O1 LANES_OPT=-O1 objects
	@echo "lint: clean"

format:  ## formats the source with clang-format
	clang-format -i $(FORMATTED)

# ---- install ----------------------------------------------------------------------------------

SHARE = $(DESTDIR)$(PREFIX)/share/heddle

# Headers: host/heddle.h and what it includes.
install: all  ## installs below PREFIX=/usr/local (DESTDIR is put ahead)
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib $(SHARE)
	install -m 755 $(BIN) $(DESTDIR)$(PREFIX)/bin/
	install -m 644 $(LIB) $(DESTDIR)$(PREFIX)/lib/
	@for f in $$($(CC) $(PROJECT) -MM host/heddle.h | tr -d '\\\n' | cut -d: -f2); do \
	    install -D -m 644 $$f $(DESTDIR)$(PREFIX)/include/heddle/$$f || exit; done
	@for f in $$(find configs workloads -type f); do install -D -m 644 $$f $(SHARE)/$$f || exit; done

clean:  ## removes build/
	rm -rf build

help:  ## shows this list
	@awk -F': .*## |:  ## ' '/^[a-z-]+:.*  ## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

endif
