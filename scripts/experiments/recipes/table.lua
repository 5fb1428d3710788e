-- What learns what: the recipes of scripts/recipes, each with several seeds, as a table, a picture of tasks by models,
-- and learning curves and results by length of every recipe. The control of a recipe is its model 'LSTM', a network
-- without a stack that has the same search.
local csv = require 'pushdown.csv'
local experiment = require 'pushdown.experiment'
local files = require 'pushdown.files'
local grid = require 'pushdown.grid'
local pd = require 'pushdown'
local plot = require 'pushdown.plot'
local recipe = require 'pushdown.recipe'
local runs = require 'pushdown.runs'
local statistics = require 'pushdown.statistics'
local table_of = require 'pushdown.text.table'
local wrapped = require 'pushdown.text.wrapped'

-- The papers in the order of the page.
local groups = { 'DuSell and Chiang (2020)', 'Mali et al. (2021)', 'Grefenstette et al. (2015)', 'Mali et al. (2019)',
  'Butoi et al. (2025)', 'Delétang et al. (2023)' }
local place_of = {}
for i, group in ipairs(groups) do place_of[group] = i end

local function control_of(one)
  for k, model in ipairs(one.models) do
    if k > 1 and model.name == 'LSTM' then return model end
  end
end

local function best_of(test, values)
  local best
  for _, value in ipairs(values) do
    if not best or (test.above and value > best) or (not test.above and value < best) then best = value end
  end
  return best
end

-- The comment at the head of a script, as paragraphs of Markdown.
local function head_of(path)
  local paragraphs = { '' }
  for line in (files.read(path) .. '\n'):gmatch '(.-)\n' do
    local comment = line:match '^%-%- ?(.*)$'
    if not comment then break end
    if comment == '' then
      paragraphs[#paragraphs + 1] = ''
    else
      paragraphs[#paragraphs] = paragraphs[#paragraphs] .. ' ' .. comment
    end
  end
  for i, text in ipairs(paragraphs) do
    paragraphs[i] = wrapped(text:gsub('^ ', ''):gsub('[#*_<]', '\\%0'), 100, '')
  end
  return table.concat(paragraphs, '\n\n')
end

local function make(paper, options, run)
  local flags = options.smoke and { '--smoke' } or options.quick and { '--quick' } or {}

  local recipes, grids = {}, { failures = 'report' }
  for i, name in ipairs(options.recipes) do
    recipes[i] = recipe.load(name)
    local control = options.models == 'control' and control_of(recipes[i])
    for k, model in ipairs(recipes[i].models) do
      if k == 1 or model == control or options.models == 'all' or options.missing == 'leave' then
        local slug = recipe.slug(model.name)
        grids[#grids + 1] = { name = ('recipes/%s/%s'):format(recipes[i].name, slug), script = paper.path,
          folder = ('%s/%s/%s'):format(options.folder, recipes[i].name, slug), points = { {} },
          fixed = { recipe = name, model = slug }, restarts = options.restarts, flags = flags }
      end
    end
  end
  table.sort(recipes, function(a, b)
    local one, other = place_of[a.task.group] or #groups + 1, place_of[b.task.group] or #groups + 1
    if one ~= other then return one < other end
    return a.name < b.name
  end)
  local rows = grid.run(grid.place(grids, options))

  -- The finished runs of a model: their headline numbers, and what they have solved.
  local function outcome_of(name, model)
    local out = { runs = {}, values = {}, solved = 0, seconds = 0 }
    for _, row in ipairs(rows) do
      if row.status == 'done' and row.result.recipe == name and row.result.model == recipe.slug(model.name) then
        out.runs[#out.runs + 1], out.values[#out.values + 1] = row, row.result.value_1
        out.solved = out.solved + (row.result.solved and 1 or 0)
        out.seconds = out.seconds + row.result.seconds
      end
    end
    return #out.runs > 0 and out or nil
  end

  -- ---- Tables ----

  local function row_of(one, model, found)
    local test = one.task.tests[1]
    return { one.task.title, model.name, ('%s, %s'):format(test.quantity, test.name), recipe.bar(test),
      best_of(test, found.values), statistics(found.values), ('%d of %d'):format(found.solved, #found.runs),
      found.seconds / #found.runs / 60, one.name, one.task.group }
  end

  -- The summary has the first task of each paper. A regular language needs no stack.
  local all, first, summary, seen = {}, {}, {}, {}
  for _, one in ipairs(recipes) do
    for k, model in ipairs(one.models) do
      local found = outcome_of(one.name, model)
      if found then all[#all + 1] = row_of(one, model, found) end
      if found and k == 1 then
        local row, control = row_of(one, model, found), control_of(one)
        local other = control and outcome_of(one.name, control)
        local compared = other and row_of(one, control, other) or {}
        for _, place in ipairs { 5, 6, 7 } do row[#row + 1] = compared[place] or '' end
        first[#first + 1] = row
        if not one.task.regular and not seen[one.task.group] and #summary < 5 then
          summary[#summary + 1], seen[one.task.group] = row, true
        end
      end
    end
  end
  local columns = { 'task', 'model', 'measure', 'bar', { 'best', format = '%.4g' }, { 'mean', format = '%.4g' },
    'solved', { 'minutes', format = '%.1f' }, 'recipe', 'paper' }
  run:table('models', { columns = columns, rows = all, title = 'All networks under the search of a recipe.' })
  for _, column in ipairs { { 'LSTM best', format = '%.4g' }, { 'LSTM mean', format = '%.4g' }, 'LSTM solved' } do
    columns[#columns + 1] = column
  end
  run:table('table', { columns = columns, rows = first, note = rows.note, title = 'What learns what: the best and the '
    .. 'mean of the first test, and how many of the seeds pass all tests.' })
  run:table('summary', { columns = columns, rows = summary,
    title = 'The first task of each paper that is not regular.' })

  -- ---- Pictures ----

  -- The share of seeds that have solved a task, tasks by models.
  local function draw_map()
    local models, column_of, titles, line_of, values, cells = {}, {}, {}, {}, {}, {}
    for _, one in ipairs(recipes) do
      for _, model in ipairs(one.models) do
        local found = outcome_of(one.name, model)
        if found then
          if not column_of[model.name] then
            models[#models + 1] = model.name
            column_of[model.name] = #models
          end
          local key = one.task.group .. one.task.title
          local line = line_of[key]
          if not line then
            line = #values + 1
            titles[line], line_of[key] = one.task.title, line
            values[line], cells[line] = {}, {}
          end
          local k = column_of[model.name]
          values[line][k] = found.solved / #found.runs
          cells[line][k] = ('%d/%d'):format(found.solved, #found.runs)
        end
      end
    end
    local spec = { title = 'What learns what: seeds that solve a task', values = values, cells = cells,
      x_labels = models, y_labels = titles, low = 0, high = 1, value_label = 'share of seeds',
      width = 900, height = 60 + 24 * #values }
    run:picture('what_learns_what', plot.heat_map(spec))
    print()
    io.write(plot.heat_text(spec))
  end

  -- Lines of all seeds of a recipe, in the colour of their model. read(row) returns x and y of a run.
  local function draw_lines(one, name, spec, read)
    local series = {}
    for k, model in ipairs(one.models) do
      local found, named = outcome_of(one.name, model), false
      for _, row in ipairs(found and found.runs or {}) do
        local x, y = read(row)
        if x and #x > 0 then
          series[#series + 1] = { name = model.name, x = x, y = y, look = k, legend = not named, markers = false }
          named = true
        end
      end
    end
    if #series == 0 then return end
    spec.series, spec.y_label = series, spec.y_label()
    run:picture(('%s-%s'):format(one.name, name), plot.lines(spec))
  end

  local function read_lengths(row)
    local x, y, path = {}, {}, row.folder .. '/lengths.csv'
    for i, line in ipairs(files.exists(path) and select(2, csv.read(path)) or {}) do
      x[i], y[i] = tonumber(line.length), tonumber(line.value)
    end
    return x, y
  end

  -- The picture that the first solved run of a recipe shows of its network; a run from a record has none.
  local function copy_network(one)
    local found = outcome_of(one.name, one.models[1])
    for _, solved in ipairs { true, false } do
      for _, row in ipairs(found and found.runs or {}) do
        for _, name in ipairs { 'automaton', 'run', 'stack', 'strengths', 'reading-valid' } do
          local path = ('%s/%s.svg'):format(row.folder, name)
          if row.result.solved == solved and files.exists(path) then
            return files.write(run:path(one.name .. '-network.svg'), files.read(path))
          end
        end
      end
    end
  end

  draw_map()
  for _, one in ipairs(recipes) do
    local lengths, metric = one.task.lengths, nil
    copy_network(one)
    draw_lines(one, 'lengths', { title = ('%s by length, trained up to %d'):format(one.task.title, lengths.trained),
      x_label = 'length of the test strings', y_label = function() return lengths.quantity end }, read_lengths)
    draw_lines(one, 'curves', { title = one.task.title .. ', best restart of every seed, validation', x_label = 'epoch',
      y_label = function() return ((metric or ''):gsub('_', ' ')) end }, function(row)
      local x, y = {}, {}
      for i, epoch in ipairs(runs.history(row.folder)) do
        metric = metric or recipe.metric(epoch)
        x[i], y[i] = epoch.epoch, epoch[metric]
      end
      return x, y
    end)
  end

  -- ---- The page of the recipes ----

  -- One line for each seed: its number, the values of the tests, and the cost.
  local function seeds_of(one)
    local names, lines = { 'model', 'seed' }, {}
    for _, test in ipairs(one.task.tests) do
      names[#names + 1] = ('%s, %s (%s)'):format(test.name, test.quantity, recipe.bar(test))
    end
    for _, name in ipairs { 'solved', 'restarts', 'epochs', 'minutes' } do names[#names + 1] = name end
    for _, model in ipairs(one.models) do
      local found = outcome_of(one.name, model)
      for _, row in ipairs(found and found.runs or {}) do
        local line = { model.name, row.seed }
        for i in ipairs(one.task.tests) do line[#line + 1] = ('%.4g'):format(row.result['value_' .. i]) end
        for _, value in ipairs { row.result.solved and 'yes' or 'no', row.result.restarts, row.result.epochs,
          ('%.1f'):format(row.result.seconds / 60) } do
          line[#line + 1] = value
        end
        lines[#lines + 1] = line
      end
    end
    return #lines > 0 and table_of.new({ columns = names, rows = lines }):markdown()
  end

  local parts = {}
  for _, one in ipairs(recipes) do
    local seeds = seeds_of(one)
    parts[#parts + 1] = ('## %s: `%s`\n\n%s\n\n%s'):format(one.task.title, one.name, head_of(one.path),
      seeds or 'No seed has been run.\n')
    for _, kind in ipairs(seeds and { 'curves', 'lengths', 'network' } or {}) do
      local name = ('%s-%s.svg'):format(one.name, kind)
      if files.exists(run:path(name)) or files.exists(pd.root .. '/docs/results/recipes/' .. name) then
        parts[#parts] = parts[#parts] .. ('\n![%s, %s](recipes/%s)\n'):format(one.task.title, kind, name)
      end
    end
  end
  files.write(run:path 'sections.md', table.concat(parts, '\n'))
  print('\nRuns and logs: ' .. options.folder)
  paper:finish(run, rows)
end

return { doc = 'What learns what: all recipes, with several seeds each.', trains = false, make = make,
  options = experiment.join_options({
    { 'recipes', recipe.names(), 'recipes' },
    { 'models', 'control', 'the models of a recipe that are trained: the first, the first and the LSTM, or all',
      choices = { 'first', 'control', 'all' } },
    { 'restarts', 5, 'seeds of every recipe', minimum = 1 },
    { 'folder', 'runs/recipes/grid', 'where the runs lie' },
  }, grid.options),
  quick = { restarts = 1, folder = 'runs/recipes/quick_grid' },
  smoke = { restarts = 1, recipes = { 'marked_reversal' }, models = 'all', folder = 'runs/recipes/smoke_grid' } }
