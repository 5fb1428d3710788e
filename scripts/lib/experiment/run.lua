-- The run of an experiment: its folder with the results, tables and pictures, which pd.experiment.start returns.
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local page = require 'pushdown.experiment.page'
local pd = require 'pushdown'
local provenance = require 'pushdown.store.provenance'
local store = require 'pushdown.store.folder'
local tables = require 'pushdown.tables'
local table_of = require 'pushdown.text.table'
local values = require 'pushdown.store.values'

local Run = {}
Run.__index = Run

-- The options for the registry, without those that have a column of their own.
function Run.recorded(options)
  local kept = values.storable(options)
  kept.run_folder = nil
  return kept
end

-- run:trainer(options) -> Trainer: pd.train.trainer in the run's folder. If a start of this run was interrupted, the
-- training continues from its last checkpoint, with the numbers of a run that was never interrupted.
function Run:trainer(options)
  return pd.train.trainer(tables.merged({ run_folder = self.folder, resume = true }, options))
end

-- run:resumed(options) -> the Trainer of an earlier start of this run, by pd.train.resume with these options, or nil if
-- there is no checkpoint.
function Run:resumed(options)
  if not files.exists(self:path 'checkpoints/last.safetensors') then return nil end
  local trainer = pd.train.resume(self.folder, options)
  print(('Resuming after epoch %d.'):format(#trainer:history()))
  return trainer
end

local most = 6  -- numbers in the line about a result

-- "loss 0.25, seed 1".
local function result_text(result)
  local names, parts = {}, {}
  for name, value in pairs(result) do
    if type(value) ~= 'table' then names[#names + 1] = tostring(name) end
  end
  table.sort(names)
  for k, name in ipairs(names) do
    local value = result[name]
    if k <= most then
      local fraction = type(value) == 'number' and value ~= math.floor(value)
      parts[k] = ('%s %s'):format(name, fraction and ('%.6g'):format(value) or values.shown(value))
    end
  end
  return table.concat(parts, ', ') .. (#names > most and ', ...' or '')
end

-- run:finish(result): writes the final numbers of the run, one flat table, atomically to result.json and enters
-- them in the registry. A grid considers a run with this file finished. Prints the folder and the numbers in a line,
-- unless a table or a picture has shown results before.
function Run:finish(result)
  provenance.update(self.folder)
  provenance.finish(self.folder)
  files.write(self:path 'result.json', json.encode(result, true) .. '\n')
  self.record:finish { result = result }
  if #self.shown == 0 then print(('%s: %s'):format(self.folder, result_text(result))) end
end

-- The path of a file in the run folder.
function Run:path(name) return self.folder .. '/' .. name end

-- Adds a fragment of pushdown.page to the run's page.
function Run:show(fragment)
  self.shown[#self.shown + 1] = fragment
  page.write(self:path 'index.html', self.configuration, self.shown, self.smaller)
end

-- Prints a table of report.table, saves it as name.txt, name.md, name.csv and name.tex, and adds it to the
-- run's page, index.html.
function Run:table(name, spec)
  local made = table_of.new(spec)
  made:save(self:path(name))
  self:show(page.table(made))
  print()
  io.write(made:text(pd.process.columns 'stdout' or 79))
  return made
end

-- Prints a table that an earlier start of this run has saved, if there is one.
function Run:show_saved(name)
  local path = self:path(name .. '.txt')
  if files.exists(path) then io.write('\n', files.read(path)) end
end

-- Shows these numbers of a result as the table `results`. spec: its title and note.
function Run:results(result, keys, spec)
  local rows = {}
  for i, key in ipairs(keys) do rows[i] = { (key:gsub('_', ' ')), result[key] } end
  return self:table('results', { title = spec.title, note = spec.note, rows = rows,
    columns = { 'figure', { 'value', format = '%.6g' } } })
end

-- Saves a picture of pushdown.plot as name.svg, and also as name.pdf and name.png if rsvg-convert is installed.
-- Adds it to the run's page.
function Run:picture(name, picture)
  require 'pushdown.plot.export'.all(self:path(name), picture)
  self:show(page.figure(picture))
end

-- Draws the chart of plot.lines in the terminal and saves it like a picture.
function Run:lines(name, spec)
  local plot = require 'pushdown.plot'
  self:picture(name, plot.lines(spec))
  print()
  io.write(plot.text(spec))
end

-- The result that an earlier finish() wrote to this folder, or nil. With `is_enough`, a function of the
-- result, only a result for which it returns true.
function Run:earlier_result(is_enough)
  local path = self:path 'result.json'
  local text = self.earlier or files.exists(path) and files.read(path)
  if not text then return nil end
  local read, result = pcall(store.decode, text, path)
  if not read then
    pd.log.warn(result .. '; the run counts as unfinished')
    return nil
  end
  if is_enough and not is_enough(result) then return nil end
  if self.earlier then files.write(path, text) end
  -- Nothing runs with the options of this start, so the configuration stays as it was.
  if self.before then
    self.configuration.options = self.before
    files.write(self:path 'experiment.json', json.encode(self.configuration, true) .. '\n')
    self.record:update { options = Run.recorded(self.before) }
  end
  print('Finished before: ' .. path)
  return result
end

Run.__tostring = function(run) return ("run of '%s' in %s"):format(run.name, run.folder) end

return Run
