// Corpora in the format of the Penn Treebank of language modelling (Mikolov et al. 2010): plain
// text, one sentence a line, words separated by white space. Every line end is the word <eos>. The
// vocabulary comes from the training part: <unk>, <eos>, then its words, the most frequent first,
// those of one frequency in the order of their first occurrence. A word that is not in it is
// <unk>.
#pragma once
#include <array>
#include <filesystem>
#include <string>

#include "task/running_text.h"

namespace pushdown {

struct CorpusFile {
  std::string text, file;  // its content, and its name for messages
};

enum class EmptyLines {
  refuse,  // an error that names file and line
  count,   // a line that is nothing but <eos>, as programs for the Penn Treebank read it
  skip,
};

struct CorpusOptions {
  std::int64_t vocabulary = 0;  // at most so many words, <unk> and <eos> among them; 0: all
  EmptyLines empty_lines = EmptyLines::refuse;
};

struct Corpus {
  RunningTextPtr train, valid, test;  // of one vocabulary
};

// Lines end in \n or \r\n; a byte order mark of UTF-8 in front is left out. std::invalid_argument
// "[task.corpus] file:line: ..." for text that is not UTF-8, a NUL byte, a carriage return within a
// line, an empty line, a word <eos>; "[task.corpus] file: ..." for a part without words.
Corpus make_corpus(const std::array<CorpusFile, 3>& parts, const CorpusOptions& options);
// One file cut into three by whole lines: of n lines the first round(n s_1) are for training, those
// up to round(n (s_1 + s_2)) for validation, the rest is the test; s are the shares, divided by
// their sum.
Corpus split_corpus(const CorpusFile& whole, const std::array<double, 3>& shares,
                    const CorpusOptions& options);

// The files of training, validation and test in a folder: ptb.train.txt, ptb.valid.txt and
// ptb.test.txt, or train.txt, valid.txt and test.txt. std::runtime_error that says what is missing.
std::array<std::filesystem::path, 3> corpus_files(const std::filesystem::path& folder);

}  // namespace pushdown
