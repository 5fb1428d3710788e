-- The files that `make install` installs work in their place, and after they are moved.
-- label: long
local pd = require 'pushdown'
local test = require 'pushdown.test'
local files = require 'pushdown.files'

local build = assert(os.getenv('PUSHDOWN_BUILD_DIR'), 'PUSHDOWN_BUILD_DIR names the build folder')
local source = pd.root  -- the tests run in the source folder
local top = test.folder()

-- Returns the output of a command line, which must succeed.
local function run(command)
  local output, status = test.command(('cd %s && { %s; }'):format(top, command))
  assert(status == 0, command .. '\n' .. output)
  return output
end

run(('cmake --install %s --prefix %s/first'):format(build, top))
run('mkdir elsewhere && mv first elsewhere/moved')

test('an installation works in any folder', function()
  local out = run [[elsewhere/moved/bin/pushdown -e 'print(pd.root, #pd.grammar.list(), pd.version)']]
  local root, grammars, version = out:match '^(%S+)\t(%d+)\t(%S+)\n$'
  assert(root and root:find('elsewhere/moved/share/pushdown', 1, true), out)
  test.equal(tonumber(grammars), #pd.grammar.list())
  test.equal(version, pd.version)
  out = run [[elsewhere/moved/bin/pushdown -e 'local m = pd.model.language_model{ alphabet = { "a", "b" },
    stack = { kind = "superposition", size = 3 } } print(m:log_probability "a a" < 0, pd.json ~= nil)']]
  test.equal(out, 'true\ttrue\n')
  -- help finds the pages that are installed.
  out = run [[elsewhere/moved/bin/pushdown -e 'help "why is training slow" help "cite"']]
  for _, page in ipairs { 'docs/faq.md, "Why is training slow?"', 'CITATION.cff' } do
    assert(out:find(page, 1, true), out)
  end
  -- Runs of an installed program name the commit from which it was built.
  local commit = run(("git -C '%s' describe --always --dirty --abbrev=12 2>/dev/null || true"):format(source))
    :match('^%S+')
  if commit then test.equal(files.read(top .. '/elsewhere/moved/share/pushdown/commit'), commit .. '\n') end
  for _, path in ipairs { 'share/man/man1/pushdown.1', 'share/pushdown/stubs/pushdown.lua',
    'share/doc/pushdown/LICENSE', 'share/pushdown/scripts/experiments/ns_rnn.lua' } do
    assert(files.exists(top .. '/elsewhere/moved/' .. path), path)
  end
end)

test('uninstalling keeps older files and those of others', function()
  local files_in = function(folder) return run(('find %s | LC_ALL=C sort'):format(folder)) end
  run 'mkdir -p second/lib/other && touch second/lib/other/kept'
  local before = files_in 'second'
  local install = ('cmake --install %s --prefix %s/second'):format(build, top)
  run(install)
  run(install)  -- the second time finds the folders of the first
  local uninstall = ('cmake -D PREFIX=second -P %s/cmake/uninstall.cmake'):format(source)
  local out = run(uninstall)
  assert(out:find '^Removed %d+ files from ', out)
  test.equal(files_in 'second', before)
  run(install)
  run 'touch second/share/pushdown/mine'
  run(uninstall)
  test.equal(files_in 'second', before .. 'second/share\nsecond/share/pushdown\nsecond/share/pushdown/mine\n')
  out = run(('! %s'):format(uninstall))
  assert(out:gsub('%s+', ' '):find('[uninstall] Pushdown is not installed in ', 1, true), out)
end)

-- A build with another LibTorch, as PUSHDOWN_TORCH_DIR selects it.
test('an installed module finds the LibTorch of its build', function()
  local cache = files.read(build .. '/CMakeCache.txt')
  local torch = cache:match '\nPUSHDOWN_TORCH_DIR:PATH=([^\n]+)'
  local dynamic = run 'objdump -p elsewhere/moved/lib/pushdown/pushdown.so | grep -E "RPATH|RUNPATH"'
  assert(dynamic:find('$ORIGIN/torch-stubs', 1, true), dynamic)
  if torch then assert(dynamic:find(torch .. '/lib', 1, true), dynamic) end
end)

-- The loader takes an empty element of a search path, and one that is not absolute, for a place in the current folder.
test('no program or library searches the current folder for libraries', function()
  for folder, needed in pairs { [build] = 'pushdown.so', [top .. '/elsewhere/moved'] = 'lib/pushdown/pushdown.so' } do
    local seen = {}
    for path in run(("find '%s' -type f \\( -perm -u+x -o -name '*.so*' \\)"):format(folder)):gmatch '[^\n]+' do
      local elf = assert(io.open(path, 'rb'))
      seen[path] = elf:read(4) == '\127ELF'
      elf:close()
      for paths in (seen[path] and run(("objdump -p '%s'"):format(path)) or ''):gmatch '\n *R[UN]*PATH *([^\n]*)' do
        for element in (paths .. ':'):gmatch '([^:]*):' do
          assert(element:find '^/' or element:find '^%$ORIGIN', path .. ' searches ' .. paths)
        end
      end
    end
    assert(seen[folder .. '/' .. needed], needed .. ' was not examined')
  end
end)

test('libraries in the current folder are not loaded', function()
  run 'mkdir planted'
  local names = run(("objdump -p '%s/pushdown.so' '%s/pushdown'"):format(build, build))
  for name in names:gmatch 'NEEDED *(%S+)' do files.write(top .. '/planted/' .. name, 'not a library') end
  assert(names:find 'NEEDED *libtorch', names)
  test.equal(run(("cd planted && '%s/pushdown' -e 'print(pd.version)'"):format(build)), pd.version .. '\n')
end)

test.finish()
