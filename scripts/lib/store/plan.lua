-- The plan of a grid, grid.json in its folder: the runs that the grid makes. A run that has begun has a record of its
-- own in its folder, run.json; the others are stored here only.
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local pd = require 'pushdown'
local store = require 'pushdown.store.folder'

local M = { file = 'grid.json' }

local fields = { 'folder', 'grid', 'point', 'restart', 'seed', 'options', 'created' }

-- The plan may come from somebody else: the folder of a run is below that of the grid.
local function is_below(folder)
  return type(folder) == 'string' and folder ~= '' and not ('/' .. folder .. '/'):find '/%.?%.?/'
end

-- plan.read(folder) -> list of runs: {folder =, grid =, point =, restart =, seed =, options =, created =}, with folders
-- relative to that of the grid; nil if there is no plan that can be read.
function M.read(folder)
  local plan = store.read_json(folder .. '/' .. M.file)
  if not plan or type(plan.runs) ~= 'table' then return nil end
  for _, run in ipairs(plan.runs) do
    if type(run) ~= 'table' or not is_below(run.folder) then return nil end
  end
  return plan.runs
end

local function write(folder, runs)
  for i, run in ipairs(runs) do runs[i] = json.ordered(run, fields) end
  files.write(folder .. '/' .. M.file, json.encode({ runs = json.list(runs) }, true) .. '\n')
end

-- The runs by the folder of their grid, with folders relative to it.
local function by_grid(runs)
  local grids = {}
  for _, run in ipairs(runs) do
    local grid, own = run.folder:match '^(.*)/([^/]+/restart%-%d+)$'
    if grid then
      grids[grid] = grids[grid] or {}
      grids[grid][own] = run
    end
  end
  return grids
end

-- The runs of the plan that are not in the table `own`, by folder.
local function others(plan, own)
  local kept = {}
  for _, run in ipairs(plan) do
    if not own[run.folder] then kept[#kept + 1] = run end
  end
  return kept
end

-- plan.add(runs): adds runs with these fields to the plans of their grids. Runs in folders of somebody else, which
-- cannot be written, are not stored.
function M.add(runs)
  for folder, own in pairs(by_grid(runs)) do
    local known = M.read(folder)
    if not known and pd.file.kind(folder .. '/' .. M.file) then
      pd.log.warn(('%s/%s is not the plan of a grid: expected a table of runs; waiting runs are not stored')
        :format(folder, M.file))
    else
      local plan = others(known or {}, own)
      for name, run in pairs(own) do
        local planned = { folder = name }
        for _, field in ipairs(fields) do planned[field] = planned[field] or run[field] end
        plan[#plan + 1] = planned
      end
      table.sort(plan, function(a, b) return a.created < b.created end)
      pcall(files.make_folder, folder)
      pcall(write, folder, plan)
    end
  end
end

-- plan.remove(runs): removes runs, given by their folders, from the plans of their grids.
function M.remove(runs)
  for folder, own in pairs(by_grid(runs)) do
    local known = M.read(folder)
    local kept = known and others(known, own)
    if kept and #kept == 0 then
      os.remove(folder .. '/' .. M.file)
    elseif kept and #kept < #known then
      write(folder, kept)
    end
  end
end

return M
