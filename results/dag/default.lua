-- The scored cells at their published sizes, the rest with a twentieth of the computations.

return require "reproduce" "default"
