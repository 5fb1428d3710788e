-- Plots with wrong options: errors that name them.
local pd = require 'pushdown'
local plot = require 'pushdown.plot'
local test = require 'pushdown.test'

-- The functions that draw, with their options.
local all_options = {}
for name in pairs(plot) do all_options[name] = pd.options('pd.plot.' .. name) end

test('wrong calls say what was expected', function()
  test.fails("test_plot_options.lua:%d+: %[plot.lines%] option 'series' %(the lines%) is missing",
    function() plot.lines {} end)
  test.fails("option 'series%[1%].y' .* is missing", function() plot.lines { series = { { name = 'a' } } } end)
  test.fails("2 values of x and 3 of y", plot.lines, { series = { { x = { 1, 2 }, y = { 1, 2, 3 } } } })
  test.fails('range of an axis is empty', plot.lines, { series = { { y = { 1 } } }, y_min = 2, y_max = 1 })
  test.fails("cannot write '/nowhere/at/all%.svg': ", plot.lines, { series = {}, path = '/nowhere/at/all.svg' })
end)

-- No wrong value reaches the drawing: every error names the option, or is that of another function of the library.
test('nonsense values are errors with a name', function()
  local grammar = pd.grammar.load 'marked_reversal'
  local model = pd.model.language_model { alphabet = grammar:alphabet(), controller = { kind = 'elman', hidden = 2 },
    stack = { kind = 'stratification', size = 2 } }
  local pda = pd.pda.load 'marked_reversal_pda'
  local tree = pd.tree.parse('(S (A a) (B b))')[1]
  local run = {}
  for key, value in pairs(pd.stack.strengths { kind = 'stratification', push = { { 2.5, 0.5 } }, pop = { { 0, 1 } },
    vectors = { { { 1 }, { 1 } } } }) do run[key] = value[1] end
  local strengths = { run = run, symbols = { 'a', 'b' }, memory = 1 }
  local bars = { categories = { 'a', 'b' }, series = { { y = { 1, 2 }, low = { 0, 1 }, high = { 2, 3 } } } }
  local heat_map = { values = { { 1, 2 } }, x_labels = { 'a', 'b' }, y_labels = { 'c' } }
  local by_length = { models = model, grammar = grammar, lengths = { 3, 3 }, strings = 1 }
  local lines = { series = { { name = 'a', y = { 1, 2 }, low = { 0, 1 }, high = { 2, 3 } } } }
  local whole = { lines = lines, text = lines, bars = bars, bars_text = bars, heat_map = heat_map,
    heat_text = heat_map, by_length = by_length, by_length_text = by_length, strengths = strengths,
    strengths_text = strengths, word_strengths = strengths, word_strengths_text = strengths,
    strength_distributions = strengths, strength_distributions_text = strengths,
    trace = { trace = model:trace '0 # 0' }, trace_text = { trace = model:trace '0 # 0' },
    automaton = { trace = pda:trace '0 # 0' }, state_diagram = { pda = pda }, run = { run = pda:best_run '0 # 0' },
    state_diagram_dot = { pda = pda }, state_diagram_latex = { pda = pda }, tree_latex = { tree = tree },
    program = { model = model }, tree = { tree = tree, gold = tree }, curves = { history = { { cross_entropy = 1 } } } }
  local nonsense = { 3, -1, 2.5, 1e9, 0 / 0, 1 / 0, 'x', true, print, {}, { {} }, { 'x' }, { 1 }, { 3, 1 }, { a = 3 },
    { value = 'x' }, pd.tensor { 1 }, grammar }
  for name, options in pairs(all_options) do
    local example = whole[name] or require('pushdown.plot.' .. name:gsub('_text$', '')).example
    local function call(option, value)
      local spec = pd.tables.merged(example)
      if option then spec[option] = value end
      return pcall(pd.plot[name], spec)
    end
    local drawn, problem = call()
    -- These strengths are not expected values.
    assert(drawn or name:find '^strength_distributions', ('%s: %s'):format(name, problem))
    for _, option in ipairs(options) do
      for _, value in ipairs(option.name ~= 'path' and nonsense or {}) do
        local ok, message = call(option.name, value)
        assert(ok or message:find '%[[%w_.:]+%]' and not message:find '/lib/plot/',
          ('%s{%s = %s}: %s'):format(name, option.name, tostring(value), message))
      end
    end
  end
end)

test.finish()
