-- Pictures of results: line charts, bar charts and heat maps as self-contained SVG files, and as text
-- for the terminal. Every picture can also be written as PDF or PNG: path = 'curves.pdf'.
--
--   plot.lines{ title = 'Marked reversal', x_label = 'epoch', y_label = 'nats per symbol',
--     series = { { name = 'NS-RNN', x = {1, 2, 3}, y = {0.4, 0.2, 0.1} } }, path = 'curves.svg' }
local export = require 'pushdown.plot.export'
local pd = require 'pushdown'
local picture = require 'pushdown.plot.picture'

local M = {}

-- plot.NAME: checks the options and draws. The message of a check in `draw` gets the position of the call. Some kinds
-- accept values that are not options, and convert them.
local function drawing(name, kind, draw, done)
  local resolve = pd._options.declare('plot.' .. name, unpack(kind.options))
  return function(given)
    local spec = resolve(kind.accepted and kind.accepted(given) or given)
    local ok, drawn = pcall(draw, spec)
    if not ok then error(drawn, type(drawn) == 'string' and drawn:find '^%[plot' and 2 or 0) end
    if done then done(spec, drawn) end
    return drawn
  end
end

-- The function that draws a kind of picture as SVG. pushdown.plot.NAME returns the kind: its `options`, lists of rows,
-- `svg`, which draws, and perhaps `text`, which draws the same for the terminal. The prompt shows pictures as text.
local function svg(name)
  local kind = require('pushdown.plot.' .. name)
  return drawing(name, kind, kind.svg, function(spec, drawn)
    if spec.path then export.write(spec.path, drawn) end
    picture.remember(drawn, kind.text and function() return kind.text(spec) end, spec.path)
  end)
end

-- The function called `name` that draws a kind as text.
local function text(of, name)
  local kind = require('pushdown.plot.' .. of)
  return drawing(name, kind, kind.text)
end

-- The function that draws a kind of picture in the language of another program.
local function source(name)
  local kind = require('pushdown.plot.' .. name)
  return drawing(name, kind, kind.text, function(spec, drawn)
    if spec.path then pd.file.write(spec.path, drawn) end
  end)
end

-- plot.lines{options} -> the line chart as SVG text, also of what model:surprisal() returns. With options.path it is
-- also written to a file: as SVG, PDF or PNG, depending on the file name extension.
M.lines = svg 'lines'

-- plot.text{options} -> the same chart as text for the terminal, with dotted edges of bands.
M.text = text('lines', 'text')

-- plot.bars{options} -> SVG of grouped bars.
M.bars = svg 'bars'

-- plot.bars_text{options} -> the same bars as text for the terminal, drawn horizontally, each with its number and
-- without reference lines.
M.bars_text = text('bars', 'bars_text')

-- plot.heat_map{options} -> SVG of a matrix.
M.heat_map = svg 'heat_map'

-- plot.heat_text{options} -> the same heat map as text for the terminal.
M.heat_text = text('heat_map', 'heat_text')

-- plot.strengths{options} -> SVG of how a run uses a memory of sections with strengths. The upper part shows the push,
-- the pop and the sum that is read at each step. The lower part shows the strength of every section, the top first.
M.strengths = svg 'strengths'

-- plot.strengths_text{options} -> the same as text for the terminal.
M.strengths_text = text('strengths', 'strengths_text')

-- plot.trace{options} -> SVG of what a memory does while a model reads a string: a heat map of the weights of its
-- actions, and below it the distribution of its depth with the expected depth as a line, its depth alone, or its
-- reading.
M.trace = svg 'trace'

-- plot.trace_text{options} -> the same as text for the terminal.
M.trace_text = text('trace', 'trace_text')

-- plot.word_strengths{options} -> SVG of bars over the words that a model read: the strengths of the push, the pop and
-- the reading at each step. The number under each word is the total strength on the stack at that step.
M.word_strengths = svg 'word_strengths'

-- plot.word_strengths_text{options} -> the same as text for the terminal, one line for each word.
M.word_strengths_text = text('word_strengths', 'word_strengths_text')

-- plot.strength_distributions{options} -> SVG of the distributions whose expected values are the strengths: a small bar
-- chart for each word and strength, with the expected value above it.
M.strength_distributions = svg 'strength_distributions'

-- plot.strength_distributions_text{options} -> the same as text for the terminal, one line for each word.
M.strength_distributions_text = text('strength_distributions', 'strength_distributions_text')

-- plot.histograms{options} -> SVG of the distribution of the values of each group, as overlaid histograms with area 1.
M.histograms = svg 'histograms'

-- plot.histograms_text{options} -> the same as text for the terminal.
M.histograms_text = text('histograms', 'histograms_text')

-- plot.automaton{options} -> SVG of the stack automaton of a string. It has a column for each time; nodes (time, state,
-- top) are darker the larger their share of the forward weight; a double border marks nodes that accept the string;
-- edges are labelled "stack symbol/inner weight".
M.automaton = svg 'automaton'

-- plot.state_diagram{options} -> SVG of the states and transitions of an automaton. States with double circles accept,
-- and grey states are dead. Labels read "symbol, top: action" with the actions push y, replace y and pop. Top symbols
-- with the same action share a label, "any" for all; "replace top" keeps the top symbol.
M.state_diagram = svg 'state_diagram'

-- plot.state_diagram_dot{options} -> the same in the DOT language of Graphviz.
M.state_diagram_dot = source 'state_diagram_dot'

-- plot.state_diagram_latex{options} -> the same as a picture of the LaTeX package tikz with its library automata. State
-- names between dollars are TeX.
M.state_diagram_latex = source 'state_diagram_latex'

-- plot.run{options} -> SVG of one run over its string: the stack at every time, and the symbol read, the move, the
-- state and the weight of the move.
M.run = svg 'run'

-- plot.tree{options} -> SVG of a tree over its words. With gold, it draws both trees; filled circles mark the spans
-- that both have, open squares the others. tree:text{gold =} is the same for the terminal.
M.tree = svg 'tree'

-- plot.tree_latex{options} -> a tree as a picture of the LaTeX package forest.
M.tree_latex = source 'tree_latex'

-- plot.by_length{options} -> SVG of a measure of models on strings of each length. The options include those of
-- plot.lines except series.
M.by_length = svg 'by_length'

-- plot.by_length_text{options} -> the same as text for the terminal.
M.by_length_text = text('by_length', 'by_length_text')

-- plot.program{options} -> SVG of the recorded program of a step of a model or a stack: operations with their sizes and
-- multiply-adds; dashed lines lead to the next step.
M.program = svg 'program'

-- plot.curves{options} -> the learning curves of one training, of a trainer, or of what its run returned; also
-- plot.curves(trainer). With series in place of history it draws the series as given.
M.curves = svg 'curves'

-- plot.learning_curves(histories, title) -> the options of plot.lines for the learning curves of one or several
-- trainings. `histories` is a list of {name=, history=}; a history is a list of the trainer's numbers of each epoch.
-- The chart shows the cross-entropy difference if the lower bound is known, otherwise training and validation
-- cross-entropy.
M.learning_curves = require 'pushdown.plot.curves'.learning_curves

-- plot.save(path, picture): writes a picture as SVG, PDF or PNG, depending on the extension of the path. PDF and PNG
-- need the program rsvg-convert (Debian: librsvg2-bin).
M.save = export.write

return M
