#!/bin/sh
# Which folder may include which (CONTRIBUTING.md), that includes are rooted at the top, and that the headers
# of cJSON and Lua stay in host/.
. tests/lint/files.sh

files '*.c' '*.h' '*.def' | xargs grep -nHE '^[[:space:]]*#[[:space:]]*include' | awk -F: '
    function area(path) {
        if (path ~ /^sim\/base\//)
            return "base"
        sub(/\/.*/, "", path)
        return path
    }
    BEGIN {
        may["base"] = " base "
        may["isa"] = " base isa "
        may["cf"] = " base isa cf "
        may["tm"] = " base isa tm "
        may["sim"] = " base isa cf tm sim "
        may["host"] = may["tests"] = " base isa cf tm sim host "
    }
    {
        file = $1
        line = $2
        text = substr($0, length(file) + length(line) + 3)
        from = area(file)
    }
    text ~ /<(cjson\/)?cJSON|<(lua|lauxlib|lualib)/ && from != "host" && from != "tests" {
        print file ":" line ": headers of cJSON and Lua belong in host/"
        bad = 1
    }
    text ~ /"/ {
        split(text, part, "\"")
        to = area(part[2])
        if (part[2] !~ /\// || part[2] ~ /^\.\.?\// || !(to in may) && to != "tests") {
            print file ":" line ": include \"" part[2] "\" is not rooted at the top"
            bad = 1
        } else if (index(may[from], " " to " ") == 0 && !(from == "tests" && to == "tests")) {
            print file ":" line ": " from " may not include " part[2]
            bad = 1
        }
    }
    END { exit bad }'
