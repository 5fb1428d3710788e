-- The command `pushdown recipe`: lists the recipes, shows one, and runs it.
local command = require 'pushdown.commands.shared.command'
local experiment = require 'pushdown.experiment'
local files = require 'pushdown.files'
local pd = require 'pushdown'
local recipe = require 'pushdown.recipe'

local declaration = {
  name = 'pushdown recipe [NAME]',
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

-- A task that was not solved is not an error.
return command.new(declaration, 1, function(options)
  local name = options.words[1]
  if not name then return io.write(recipe.list():text(pd.process.columns 'stdout')) end
  if options.show then return show(name) end
  local result = recipe.run(name, { model = options.model, seed = options.seed, smoke = options.smoke,
    folder = options.folder })
  print(('\n%s: seed %d %s. Tables, pictures and networks: %s'):format(result.recipe, result.seed,
    result.solved and 'has solved the task' or 'has not solved the task', result.folder))
end)
