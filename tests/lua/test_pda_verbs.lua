-- Differences of automata, their grammars, labelled strings of automata, and files of JFLAP, from Lua.
local pd = require 'pushdown'
local test = require 'pushdown.test'
local files = require 'pushdown.files'

local reversal = pd.pda.load 'unmarked_reversal_pda'

test('a difference is the shortest string, or a sentence', function()
  local marked = pd.pda.load 'marked_reversal_pda'
  test.equal(table.concat({ pd.pda.difference(marked, pd.pda.load('marked_reversal_pda', { symbols = 3 })) }, ' | '),
    '2 # 2 | accepted by the second only')
  local string, what = pd.pda.difference(reversal, reversal, { up_to = 8 })
  test.equal(string, nil)
  test.equal(what, 'equal up to length 8')
  -- An automaton of a grammar and one by hand accept the same strings, with other weights.
  local other = pd.pda.from_grammar(pd.grammar.load('unmarked_reversal', { symbols = 2 }))
  test.equal(select(2, pd.pda.difference(reversal, other, { up_to = 10 })), 'equal up to length 10')
  string, what = pd.pda.difference(reversal, other, { up_to = 10, compare = 'weights' })
  test.equal(string, '')
  assert(what:find '^the empty string: weight 1 in the first, 0%.0?%d+ in the second$', what)
  test.equal(select(2, pd.pda.difference(other, pd.pda.parse(other:text()), { compare = 'weights', up_to = 6 })),
    'equal weights up to length 6')
  test.fails('takes more than 100 moves; up to length %d, the automata are equal',
    pd.pda.difference, reversal, other, { up_to = 40, limit = 100 })
  test.fails('Pda', function() pd.pda.difference(reversal, pd.grammar.load 'dyck') end)
end)

test('the grammar of an automaton has its weights', function()
  for _, pda in ipairs { reversal, pd.pda.load 'dyck_pda', reversal:normalized(), pd.pda.load 'an_bn/whole' } do
    local grammar, weights = pda:grammar()
    for _, string in ipairs(grammar:strings { up_to = 6 }) do
      local _, length = string:gsub('%S+', '')
      test.near(grammar:log_probability(string) + weights.log_total - length * weights.log_factor,
        pda:log_weight(string), 1e-9)
    end
    -- And back: the same language.
    test.equal(select(2, pd.pda.difference(pda, pd.pda.from_grammar(grammar), { up_to = 8 })), 'equal up to length 8')
  end
  local path = os.tmpname() .. '.pda'
  reversal:save(path)
  test.equal(pd.pda.load(path):text(), reversal:text())
  os.remove(path)
end)

test('labelled strings of an automaton', function()
  local data = pd.task.labelled { pda = reversal, lengths = { 2, 8 }, positives = 20, negatives = 30, seed = 1 }
  test.equal(data:positives(), 20)
  for i, string in ipairs(data:strings()) do test.equal(reversal:accepts(string), data:labels()[i]) end
  local grammar = reversal:grammar()
  local same = pd.task.labelled { grammar = grammar, lengths = { 2, 8 }, positives = 20, negatives = 30, seed = 1 }
  test.equal(table.concat(data:strings(), ','), table.concat(same:strings(), ','))
  test.equal(#data:wrong_labels(grammar), 0)
  -- Positives of a length have the weights of the automaton: 'a b' has three times the weight of 'b a'.
  local weighted = pd.pda.parse [[
    %bottom Z
    %accepting r
    q, Z --a/3--> s, replace Z
    q, Z --b--> t, replace Z
    s, Z --b--> r, replace Z
    t, Z --a--> r, replace Z
  ]]
  local counts = {}
  local many = pd.task.labelled { pda = weighted, lengths = { 2, 2 }, positives = 4000, distinct = 'none', seed = 5 }
  for _, string in ipairs(many:strings()) do
    counts[string] = (counts[string] or 0) + 1
  end
  test.near(counts['a b'] / 4000, 0.75, 0.03)
  test.fails('either a grammar or a pda, got none', function() pd.task.labelled { lengths = { 2, 8 } } end)
  test.fails('either a grammar or a pda, got both',
    pd.task.labelled, { pda = reversal, grammar = grammar, lengths = { 2, 8 } })
end)

test('files of JFLAP are automata', function()
  local function jflap(moves)
    local text = [[<?xml version="1.0" encoding="UTF-8" standalone="no"?><!--Created with JFLAP 6.4.-->
<structure><type>pda</type><automaton>
<state id="0" name="q0"><x>1.0</x><y>2.0</y><initial/></state>
<state id="1" name="q1"></state>
<state id="2" name="q2"><final/></state>
]]
    for _, m in ipairs(moves) do
      text = text .. ('<transition><from>%d</from><to>%d</to><read>%s</read><pop>%s</pop><push>%s</push>')
        :format(unpack(m)) .. '</transition>\n'
    end
    return text .. '</automaton></structure>\n'
  end
  local anbn = { { 0, 0, 'a', 'Z', 'aZ' }, { 0, 0, 'a', 'a', 'aa' }, { 0, 1, 'b', 'a', '' }, { 1, 1, 'b', 'a', '' },
    { 1, 2, '', 'Z', 'Z' } }
  local path = os.tmpname() .. '.jff'
  files.write(path, jflap(anbn))
  local p = pd.pda.load(path)
  test.equal(table.concat(p:states(), ' '), 'q0 q1')
  test.equal(table.concat(p:grammar():strings { up_to = 6 }, ', '), 'a b, a a b b, a a a b b b')
  -- Two symbols at a time: converted through a grammar.
  anbn[1][5], anbn[2][5] = 'aaZ', 'aaa'
  test.equal(table.concat(pd.pda.parse(jflap(anbn)):grammar():strings { up_to = 6 }, ', '), 'a b b, a a b b b b')
  files.write(path, '<structure><type>turing</type></structure>')
  test.fails('%.jff:1: expected the type pda or fa', function() pd.pda.load(path) end)
  files.write(path, '')
  os.remove(path)
  test.fails('cannot read', function() pd.pda.load '/nowhere/x.jff' end)
end)

test('case by case, files of JFLAP as courses have them', function()
  local function load(body, options)
    local path = os.tmpname() .. '.jff'
    files.write(path, '<structure>' .. body .. '</structure>')
    local ok, p = pcall(pd.pda.load, path, options)
    os.remove(path)
    if not ok then error(p, 0) end
    return p
  end
  local function strings(p) return table.concat(p:grammar():strings { up_to = 3 }, ', ') end
  -- Acceptance by empty stack.
  local emptied = [[<type>pda</type><automaton>
<state id="0" name="q0"><initial/></state><state id="1" name="q1"/>
<transition><from>0</from><to>1</to><read>a</read><pop>Z</pop><push></push></transition></automaton>]]
  test.fails("no state is <final/>.*acceptance = 'empty_stack'", function() load(emptied) end)
  test.equal(strings(load(emptied, { acceptance = 'empty_stack' })), 'a')
  test.equal(strings(pd.pda.parse('<structure>' .. emptied .. '</structure>', { acceptance = 'empty_stack' })), 'a')
  test.fails('an empty stack accepts only in the text of a JFLAP file',
    pd.pda.parse, '%bottom _\nq, _ --a--> q, pop', { acceptance = 'empty_stack' })
  -- A blank name and equal names.
  local named = load [[<type>fa</type><automaton>
<state id="0" name="S"><initial/></state><state id="1" name=" "/><state id="2" name="S"><final/></state>
<transition><from>0</from><to>1</to><read>a</read></transition>
<transition><from>1</from><to>2</to><read>a</read></transition></automaton>]]
  test.equal(table.concat(named:states(), ' '), 'q0 q1 q2')
  test.equal(strings(named), 'a a')
  -- A bottom symbol in lower case.
  test.fails("%.jff:3: the transition pops 'z', which is never on the stack; the stack begins with Z, so", function()
    load [[<type>pda</type><automaton>
<state id="0"><initial/></state><state id="1"><final/></state>
<transition><from>0</from><to>1</to><read>a</read><pop>z</pop><push>z</push></transition></automaton>]]
  end)
end)

test('automata are written for JFLAP', function()
  local folder = test.folder()
  for _, name in ipairs { 'dyck_pda', 'unmarked_reversal_pda', 'marked_reversal_pda' } do
    local p, path = pd.pda.load(name), folder .. '/' .. name .. '.jff'
    p:save(path)
    test.equal(files.read(path), p:text 'jflap')
    test.equal(select(2, pd.pda.difference(p, pd.pda.load(path), { up_to = 8 })), 'equal up to length 8')
  end
  local weighted = pd.pda.from_grammar(pd.grammar.parse "S -> 'a' S S [0.3] | 'b' [0.7]")
  weighted:save(folder .. '/weighted.jff')
  test.equal(select(2, pd.pda.difference(weighted, pd.pda.load(folder .. '/weighted.jff'), { up_to = 8 })),
    'equal up to length 8')
  local s = pd.grammar.synchronous "S -> 'a' S1 | S1 'b'\nS -> |"
  test.fails('ends in .scfg or .itg', function() s:save(folder .. '/x.pcfg') end)
  s:save(folder .. '/x.scfg')
  test.equal(pd.grammar.load(folder .. '/x.scfg'):text(), s:text())
  test.fails("notation must be 'own' or 'jflap', got 'xml'", function() weighted:text 'xml' end)
end)

test('automata as DOT and TikZ', function()
  local p = pd.pda.parse [[
%name odd&name
%bottom Z
%at_bottom
%dead trap
%accepting '$\\delta_1$'
q0, Z --a--> q0, push a
q0, a --a--> q0, push a
q0, a --'"'--> '$\\delta_1$', pop
'$\\delta_1$', a --b_&--> '$\\delta_1$', pop
'$\\delta_1$', Z --\--> trap, replace Z
]]
  test.equal(p:dot(), [[
digraph "odd&amp;name" {
  rankdir=LR;
  graph [fontname="Helvetica"];
  node [shape=circle, fontname="Helvetica"];
  edge [fontname="Helvetica"];
  start [shape=point];
  label="accepts with the bottom symbol Z alone on the stack";
  s1 [label="q0"];
  s2 [label="$\\delta_1$", shape=doublecircle];
  s3 [label="trap", style=filled, fillcolor="#d9d9d9"];
  start -> s1;
  s1 -> s1 [label="a, any: push a"];
  s1 -> s2 [label="\", a: pop"];
  s2 -> s2 [label="b_&amp;, a: pop"];
  s2 -> s3 [label="\\, Z: replace Z"];
}
]])
  local latex = p:latex()
  test.equal((latex:gsub('%-?%d+%.%d+', '0')), [[
% \usepackage{tikz}
% \usetikzlibrary{automata}
\begin{tikzpicture}[->, auto, initial text=, every node/.append style={align=center, font=\small},
    every state/.append style={minimum size=0cm, inner sep=1pt}]
  \node[state, initial] (s1) at (0, 0) {$q_{0}$};
  \node[state, accepting] (s2) at (0, 0) {$\delta_1$};
  \node[state, fill=black!15] (s3) at (0, 0) {trap};
  \path (s1) edge[loop above] node {a, any: push a} (s1)
        (s1) edge[] node {", a: pop} (s2)
        (s2) edge[loop above] node {b\_\&, a: pop} (s2)
        (s2) edge[] node {\textbackslash{}, Z: replace Z} (s3);
  \node[below=2mm] at (current bounding box.south) {accepts with the bottom symbol Z alone on the stack};
\end{tikzpicture}
]])
  local path = test.folder() .. '/p.tex'
  test.equal(p:latex(path), files.read(path))
  -- Names that would be wrong TeX are texts.
  local names = require 'pushdown.text.latex'
  for name, wanted in pairs { ['$}{$'] = '\\$\\}\\{\\$', ['$a\\$'] = '\\$a\\textbackslash{}\\$', ['$$'] = '\\$\\$',
    q_1 = '$q_{1}$', ["q12''"] = "$q_{12}''$", ab1 = 'ab1', ['a_b'] = 'a\\_b', ['$q_{1}$'] = '$q_{1}$' } do
    test.equal(names.name(name), wanted)
  end
end)

test('verbs of other programs name what is here', function()
  local p = pd.pda.load 'dyck_pda'
  test.fails("a Pda has no method 'equivalent'; use pd%.pda%.difference%(first, second, {",
    function() p:equivalent(p) end)
  test.fails("a Pda has no method 'minimize'; use pda:minimal{keep_dead=}$", function() p:minimize() end)
  test.fails('there is no pd.pda.equivalent; use pd%.pda%.difference%(', function() return pd.pda.equivalent end)
  -- Every row names what exists, for a name that the class does not have.
  local docs, rows = pd.docs(), 0
  for class, verbs, here in files.read(pd.root .. '/bindings/binder/unknown_name.cpp')
    :gmatch '{"([%w.]+)", "([%w_ ]+)", "([%w.:_]+)"}' do
    assert(docs[class] and docs[here], here)
    rows = rows + 1
    for verb in verbs:gmatch '%S+' do
      assert(not docs[class .. ':' .. verb] and not docs[class .. '.' .. verb], class .. ' ' .. verb)
    end
  end
  assert(rows > 30, rows)
end)

test.finish()
