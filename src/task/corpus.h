// Corpora in the format of the Penn Treebank of language modelling (Mikolov et al. 2010): plain
// text, one sentence per line, words separated by white space. Every line end is the word <eos>.
// The vocabulary comes from the training part: <unk>, <eos>, then its words by decreasing
// frequency; words of equal frequency are in the order of first occurrence. All other words become
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
  count,   // a line with only the word <eos>, as programs for the Penn Treebank read it
  skip,
};

struct CorpusOptions {
  std::int64_t vocabulary = 0;  // maximum size, including <unk> and <eos>; 0: all words
  EmptyLines empty_lines = EmptyLines::refuse;
};

struct Corpus {
  RunningTextPtr train, valid, test;  // with the same vocabulary
};

// Lines end in \n or \r\n; a UTF-8 byte order mark at the start is skipped. Throws
// std::invalid_argument "[task.corpus] file:line: ..." for text that is not UTF-8, a NUL byte, a
// carriage return within a line, an empty line, or a word <eos>; and "[task.corpus] file: ..." for
// a part without words.
Corpus make_corpus(const std::array<CorpusFile, 3>& parts, const CorpusOptions& options);
// Splits one file into three parts by whole lines. Of n lines, the first round(n s_1) are for
// training, those up to round(n (s_1 + s_2)) for validation, and the rest for the test, where s are
// the shares divided by their sum.
Corpus split_corpus(const CorpusFile& whole, const std::array<double, 3>& shares,
                    const CorpusOptions& options);

// Returns the files of training, validation and test in a folder: ptb.train.txt, ptb.valid.txt and
// ptb.test.txt, or train.txt, valid.txt and test.txt. Throws std::runtime_error that names the
// missing file.
std::array<std::filesystem::path, 3> corpus_files(const std::filesystem::path& folder);

}  // namespace pushdown
