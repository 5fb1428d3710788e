-- For tests that call every method: an object of each class, or several.
local pd = require 'pushdown'

-- Returns class -> list of objects. Writes files of several kinds into the folder.
return function(folder)
  local function path(name) return folder .. '/' .. name end
  local grammar, dyck = pd.grammar.load 'marked_reversal', pd.grammar.load 'dyck'
  local pda = pd.pda.parse '%bottom x\n%accepting r\nq, x --a--> q, push y\nq, y --b--> r, pop\nr, y --b--> r, pop'
  local sampler = grammar:sampler { lengths = { 3, 7 } }
  local data = sampler:dataset(6, { seed = 1 })
  local labelled = pd.task.labelled { grammar = grammar, lengths = { 1, 5 }, positives = 4, negatives = 4, seed = 1 }
  local some_pairs = pd.task.pairs { { 'a b', 'b a' }, { 'a', 'b' } }
  local language = pd.model.language_model { alphabet = grammar:alphabet(), seed = 1,
    controller = { kind = 'lstm', hidden = 3 }, stack = { kind = 'nondeterministic' } }
  local recognizer = pd.model.recognizer { alphabet = labelled:alphabet(), seed = 1, next_symbol = true,
    controller = { kind = 'elman', hidden = 3 }, stack = { kind = 'superposition', size = 2 } }
  local trees = pd.tree.parse '(S (NP a) (VP (V b) (NP c)))\n(S (NP a) (VP b))'
  data:save(path 'data.txt')
  labelled:save(path 'labelled.txt')
  pd.file.write(path 'words.txt', 'a b c\nb c a\n')
  pd.file.write(path 'numbers.txt', 'VBZ\tthe dog\nVBP\tthe dogs\n')
  pd.file.write(path 'g.txt', grammar:text())
  pd.file.write(path 'a.pda', pda:text())
  pd.file.write(path 'broken', '{"a": [')
  return {
    Grammar = { grammar, dyck }, Pda = { pda }, Sampler = { sampler }, Dataset = { data },
    SynchronousGrammar = { pd.grammar.synchronous "S -> A1 B2 | B2 A1\nA -> 'a' | 'x'\nB -> 'b' | 'y'" },
    LabelledDataset = { labelled }, Pairs = { some_pairs }, LanguageModel = { language }, Recognizer = { recognizer },
    RunningText = { pd.task.running_text { alphabet = { 'x', 'y', '<unk>' }, words = ('x y y '):rep(8) } },
    Transducer = { pd.model.transducer { pairs = some_pairs, seed = 1, controller = { kind = 'lstm', hidden = 2 } } },
    Tree = trees, Alphabet = { grammar:alphabet() }, Trace = { pda:trace 'a b' }, Run = { pda:best_run 'a b' },
    Derivation = { grammar:parse '0 # 0' }, ModelState = { (language:begin(1, 4)) },
    StackTrace = { language:trace '0 # 0' }, TreeScore = { pd.tree.score(trees, trees) },
    NumberData = { pd.task.number_examples(path 'numbers.txt') },
    Trainer = { pd.train.trainer { model = language, train = data, epochs = 2, progress = false },
      pd.train.trainer { model = recognizer, train = labelled, epochs = 2, progress = false } },
    Together = { pd.train.together { pd.train.trainer { model = language, train = data, progress = false } } },
    Registry = { pd.registry.open(path 'registry.sqlite') }, ProcessPool = { pd.process.pool() },
    FileWriter = { pd.file.writer(path 'written') }, FolderLock = { (pd.process.lock(path 'locked')) },
    Tensor = { pd.tensor.zeros { 2, 3 }, pd.tensor.randn({ 3 }, { requires_grad = true }), pd.tensor(2),
      pd.tensor.ones({ 2, 2 }, { dtype = 'float64' }), pd.tensor.arange(1, 4, { dtype = 'int64' }),
      pd.tensor.zeros { 0, 2 }, pd.tensor.randn { 2, 3, 4 } },
  }
end
