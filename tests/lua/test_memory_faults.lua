-- The k-th large allocation of trainings, checkpoints, parsers and tensors fails: tests/lua/memory_faults.lua with
-- tests/faults/memory.cpp preloaded. The test tries some allocations of 4 kB and more, with 'all' every one, on one
-- thread and on two.
-- slow: all
local files = require 'pushdown.files'
local test = require 'pushdown.test'

local shell = test.program
local library = assert(os.getenv 'PUSHDOWN_BUILD_DIR', 'PUSHDOWN_BUILD_DIR is the build folder') .. '/libfail_memory.so'
local pd = require 'pushdown'

if not files.exists(library) then test.skip('there is no ' .. library .. ', as in builds with sanitizers') end

local all = arg[1] == 'all'
for _, threads in ipairs(all and { 1, 2 } or { 1 }) do
  test(('large allocations fail, %d threads'):format(threads), function()
    local script = files.quoted(pd.root .. '/tests/lua/memory_faults.lua')
    -- The LuaJIT of Debian 12 crashes if an allocation of its own fails in compiled Lua, so Lua is interpreted here.
    local line = ('LD_PRELOAD=%s OMP_NUM_THREADS=1 %s -j off --threads %d --log-level off %s %s'):format(
      files.quoted(library), files.quoted(shell), threads, script, all and '4096' or '4096 12')
    local output, status = test.command(line)
    local text = output:gsub('[^\r\n]*\r', '')
    print(text)
    if status ~= 0 then error(('status %d: %s'):format(status, output:sub(-500)), 0) end
    assert(text:find 'trees: %d+ of %d+ allocations failed', 'the last job is missing')
  end)
end
test.finish()
