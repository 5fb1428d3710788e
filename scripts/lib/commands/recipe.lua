-- The command `pushdown recipe`: lists the recipes, shows one, and runs it.
local experiment = require 'pushdown.experiment'
local files = require 'pushdown.files'
local pd = require 'pushdown'
local recipe = require 'pushdown.recipe'
local subcommand = require 'pushdown.commands.subcommand'

local M = {}

local declaration = {
  name = 'pushdown recipe [NAME]', words = true, run_folder = false,
  doc = 'Trains a network on a task by a recipe, and tests what it has learned. NAME is a recipe, or the path of a '
    .. 'script of this form.\nWithout a name, lists the recipes. A run that was stopped goes on, and a finished one is '
    .. 'not repeated.',
  options = experiment.join_options(recipe.options, {
    { 'show', false, 'print the script of the recipe and its models, and train nothing' } }),
  smoke = {},
}

local function show(name)
  local one = recipe.load(name)
  io.write(files.read(one.path), '\nModels (--model):\n')
  for _, model in ipairs(one.models) do print(('  %-24s %s'):format(recipe.slug(model.name), model.name)) end
  print('Solved means:')
  for _, test in ipairs(one.task.tests) do
    print(('  %s, %s %s'):format(test.name, test.quantity, recipe.bar(test)))
  end
  print(('Time on one core: at most %g min.'):format(one.minutes))
end

-- command.run(words) -> exit status: 0, 1 for an error, 2 for a wrong command line. A task that was not solved is not
-- an error.
function M.run(words)
  return subcommand('recipe', function()
    local options = experiment.parse(declaration, words)
    if options.help then return io.write(experiment.help(declaration)) end
    local name = options.words[1]
    if #options.words > 1 then error({ usage = ("unexpected argument '%s'"):format(options.words[2]) }, 0) end
    if not name then return io.write(recipe.list():text(pd.process.columns 'stdout')) end
    if options.show then return show(name) end
    local result = recipe.run(name, { model = options.model, seed = options.seed, smoke = options.smoke,
      folder = options.folder })
    print(('\n%s: seed %d %s. Tables, pictures and networks: %s'):format(result.recipe, result.seed,
      result.solved and 'has solved the task' or 'has not solved the task', result.folder))
  end)
end

return M
