-- The options of the functions of pushdown.plot, which are checked before drawing and completed at the prompt. An
-- option has one of the types of pushdown.plot.checked or a list of the permitted texts. {each =} describes the tables
-- in a list, {class = ...} lists the permitted classes of objects.
local function with(...)
  local all = {}
  for _, options in ipairs { ... } do
    for name, form in pairs(options) do all[name] = form end
  end
  return all
end

-- A picture also takes the options of its text version, so that one table serves both.
local in_text = { columns = 'cells', rows = 'cells', ascii = 'boolean' }
local picture = { title = 'text', path = 'text', width = 'size', height = 'size' }
local labels = { x_label = 'text', y_label = 'text' }
local series = { name = 'text', x = 'numbers', y = 'numbers', low = 'numbers', high = 'numbers',
  style = { 'line', 'points', 'steps' }, markers = 'boolean', look = 'count', legend = 'boolean' }
local lines = with(picture, in_text, labels, { series = { each = series }, reference = 'references', x_log = 'boolean',
  y_log = 'boolean', x_min = 'number', x_max = 'number', y_min = 'number', y_max = 'number' })
local bars = with(picture, in_text, labels, { categories = 'list', reference = 'reference', y_min = 'number',
  y_max = 'number',
  series = { each = { name = 'text', y = 'numbers', low = 'numbers', high = 'numbers', colour = 'text' } },
  legend = 'boolean', under = 'row' })
local heat_map = with(picture, in_text, labels, { values = 'list', x_labels = 'texts', y_labels = 'texts',
  value_label = 'text', low = 'number', high = 'number', show_values = 'boolean', format = 'format',
  cells = 'list' })
local strengths = with(picture, in_text, { run = 'strengths', symbols = 'texts', memory = 'count', what = 'text' })
local word_strengths = with(picture, in_text, { run = 'strengths', symbols = 'texts', memory = 'count', show = 'list',
  y_label = 'text', y_max = 'number', ['end'] = { 'top', 'bottom' } })
local histograms = with(picture, in_text, labels, { groups = 'object', bins = 'cells', counts = 'boolean',
  low = 'number', high = 'number' })
local by_length = with(lines, { models = 'object', grammar = { class = 'Grammar', text = true },
  data = { class = { 'Dataset', 'LabelledDataset', 'Pairs' } }, bin_width = 'count', lengths = 'range',
  strings = 'count', measure = 'text', seed = 'whole', spread = { 'deviation', 'interval' } })
by_length.series = nil

return {
  lines = lines,
  text = lines,
  bars = bars,
  bars_text = with(bars, { format = 'format' }),
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
  automaton = with(picture, { trace = { class = 'Trace' }, mass = 'number', compact = 'boolean' }),
  state_diagram = with(picture, { pda = { class = 'Pda' } }),
  program = { title = 'text', path = 'text', stack = 'any', steps = 'count',
    model = { class = { 'LanguageModel', 'Recognizer', 'Transducer' } } },
  run = with(picture, { run = { class = 'Run' } }),
  tree = with(picture, { tree = { class = 'Tree' }, gold = { class = 'Tree' }, names = 'texts',
    layout = { 'auto', 'beside', 'below' }, tags = 'boolean' }),
  curves = with(picture, in_text, labels, { history = 'rows', name = 'text', series = { each = series },
    reference = 'references' }),
}
