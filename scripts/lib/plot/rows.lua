-- Options that several kinds of pictures share, as lists of rows. The options of a kind are lists like these.
local M = {}

local name = 'text or number'

M.picture = {
  { 'title', nil, 'title of the picture', type = name },
  { 'path', nil, 'file of the picture: SVG, PDF or PNG, by its extension', type = 'text' },
}

-- Of a picture in the language of another program.
M.source = { { 'path', nil, 'file of the text', type = 'text' } }

-- rows.size(width, height): without a default, the size is that of the content.
function M.size(width, height)
  return {
    { 'width', width, 'width in pixels', type = 'number', minimum = 1, maximum = 1e5 },
    { 'height', height, 'height in pixels', type = 'number', minimum = 1, maximum = 1e5 },
  }
end

M.width = { M.size()[1] }

-- A picture also takes the options of its version as text, so that one table serves both.
M.text = {
  { 'columns', nil, 'as text: width in characters, by default that of the terminal', type = 'integer', minimum = 1,
    maximum = 10000 },
  { 'rows', 16, 'as text: height of a chart in lines', minimum = 1, maximum = 10000 },
  { 'ascii', nil, 'as text: use ASCII characters alone; the locale decides by default', type = 'boolean' },
}

-- rows.labels(x, y): the labels of the axes, with their defaults.
function M.labels(x, y)
  return {
    { 'x_label', x, 'label of the horizontal axis, with the unit', type = name },
    { 'y_label', y, 'label of the vertical axis, with the unit', type = name },
  }
end

local numbers = 'list of numbers'

M.series = { { 'series', nil, 'the lines', type = 'list of tables', required = true, inside = {
  { 'name', nil, 'name for the legend', type = name },
  { 'y', nil, 'values; one that is nan or infinite is a gap', type = numbers, required = true },
  { 'x', nil, 'places of the values, by default 1, 2, ...', type = numbers },
  { 'low', nil, 'lower edge of a band', type = numbers },
  { 'high', nil, 'upper edge of the band', type = numbers },
  { 'style', 'line', 'how the values are drawn', choices = { 'line', 'points', 'steps' } },
  { 'markers', true, 'draw markers' },
  { 'look', nil, 'number of the colour and marker, by default that of the series', type = 'integer', minimum = 1 },
  { 'legend', true, 'show the series in the legend' },
} } }

M.reference = {
  { 'reference', nil, 'dashed horizontal lines: a number, {value =, name =}, or a list of those',
    type = 'number or table' },
}

M.axes = {
  { 'x_log', false, 'logarithmic horizontal axis' },
  { 'y_log', false, 'logarithmic vertical axis' },
  { 'x_min', nil, 'left end of the horizontal axis', type = 'number' },
  { 'x_max', nil, 'right end of the horizontal axis', type = 'number' },
  { 'y_min', nil, 'lower end of the vertical axis', type = 'number' },
  { 'y_max', nil, 'upper end of the vertical axis', type = 'number' },
}

M.names = {
  { 'x_names', nil, 'names of the places 1, 2, ... on the horizontal axis, in place of numbers',
    type = 'list of texts or numbers' },
}

-- The strengths of a memory.
M.strengths = {
  { 'run', nil, 'model:strengths(source, target), or the result of pd.stack.strengths without its batch dimension',
    type = 'table', required = true },
  { 'symbols', nil, 'the symbol read at each step, by default those of the run', type = 'list of texts or numbers' },
  { 'memory', 1, 'number of the memory', minimum = 1 },
}

return M
