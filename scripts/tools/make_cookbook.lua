-- Makes docs/cookbook.md, a list of tasks with links to their examples:
--
--   pushdown scripts/tools/make_cookbook.lua [--check]
--
-- A comment `<!-- cookbook: GROUP: TASK -->` on a page of the documentation marks the section that has the example.
local files = require 'pushdown.files'
local pd = require 'pushdown'
local markdown = dofile(pd.root .. '/scripts/tools/markdown.lua')

local groups = { 'From elsewhere', 'Languages', 'Training', 'Stacks and rules', 'Experiments', 'Results' }
local head = [[
[Documentation](README.md)

# Cookbook

This page lists %d tasks, each with the section that has its code and output. A block there that
begins with `pd>` is a session at the prompt: paste it as it is, including prompts and results. A
block that begins with `$` is for a terminal. If the first line of a block is a comment with a file
name, the block is that file. A test runs all of them. Numbers that come from a training differ
between machines.
]]

-- Adds the tasks of a page: {task =, link =} by group. A section without an example is an error.
local function add_tasks(found, path)
  local text = files.read(pd.root .. '/' .. path)
  local title, in_code, section = text:match '\n# ([^\n]*)' or path, false, { marks = {} }
  local function finish()
    for _, mark in ipairs(section.marks) do
      local group, task = mark:match '^([^:]+): (.+)$'
      if not found[group] or not section.example then
        error(("[make_cookbook] %s: expected GROUP: TASK in a section with an example, got '%s'"):format(path, mark), 0)
      end
      local heading = section.heading
      local link = path:gsub('^docs/', '') .. (heading and '#' .. markdown.slug(heading) or '')
      table.insert(found[group], { task = task,
        link = ('[%s](%s)'):format(heading or title, link) })
    end
  end
  for line in text:gmatch '[^\n]*' do
    if line:find '^```' then in_code, section.example = not in_code, true end
    local heading = not in_code and line:match '^##+ (.*)$'
    if heading then
      finish()
      section = { heading = heading, marks = {} }
    end
    section.marks[#section.marks + 1] = not in_code and line:match '^<!%-%- cookbook: (.*) %-%->$' or nil
  end
  finish()
end

local found, count, out = {}, 0, {}
for _, group in ipairs(groups) do found[group] = {} end
for _, path in ipairs(markdown.pages()) do
  if path:find '^docs/' then add_tasks(found, path) end
end
for _, group in ipairs(groups) do
  count = count + #found[group]
  out[#out + 1] = ('\n## %s\n\n| task | example |\n|---|---|'):format(group)
  for _, one in ipairs(found[group]) do out[#out + 1] = ('| %s | %s |'):format(one.task, one.link) end
end
dofile(pd.root .. '/scripts/tools/generated.lua')(
  { [pd.root .. '/docs/cookbook.md'] = head:format(count) .. table.concat(out, '\n') .. '\n' }, 'make docs')
