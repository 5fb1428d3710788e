-- help 'words': the words in any order, at word starts and by synonyms; the answers of docs/faq.md; pages as topics.
local pd = require 'pushdown'
local test = require 'pushdown.test'
local describe = require 'pushdown.prompt.description'
local find = require 'pushdown.prompt.search'.find

-- The titles of the first results.
local function first(words, count)
  local titles = {}
  for i, entry in ipairs(find(words)) do
    if i <= count then titles[i] = entry[1] end
  end
  return table.concat(titles, '\n')
end

-- Asserts that one of the first three results has this text in its title.
local function finds(words, title)
  local found = first(words, 3)
  assert(found:find(title, 1, true), ('%s: %s is not in\n%s'):format(words, title, found))
end

test('all words are found in any order, at word starts, and by synonyms', function()
  for _, words in ipairs { 'limited memory', 'memory limited', 'limit mem' } do finds(words, '"Limited memory"') end
  for _, words in ipairs { 'learning rate default', 'default learning rate', 'lr default', 'default step size' } do
    finds(words, 'What is the default learning rate?')
  end
  finds('CUDA', 'docs/reference/cuda.md')
  finds('graphics card', 'GPU')
  -- A word in the middle of others does not count, nor do short synonyms at the start of others.
  for _, entry in ipairs(find 'nan') do assert(not entry[1]:find '^pd%.log', entry[1]) end
  test.equal(#find 'earning', 0)
end)

test('titles and headings come before texts, and each result has one line of text', function()
  assert(first('early stopping', 1):find 'early stopping')
  assert(first('expected_lower_bound', 1):find 'sampler:expected_lower_bound')
  for _, words in ipairs { 'early stopping', 'NaN', 'perplexity', 'curriculum', 'cite' } do
    for _, entry in ipairs(find(words)) do
      assert(entry[2]:find '%S' and not entry[2]:find '[\n]' and not entry[2]:find('](', 1, true),
        ('%s: %s: %s'):format(words, entry[1], entry[2]))
    end
  end
end)

test('a question needs only most of its words', function()
  local found, complete = find 'zzz learning rate'
  assert(#found > 3 and not complete)
  assert(describe 'zzz learning rate':find("No page has all words of 'zzz learning rate'; the nearest are", 1, true))
  assert(describe 'learning rate':find("'learning rate' is mentioned in", 1, true))
  test.equal(#find 'zzz', 0)
  test.equal(#find '???', 0)
end)

test('methods that several classes share are one result', function()
  local seen, several = {}, 0
  for _, words in ipairs { 'save', 'parameters', 'load parameters', 'device', 'name' } do
    for _, entry in ipairs(find(words)) do
      local key = words .. entry[1]:gsub('  %(.*', '') .. '\n' .. entry[2]
      assert(not seen[key], key)
      seen[key] = true
      if entry[1]:find '  %(.*LanguageModel.*Recognizer' then several = several + 1 end
    end
  end
  assert(several > 1, several)
end)

test('README and CITATION are searched', function()
  finds('compared published code', 'README.md')
  assert(first('cite', 3):find('CITATION.cff', 1, true))
end)

-- Questions as users would type them.
local questions = {
  ['why is my training so slow'] = 'Why is training slow?',
  ['use more cores'] = 'Why is training slow?',
  ['loss becomes nan'] = 'NaN',
  ['NaN'] = 'NaN',
  ['lr default'] = 'default learning rate',
  ['what learning rate does adam start with'] = 'default learning rate',
  ['run on 2 graphics cards'] = 'How do I run on a GPU',
  ['train on my own sentences'] = 'corpus',
  ['stop training when it no longer improves'] = 'early stopping',
  ['continue after power cut'] = 'after a crash',
  ['move weights into torch'] = 'export a model to PyTorch',
  ['vector graphics for my article'] = 'as PDF',
  ['bibtex entry'] = 'cite',
  ['can I use it commercially'] = 'licence',
  ['loss lower than the optimum'] = 'below the lower bound',
  ['python instead of lua'] = 'not Python',
  ['different results on my laptop and server'] = 'numbers differ',
  ['out of RAM'] = 'memory runs out',
  ['how many random restarts'] = 'How many seeds',
  ['which stack for palindromes'] = 'Which stack should I use?',
  ['generalize to longer strings'] = 'longer strings',
  ['list my experiments'] = 'Where are my runs?',
}
test('the answers to questions in other words are among the first three', function()
  local count = 0
  for words, title in pairs(questions) do
    finds(words, title)
    assert(first(words, 3):find('docs/faq.md', 1, true), words)
    count = count + 1
  end
  assert(count >= 15)
end)

test('every answer is short and links to a page', function()
  local count = 0
  local page = pd.files.read(pd.root .. '/docs/faq.md'):gsub('\n##', '\n\1##')
  for question, answer in page:gmatch '\1### ([^\n]*)\n([^\1]*)' do
    local prose = answer:gsub('```.-```', '')
    local lines = select(2, prose:gsub('[^\n]+', ''))
    assert(lines >= 2 and lines <= 7, ('%s: %d lines'):format(question, lines))
    assert(prose:find '%]%([%w_./]+%.md[^)]*%)' or prose:find('](../LICENSE)', 1, true), question)
    count = count + 1
  end
  assert(count >= 15, count)
end)

test('pages and their sections are topics', function()
  assert(describe 'docs/faq.md':find('# Questions', 1, true))
  local section = describe 'docs/faq.md, "What is the licence?"'
  assert(section:find '^### What is the licence%?\n' and section:find 'MIT' and not section:find 'Why Lua', section)
  assert(describe 'CITATION.cff':find 'cff%-version')
  -- Paragraphs are wrapped, links show their page, and equations stay.
  for line in describe 'docs/faq.md':gmatch '[^\n]+' do
    assert(require('pushdown.text.measure').length(line) <= 98 or line:find '^error', line)
  end
  assert(describe 'docs/faq.md, "Which stack should I use?"':find('(docs/concepts.md#which-stack-to-use)', 1, true))
  assert(describe 'docs/concepts.md#which-stack-to-use':find '^## Which stack to use')
  assert(describe 'docs/reference/stacks.md#stratification':find('\n    push     s[t] = d,   V[t] = v\n', 1, true))
  for _, wrong in ipairs { 'docs/nothing.md', '../../etc/passwd.md', 'docs/faq.md "No such heading"' } do
    assert(not describe(wrong):find '^#', wrong)
  end
end)

test.finish()
