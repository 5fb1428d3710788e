-- Published numbers, which tables show beside ours.
local csv = require 'pushdown.csv'

-- paper.published(path, tasks, shown, name_of) -> {models = names in their order, scores = {[model] = {[task]}},
-- sources = list}, all empty of an empty path or 'none'. tasks: those that may be in the file; shown: those of the
-- result, none for all; name_of(name): the task that has this name, too, if tasks have several; measure: only the rows
-- with this in their column measure.
return function(path, tasks, shown, name_of, measure)
  local out = { models = {}, scores = {}, sources = {} }
  if path == '' or path == 'none' then return out end
  local names, rows = csv.read(path)
  local columns, known, sources, wanted, seen = {}, {}, {}, {}, {}
  for _, name in ipairs(names) do columns[name] = true end
  for _, name in ipairs { 'task', 'model', 'score', 'source', measure and 'measure' } do
    if not columns[name] then error(("[paper.published] '%s' has no column %s"):format(path, name), 0) end
  end
  for _, task in ipairs(tasks) do known[task] = true end
  name_of = name_of or function(name) return name end
  for _, task in ipairs(shown or tasks) do known[name_of(task)], wanted[name_of(task)] = true, task end
  for i, row in ipairs(rows) do
    local place, score = ("'%s', row %d: "):format(path, i), tonumber(row.score)
    local function check(good, ...)
      if not good then error('[paper.published] ' .. place .. (...):format(select(2, ...)), 0) end
    end
    local task = name_of(row.task)
    check(known[task], "unknown task '%s'; there are %s", row.task, table.concat(tasks, ', '))
    check(score and score >= 0 and score <= 100, "score must be a number from 0 to 100, got '%s'", tostring(row.score))
    check((row.source or '') ~= '' and row.model ~= '', 'expected a model and a source')
    local key = ('%s\0%s\0%s'):format(row.model, task, measure and row.measure or '')
    check(not seen[key], "a second score of %s on %s", row.model, row.task)
    seen[key] = true
    if wanted[task] and (not measure or row.measure == measure) then
      if not out.scores[row.model] then out.scores[row.model], out.models[#out.models + 1] = {}, row.model end
      out.scores[row.model][wanted[task]] = score
      if not sources[row.source] then sources[row.source], out.sources[#out.sources + 1] = true, row.source end
    end
  end
  return out
end
