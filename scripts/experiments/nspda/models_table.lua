-- Tables 4 and 7 of Mali et al. (2019): training and test errors of all models. In the paper's Table 4
-- the rows "NSPDA" and "NSPDA reg" are those of the NNPDA, as its Table 7 shows; here they have
-- that name.
local here = arg[0]:match('^(.*/)') or ''
local tables = dofile(here .. 'tables.lua')
local tasks = { 'palindrome', 'an_bn', 'an_bn_c_bm_am', 'anm_bn_cm', 'parenthesis' }

-- Test errors. The training errors are 0 except for parentheses, the last number.
local paper = {
  rnn = { 78.2, 74.11, 83.33, 73.69, 99.96, 30.72 },
  lstm = { 12.58, 13.26, 14.22, 10.56, 97.88, 48.92 },
  lstm_p = { 8.69, 11.25, 13.99, 12.88, 99.00, 49.68 },
  gru = { 14.99, 14.89, 19.22, 14.00, 98.70, 43.21 },
  stack = { 4.99, 3.01, 34.19, 58.66, 9.38, 10.25 },
  stack_rounding = { 0.09, 0.89, 1.01, 0.79, 3.968, 4.03 },
  list = { 0.39, 2.29, 19.63, 1.27, 7.45, 4.89 },
  mi_rnn = { 75.69, 70.26, 76.69, 73.01, 99.92, 29.58 },
  mi_lstm = { 9.99, 10.86, 13.55, 14.22, 99.80, 47.83 },
  mi_gru = { 16.22, 13.29, 20.02, 14.83, 99.20, 42.88 },
  second_order = { 9.26, 8.51, 17.52, 11.17, 37.42, 27.89 },
  second_order_reg = { 1.88, 2.09, 2.19, 0.99, 27.59, 21.69 },
  nnpda = { 7.00, 15.25, 17.49, 55.28, 29.21, 5.96 },
  nnpda_reg = { 4.28, 14.20, 13.00, 41.01, 27.09, 5.62 },
  nspda_2 = { 0.00, 0.06, 0.99, 0.09, 2.58, 0.58 },
  nspda_3 = { 0.00, 0.01, 0.00, 0.00, 0.88, 0.01 },
}

-- number: that of the table; models: its rows.
return function(number, models)
  local name = 'table' .. number
  local options, run = tables.start { name = 'nspda/' .. name, tasks = tasks,
    doc = ('Training and test errors of all models, as Table %d of Mali et al. (2019).'):format(number) }
  local cells = {}
  for t, task in ipairs(tasks) do
    for _, model in ipairs(models) do
      local point = { model = model }
      -- Sets the hint as the other tables do, so that the runs are shared.
      if model:find '^nspda' then point.hint = 'hint_2' end
      cells[#cells + 1] = { task = task, row = tables.protocol.models[model].label, paper = paper[model][t],
        point = point }
    end
  end
  local kept, rows = tables.run(options, cells)
  tables.finish(run, options, kept, rows, { name = name, metric = 'test_error', format = '%.2f',
    title = 'Test error in percent on strings longer than all training strings.',
    others = { { 'train_error', 'train error %' }, { 'epochs', 'epochs' } } })
end
