-- `pushdown kernel install` builds the kernel for notebooks, or says what is missing for that. A fake cmake replaces
-- the real one.
local files = require 'pushdown.files'
local test = require 'pushdown.test'

local build = assert(os.getenv('PUSHDOWN_BUILD_DIR'), 'PUSHDOWN_BUILD_DIR names the build folder')
local top = test.folder()
files.make_folder(top .. '/bin')
-- A build folder without the kernel.
files.make_folder(top .. '/build')
os.execute(('cd %s && cp -r pushdown pushdown.so $(ls -d torch-stubs 2>/dev/null) %s/build'):format(
  files.quoted(build), top))
files.write(top .. '/build/CMakeCache.txt', '')

local function cmake(text)
  files.write(top .. '/bin/cmake', '#!/bin/sh\necho "$*" >> ' .. top .. '/calls\n' .. text .. '\n')
  os.execute(('chmod +x %s/bin/cmake; rm -f %s/calls'):format(top, top))
end

local function install()
  return test.command(('PATH=%s/bin:$PATH JUPYTER_DATA_DIR=%s/data %s/build/pushdown kernel install'):format(top, top,
    top))
end

test('a missing library is named with its package', function()
  cmake "echo '-- Kernel for notebooks: not built, xeus was not found (Debian 12: xeus-dev)'"
  local output = test.ended(1, 'the kernel cannot be built: xeus was not found', install())
  assert(output:find 'sudo apt%-get install %-y %-%-no%-install%-recommends xeus%-', output)
  assert(not files.exists(top .. '/data/kernels/pushdown/kernel.json'))
end)

test('a failed build is shown', function()
  cmake 'echo the compiler is broken; exit 1'
  test.ended(1, { 'the kernel could not be built:', 'the compiler is broken' }, install())
end)

test('a build folder without the kernel gets one', function()
  cmake(('case $1 in --build) touch %s/build/pushdown-kernel ;; esac'):format(top))
  test.ended(0, 'Building the kernel in ', install())
  assert(files.read(top .. '/calls'):find('--build ' .. top .. '/build --target notebooks', 1, true))
  assert(files.read(top .. '/data/kernels/pushdown/kernel.json'):find('/build/pushdown-kernel', 1, true))
  -- Now it exists.
  cmake 'exit 1'
  local output, status = install()
  assert(status == 0 and not output:find 'Building', output)
end)

test('an installed program without the kernel says so', function()
  os.remove(top .. '/build/CMakeCache.txt')
  os.remove(top .. '/build/pushdown-kernel')
  test.ended(1, 'this Pushdown was built without the kernel', install())
end)

test.finish()
