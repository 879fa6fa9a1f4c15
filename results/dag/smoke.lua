-- VEC alone, smaller still: for the tests.

return require "reproduce" "smoke"
