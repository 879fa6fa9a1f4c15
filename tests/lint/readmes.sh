#!/bin/sh
# Every folder has a README.md that is its manual. The manual of tests/ covers the folders of tests below it.
. tests/lint/files.sh
status=0

for folder in $(files '*' | sed -n 's|/[^/]*$||p' | sort -u); do
    case $folder in
    .* | tests/*) continue ;;
    esac
    [ -s "$folder/README.md" ] && continue
    echo "$folder:1: has no README.md"
    status=1
done
exit $status
