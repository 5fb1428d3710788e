std = 'luajit'
max_line_length = 120
globals = {}
read_globals = { 'pd', 'help' }
exclude_files = { 'build/**' }

-- A grammar file is run in a sandbox that offers the grammar words as globals; so is a hint.
local words = {
  read_globals = { 'name', 'doc', 'option', 'symbols', 'start', 'rule', 'bracket_pair', 'parts', 'unambiguous', 'conditioned_removal',
    'synchronous', 'source_symbols', 'target_symbols', 'transition', 'bottom', 'states', 'stack_symbols', 'accepting', 'at_bottom', 'dead', 'strength' },
}
files['grammars/*.lua'] = words
files['scripts/hints/**/*.lua'] = words
