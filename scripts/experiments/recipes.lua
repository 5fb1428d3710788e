-- The recipes (docs/reference/recipes.md) as a paper: one seed of one recipe, a search and the tests of the network
-- that it has found; and the table of all recipes with several seeds each.
--
--   pushdown recipes --recipe unmarked_reversal --seed 1
--   pushdown recipes table --recipes unmarked_reversal,dyck --restarts 5
--   pushdown recipes table --recorded docs/results/recipes/runs.csv --missing leave
local pd = require 'pushdown'
local here = debug.getinfo(1, 'S').source:match('^@(.*/)') or ''

return (pd.paper.new {
  name = 'recipes', tasks = pd.recipe.names(), title = function(task) return task end, models = {},
  train = pd.recipe.training, tables = { table = dofile(here .. 'recipes/table.lua') },
})
