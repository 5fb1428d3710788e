-- pd.tree: reading, inducing, scoring and drawing trees from Lua.
local pd = require 'pushdown'
local test = require 'pushdown.test'
local files = require 'pushdown.files'

local top = test.folder()

local bank = [[
( (S (NP-SBJ (DT The) (NN cat) ) (VP (VBD sat) (PP-LOC (IN on) (NP (DT the) (NN mat)))) (. .) ))
( (S (NP-SBJ (PRP It)) (VP (VBZ is) (NP (-NONE- *)) (ADJP (JJ good))) (. .)))
]]

local function brackets(trees)
  local list = {}
  for i, tree in ipairs(trees) do list[i] = tree:brackets() end
  return table.concat(list, '\n')
end

test('files, folders and patterns of trees are read', function()
  files.make_folder(top .. '/bank/00')
  files.write(top .. '/bank/00/b.mrg', '( (S (A second)) )')
  files.write(top .. '/bank/a.mrg', bank)
  files.write(top .. '/bank/readme.txt', 'no tree')
  local one = pd.tree.read(top .. '/bank/a.mrg')
  test.equal(brackets(one),
    '(S (NP (DT The) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (DT the) (NN mat)))) (. .))\n'
    .. '(S (NP (PRP It)) (VP (VBZ is) (ADJP (JJ good))) (. .))')
  local all = pd.tree.read(top .. '/bank')
  test.equal(#all, 3)
  test.equal(all[1]:brackets(), '(S (A second))')
  test.equal(#pd.tree.read(top .. '/bank/*.mrg'), 2)
  local kept = pd.tree.parse(bank, { functions = 'keep', empty_elements = 'keep' })
  test.equal(kept[2]:brackets(),
    '(S (NP-SBJ (PRP It)) (VP (VBZ is) (NP (-NONE- *)) (ADJP (JJ good))) (. .))')
  test.fails("there is no file or folder '" .. top .. '/none', function() pd.tree.read(top .. '/none') end)
  test.fails('contains no file whose name ends in .tree', pd.tree.read, top .. '/bank', { ending = '.tree' })
  test.fails('no file matches', function() pd.tree.read(top .. '/bank/*.x') end)
  test.fails('readme.txt:1: expected', function() pd.tree.read(top .. '/bank/readme.txt') end)
  test.fails('text:2: the bracket opened here is never closed', function() pd.tree.parse('(A a)\n(B (C c)') end)
end)

test('the text of a tree', function()
  local tree = pd.tree.parse(bank)[1]
  test.equal(tree:size(), 7)
  test.equal(table.concat(tree:words(), ' '), 'The cat sat on the mat .')
  test.equal(table.concat(tree:tags(), ' '), 'DT NN VBD IN DT NN .')
  test.near(tree:spans(), { { 1, 7 }, { 1, 2 }, { 3, 6 }, { 4, 6 }, { 5, 6 } })
  local phrase = tree:phrases()[3]
  test.equal(phrase.first .. ' ' .. phrase.last .. ' ' .. phrase.label, '3 6 VP')
  test.equal(tostring(tree), tree:brackets())
  assert(tree:text { ascii = false }:find('PP┬─IN on\n', 1, true))
  assert(tree:text { ascii = true }:find('PP+-IN on\n', 1, true))
  test.equal(tree:binarized():brackets(),
    '(S (NP (DT The) (NN cat)) ((VP (VBD sat) (PP (IN on) (NP (DT the) (NN mat)))) (. .)))')
  test.equal(tree:binarized('left'):spans()[2][2], 6)
  test.equal(tree:without_punctuation():size(), 6)
  test.equal(tree:without_punctuation { 'DT', 'NN' }:brackets(), '(S (VP (VBD sat) (PP (IN on))) (. .))')
  test.equal(pd.tree.parse('(. .)')[1]:without_punctuation(), nil)
  test.fails("must be 'right' or 'left', got 'up'", function() tree:binarized('up') end)
end)

test('trees of your own, saved and read', function()
  local tree = pd.tree.tree { words = { 'a', '(', 'c' }, phrases = { { 2, 3, 'X' }, { 1, 3 } } }
  test.equal(tostring(tree), '(a (X -LRB- c))')
  test.fails('a phrase must be {first, last}', function() pd.tree.tree { words = { 'a' }, phrases = { { 1 } } } end)
  local trees = pd.tree.baseline({ 'a b c', { 'd', 'e' } }, 'left')
  pd.tree.save(trees, top .. '/left.txt')
  test.equal(files.read(top .. '/left.txt'), '((a b) c)\n(d e)\n')
  test.equal(brackets(pd.tree.read(top .. '/left.txt', { labels = false })), '((a b) c)\n(d e)')
end)

test('trees from distances', function()
  test.equal(tostring(pd.tree.from_distances('a b c d', { 0, 1, 3, 2 })), '((a b) (c d))')
  test.equal(tostring(pd.tree.from_distances({ 'a', 'b', 'c', 'd' }, { 1, 3, 2, 9 }, { to = 'next' })), '((a b) (c d))')
  local gold = pd.tree.parse(bank)[2]
  local tree = pd.tree.from_distances(gold, { 1, 1, 1, 1 })
  test.equal(tostring(tree), '((PRP It) ((VBZ is) ((JJ good) (. .))))')
  test.fails('the number of distances must equal the number of words, 4, got 3',
    pd.tree.from_distances, gold, { 1, 1, 1 })
end)

test('baselines', function()
  test.equal(tostring(pd.tree.right_branching('a b c')), '(a (b c))')
  test.equal(tostring(pd.tree.left_branching('a b c')), '((a b) c)')
  test.equal(tostring(pd.tree.balanced('a b c d e')), '(((a b) c) (d e))')
  test.equal(tostring(pd.tree.balanced('a b c d e', { shape = 'full_right' })), '(a ((b c) (d e)))')
  local function random(seed) return tostring(pd.tree.random('a b c d e f g h i j', { seed = seed })) end
  test.equal(random(1), random(1))
  assert(random(1) ~= random(2))
  local gold = pd.tree.parse(bank)
  local four, again = pd.tree.baseline(gold, 'random', { seed = 4 }), pd.tree.baseline(gold, 'random', { seed = 4 })
  test.equal(brackets(four), brackets(again))
  test.equal(tostring(pd.tree.baseline({ 'a b c d e' }, 'balanced', { shape = 'full_right' })[1]), '(a ((b c) (d e)))')
  test.fails("must be 'right', 'left', 'balanced' or 'random', got 'up'", function() pd.tree.baseline(gold, 'up') end)
  test.fails('seed', function() pd.tree.baseline(gold, 'left', { seed = 3 }) end)
end)

test('scores carry their settings', function()
  local gold = pd.tree.parse(bank)
  local right = pd.tree.baseline(gold, 'right')
  -- Gold, binarized: words 1-7 1-2 3-7 3-6 4-6 5-6, and 1-4 2-4 2-3.
  local score = pd.tree.score(right, gold, { preset = 'htut' })
  test.near(score:f1(), 100 * (2 / 6 + 2 / 3) / 2)
  local without = pd.tree.score(right, gold, { preset = 'merrill' })
  test.near(without:f1(), 100 * (1 / 5 + 1 / 2) / 2)
  test.equal(without:settings().root, false)
  test.equal(tostring(without), 'F1 35.00 % of 2 sentences (precision 35.00 %, recall 35.00 %; preset = merrill, '
    .. 'root = false, punctuation = keep, average = sentence, binarized = right, min_length = 1)')
  local rows = without:sentences()
  test.equal(rows[2].sentence .. ' ' .. rows[2].words .. ' ' .. rows[2].common .. ' ' .. rows[2].gold, '2 4 1 2')
  local dropped = pd.tree.score(right, gold, { punctuation = 'drop', average = 'corpus', max_length = 5 })
  test.equal(dropped:to_table().left_out, 1)
  test.near(dropped:f1(), 100)
  assert(tostring(dropped):find('punctuation = drop, average = corpus', 1, true))
  test.equal(score:labels().VP.gold, 2)
  test.equal(score:labels().VP.found, 0)
  test.equal(score:labels().S.recall, 100)
  test.fails('sentence 1: the trees have different words; word 1 is', pd.tree.score, { right[2], right[1] }, gold)
end)

test('pictures', function()
  local gold = pd.tree.parse(bank)[1]
  local left = pd.tree.left_branching(gold)
  local alone = pd.plot.tree { tree = gold, title = 'a <tree>' }
  assert(alone:find('a &lt;tree&gt;', 1, true) and alone:find('>VP<', 1, true) and alone:find('>VBD<', 1, true))
  local both = pd.plot.tree { tree = left, gold = gold, path = top .. '/both.svg' }
  test.equal(files.read(top .. '/both.svg'), both)
  -- The whole sentence and (The cat) are in both, each drawn twice. The legend has one more circle.
  test.equal(select(2, both:gsub('<circle', '')), 5)
  -- The left tree has four spans that the other has not, the gold tree three. The legend has one more square.
  test.equal(select(2, both:gsub('<rect[^>]*stroke=', '')), 8)
  assert(both:find('>extracted<', 1, true) and both:find('>gold<', 1, true))
  assert(pd.plot.tree { tree = left, gold = gold, layout = 'below' } ~= both)
  local text = left:text { gold = gold, ascii = false }
  assert(text:find('●', 1, true) and text:find('○', 1, true))
  test.fails("the trees have different words; word 3 is 'x' and ''",
    pd.plot.tree, { tree = pd.tree.left_branching('a b x'), gold = pd.tree.left_branching('a b') })
end)

test('trees as SVG and LaTeX, from the tree itself', function()
  local gold = pd.tree.parse(bank)[2]
  test.equal(gold:svg(top .. '/gold.svg'), pd.plot.tree { tree = gold })
  test.equal(files.read(top .. '/gold.svg'), gold:svg())
  test.equal(gold:latex(top .. '/gold.tex'), files.read(top .. '/gold.tex'))
  test.equal(pd.tree.parse('(S (NP (DT the) (NN cat)) (VP (VBZ eats)))')[1]:latex(), [=[
% \usepackage{forest}
\begin{forest}
  where n children=0{tier=word}{}
  [{S}
    [{NP}
      [{DT} [{the}]]
      [{NN} [{cat}]]]
    [{VP}
      [{VBZ} [{eats}]]]]
\end{forest}
]=])
  -- Special characters, phrases without a label, and words outside of phrases.
  local own = pd.tree.tree { words = { '\\', '{', '}', '$', '&', '#', '%', '_', '^', '~', '[', ',', '=', '--', "'" },
    phrases = { { 1, 2, 'A_1' }, { 3, 4 } } }
  test.equal(own:latex(), [=[
% \usepackage{forest}
\begin{forest}
  where n children=0{tier=word}{}
  [, phantom
    [{A\_1}
      [{\textbackslash{}}]
      [{\{}]]
    [, coordinate
      [{\}}]
      [{\$}]]
    [{\&}]
    [{\#}]
    [{\%}]
    [{\_}]
    [{\textasciicircum{}}]
    [{\textasciitilde{}}]
    [{[}]
    [{,}]
    [{=}]
    [{-{}-}]
    [{{\textquotesingle}}]]
\end{forest}
]=])
  test.equal(pd.tree.tree({ words = { 'a' } }):latex():match '\n  (%[.*%])\n', '[{a}]')
end)

test.finish()
