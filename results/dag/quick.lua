-- Everything small: to see that it all runs.

return require "reproduce" "quick"
