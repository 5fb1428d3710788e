-- Pictures of results: line charts, bar charts and heat maps as self-contained SVG files, and as text
-- for the terminal. Every picture can also be written as PDF or PNG: path = 'curves.pdf'.
--
--   plot.lines{ title = 'Marked reversal', x_label = 'epoch', y_label = 'nats per symbol',
--     series = { { name = 'NS-RNN', x = {1, 2, 3}, y = {0.4, 0.2, 0.1} } }, path = 'curves.svg' }
local export = require 'pushdown.plot.export'
local text = require 'pushdown.plot.text'

local M = {}

-- Writes the picture as PNG or PDF if the path ends in .png or .pdf.
local function finish(spec, picture)
  if spec.path then export.write(spec.path, picture) end
  return picture
end

-- plot.lines(options) -> the line chart as SVG text. With options.path it is also written to a file: as SVG, PDF or
-- PNG, depending on the file name extension.
--   title, x_label, y_label   texts (units belong in the labels)
--   series    list of {name=, y=, x= (default 1, 2, ...), low=, high= (a band), style= 'line' |
--             'points' | 'steps', markers= (false: none), look= (whose colour and marker; default its number),
--             legend= (false: not in the legend)}; a NaN or infinite value is a gap
--   reference a number, {value=, name=} or a list of those: dashed horizontal lines
--   x_log, y_log, x_min, x_max, y_min, y_max, width, height (pixels)
function M.lines(spec) return finish(spec, require 'pushdown.plot.lines'(spec)) end

-- plot.text(options) -> the same chart as text for the terminal, with dotted edges of bands. Further options: columns
-- (width, by default that of the terminal), rows (height), ascii (by default the locale decides).
M.text = text.draw

-- plot.bars(options) -> SVG of grouped bars: categories, series = {{name=, y=, low=, high=, colour=}},
-- title, x_label, y_label, reference = {value=, name=}, y_min, y_max, width, height, path. legend = true shows a
-- legend also for one series. under = {name=, texts=}: a line of texts between the axis and the categories.
function M.bars(spec) return finish(spec, require 'pushdown.plot.bars'(spec)) end

-- plot.bars_text(options) -> the same bars as text for the terminal, drawn horizontally, each with its number and
-- without reference lines. Further options: columns (width, by default that of the terminal), ascii (by default the
-- locale decides), format ('%.4g').
function M.bars_text(spec) return require 'pushdown.plot.bars_text'(spec) end

-- plot.heat_map(options) -> SVG of a matrix: values (list of rows, the top row first), x_labels, y_labels, x_label,
-- y_label, value_label, low, high (ends of the colour scale), show_values, format, cells (rows of texts to show in
-- place of the values), title, width, height, path. Missing and infinite values are grey.
function M.heat_map(spec) return finish(spec, require 'pushdown.plot.heat_map'(spec)) end

-- plot.heat_text(options) -> the same heat map as text for the terminal. Further options: columns (width,
-- by default that of the terminal), ascii (by default the locale decides).
function M.heat_text(spec) return require 'pushdown.plot.heat_text'(spec) end

-- plot.strengths{run = model:strengths(source, target), symbols =, memory = 1, what = 'strengths'} -> SVG of how a run
-- uses a memory of sections with strengths. The upper part shows the push, the pop and the sum that is read at each
-- step. The lower part shows the strength of every section, the top first (what = 'read': its share in the reading; for
-- a deque 'read_top' or 'read_bottom'). run: also the result of pd.stack.strengths without its batch dimension;
-- symbols: the symbol read at each step. Further options: title, width, height, path.
function M.strengths(spec) return M.heat_map(require 'pushdown.plot.strengths'(spec)) end

-- plot.strengths_text(options) -> the same as text for the terminal. columns, ascii: as in plot.heat_text.
function M.strengths_text(spec) return M.heat_text(require 'pushdown.plot.strengths'(spec)) end

-- plot.word_strengths{run =, symbols =, memory = 1, show = {'push', 'read'}} -> SVG of bars over the words that a model
-- read: the strengths of the push, the pop and the reading at each step. Without show it draws those that are not fixed
-- to 1. The number under each word is the total strength on the stack at that step. run, symbols: as in plot.strengths;
-- for a deque also ['end'] = 'top' or 'bottom'. Further options: title, y_max, width, height, path.
function M.word_strengths(spec) return M.bars(require 'pushdown.plot.word_strengths'.bars(spec)) end

-- plot.word_strengths_text(options) -> the same as text for the terminal, one line for each word. columns, ascii: as in
-- plot.heat_text.
function M.word_strengths_text(spec) return require 'pushdown.plot.word_strengths'.text(spec) end

-- plot.strength_distributions{run =, symbols =, memory = 1, show = {'push', 'read'}} -> SVG of the distributions whose
-- expected values are the strengths: a small bar chart for each word and strength, with the expected value above it.
-- The options are those of plot.word_strengths.
function M.strength_distributions(spec)
  return finish(spec, require 'pushdown.plot.word_strengths'.distributions(spec))
end

-- plot.strength_distributions_text(options) -> the same as text for the terminal, one line for each word.
function M.strength_distributions_text(spec) return require 'pushdown.plot.word_strengths'.distributions_text(spec) end

-- plot.histograms{groups = {noun = {0.4, ...}, verb = {2.5, ...}}, bins = 40} -> SVG of the distribution of the values
-- of each group, as overlaid histograms with area 1 (counts = true: numbers of values). groups can also be a list of
-- {name=, values=}. low, high: the range of the bins. Further options: title, x_label, y_label, width, height, path.
function M.histograms(spec) return M.lines(require 'pushdown.plot.histograms'(spec, 'plot.histograms')) end

-- plot.histograms_text(options) -> the same as text for the terminal. columns, rows, ascii: as in plot.text.
function M.histograms_text(spec) return text.draw(require 'pushdown.plot.histograms'(spec, 'plot.histograms_text')) end

-- plot.automaton{trace = pda:trace(tokens), mass =, compact =, title =, width =, path =} -> SVG of the stack automaton
-- of a string. It has a column for each time; nodes (time, state, top) are darker the larger their share of the forward
-- weight; a double border marks nodes that accept the string; edges are labelled "stack symbol/inner weight". mass: the
-- picture shows the heaviest edges into each time that carry this share of the weight. The default is 0.95, or less
-- if the picture would otherwise have more than 12 edges for each symbol, and 1 for automata of at most 60 edges.
-- compact = true: a narrow column for each symbol and no edge labels; this is the default above 14 symbols or 60 edges.
function M.automaton(spec) return finish(spec, require 'pushdown.plot.automaton'(spec)) end

-- plot.state_diagram{pda = pd.pda{...}, title =, path =} -> SVG of the states and transitions of an automaton. States
-- with double circles accept, and grey states are dead. Labels read "symbol, top: action" with the actions push y,
-- replace y and pop. Top symbols with the same action share a label, "any" for all; "replace top" keeps the top
-- symbol.
function M.state_diagram(spec) return finish(spec, require 'pushdown.plot.state_diagram'(spec)) end

-- plot.run{run = pda:best_run(tokens), title =, width =, path =} -> SVG of one run over its string: the
-- stack at every time, and the symbol read, the move, the state and the weight of the move.
function M.run(spec) return finish(spec, require 'pushdown.plot.run'(spec)) end

-- plot.tree{tree =, gold =, title =, names =, layout =, tags =, path =} -> SVG of a tree over its words. With gold, a
-- second tree over the same words, it draws both trees; filled circles mark the spans that both have, open squares the
-- others. names: of both trees ({'extracted', 'gold'}); layout: 'beside', 'below', or 'auto' (as they fit); tags:
-- whether to show parts of speech (by default for one tree only). tree:text{gold =} is the same for the terminal.
function M.tree(spec) return finish(spec, require 'pushdown.plot.tree'(spec)) end

-- plot.save(path, picture): writes a picture as SVG, PDF or PNG, depending on the extension of the path. PDF and PNG
-- need the program rsvg-convert (Debian: librsvg2-bin).
M.save = export.write

local function column(history, key)
  local x, y, any = {}, {}, false
  for i, row in ipairs(history) do
    x[i] = row.epoch or i
    y[i] = type(row[key]) == 'number' and row[key] or 0 / 0
    any = any or y[i] == y[i]
  end
  return any and { x = x, y = y } or nil
end

-- The options of the learning curves of one or several trainings. `histories` is a list of {name=,
-- history=}; a history is a list of the trainer's numbers of each epoch. The chart shows the
-- cross-entropy difference if the lower bound is known, otherwise training and validation
-- cross-entropy.
function M.learning_curves(histories, title)
  local series, bounded, with_ends = {}, true, false
  for _, one in ipairs(histories) do
    bounded = bounded and column(one.history, 'cross_entropy_difference') ~= nil
    with_ends = with_ends or (one.history[1] or {}).bound_includes_end == true
  end
  for _, one in ipairs(histories) do
    local keys = bounded and { 'cross_entropy_difference' }
      or { 'train_cross_entropy', 'cross_entropy' }
    for _, key in ipairs(keys) do
      local points = column(one.history, key)
      if points then
        local what = not bounded and (key:match('^train') and 'training' or 'validation')
        points.name = one.name and what and one.name .. ', ' .. what or one.name or what or 'validation'
        series[#series + 1] = points
      end
    end
  end
  return { title = title, x_label = 'epoch', series = series,
    y_label = bounded and 'cross-entropy difference (nats per symbol)' or 'cross-entropy (nats per symbol)',
    reference = bounded and { value = 0, name = with_ends and 'lower bound with ends' or 'lower bound' } or nil }
end

-- plot.curves{path=, history=, title=, name=} -> draws the learning curves of one training (the trainer
-- does this after every epoch). With series = ... instead of history it draws the series as given.
function M.curves(spec)
  local lines = spec.history
    and M.learning_curves({ { name = spec.name, history = spec.history } }, spec.title)
    or { title = spec.title, series = spec.series, x_label = spec.x_label or 'epoch',
      y_label = spec.y_label or 'cross-entropy (nats per symbol)', reference = spec.reference }
  lines.path = spec.path
  return M.lines(lines)
end

-- plot.by_length{models = a model or {name = model, ...}, grammar = , lengths = {1, 40}} -> SVG of a measure of the
-- models on strings of each length. The picture draws `strings` (20) of each length from the grammar. With data = in
-- place of grammar it uses the strings of a dataset, in bins of bin_width (1) lengths; a transducer needs data, of
-- which it translates `strings` (1000) pairs. A list of models under a name is shown as its mean with a band: spread =
-- 'deviation' (one standard deviation) or 'interval' (95 % confidence). measure: a field of pd.train.evaluate; by
-- default cross_entropy_difference of language models, accuracy of recognizers, coarse (the share of strings without a
-- mistake) of transducers. seed, path, and the options of plot.lines but series.
function M.by_length(spec) return M.lines(require 'pushdown.plot.by_length'(spec, 'plot.by_length')) end

-- plot.by_length_text(options) -> the same as text for the terminal.
function M.by_length_text(spec) return M.text(require 'pushdown.plot.by_length'(spec, 'plot.by_length_text')) end

-- plot.program{model = a model} or {stack = a kind or a table of kind and options} -> SVG of the recorded program of a
-- step: operations with their sizes and multiply-adds; dashed lines lead to the next step. Further options: steps,
-- title, path.
function M.program(spec) return finish(spec, require 'pushdown.plot.program'(spec)) end

return require 'pushdown.plot.checked'(M)
