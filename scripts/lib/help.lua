-- help(x): describes a function, module, object or name. Functions of the core are documented by their
-- doc strings, Lua functions by the comment above their definition, and Lua modules by the comment at the
-- head of their file.
--
--   help()   help(pd.stack)   help(trainer)   help('stack.simulate')   help('Tensor:sum')   help('reading')
local description = require 'pushdown.prompt.description'
local pager = require 'pushdown.prompt.pager'
local pd = require 'pushdown'

local overview = [[
Pushdown %s: stack-augmented neural networks that learn context-free languages.

  help(pd)              the modules, classes and functions
  help(pd.stack)        a module         help('Tensor')        a class
  help(x), ? x          the object x     help('tensor.zeros')  a function
  help('superposition') a kind           help('docs/faq.md')   a page
  help 'gpu memory'     pages and names with these words, in any order
  ?? x                  the source of x
  ?                     an overview of the prompt
]]

-- Prints help on the value or name, or an overview if there is no argument.
return function(...)
  if select('#', ...) == 0 then return io.write(overview:format(pd.version)) end
  local value = ...
  if value == nil then return print 'nil: there is nothing with that name.' end
  pager(description(value))
end
