-- subcommand(name, f) -> the exit status of a command such as `pushdown runs`: 0 if f returns, 2 if it throws the
-- {usage = message} of a wrong command line, else 1; what is wrong goes to stderr.
return function(name, f)
  local ok, problem = pcall(f)
  if ok then return 0 end
  local usage = type(problem) == 'table' and problem.usage
  io.stderr:write(('pushdown %s: %s\n'):format(name, usage or tostring(problem):gsub('^[^\n]-%.lua:%d+: ', '')))
  return usage and 2 or 1
end
