-- The options of the functions of pushdown.plot, which are checked before drawing and completed at the prompt. An
-- option has one of these types: 'text', 'number', 'size' (a number above 0), 'count' (a whole number of at least 1),
-- 'boolean', 'list', 'numbers' (a list of numbers, with gaps), 'object', 'any', or a list of the permitted texts. A
-- table of options describes each element of a list.
local function with(...)
  local all = {}
  for _, options in ipairs { ... } do
    for name, form in pairs(options) do all[name] = form end
  end
  return all
end

-- A picture also takes the options of its text version, so that one table serves both.
local in_text = { columns = 'count', rows = 'count', ascii = 'boolean' }
local picture = { title = 'text', path = 'text', width = 'size', height = 'size' }
local labels = { x_label = 'text', y_label = 'text' }
local series = { name = 'text', x = 'numbers', y = 'numbers', low = 'numbers', high = 'numbers',
  style = { 'line', 'points', 'steps' }, markers = 'boolean', look = 'count', legend = 'boolean' }
local lines = with(picture, in_text, labels, { series = { each = series }, reference = 'any', x_log = 'boolean',
  y_log = 'boolean', x_min = 'number', x_max = 'number', y_min = 'number', y_max = 'number' })
local bars = with(picture, in_text, labels, { categories = 'list', reference = 'object', y_min = 'number',
  y_max = 'number',
  series = { each = { name = 'text', y = 'numbers', low = 'numbers', high = 'numbers', colour = 'text' } },
  legend = 'boolean', under = 'object' })
local heat_map = with(picture, in_text, labels, { values = 'list', x_labels = 'list', y_labels = 'list',
  value_label = 'text', low = 'number', high = 'number', show_values = 'boolean', format = 'text' })
local strengths = with(picture, in_text, { run = 'object', symbols = 'list', memory = 'count', what = 'text' })
local word_strengths = with(picture, in_text, { run = 'object', symbols = 'list', memory = 'count', show = 'list',
  y_label = 'text', y_max = 'number', ['end'] = { 'top', 'bottom' } })
local histograms = with(picture, in_text, labels, { groups = 'object', bins = 'count', counts = 'boolean',
  low = 'number', high = 'number' })
local by_length = with(lines, { models = 'object', grammar = 'any', data = 'any', bin_width = 'count',
  lengths = 'numbers', strings = 'count', measure = 'text', seed = 'number', spread = { 'deviation', 'interval' } })
by_length.series = nil

return {
  lines = lines,
  text = lines,
  bars = bars,
  bars_text = with(bars, { format = 'text' }),
  heat_map = heat_map,
  heat_text = heat_map,
  strengths = strengths,
  strengths_text = strengths,
  word_strengths = word_strengths,
  word_strengths_text = word_strengths,
  strength_distributions = word_strengths,
  strength_distributions_text = word_strengths,
  by_length = by_length,
  by_length_text = by_length,
  histograms = histograms,
  histograms_text = histograms,
  automaton = with(picture, { trace = 'object', mass = 'number', compact = 'boolean' }),
  state_diagram = with(picture, { pda = 'object' }),
  program = { title = 'text', path = 'text', model = 'object', stack = 'any', steps = 'count' },
  run = with(picture, { run = 'object' }),
  tree = with(picture, { tree = 'object', gold = 'object', names = 'list', layout = { 'auto', 'beside', 'below' },
    tags = 'boolean' }),
  curves = with(picture, in_text, labels, { history = 'list', name = 'text', series = { each = series },
    reference = 'any' }),
}
