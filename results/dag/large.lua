-- The scored cells at their published sizes, the rest with a fifth of the computations.

return require "reproduce" "large"
