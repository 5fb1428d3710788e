-- A tree over its sentence in the language of the LaTeX package forest.
local daughters_of = require 'pushdown.plot.tree'.daughters_of
local latex = require 'pushdown.text.latex'
local rows = require 'pushdown.plot.rows'

local most_indented = 30  -- levels, so that deep trees are not mostly blanks

local function text_of(spec)
  local words, tags = spec.tree:words(), spec.tree:tags()
  local out = { '% \\usepackage{forest}', '\\begin{forest}', '  where n children=0{tier=word}{}' }
  local function add(depth, text) out[#out + 1] = ('  '):rep(math.min(depth, most_indented)) .. text end
  local function add_word(i, depth)
    local word = ('[{%s}]'):format(latex.symbol(words[i]))
    add(depth, tags[i] == '' and word or ('[{%s} %s]'):format(latex.symbol(tags[i]), word))
  end
  local function add_phrase(phrase, depth)
    add(depth, phrase.label == '' and '[, coordinate' or ('[{%s}'):format(latex.symbol(phrase.label)))
    for _, daughter in ipairs(phrase.daughters) do
      if daughter.word then add_word(daughter.word, depth + 1) else add_phrase(daughter, depth + 1) end
    end
    out[#out] = out[#out] .. ']'
  end
  -- Phrases and words that are in no phrase.
  local tops, at = {}, 1
  for _, phrase in ipairs(daughters_of(spec.tree)) do
    if phrase.first >= at then
      for word = at, phrase.first - 1 do tops[#tops + 1] = { word = word } end
      tops[#tops + 1], at = phrase, phrase.last + 1
    end
  end
  for word = at, #words do tops[#tops + 1] = { word = word } end
  local whole = #tops == 1
  if not whole then add(1, '[, phantom') end
  for _, top in ipairs(tops) do
    local depth = whole and 1 or 2
    if top.word then add_word(top.word, depth) else add_phrase(top, depth) end
  end
  if not whole then out[#out] = out[#out] .. ']' end
  out[#out + 1] = '\\end{forest}'
  return table.concat(out, '\n') .. '\n'
end

return { text = text_of, options = { { { 'tree', nil, 'the tree', type = 'Tree', required = true } }, rows.source } }
