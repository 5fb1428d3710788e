-- What `make install` puts somewhere works there, and after it was moved.
local pd = require 'pushdown'
local test = require 'pushdown.test'
local files = require 'pushdown.files'

local build = assert(os.getenv('PUSHDOWN_BUILD_DIR'), 'PUSHDOWN_BUILD_DIR names the build folder')
local top = os.tmpname()
os.remove(top)
files.make_folder(top)

-- Output of a command line, which has to succeed.
local function run(command)
  local pipe = assert(io.popen(('cd %s && { %s; } 2>&1; echo "exit $?"'):format(top, command)))
  local output, status = pipe:read('*a'):match('^(.*)exit (%d+)\n$')
  pipe:close()
  assert(status == '0', command .. '\n' .. tostring(output))
  return output
end

test('an installation works wherever it lies', function()
  run(('cmake --install %s --prefix %s/first'):format(build, top))
  run('mkdir elsewhere && mv first elsewhere/moved')
  local out = run [[elsewhere/moved/bin/pushdown -e 'print(pd.root, #pd.grammar.list(), pd.version)']]
  local root, grammars, version = out:match '^(%S+)\t(%d+)\t(%S+)\n$'
  assert(root and root:find('elsewhere/moved/share/pushdown', 1, true), out)
  test.equal(tonumber(grammars), #pd.grammar.list())
  test.equal(version, pd.version)
  out = run [[elsewhere/moved/bin/pushdown -e 'local m = pd.model.language_model{ alphabet = { "a", "b" },
    stack = { kind = "superposition", size = 3 } } print(m:log_probability "a a" < 0, pd.json ~= nil)']]
  test.equal(out, 'true\ttrue\n')
  for _, path in ipairs { 'share/man/man1/pushdown.1', 'share/pushdown/stubs/pushdown.lua',
    'share/doc/pushdown/LICENSE', 'share/pushdown/scripts/experiments/ns_rnn/train.lua' } do
    assert(files.exists(top .. '/elsewhere/moved/' .. path), path)
  end
end)

os.execute('rm -rf ' .. top)
test.finish()
