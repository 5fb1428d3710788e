-- The page of `pushdown report` as one HTML document. It is self-contained, and every text from the runs is escaped.
local charts = require 'pushdown.report.charts'
local effects = require 'pushdown.report.effects'
local files = require 'pushdown.files'
local gather = require 'pushdown.report.gather'
local histories = require 'pushdown.runs.history'
local json = require 'pushdown.json'
local lengths = require 'pushdown.report.lengths'
local pd = require 'pushdown'
local pictures = require 'pushdown.report.pictures'
local policy = require 'pushdown.text.policy'
local style = require 'pushdown.plot.style'
local svg = require 'pushdown.plot.svg'
local tables = require 'pushdown.report.tables'
local trim = require 'pushdown.text.trim'

local M = {}

local escape = svg.escape
local most_pictures, largest_picture, all_pictures = 48, 1.5e6, 6e6
local few_runs = 4        -- up to this number every run shows its pictures and tables
local unfolded_runs = 24  -- up to this number the list of runs is open
local unfolded_commands, most_commands = 6, 200

-- JSON text for a script element; it cannot contain the beginning of markup.
local function script_json(value)
  return (json.encode(value):gsub('[<>&]', { ['<'] = '\\u003c', ['>'] = '\\u003e', ['&'] = '\\u0026' }))
end

local function own_file(name) return files.read(pd.root .. '/scripts/lib/report/page/' .. name) end

-- Escapes '</', so that the text cannot end its style or script element.
local function inlined(text) return (text:gsub('</([sS])', '<\\/%1')) end

-- ---- Parts of the page ----

local function figure(index, title, still)
  return ('<figure data-chart="%d"><figcaption><b>%s</b><span class="tools"></span></figcaption>'
    .. '<div class="live" role="img" aria-label="Curves: %s"></div><div class="still">%s</div></figure>'):format(index,
    escape(title), escape(title), still)
end

-- The figures of charts; their data is appended to `all`. options: as in charts.still; live = the page has live charts.
local function figures_of(list, axis_of, options, all)
  local out = {}
  for _, chart in ipairs(list) do
    local still, left_out = charts.still(chart, axis_of(chart), options)
    local clean = assert(pictures.cleaned(still, ('c%d-'):format(#all)))
    if left_out > 0 then
      clean = clean .. ('<p class="note">%s %s.</p>'):format(pd.tables.counted(left_out, 'more line'),
        options.live and 'on the screen' or 'left out')
    end
    out[#out + 1] = figure(#all, chart.title, clean)
    all[#all + 1] = chart
  end
  return '<div class="charts">' .. table.concat(out, '\n') .. '</div>'
end

-- The legend of still pictures: the entries that they show.
local function keys_of(shown, names)
  local out = {}
  for entry, name in ipairs(names) do
    if shown[entry] then out[#out + 1] = '<li>' .. charts.sample(entry) .. escape(name) .. '</li>' end
  end
  return #out > 0 and '<ul class="keys">' .. table.concat(out) .. '</ul>' or ''
end

local kinds = {
  { 'Strengths', { 'strength', 'heat' } }, { 'Stack automata', { 'automat', 'trace' } },
  { 'Trees', { 'tree' } }, { 'Other pictures', { '' } },
}

-- The kind of a picture, from its file name and title; a picture with strengths on an axis shows strengths.
local function kind_of(name, title, picture)
  if picture:find('>strength<', 1, true) then return 1 end
  local text = (name .. ' ' .. (title or '')):lower()
  for k, kind in ipairs(kinds) do
    for _, part in ipairs(kind[2]) do
      if text:find(part, 1, true) then return k end
    end
  end
end

-- The class of figures with pictures of this width; own_style() has its rule.
local function width_class(width) return ('w%.0f'):format(math.min(width * 1.5, 1e5)) end

local function own_style(sections)
  local rules, seen = {}, {}
  for _, section in ipairs(sections) do
    for pixels in section.text:gmatch('<figure class="w(%d+)">') do
      if not seen[pixels] then rules[#rules + 1] = ('.w%s { max-width: %spx; }\n'):format(pixels, pixels) end
      seen[pixels] = true
    end
  end
  return (inlined(own_file 'style.css' .. table.concat(rules)):gsub('\r', ''))
end

-- The saved pictures of the runs by kind, and notes about pictures that are left out.
local function pictures_of(points)
  local total = 0
  for _, point in ipairs(points) do total = total + #point.runs end
  local by_kind, notes, count, bytes, left_out, refused = {}, {}, 0, 0, 0, {}
  for _, point in ipairs(points) do
    for i, row in ipairs(point.runs) do
      for _, name in ipairs((i == 1 or total <= few_runs) and gather.files(row, '%.svg$') or {}) do
        -- The trainer's own picture shows what the charts show.
        if not (name == 'curves.svg' and row.trained) then
          local text = files.read(row.folder .. '/' .. name)
          if count >= most_pictures or #text > largest_picture or bytes + #text > all_pictures then
            left_out = left_out + 1
          else
            local clean, title, width = pictures.cleaned(text, ('p%d-'):format(count))
            if clean then
              count, bytes = count + 1, bytes + #clean
              local where = total > 1 and point.name .. (row.restart and ', restart ' .. row.restart or '') or nil
              local caption = '<b>' .. escape(title or name) .. '</b>'
                .. (title and ' ' .. escape(name) or '') .. (where and '<br>' .. escape(where) or '')
              local k = kind_of(name, title, clean)
              by_kind[k] = by_kind[k] or {}
              table.insert(by_kind[k], ('<figure%s><figcaption>%s</figcaption><div class="picture">%s</div></figure>')
                :format(width and (' class="%s"'):format(width_class(width)) or '', caption, clean))
            else
              refused[#refused + 1] = ('%s: %s'):format(row.folder .. '/' .. name, title)
            end
          end
        end
      end
    end
  end
  if total > few_runs and count > 0 then notes[#notes + 1] = 'Only the first run of each point shows its pictures.' end
  if left_out > 0 then notes[#notes + 1] = ('%d more pictures would make the page too large.'):format(left_out) end
  for _, text in ipairs(refused) do notes[#notes + 1] = 'Not shown: ' .. text .. '.' end
  return by_kind, notes, count
end

-- Tables that the runs saved as Markdown, if there are few runs.
local function own_tables(points)
  local out, total = {}, 0
  for _, point in ipairs(points) do total = total + #point.runs end
  if total > few_runs then return out end
  for _, point in ipairs(points) do
    for _, row in ipairs(point.runs) do
      for _, name in ipairs(gather.files(row, '%.md$')) do
        local lines, numeric = {}, {}
        for line in files.read(row.folder .. '/' .. name):gmatch('[^\n]+') do
          local cells = {}
          local inner = line:gsub('\\|', '\1'):match('^|(.*)|')
          for cell in (inner and inner .. '|' or ''):gmatch('([^|]*)|') do
            cells[#cells + 1] = trim.both((cell:gsub('\1', '|')))
          end
          if line:match('^|[%s:|-]+$') then
            for k, cell in ipairs(cells) do numeric[k] = cell:match(':$') ~= nil end
          elseif line:match('^|') then
            lines[#lines + 1] = cells
          end
        end
        local header = table.remove(lines, 1)
        if header and #lines > 0 and #lines <= 200 then
          local title = (total > 1 and point.name .. ', ' or '') .. name:gsub('%.md$', '')
          out[#out + 1] = ('<h3>%s</h3>%s'):format(escape(title),
            tables.html { header = header, rows = lines, numeric = numeric })
        end
      end
    end
  end
  return out
end

local function warnings_of(rows)
  local out, smaller, states = {}, 0, {}
  for _, row in ipairs(rows) do
    if row.about.size == 'quick' or row.about.size == 'smoke' then smaller = smaller + 1 end
    states[row.status] = (states[row.status] or 0) + 1
  end
  if smaller > 0 then
    out[#out + 1] = ('%s smaller than the full run (--quick or --smoke): the numbers are not the results.'):format(
      #rows == 1 and 'This run is' or ('%d of %d runs are'):format(smaller, #rows))
  end
  local others = {}
  for _, state in ipairs { 'running', 'waiting', 'failed', 'interrupted', 'lost', 'unfinished' } do
    if states[state] then others[#others + 1] = ('%d %s'):format(states[state], state) end
  end
  if #others > 0 then
    out[#out + 1] = ('Not all runs are finished: %s. Results are those of the finished ones: %d.'):format(
      table.concat(others, ', '), states.done or 0)
  end
  return out
end

local function script_data(all, legend, points, axes, single)
  local data = { most = single and 9 or charts.most_shown, several = false, each = false, axes = json.list(axes),
    labels = pd.tables.merged(histories.axes, { length = 'length' }),
    names = { epoch = 'epochs', update = 'updates', seconds = 'seconds' }, colours = {}, legend = json.list {},
    charts = json.list {} }
  for i, name in ipairs(legend) do
    data.legend[i] = { name = pd._text.clean(name), runs = single and 1 or #points[i].runs }
  end
  for i = 1, 8 do data.colours[i] = style.of(i).colour end
  for i, chart in ipairs(all) do
    data.charts[i] = charts.data(chart)
    for _, list in pairs(chart.axes) do
      for _, band in ipairs(list) do
        data.several = data.several or band.runs > 1
        data.each = data.each or band.runs > 1 and #band.each > 0
      end
    end
  end
  return script_json(data)
end

local function notes_text(notes)
  local out = {}
  for i, note in ipairs(notes) do out[i] = '<p class="note">' .. escape(note) .. '</p>' end
  return table.concat(out, '\n')
end

-- ---- Sections: {id, title, HTML ...}, or nil ----

local function results_section(given)
  local points, chosen = given.points, given.result_metrics
  local results, hidden = tables.results(points, chosen or tables.result_keys(points), chosen ~= nil)
  local own = own_tables(points)
  if not results and #own == 0 then return nil end
  local remark = ''
  if #given.rows > 1 and results then
    remark = '<p class="note">Mean ± sample standard deviation over the finished runs of a point; below it the '
      .. 'smallest and the largest value and the number of runs.'
      .. ((hidden or 0) > 0 and (' %d more numbers: pushdown runs export, or --metric.'):format(hidden) or '') .. '</p>'
  end
  return { 'results', 'Results', results or '', remark, table.concat(own, '\n') }
end

-- The axes over which curves can be drawn, the wanted one first.
local function axes_of(list, wanted)
  local axes, known = { wanted }, { [wanted] = true }
  for _, chart in ipairs(list) do
    for _, axis in ipairs { 'epoch', 'update', 'seconds' } do
      if chart.axes[axis] and not known[axis] then known[axis], axes[#axes + 1] = true, axis end
    end
  end
  return axes
end

-- The sections of charts, whose data is appended to `all`; also returns the names of the legend and the axes.
local function chart_sections(given, all)
  local points, single, live = given.points, #given.points == 1, given.library ~= nil
  local primary, secondary, notes, legend = charts.of(points, { metrics = given.metrics, x = given.x })
  local function axis_of(chart)
    if chart.axes[given.x] then return given.x end
    return (next(chart.axes))
  end
  local curves, by_length
  if #primary + #secondary > 0 then
    local options = { names = single and legend or nil, shown = {}, live = live }
    local first = #primary > 0 and figures_of(primary, axis_of, options, all) or ''
    local second = #secondary > 0 and '<h3>The course of training</h3>'
      .. figures_of(secondary, axis_of, options, all) or ''
    local remark = live and '<p class="note screen">Drag over a chart to zoom in (two fingers on a phone); a double '
      .. 'click shows the whole range again.</p>'
      or '<p class="note">The curves are still pictures: the page was made without the chart library.</p>'
    curves = { 'curves', 'Curves', '<div class="controls"></div><div class="legend"></div>',
      single and '' or keys_of(options.shown, legend), first, remark, notes_text(notes), second }
  end
  local list = lengths.charts(points)
  if #list > 0 then
    local options = { label = 'length', shown = {}, live = live }
    local figures = figures_of(list, function() return 'length' end, options, all)
    by_length = { 'lengths', 'By length', single and '' or keys_of(options.shown, legend), figures }
  end
  return curves, by_length, legend, axes_of(primary, given.x)
end

local function pictures_section(given)
  local by_kind, notes, count = pictures_of(given.points)
  if count == 0 and #notes == 0 then return nil end
  local section = { 'pictures', 'Pictures' }
  for k, kind in ipairs(kinds) do
    if by_kind[k] then
      section[#section + 1] = ('<h3>%s</h3><div class="pictures">%s</div>'):format(kind[1],
        table.concat(by_kind[k], '\n'))
    end
  end
  section[#section + 1] = notes_text(notes)
  return section
end

local function effects_section(given)
  local key = (given.result_metrics or tables.result_keys(given.points))[1]
  local found, left_out = effects.of(given.points, key)
  if #found == 0 then return nil end
  local figures = {}
  for i, picture in ipairs(found) do
    figures[i] = ('<figure><figcaption><b>%s</b></figcaption><div class="picture">%s</div></figure>'):format(
      escape(tables.words(picture.name)), (assert(pictures.cleaned(picture.svg, ('o%d-'):format(i)))))
  end
  return { 'effects', 'Results by option', '<div class="pictures">' .. table.concat(figures, '\n') .. '</div>',
    ('<p class="note">%s of every point against each option in which points differ. A mark is the mean over the runs '
      .. 'of a point ± deviation; a bar is the mean over the points with a value, from the smallest to the largest. '
      .. 'The other options vary, too.%s</p>'):format(escape(tables.words(key)),
      left_out > 0 and (' %d more options are left out.'):format(left_out) or '') }
end

local function configuration_section(given)
  local same, differing = tables.configuration(given.points)
  if not same and not differing then return nil end
  return { 'configuration', 'Configuration', differing and '<h3>What differs</h3>' .. differing or '',
    differing and same and '<h3>The same in all</h3>' or '', same or '' }
end

-- The folder in which the commands were given, if it is the same for all.
local function working_folder(rows)
  local folder = rows[1].config.working_directory
  for _, row in ipairs(rows) do
    if row.config.working_directory ~= folder then return '' end
  end
  return type(folder) == 'string' and '<p class="note">Given in <code>' .. escape(folder) .. '</code></p>' or ''
end

local function origin_section(given)
  local points, rows = given.points, given.rows
  local section = { 'origin', 'How it was made', tables.origins(rows) }
  local function add(text) section[#section + 1] = text end
  local function folded(most) return #rows <= most and ' open' or '' end
  local commands, count = tables.commands(points)
  if count == 1 then add('<h3>Command</h3>' .. commands .. working_folder(rows)) end
  if #rows == 1 then
    add(tables.runs(points, {}))
  else
    add(('<details%s><summary>All %d runs</summary>%s</details>'):format(folded(unfolded_runs), #rows,
      tables.runs(points, given.result_metrics or tables.result_keys(points))))
  end
  if count > 1 and #rows <= most_commands then
    add(('<details%s><summary>The commands of %d runs</summary>%s%s</details>'):format(folded(unfolded_commands), count,
      commands, working_folder(rows)))
  elseif count > 1 then
    add('<h3>Command of the first run</h3>' .. tables.commands { { runs = { rows[1] } } } .. working_folder(rows)
      .. '<p class="note">pushdown runs show ID prints that of any other run.</p>')
  end
  return section
end

-- document.html{points =, rows =, title =, metrics = list or nil, result_metrics = list or nil, x = 'epoch',
-- library = of library.find() or nil, notes = list, live = whether it follows the runs} returns the page as text. A
-- live page depends on nothing but the runs, and its script asks its server for changes.
function M.html(given)
  local sections, all = {}, {}
  local function add(section)
    if section then
      sections[#sections + 1] = { id = section[1], title = section[2], text = table.concat(section, '\n', 3) }
    end
  end
  add(results_section(given))
  local curves, by_length, legend, axes = chart_sections(given, all)
  add(curves)
  add(by_length)
  add(pictures_section(given))
  add(effects_section(given))
  add(configuration_section(given))
  add(origin_section(given))
  local single = #given.points == 1
  return M.assemble(given, sections, #all > 0 and script_data(all, legend, given.points, axes, single) or nil)
end

-- Assembles the document around its sections.
function M.assemble(given, sections, data)
  local rows, library = given.rows, given.library
  local docs, seen = {}, {}
  for _, row in ipairs(rows) do
    local doc = row.about.doc
    if type(doc) == 'string' and not seen[doc] then seen[doc], docs[#docs + 1] = true, doc end
  end
  local about = pd.tables.counted(#rows, 'run')
  if #given.points > 1 or #rows > 1 then about = about .. ' at ' .. pd.tables.counted(#given.points, 'point') end
  local look, scripts = own_style(sections), { inlined(own_file 'sorting.js') }
  data = data or given.live and script_data({}, {}, given.points, { given.x }, true)
  if library and data then
    -- The policy forbids style attributes, with which the library measures a blank; the style property is allowed.
    local script = library.script:gsub('%.setAttribute%("style", *("[^"]*")%)', '.style.cssText=%1')
    scripts[2], scripts[3] = inlined(script), inlined(own_file 'plotting.js' .. own_file 'live.js')
  end
  if given.live then scripts[#scripts + 1] = inlined(own_file 'following.js') end
  for i, script in ipairs(scripts) do scripts[i] = '\n' .. script:gsub('\r', '') .. '\n' end
  local out = { '<!DOCTYPE html>', '<html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">', policy({ look }, scripts, given.live),
    ('<meta name="generator" content="pushdown %s">'):format(escape(pd.version)), '<link rel="icon" href="data:,">',
    '<title>' .. escape(given.title) .. '</title>',
    '<style>' .. look .. '</style></head><body>',
    '<header><h1>' .. escape(given.title) .. '</h1>',
    ('<p class="soft">%s. %s, pushdown %s.</p>'):format(about,
      given.live and 'Live page' or 'Page of ' .. os.date '%Y-%m-%d %H:%M', escape(pd.version)) }
  if given.live then out[#out + 1] = '<p class="soft" id="live" role="status"></p>' end
  if #docs > 0 and #docs <= 3 then out[#out + 1] = '<p>' .. escape(table.concat(docs, ' ')) .. '</p>' end
  for _, text in ipairs(warnings_of(rows)) do
    -- An option is not broken after its hyphens.
    out[#out + 1] = '<p class="warning">' .. escape(text):gsub('%-%-%w+', '<span class="whole">%0</span>') .. '</p>'
  end
  for _, text in ipairs(given.notes or {}) do out[#out + 1] = '<p class="note">' .. escape(text) .. '</p>' end
  out[#out + 1] = '</header><nav aria-label="Parts of the page"><div>'
  for _, one in ipairs(sections) do out[#out + 1] = ('<a href="#%s">%s</a>'):format(one.id, one.title) end
  out[#out + 1] = '</div></nav><main>'
  for _, one in ipairs(sections) do
    out[#out + 1] = ('<section id="%s"><h2>%s</h2>\n%s</section>'):format(one.id, one.title, one.text)
  end
  out[#out + 1] = '</main><footer>'
  if library and data then
    out[#out + 1] = ('<details><summary>Charts by dygraphs %s, MIT licence</summary><pre>%s</pre></details>'):format(
      escape(library.version), escape(library.licence))
  end
  out[#out + 1] = '</footer>'
  if library and data then out[#out + 1] = '<script type="application/json" id="data">' .. data .. '</script>' end
  for _, script in ipairs(scripts) do out[#out + 1] = '<script>' .. script .. '</script>' end
  out[#out + 1] = '</body></html>\n'
  return table.concat(out, '\n')
end

return M
