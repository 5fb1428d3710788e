-- The nondeterministic stack of the automaton for unmarked reversal on `0 1 1 0`.
local pd = require 'pushdown'

return function(path) pd.pda.load('unmarked_reversal_pda'):trace('0 1 1 0'):svg(path) end
