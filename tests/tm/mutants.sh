#!/bin/sh
# Mistakes put into tm/ on purpose, one line each, and the test that must fail with it. The rows of mutants.txt are
# trap ~ what is wrong ~ file of tm/ ~ sed script ~ test. Usage: tests/tm/mutants.sh [BUILD], after `make test T="tm/%"`; prints a table.
cd "$(dirname "$0")/../.." || exit 2
build=${1:-build}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
alive=0
mkdir "$work/tm"
ln -s "$PWD/sim" "$work/sim"

# Compiles the files that the mutant changes, all of tm/ if it is a header, and links them ahead of the library.
try() {
    file=$1 script=$2 test=$3
    rm -f "$work"/tm/* "$work"/*.o
    cp tm/*.[ch] "$work/tm/"
    sed -i "$script" "$work/tm/$file"
    if cmp -s "tm/$file" "$work/tm/$file"; then
        echo "not applied"
        return 1
    fi
    case $file in
    *.h) sources=$(cd tm && ls ./*.c) ;;
    *) sources=$file ;;
    esac
    for s in $sources; do
        ${CC:-cc} -std=c17 -O1 -w -D_POSIX_C_SOURCE=200809L -I"$work" -c "$work/tm/$s" \
            -o "$work/$(basename "$s" .c).o" || { echo "not compiled"; return 1; }
    done
    # shellcheck disable=SC2046
    ${CC:-cc} -o "$work/test" "$build/obj/tests/tm/$test.o" \
        $(find "$build/obj/tests/tm" -name '*.o' ! -name 'test_*') "$work"/*.o "$build/libheddle.a" \
        $(pkg-config --libs cmocka) -lm || { echo "not linked"; return 1; }
    if timeout 120 "$work/test" >"$work/log" 2>&1; then
        echo "NOT CAUGHT"
        return 1
    fi
    grep -m1 '^ERROR: \|: error: ' "$work/log" | cut -c1-100 | sed 's/^ERROR: //'
}

while IFS='~' read -r trap what file script test; do
    case $trap in '' | '#'*) continue ;; esac
    shown=$(try "$file" "$script" "$test") || alive=$((alive + 1))
    printf '| %s | %s | %s | %s |\n' "$trap" "$what" "$test" "$shown"
done <tests/tm/mutants.txt
echo "$alive not caught"
[ "$alive" = 0 ]
