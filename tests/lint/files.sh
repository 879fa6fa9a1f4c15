# The files of the project, tracked or new, by pattern:  files '*.c' '*.h'
files() {
    git ls-files -co --exclude-standard -- "$@" | while IFS= read -r file; do
        [ ! -f "$file" ] || printf '%s\n' "$file"
    done
}
