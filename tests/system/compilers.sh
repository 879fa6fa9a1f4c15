#!/bin/sh
# Every program writes the same bytes whatever built it:  tests/system/compilers.sh HEDDLE HEDDLE...
# Runs host programs with each build of the command and each build of the lanes, and compares result, trace and
# output with those of the first. The object `simulator` is left out: it says how long the run took.
set -u
cd "$(dirname "$0")/../.." || exit 1
[ $# -gt 1 ] || { echo "usage: $0 HEDDLE HEDDLE..." >&2; exit 2; }

kept=$(mktemp -d "${TMPDIR:-/tmp}/heddle-compilers.XXXXXX") || exit 1
trap 'rm -rf "$kept"' EXIT
trap 'exit 130' INT TERM

lanes=baseline
if grep -qw avx2 /proc/cpuinfo && grep -qw fma /proc/cpuinfo; then
    lanes="baseline avx2"
else
    echo "no AVX2 and FMA here: baseline lanes only"
fi

# run HEDDLE LANES NAME ARGUMENTS: leaves NAME.json, NAME.trace and NAME.out
run() {
    heddle=$1 build=$2 to=$kept/$3
    shift 3
    timeout 600 "$heddle" run "$@" --lanes "$build" --detail full --quiet \
        --out "$to.full" --trace "$to.trace" >"$to.out" 2>&1 || {
        status=$?
        cat "$to.out"
        return $status
    }
    sed '/^  "simulator": {.*}$/d' "$to.full" >"$to.json"
    [ $(($(wc -l <"$to.full") - $(wc -l <"$to.json"))) = 1 ]
}

failed=0 compared=0
while read -r arguments; do
    first=
    for heddle; do
        for build in $lanes; do
            name=$(printf %s "$heddle-$build" | tr / .)
            # shellcheck disable=SC2086
            run "$heddle" "$build" "$name" $arguments </dev/null || {
                echo "FAIL $heddle run $arguments --lanes $build"
                failed=$((failed + 1))
                continue
            }
            [ -n "$first" ] || { first=$name; continue; }
            compared=$((compared + 1))
            for what in json trace out; do
                cmp "$kept/$first.$what" "$kept/$name.$what" && continue
                echo "FAIL $heddle run $arguments --lanes $build: its $what differs from that of $first"
                diff "$kept/$first.$what" "$kept/$name.$what" | cut -c1-200 | head -n 10
                failed=$((failed + 1))
            done
        done
    done
done <<END
workloads/dag/vec.lua --arg n=100000
workloads/dag/bs.lua --arg n=10000
workloads/dag/hits.lua --arg n=4000
workloads/dag/dl.lua --arg n=60
workloads/dag/matmul.lua --arg n=100
workloads/dag/reduce.lua --arg n=100000 --set wavefront_size=64
workloads/dag/pipeline.lua --arg steps=256 --config tiny
workloads/cf/mandelbrot.lua --arg scale=0.06 --set divergence.unit=goto-join
tests/system/bits.lua
tests/system/bits.lua --set wavefront_size=8
END

echo "$compared runs compared with the first of their program, $failed failures"
[ $failed = 0 ] && [ $compared != 0 ]
