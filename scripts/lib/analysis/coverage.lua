-- coverage(grammar, sentences, options) -> the table of grammar:coverage, which declares the options: which sentences
-- are in the language, and where the others leave it.
local sentences = require 'pushdown.analysis.sentences'
local table_of = require 'pushdown.text.table'

local where = 'grammar.coverage'

return function(grammar, source, options)
  options = options or {}
  local reader = sentences.reader(where, grammar:alphabet(), 'grammar', { unknown = options.unknown,
    words = options.words, lower = options.lower, keep = true })
  local items, strings = sentences.of(where, source, options), {}
  for i, item in ipairs(items) do strings[i], item.written = reader:read(item.place, item.string) end
  local lengths, inside = grammar:viable_lengths { strings = strings }
  local covered, places = {}, {}
  for i, is_in in ipairs(inside) do
    if is_in then covered[#covered + 1], places[#places + 1] = strings[i], i end
  end
  local values = {}
  for k, value in ipairs(grammar:log_probabilities { strings = covered }) do values[places[k]] = value end
  local rows = {}
  for i, item in ipairs(items) do
    local at = not inside[i] and lengths[i] + 1 or nil
    rows[i] = { i, inside[i], at, at and (item.written[at] or '<end>') or '', values[i] or -math.huge,
      table.concat(item.written, ' ') }
  end
  local found = table_of.new { rows = rows, columns = { 'string', 'covered', { 'place', align = 'right' }, 'symbol',
    { 'log_probability', format = '%.4f' }, 'sentence' },
    note = ('%d of %d sentences in the language; %s'):format(#covered, #items, reader:note()) }
  found.covered, found.count = #covered, #items
  return found
end
