#!/bin/sh
# Words that say that something is left over, code that is commented out, and whitespace that git does not like.
. tests/lint/files.sh
status=0

mark='TO''DO|FIX''ME|XX''X|HA''CK'
files '*.c' '*.h' '*.def' '*.lua' '*.hasm' '*.md' '*.sh' '*.json' Makefile |
    xargs grep -nHwE "$mark" && status=1
files '*.c' '*.h' | xargs grep -nHE '^[[:space:]]*//|^[[:space:]]*#[[:space:]]*if[[:space:]]+0' && status=1
files '*.c' '*.h' '*.def' '*.lua' '*.hasm' '*.md' '*.json' Makefile |
    xargs grep -nHE '[[:space:]]+$' && status=1
exit $status
