-- The tables of a page: results, configuration, and the origin of the runs.
local counted = require 'pushdown.tables'.counted
local json = require 'pushdown.json'
local layout = require 'pushdown.runs.layout'
local runs_of = require 'pushdown.runs'
local statistics = require 'pushdown.statistics'
local svg = require 'pushdown.plot.svg'

local M = {}

local escape = svg.escape
local most_columns = 5  -- of results if there are many points
local few_points = 4
local tall_rows = 40    -- a longer table scrolls by itself on a screen

-- A number with its significant digits, for reading.
local function number(value)
  if value ~= value then return '–' end
  if value == math.huge or value == -math.huge then return value > 0 and '∞' or '−∞' end
  local size = math.abs(value)
  if value == math.floor(value) and size < 1e9 then return ('%.0f'):format(value):gsub('^%-', '−') end
  local text = (size >= 1e6 or size < 1e-4) and ('%.3e'):format(value) or size >= 1e5 and ('%.0f'):format(value)
    or size >= 1000 and ('%.1f'):format(value) or ('%.4g'):format(value)
  return (text:gsub('e%+?(%-?)0*', 'e%1'):gsub('^%-', '−'))
end
M.number = number

-- 'mean ± deviation', the deviation with two digits and the mean with as many decimals.
local function with_deviation(mean, deviation)
  if deviation >= 1e-4 and deviation < 1e5 and math.abs(mean) < 1e6 then
    local form = ('%%.%df'):format(math.max(0, 1 - math.floor(math.log10(deviation))))
    return (('%s ± %s'):format(form, form):format(mean, deviation):gsub('^%-', '−'))
  end
  local text = deviation == 0 and '0' or ('%.1e'):format(deviation):gsub('e%+?(%-?)0*', 'e%1')
  return ('%s ± %s'):format(number(mean), text)
end

-- One cell: text, or {text =, sub = smaller text below it, value = number to sort by, code = true}. `name` is that of
-- its column, which a phone shows beside the cell.
local function cell_text(cell, kind, align, name)
  if type(cell) ~= 'table' then cell = { text = cell } end
  local text = escape(tostring(cell.text or ''))
  -- The name of a point or a list may continue on the next line, for narrow columns on a phone.
  text = kind == 'th' and text:gsub('[=,]', '%0<wbr>') or text:gsub(',(%S)', ',<wbr>%1')
  if cell.code then text = '<code>' .. text .. '</code>' end
  -- A path in a narrow column continues after a complete name.
  if cell.sub then text = text .. '<small>' .. escape(cell.sub):gsub('[/=_]', '%0<wbr>') .. '</small>' end
  return ('<%s%s%s%s>%s</%s>'):format(kind, align and ' class="number"' or '',
    cell.value and (' data-v="%.17g"'):format(cell.value) or '',
    name and (' data-name="%s"'):format(escape(name)) or '', text, kind)
end

-- tables.html{header =, rows =, numeric = {[column] = true}, class =} -> HTML. The first row is the header. Tables with
-- sortable = true can be sorted by it. On a phone each row is a block of lines, each with the name of its column.
function M.html(given)
  local numeric, out = given.numeric or {}, {}
  local classes = { given.class }
  if given.header then classes[#classes + 1] = 'stacked' end
  out[1] = ('<div class="wide%s"><table%s%s>'):format(#given.rows > tall_rows and ' tall' or '',
    #classes > 0 and ' class="' .. table.concat(classes, ' ') .. '"' or '', given.sortable and ' data-sortable' or '')
  local function line(cells, kind)
    local parts = {}
    for k, cell in ipairs(cells) do
      local name = kind == 'td' and given.header and given.header[k]
      parts[k] = cell_text(cell, kind, numeric[k], name ~= '' and name)
    end
    return '<tr>' .. table.concat(parts) .. '</tr>'
  end
  if given.header then out[#out + 1] = '<thead>' .. line(given.header, 'th') .. '</thead>' end
  out[#out + 1] = '<tbody>'
  for _, row in ipairs(given.rows) do out[#out + 1] = line(row, 'td') end
  out[#out + 1] = '</tbody></table></div>'
  return table.concat(out, '\n')
end

-- ---- Results ----

-- tables.result_keys(points) -> list, set: runs.result_keys of all their runs.
function M.result_keys(points)
  local rows = {}
  for _, point in ipairs(points) do
    for _, row in ipairs(point.runs) do rows[#rows + 1] = row end
  end
  return runs_of.result_keys(rows)
end

-- tables.results_of(point, key) -> the number in the results of the finished runs of a point.
function M.results_of(point, key)
  local values = {}
  for _, row in ipairs(point.runs) do
    local value = row.status == 'done' and (row.result or {})[key]
    if type(value) == 'number' and value == value then values[#values + 1] = value end
  end
  return values
end

-- Mean ± deviation of a number over the finished runs of a point, with its range.
local function summary(point, key)
  local values = M.results_of(point, key)
  local mean, deviation, least, greatest = statistics(values)
  if not mean then return { text = '–' } end
  if #values == 1 then return { text = number(mean), value = mean, sub = #point.runs > 1 and '1 run' or nil } end
  return { text = with_deviation(mean, deviation), value = mean,
    sub = ('%s to %s, %d runs'):format(number(least), number(greatest), #values) }
end

local function words(key) return (key:gsub('_', ' ')) end
M.words = words

local function done_cell(point)
  local done = 0
  for _, row in ipairs(point.runs) do done = done + (row.status == 'done' and 1 or 0) end
  return { text = ('%d of %d'):format(done, #point.runs), value = done }
end

-- tables.results(points, keys) -> HTML with numbers as rows and points as columns if there are few points, else the
-- transposed table with the first numbers only; nil if no run has a result.
function M.results(points, keys, chosen)
  if #keys == 0 then return nil end
  if #points <= few_points then
    local header, rows, numeric = { '' }, {}, {}
    for i, point in ipairs(points) do header[i + 1], numeric[i + 1] = point.name, true end
    local counts = { 'finished' }
    for i, point in ipairs(points) do counts[i + 1] = done_cell(point) end
    if #points > 1 or #points[1].runs > 1 then rows[1] = counts end
    for _, key in ipairs(keys) do
      local row = { words(key) }
      for i, point in ipairs(points) do row[i + 1] = summary(point, key) end
      rows[#rows + 1] = row
    end
    -- Results that are not numbers, for a single run.
    local only = #points == 1 and #points[1].runs == 1 and points[1].runs[1]
    local texts = {}
    for key, value in pairs(only and only.result or {}) do
      if type(value) ~= 'number' and value ~= (only.options or {})[key] then texts[#texts + 1] = key end
    end
    table.sort(texts)
    for _, key in ipairs(texts) do rows[#rows + 1] = { words(key), layout.value(only.result[key]) } end
    if only then header = nil end
    return M.html { header = header, rows = rows, numeric = numeric, class = 'results' }
  end
  local header, rows, numeric = { 'point', 'finished' }, {}, { [2] = true }
  local shown = chosen and #keys or math.min(#keys, most_columns)
  for k = 1, shown do header[k + 2], numeric[k + 2] = words(keys[k]), true end
  for i, point in ipairs(points) do
    rows[i] = { point.name, done_cell(point) }
    for k = 1, shown do rows[i][k + 2] = summary(point, keys[k]) end
  end
  return M.html { header = header, rows = rows, numeric = numeric, sortable = true, class = 'results' }, #keys - shown
end

-- ---- Configuration ----

-- The options of a run by name; those of a training without a script come from its config.json.
local function options_of(row)
  if row.options and next(row.options) then return row.options end
  local flat = {}
  local function add(prefix, value)
    if type(value) == 'table' and #value == 0 and next(value) then
      for key, inner in pairs(value) do add(prefix .. '.' .. key, inner) end
    else
      flat[prefix] = value
    end
  end
  for _, part in ipairs { 'model', 'trainer' } do
    if type(row.config[part]) == 'table' then add(part, row.config[part]) end
  end
  return flat
end

local not_configuration = { run_folder = true, seed = true, restart = true }

-- tables.options(points) -> names of the options, sorted; {[name] = {text =, count = runs that have it, same = all have
-- the same}}; {[row] = its options}; the number of runs.
function M.options(points)
  local values, names, runs, all = {}, {}, 0, {}
  for _, point in ipairs(points) do
    for _, row in ipairs(point.runs) do
      runs = runs + 1
      local options = options_of(row)
      all[row] = options
      for name, value in pairs(options) do
        if not not_configuration[name] or #points == 1 and #point.runs == 1 and name ~= 'run_folder' then
          local text = layout.value(value)
          if not values[name] then
            values[name] = { text = text, count = 0, same = true }
            names[#names + 1] = name
          end
          values[name].count = values[name].count + 1
          values[name].same = values[name].same and values[name].text == text
        end
      end
    end
  end
  table.sort(names)
  return names, values, all, runs
end

-- tables.configuration(points) -> HTML of the options that are the same in all runs, HTML of those that differ between
-- points (or nil).
function M.configuration(points)
  local names, values, all, runs = M.options(points)
  local same, differing = {}, {}
  for _, name in ipairs(names) do
    if values[name].same and values[name].count == runs then
      same[#same + 1] = ('<div><dt>%s</dt><dd><code>%s</code></dd></div>'):format(escape(name),
        escape(values[name].text))
    else
      differing[#differing + 1] = name
    end
  end
  local same_html = #same > 0 and '<dl class="options">' .. table.concat(same, '\n') .. '</dl>' or nil
  if #differing == 0 or #points == 1 then return same_html, nil end
  local header, rows = { 'point', unpack(differing) }, {}
  for i, point in ipairs(points) do
    rows[i] = { point.name }
    for k, name in ipairs(differing) do
      local seen, texts = {}, {}
      for _, row in ipairs(point.runs) do
        local text = layout.value(all[row][name])
        if not seen[text] then seen[text], texts[#texts + 1] = true, text end
      end
      rows[i][k + 1] = table.concat(texts, ' | ')
    end
  end
  return same_html, M.html { header = header, rows = rows, sortable = true }
end

-- ---- Where and how ----

local function machine_of(row)
  local machine, parts = row.about.machine, { row.host }
  if type(machine) == 'table' then
    parts[1] = parts[1] or machine.host
    if machine.processor then parts[#parts + 1] = machine.processor end
    if machine.processors then parts[#parts + 1] = ('%d processors'):format(machine.processors) end
    if machine.device then parts[#parts + 1] = 'device ' .. machine.device end
  end
  if type(row.config.threads) == 'number' then
    parts[#parts + 1] = counted(row.config.threads, 'thread')
  end
  return #parts > 0 and table.concat(parts, ', ') or 'not recorded'
end

-- tables.origins(runs) -> HTML: source state, version and machine, each with its number of runs.
function M.origins(rows)
  local kinds, known = {}, {}
  for _, row in ipairs(rows) do
    local version = row.about.version or row.config.version or 'not recorded'
    local key = { row.git or 'not recorded', version, machine_of(row) }
    local text = table.concat(key, '\0')
    if not known[text] then
      known[text] = { key = key, count = 0, first = nil }
      kinds[#kinds + 1] = known[text]
    end
    known[text].count = known[text].count + 1
  end
  local lines = {}
  for i, kind in ipairs(kinds) do
    local git = kind.key[1]
    lines[i] = { { text = git, code = git ~= 'not recorded', sub = git:match('dirty$') and 'with uncommitted changes'
      or nil }, kind.key[2], kind.key[3], { text = tostring(kind.count), value = kind.count } }
  end
  return M.html { header = { 'source (git)', 'version', 'machine', 'runs' }, rows = lines, numeric = { [4] = true } }
end

local function started_of(row)
  if row.started then return os.date('%Y-%m-%d %H:%M', math.floor(row.started)) end
  local text = row.about.started or row.config.started
  return type(text) == 'string' and (text:gsub('T', ' '):gsub(':%d%dZ$', ' UTC')) or ''
end

-- tables.runs(points) -> HTML with a row for each run.
function M.runs(points, keys)
  local header, rows, numeric = { 'run', 'restart', 'seed', 'state', 'started', 'time' }, {}, { [2] = true, [3] = true,
    [6] = true }
  local shown = {}
  for k = 1, math.min(#keys, 2) do
    shown[k] = keys[k]
    header[#header + 1] = words(keys[k])
    numeric[#header] = true
  end
  local noted = false
  for _, point in ipairs(points) do
    for _, row in ipairs(point.runs) do noted = noted or row.note or row.tags end
  end
  if noted then header[#header + 1] = 'note and tags' end
  for _, point in ipairs(points) do
    for _, row in ipairs(point.runs) do
      local line = { { text = (row.id and row.id .. ' ' or '') .. point.name, sub = row.folder },
        row.restart or '', row.seed and ('%.0f'):format(row.seed) or '',
        { text = row.status, sub = row.message and row.message:match('[^\n]*'):sub(1, 200) or nil }, started_of(row),
        { text = layout.field('seconds', row.seconds) or '', value = row.seconds } }
      for _, key in ipairs(shown) do
        local value = (row.result or {})[key]
        line[#line + 1] = type(value) == 'number' and { text = number(value), value = value } or '–'
      end
      if noted then
        line[#line + 1] = { text = row.note or '', sub = row.tags and table.concat(row.tags, ', ') or nil }
      end
      rows[#rows + 1] = line
    end
  end
  return M.html { header = header, rows = rows, numeric = numeric, sortable = true, class = 'runs' }
end

-- tables.commands(points) -> HTML: the exact command of each run.
function M.commands(points)
  local out = {}
  for _, point in ipairs(points) do
    for _, row in ipairs(point.runs) do
      local command = row.command
      if type(command) == 'table' and #command > 0 and command[1] ~= json.null then
        out[#out + 1] = '<pre class="command">' .. escape(layout.shell_words(command)) .. '</pre>'
      end
    end
  end
  return table.concat(out, '\n'), #out
end

return M
