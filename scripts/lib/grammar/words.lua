-- Runs the files of the grammars folder: Lua scripts in a sandbox that offers only the words of a grammar
-- or a pushdown automaton and a few harmless parts of Lua. The words only collect; the core checks and
-- builds. docs/reference/grammars.md and automata.md describe the words.
local bracket_pair = require 'pushdown.grammar.brackets'
local pd = require 'pushdown'

local M = {}

local function copy(library, without)
  local result = {}
  for name, value in pairs(library) do
    if name ~= without then result[name] = value end
  end
  return result
end

local words_in_order = { 'name', 'doc', 'option', 'symbols', 'start', 'rule', 'bracket_pair', 'unambiguous', 'prune',
  'conditioned_removal', 'synchronous', 'source_symbols', 'target_symbols', 'transition', 'bottom', 'states',
  'stack_symbols', 'accepting', 'at_bottom', 'dead', 'strength', 'parts' }

-- The words that occur in only one kind of file.
local kind_of = { rule = 'grammar', unambiguous = 'grammar', prune = 'grammar', conditioned_removal = 'grammar',
  synchronous = 'grammar', source_symbols = 'grammar', target_symbols = 'grammar',
  transition = 'automaton', bottom = 'automaton', states = 'automaton', stack_symbols = 'automaton',
  accepting = 'automaton', at_bottom = 'automaton', dead = 'automaton', strength = 'automaton',
  parts = 'automaton' }
local nouns = { grammar = 'grammar', automaton = 'pushdown automaton' }
-- The core checks and describes every option.
local most_options = 1000

-- The words of one file. Each writes to `spec`; `given` are the options of the caller.
local function words_of(spec, path, given, resolve)
  local words = {}
  local file = path:match('[^/]+$')

  -- The current line of the file.
  local function line()
    for level = 3, math.huge do
      local info = debug.getinfo(level, 'Sl')
      if not info or info.source == '@' .. path then return info and info.currentline or 0 end
    end
  end

  local function fail(...) error(('%s:%d: %s'):format(path, line(), (...):format(select(2, ...))), 0) end

  local function check_text(word, value)
    if type(value) ~= 'string' then fail('%s needs a text, got %s', word, type(value)) end
  end

  -- A function of its own, because a file must not reach those of the program.
  function words.bracket_pair(i)
    if type(i) ~= 'number' or i < 1 or i % 1 ~= 0 then
      fail('bracket_pair needs an integer from 1 on, got %s', tostring(i))
    end
    return bracket_pair(i)
  end

  local function set_once(word, key, value)
    check_text(word, value)
    if spec[key] then fail('%s is given twice', word) end
    spec[key] = value
  end

  function words.name(text) set_once('name', 'name', text) end
  function words.doc(text) set_once('doc', 'doc', text) end
  function words.start(symbol) set_once('start', 'start', symbol) end
  function words.unambiguous() spec.unambiguous = true end
  function words.prune() spec.prune = true end
  function words.conditioned_removal() spec.conditioned_removal = true end
  function words.synchronous() spec.synchronous = true end

  function words.option(name, default, doc, limits)
    check_text('the name of an option', name)
    check_text(("the doc of option '%s'"):format(name), doc)
    if #spec.options == most_options then fail('more than %d options', most_options) end
    local declared = { name = name, default = default, doc = doc }
    for key, value in pairs(limits or {}) do declared[key] = value end
    if type(default) == 'number' then declared.type = declared.integer and 'integer' or 'number' end
    spec.options[#spec.options + 1] = declared
    return resolve('grammar ' .. file:gsub('%.lua$', ''), { declared }, { [name] = given[name] })[name]
  end

  local function set_list(word, what)
    words[word] = function(list)
      if type(list) ~= 'table' then fail('%s needs a list of %s, got %s', word, what, type(list)) end
      spec[word] = copy(list)
    end
  end
  set_list('symbols', 'terminals')
  set_list('source_symbols', 'terminals')
  set_list('target_symbols', 'terminals')
  set_list('states', 'states')
  set_list('stack_symbols', 'stack symbols')
  set_list('accepting', 'states')
  function words.bottom(symbol) set_once('bottom', 'bottom', symbol) end
  function words.at_bottom() spec.at_bottom = true end
  function words.parts() spec.parts = true end
  set_list('dead', 'states')
  function words.strength(value)
    if type(value) ~= 'number' or not (value > 0 and value < math.huge) then
      fail('strength needs a number above 0, got %s', tostring(value))
    end
    if spec.strength then fail('strength is given twice') end
    spec.strength = value
  end

  local function add_line(word, list)
    words[word] = function(text, weight)
      check_text(word, text)
      if weight ~= nil and type(weight) ~= 'number' then
        fail('the weight of a %s must be a number, got %s', word, type(weight))
      end
      list[#list + 1] = { text = text, weight = weight, origin = file .. ':' .. line() }
    end
  end
  add_line('rule', spec.rules)
  add_line('transition', spec.transitions)

  -- The first word that belongs to one kind decides what the file describes.
  for word, kind in pairs(kind_of) do
    local collect = words[word]
    words[word] = function(...)
      if spec.kind and spec.kind ~= kind then
        fail("'%s' belongs to a %s, and this file describes a %s", word, nouns[kind], nouns[spec.kind])
      end
      spec.kind = kind
      return collect(...)
    end
  end

  return words
end

-- The largest number of comparisons that a search for the pattern can take.
local function pattern_steps(text, pattern, plain)
  local length = #text + 1
  if plain then return length * (#pattern + 1) end
  if #pattern > 1000 then return math.huge end
  local form = string.gsub(string.gsub(string.gsub(pattern, '%%b..', '*'), '%%.', 'x'), '%[%^?%]?[^%]]*%]', 'x')
  local _, loops = string.gsub(form, '[*+-]', '')
  local _, optional = string.gsub(form, '%?', '')
  return (string.byte(form) == 94 and 1 or length) * length ^ loops * 2 ^ optional
end

-- Returns a function of the libraries that counts the bytes of the text that it returns, or, with `of_argument`, of its
-- first argument. One call can work for a long time on a long text.
local function counted(name, f, count_steps, of_argument)
  local function finish(argument, ok, result, ...)
    if not ok then
      error(type(result) == 'string' and string.gsub(result, "to '%?'", ("to '%s'"):format(name)) or result, 2)
    end
    local text = of_argument and argument or result
    if type(text) == 'string' and #text >= 100 then count_steps(#text) end
    return result, ...
  end
  return function(...) return finish((...), pcall(f, ...)) end
end

-- The string library without functions that make or take compiled code. Searches count the steps that they can take,
-- because some patterns take practically forever.
local function strings_counted(count_steps)
  local strings = copy(string, 'dump')
  for _, name in ipairs { 'rep', 'reverse', 'upper', 'lower', 'sub', 'format' } do
    strings[name] = counted(name, string[name], count_steps)
  end
  for _, name in ipairs { 'find', 'match', 'gmatch', 'gsub' } do
    local search = string[name]
    strings[name] = function(text, pattern, ...)
      if type(text) == 'string' and type(pattern) == 'string' then
        count_steps(pattern_steps(text, pattern, name == 'find' and select(2, ...)))
      end
      return search(text, pattern, ...)
    end
  end
  return strings
end

-- Calls with thousands of values count them.
local function unpack_counted(count_steps)
  return function(list, first, last)
    first, last = first or 1, last or #list
    if last - first >= 100 then count_steps(last - first) end
    return unpack(list, first, last)
  end
end

-- Calls from C into Lua and back into C use the stack of the process, which LuaJIT does not check.
local deepest_call = 100
local function bounded(f, calls)
  return function(...)
    calls.depth = calls.depth + 1
    if calls.depth > deepest_call then error('stack overflow: calls inside calls, more than ' .. deepest_call, 2) end
    local first, second = f(...)
    calls.depth = calls.depth - 1
    return first, second
  end
end

local function environment(words, strings, count_steps)
  local calls = { depth = 0 }
  local gsub = bounded(strings.gsub, calls)
  strings.gsub = function(...)
    local result, count = gsub(...)
    count_steps(#result)
    return result, count
  end
  local env = { math = copy(math), string = strings, table = copy(table), ipairs = ipairs,
    pairs = pairs, tostring = tostring, tonumber = counted('tonumber', tonumber, count_steps, true), type = type,
    error = error, assert = assert, select = select, unpack = unpack_counted(count_steps) }
  env.math.randomseed, env.math.random = nil, nil
  env.table.sort = bounded(table.sort, calls)
  env.table.concat = counted('concat', table.concat, count_steps)
  for name, word in pairs(words) do env[name] = word end
  return setmetatable(env, {
    __index = function(_, name)
      local shown = tostring(name)
      local near = pd._text.nearest(shown, words_in_order)
      if #shown > 100 then shown = shown:sub(1, 100) .. '...' end
      error(("'%s' is not a word of a grammar or automaton file%s; the words are %s"):format(shown,
        near and (", did you mean '%s'?"):format(near) or '', table.concat(words_in_order, ', ')), 2)
    end,
  })
end

-- Runs the text of the file at `path`. Returns its declarations: {kind = 'grammar', name, doc, start,
-- symbols, rules, options, unambiguous, prune, conditioned_removal, synchronous, source_symbols,
-- target_symbols} or {kind = 'automaton', name, doc, start, symbols, states, stack_symbols, bottom,
-- accepting, at_bottom, dead, strength, parts, transitions, options}; or nil and a message. `resolve` checks
-- options, `run` calls a chunk within the limits, and `count_steps` adds to the steps used so far.
function M.collect(text, path, given, resolve, run, count_steps)
  if text:sub(1, 1) == '\27' then return nil, path .. ': compiled Lua is not read as a grammar' end
  local spec = { rules = {}, transitions = {}, options = {} }
  local strings = strings_counted(count_steps)
  local chunk, problem = load(text, '@' .. path, 't',
    environment(words_of(spec, path, given, resolve), strings, count_steps))
  if not chunk then return nil, problem end
  local ok, trouble = run(chunk, strings)
  if not ok then
    if type(trouble) == 'string' and trouble:find '^the file needs' then trouble = path .. ': ' .. trouble end
    return nil, type(trouble) == 'string' and trouble or ('%s: error(%s)'):format(path, type(trouble))
  end
  spec.kind = spec.kind or 'grammar'
  if spec.kind == 'grammar' then spec.transitions = nil else spec.rules = nil end
  return spec
end

return M
