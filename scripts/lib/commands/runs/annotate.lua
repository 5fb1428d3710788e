-- `pushdown runs note` and `pushdown runs tag`: what a person says of runs.
local layout = require 'pushdown.runs.layout'
local pd = require 'pushdown'
local runs = require 'pushdown.runs'
local selection = require 'pushdown.runs.selection'

local M = {}

local plural = pd.tables.counted

-- note(options, path): sets the note of a run; without a text prints it.
function M.note(options, path)
  local words = options.words
  if not words[1] then selection.fail('which run? pushdown runs note ID TEXT') end
  local row = selection.numbered(selection.ids { words[1] }, path)[1]
  if options.remove then
    if words[2] then selection.fail('--remove takes no text') end
    runs.open(path, { must_exist = true }):update(row.id, { note = '' })
    print(('note of run %d removed'):format(row.id))
  elseif words[2] then
    -- Tabs and new lines are what a note may have of control characters.
    local text = table.concat(words, ' ', 2):gsub('[%z\1-\8\11-\31\127]', '?')
    runs.open(path, { must_exist = true }):update(row.id, { note = pd._text.clean(text) })
    print(('note of run %d set'):format(row.id))
  elseif row.note then
    print(row.note)
  end
end

-- tag(options, path): adds (+TAG, TAG) and removes (-TAG) tags of runs given by numbers or by filters; without a tag
-- lists the tags of these runs with their counts.
function M.tag(options, path)
  local numbers, added, removed = {}, {}, {}
  for _, word in ipairs(options.words) do
    local sign, tag = word:match '^([+-])(.+)$'
    if sign == '-' then
      removed[#removed + 1] = tag
    elseif sign or not word:match '^%d+$' then
      added[#added + 1] = tag or word
    else
      numbers[#numbers + 1] = word
    end
  end
  options.words = numbers
  local changes = #added + #removed > 0
  if changes and #numbers == 0 and not selection.filtered(options) then
    selection.fail('which runs? pushdown runs tag ID... +TAG -TAG; all runs: --grid or another filter')
  end
  local rows, ids = selection.rows(options, path), {}
  for i, row in ipairs(rows) do ids[i] = row.id end
  if changes then
    if #rows == 0 then error('no run matches', 0) end
    runs.open(path, { must_exist = true }):tag(ids, added, removed)
    return print(plural(#rows, 'run') .. ' tagged')
  end
  local counts, names = {}, {}
  for _, row in ipairs(rows) do
    for _, tag in ipairs(row.tags or {}) do
      if not counts[tag] then names[#names + 1] = tag end
      counts[tag] = (counts[tag] or 0) + 1
    end
  end
  table.sort(names)
  for _, tag in ipairs(names) do print(('%s  %s'):format(layout.value(tag), plural(counts[tag], 'run'))) end
end

return M
