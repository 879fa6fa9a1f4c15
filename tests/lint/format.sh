#!/bin/sh
# The source is as clang-format leaves it (.clang-format). Blanks ahead of a comment at the end of a line are free, so that
# comments can be lined up by hand; .def files are tables and turn the formatter off themselves.
. tests/lint/files.sh
status=0

plain() {
    sed -E 's/ +(\/\*)/ \1/; s/ +\\$/ \\/'
}

for file in $(files '*.c' '*.h'); do
    was=$(plain <"$file" | cksum)
    now=$(clang-format "$file" | plain | cksum)
    [ "$was" = "$now" ] && continue
    line=$(clang-format "$file" | diff "$file" - | sed -n '1s/[^0-9].*//p')
    echo "$file:$line: not as clang-format leaves it; run: make format"
    status=1
done
exit $status
