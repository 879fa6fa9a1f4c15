#!/bin/sh
# Files of at most 600 lines, functions of at most 120, and nine functions of ten of at most 35. Tests are left out.
# A table or dispatch loop that must be longer is marked: the comment above it says "long on purpose:" and why.
. tests/lint/files.sh
status=0

sources=$(files '*.c' '*.h' | grep -v '^tests/')
[ -n "$sources" ] || exit 0

# shellcheck disable=SC2086
wc -l $sources | awk '$2 != "total" && $1 > 600 { print $2 ":1: " $1 " lines, more than 600"; bad = 1 } END { exit bad }' ||
    status=1

# shellcheck disable=SC2086
ctags --languages=C --langmap=C:.c.h --kinds-C=f --fields=+ne -f - $sources 2>/dev/null |
    awk -F'\t' '{
        start = end = 0
        for (i = 4; i <= NF; i++) {
            if ($i ~ /^line:/) start = substr($i, 6)
            if ($i ~ /^end:/) end = substr($i, 5)
        }
        if (end) print end - start + 1, $2, start, $1
    }' | sort -n | {
    count=0
    awk '{ length_of[NR] = $1 } END {
        if (NR == 0) exit 0
        p90 = length_of[int((NR * 9 + 9) / 10)]
        if (p90 > 35) { print "one function in ten is longer than " p90 " lines; the limit is 35"; exit 1 }
    }
    $1 > 120 { print $2, $3, $4, $1 > "/dev/stderr" }' 2>build/lint-long || exit 1
} || status=1

if [ -s build/lint-long ]; then
    while read -r file line name length; do
        first=$((line > 8 ? line - 8 : 1))
        sed -n "${first},${line}p" "$file" | grep -q 'long on purpose:' && continue
        echo "$file:$line: $name has $length lines, more than 120"
        status=1
    done <build/lint-long
fi
rm -f build/lint-long
exit $status
