-- Dependencies of the source tree point in one direction (docs/architecture.md).
local files = require 'pushdown.files'
local pd = require 'pushdown'
local test = require 'pushdown.test'
local layers = dofile(pd.root .. '/scripts/tools/layers.lua')
local library = dofile(pd.root .. '/scripts/tools/library_layers.lua')

local function violations(sources) return table.concat(layers.violations(sources), '\n') end

test('the tree keeps its layers', function()
  local sources = layers.sources(pd.root)
  assert(sources['src/tensor/torch.h'] and sources['src/stack/registry.cpp'] and sources['bindings/open.cpp'],
    'the sources are found')
  test.equal(violations(sources), '')
end)

test('each kind of violation is caught', function()
  local function caught(path, text, expected, more)
    local sources = pd.tables.merged({ [path] = text }, more)
    local found = layers.violations(sources)
    test.equal(found[1], path .. ': ' .. expected)
  end
  caught('src/stack/a.cpp', '#include "controller/controller.h"\n',
    'stack must not include controller, got controller/controller.h')
  caught('src/base/a.h', '  #  include "grammar/alphabet.h"',
    'base must not include grammar, got grammar/alphabet.h')
  caught('src/task/a.cpp', '#include "train/trainer.h"', 'task must not include train, got train/trainer.h')
  caught('src/model/a.cpp', '#include <lua.hpp>',
    'the core must not include a Lua header, got lua.hpp')
  caught('src/train/a.cpp', '#include "bindings/binder/bind.h"',
    'the core must not include the bindings, got bindings/binder/bind.h')
  caught('src/train/a.cpp', '#include <torch/torch.h>',
    'only the folder tensor may include LibTorch, got torch/torch.h')
  caught('src/model/a.cpp', '#include <ATen/ScalarOps.h>',
    'only the folder tensor may include LibTorch, got ATen/ScalarOps.h')
  caught('bindings/a.cpp', '#include <ATen/ATen.h>',
    'only the folder tensor may include LibTorch, got ATen/ATen.h')
  caught('src/grammar/a.cpp', 'void f() { printf("x"); }', 'the core must not print')
  caught('src/grammar/a.cpp', 'void f() { std::cout << 1; }', 'the core must not print')
  caught('src/grammar/a.cpp', '#include "tensor/torch.h"',
    'grammar must not include tensor, got tensor/torch.h')
  caught('src/other/a.cpp', '', "the folder 'other' is not a layer; add it to scripts/tools/layers.lua and "
    .. 'docs/architecture.md')
  caught('bindings/a.cpp', 'void f(lua_State* L) { lua_call(L, 0, 0); }',
    'bound functions call Lua by call_lua or try_lua, which restore the floating-point setting')
  -- Through two headers.
  caught('src/kernel/a.isa.cpp', '#include "kernel/b.h"', 'kernels must not include LibTorch', {
    ['src/kernel/b.h'] = '#include "tensor/torch.h"', ['src/tensor/torch.h'] = '#include <ATen/ATen.h>' })
  caught('bindings/shell/a.cpp', '#include "bindings/binder/bind.h"',
    'the shell starts without LibTorch, so it must not include it', {
      ['bindings/binder/bind.h'] = '#include "tensor/torch.h"', ['src/tensor/torch.h'] = '#include <ATen/ATen.h>' })
end)

test('permitted dependencies are not caught', function()
  test.equal(violations {
    ['src/model/a.cpp'] = '#include "stack/stack.h"\n#include "grammar/alphabet.h"\n#include <vector>',
    ['src/train/a.cpp'] = '#include "kernel/isa.h"\n// #include <lua.hpp>\nint n = snprintf(0, 0, "");',
    ['src/stack/stack.h'] = '/* #include "train/trainer.h"\n std::cout */ #include "tensor/torch.h"',
    ['bindings/tensor/module.cpp'] = '#include <ATen/ScalarOps.h>',
    ['bindings/shell/main.cpp'] = '#include <lua.hpp>\n#include "bindings/shell/repl.h"',
  }, '')
end)

test('the library keeps its layers', function()
  local sources = library.sources(pd.root)
  assert(sources['runs/layout.lua'] and sources['store/record.lua'], 'the sources are found')
  test.equal(table.concat(library.violations(sources), '\n'), '')
end)

test('papers and recipes load no files of each other', function()
  for _, folder in ipairs { 'experiments', 'recipes' } do
    local sources = library.sources(pd.root, folder)
    assert(sources['recipes/copy.lua'] or sources['experiments/nspda/tables.lua'], 'the sources are found')
    test.equal(table.concat(library.violations_of_scripts(sources), '\n'), '')
  end
  local function caught(path, text, expected)
    test.equal(table.concat(library.violations_of_scripts { [path] = text }, '\n'), expected)
  end
  caught('recipes/tasks/a.lua', "local p = dofile(pd.root .. '/scripts/experiments/flare/training.lua')",
    'scripts/recipes/tasks/a.lua: a recipe must not load files of a paper')
  caught('experiments/flare.lua', "local p = dofile(here .. 'optimum/languages.lua')",
    'scripts/experiments/flare.lua: a paper must not load files of another')
  caught('experiments/flare/hard.lua', "dofile(here .. 'training.lua') dofile 'flare/models.lua'", '')
  caught('recipes/a.lua', "-- dofile(x)\nlocal p = pd.paper.load 'flare'", '')
end)

test('each kind of violation of the library is caught', function()
  local function caught(sources, ...)
    test.equal(table.concat(library.violations(sources), '\n'), table.concat({ ... }, '\n'))
  end
  caught({ ['store/folder.lua'] = "local runs = require 'pushdown.runs'" },
    'store/folder.lua: store must not require runs, got runs')
  -- Anywhere in the file, in every form, and by the name of a module in pd.
  caught({ ['plot/bars.lua'] = "-- it's\nfunction M.f() return require 'pushdown.prompt.options'.parts end" },
    'plot/bars.lua: plot must not require prompt, got prompt.options')
  caught({ ['runs/list.lua'] = 'local f = pcall(require("pushdown.report").page)' },
    'runs/list.lua: runs must not require report, got report')
  caught({ ['runs.lua'] = "return require('pushdown.mirror.' .. name)" },
    'runs.lua: runs must not require mirror, got mirror.')
  caught({ ['json.lua'] = 'return pd.grid.run', ['grid.lua'] = '' }, 'json.lua: base must not require grid, got grid')
  caught({ ['json.lua'] = 'return require(name)' },
    'json.lua: require takes a text, which may end in a computed name')
  caught({ ['other.lua'] = '' },
    'other.lua: the module belongs to no layer; add it to scripts/tools/library_layers.lua and docs/architecture.md')
  caught({ ['grid.lua'] = "require 'pushdown.record'",
    ['record.lua'] = "local x = f { require('pushdown.record.' .. x) }",
    ['record/folder.lua'] = "function M.seed() return require 'pushdown.grid'.seed end" },
    'grid -> record -> record/folder -> grid: modules require each other')
end)

test('what the library may do is not caught', function()
  test.equal(table.concat(library.violations {
    ['commands/runs.lua'] = "local bit = require 'bit'\nlocal grid = require 'pushdown.grid'\nreturn { require = f }",
    ['grid.lua'] = "-- require 'pushdown.commands.runs'\n--[[ require 'pushdown.report' ]] return 'pd.paper, see'",
    ['runs.lua'] = "print('--', 'a\\'', [==[ require 'pushdown.grid' ]==], \"require 'pushdown.grid'\")",
    ['paper.lua'] = '',
  }, '\n'), '')
end)

test('only listed files keep state of a thread', function()
  local listed = {}
  local page = files.read(pd.root .. '/docs/conventions.md'):match '## State of a thread(.-)\n## '
  for path in page:gmatch '`(src/[%w_/]+%.%w+)`' do listed[path] = true end
  for _, path in ipairs(files.find(pd.root .. '/src', '%.[hc]p*u?$')) do
    if files.read(pd.root .. '/src/' .. path):find '%f[%w_]thread_local%f[^%w_]' then
      local name = 'src/' .. path
      assert(listed[name], name .. ' has a thread_local variable that docs/conventions.md does not list')
      listed[name] = nil
    end
  end
  test.equal(next(listed), nil)
end)

test('every Lua test ends with test.finish', function()
  -- Without test.finish() failures would have no effect.
  for _, name in ipairs(files.find(pd.root .. '/tests/lua', '^test_.*%.lua$')) do
    local text = files.read(pd.root .. '/tests/lua/' .. name)
    assert(text:find '\ntest%.finish%(%)%s*$', name .. ' does not end with test.finish()')
  end
end)

test.finish()
