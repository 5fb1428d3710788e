#include "task/sentences.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>

#include "base/check.h"
#include "base/random.h"
#include "base/stopping.h"
#include "task/bracketed_text.h"
#include "task/conllu.h"
#include "task/corpus.h"
#include "task/file_set.h"
#include "task/running_text.h"
#include "task/text_lines.h"
#include "task/word_counts.h"

namespace pushdown {
namespace {

constexpr std::string_view kWhere = "task.sentences";

// ---- Reading ----

// The files of each part, or of all parts together.
struct Sources {
  std::vector<std::vector<Path>> files;
  bool divided = false;  // one list of files per part
};

bool holds_parts(const Path& folder) {
  for (const char* name : {"ptb.train.txt", "train.txt"})
    if (std::filesystem::is_regular_file(folder / name)) return true;
  return false;
}

Sources sources_of(const Path& path) {
  if (std::filesystem::is_directory(path) && holds_parts(path)) {
    const auto parts = corpus_files(path);
    return {{{parts[0]}, {parts[1]}, {parts[2]}}, true};
  }
  return {{files_named(kWhere, path.string(), "")}, false};
}

std::ifstream opened(const Path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) fail_environment(kWhere, "cannot read '{}'", file.string());
  return stream;
}

void read_plain(const Path& file, const Tokenizer& tokenizer, const VisitSentence& visit,
                const std::function<bool(std::int64_t)>& read) {
  std::ifstream stream = opened(file);
  TextLines lines(kWhere, stream, file.string());
  const VisitSentence with_words = [&](SentenceWords& words) {
    if (!words.empty()) visit(words);
  };
  std::int64_t before = 0;
  for (std::string line; lines.next(line);) {
    tokenizer.split(line, with_words);
    if (!read(lines.bytes() - std::exchange(before, lines.bytes()))) throw Stopped();
  }
}

void read_conllu(const Path& file, const Tokenizer& tokenizer, const VisitSentence& visit,
                 const std::function<bool(std::int64_t)>& read) {
  std::ifstream stream = opened(file);
  ConlluReader reader(stream, file.string());
  SentenceWords words;
  std::int64_t before = 0;
  for (ConlluSentence sentence; reader.next(sentence);) {
    words = forms(sentence);
    for (auto& word : words) word = tokenizer.folded(word);
    visit(words);
    if (!read(reader.bytes() - std::exchange(before, reader.bytes()))) throw Stopped();
  }
}

void read_trees(const Path& file, const Tokenizer& tokenizer, const VisitSentence& visit,
                const std::function<bool(std::int64_t)>& read) {
  const std::string text = read_stream(file);
  SentenceWords words;
  for (const auto& tree : parse_brackets(text, file.string())) {
    words = tree.words();
    for (auto& word : words) word = tokenizer.folded(word);
    visit(words);
  }
  if (!read(std::ssize(text))) throw Stopped();
}

// ---- Parts ----

std::vector<std::string> part_names(std::size_t count) {
  if (count == 1) return {"train"};
  if (count == 2) return {"train", "test"};
  return {"train", "valid", "test"};
}

// Iterates over all sentences of the sources and calls visit(part, words).
class Walk {
 public:
  Walk(const Sources& sources, const SentenceOptions& options, const SentenceProgress& progress)
      : sources_(sources), options_(options), progress_(progress), tokenizer_(options.tokenizer) {
    for (const auto& files : sources.files)
      for (const auto& file : files)
        total_ += 2 * static_cast<std::int64_t>(std::filesystem::file_size(file));
    const double sum = std::accumulate(options.shares.begin(), options.shares.end(), 0.0);
    double before = 0;
    for (const double share : options.shares) ends_.push_back((before += share) / sum);
  }

  std::size_t parts() const { return sources_.divided ? sources_.files.size() : ends_.size(); }

  void run(const std::function<void(std::size_t, SentenceWords&)>& visit) {
    Random random(options_.seed, "parts of a corpus");
    for (std::size_t i = 0; i < sources_.files.size(); ++i)
      for (const auto& file : sources_.files[i])
        visit_sentences(
            file, tokenizer_,
            [&](SentenceWords& words) {
              // Drawn for every sentence, so that dropped sentences do not change the parts of
              // others.
              const auto part = sources_.divided ? i : drawn(random.uniform());
              if (options_.longest == 0 || std::ssize(words) <= options_.longest)
                visit(part, words);
            },
            [&](std::int64_t bytes) {
              done_ += bytes;
              return progress_ == nullptr || progress_(std::min(done_, total_), total_);
            });
  }

 private:
  std::size_t drawn(double place) const {
    std::size_t part = 0;
    while (part + 1 < ends_.size() && place >= ends_[part]) ++part;
    return part;
  }

  const Sources& sources_;
  const SentenceOptions& options_;
  const SentenceProgress& progress_;
  Tokenizer tokenizer_;
  std::vector<double> ends_;
  std::int64_t done_ = 0, total_ = 0;
};

Alphabet vocabulary_of(Walk& walk, const SentenceOptions& options) {
  WordCounts counts;
  walk.run([&](std::size_t part, const SentenceWords& words) {
    if (part != 0) return;
    for (const auto& word : words) counts.add(word);
  });
  return counts.vocabulary(kWhere, {kUnknownWord}, options.vocabulary, options.minimum_count);
}

// Everything that determines the files to be made.
Json description(const Sources& sources, const SentenceOptions& options) {
  Json files = Json::array();
  for (const auto& part : sources.files)
    for (const auto& file : part)
      files.push_back(
          {{"file", std::filesystem::absolute(file).string()},
           {"bytes", std::filesystem::file_size(file)},
           {"changed", std::filesystem::last_write_time(file).time_since_epoch().count()}});
  Json json{{"files", std::move(files)},
            {"divided", sources.divided},
            {"words", static_cast<int>(options.tokenizer.words)},
            {"sentences", static_cast<int>(options.tokenizer.sentences)},
            {"lower", options.tokenizer.lower},
            {"vocabulary", options.vocabulary},
            {"minimum_count", options.minimum_count},
            {"longest", options.longest},
            {"shares", options.shares},
            {"seed", options.seed}};
  if (options.alphabet) json["alphabet"] = options.alphabet->symbols();
  return json;
}

// Returns the files of an earlier preparation with the same description, or nothing if one is
// missing.
std::optional<SentenceParts> prepared(const Path& folder, const std::vector<std::string>& names,
                                      const Json& source) {
  SentenceParts parts;
  for (const auto& name : names) {
    const Path path = folder / (name + ".tokens");
    if (!std::filesystem::exists(path)) return std::nullopt;
    try {
      parts.emplace_back(name, std::make_shared<const TokenFile>(path));
    } catch (const std::runtime_error&) {
      return std::nullopt;  // truncated or of another format: recreate
    }
    if (parts.back().second->source() != source) return std::nullopt;
  }
  return parts;
}

void check_options(const Sources& sources, const SentenceOptions& options) {
  const auto at_least = [](const char* name, std::int64_t value, std::int64_t least) {
    check(value >= least, kWhere, "{} must be at least {}, got {}", name, least, value);
  };
  at_least("vocabulary", options.vocabulary, 0);
  check(options.vocabulary != 1, kWhere,
        "vocabulary must be 0 (all words) or at least 2, because it includes {}, got 1",
        kUnknownWord);
  at_least("minimum_count", options.minimum_count, 1);
  at_least("longest", options.longest, 0);
  check(!sources.divided || options.shares.empty(), kWhere,
        "shares apply only to a text without parts, but the folder has its own parts");
  check(options.shares.size() <= 3, kWhere,
        "shares must be 2 numbers (training and test) or 3 (training, validation and test), got {}",
        options.shares.size());
  for (const double share : options.shares)
    check(std::isfinite(share) && share > 0, kWhere, "shares must be above 0, got {}", share);
  if (options.alphabet)
    check(options.alphabet->find(kUnknownWord).has_value(), kWhere,
          "a vocabulary needs the word {}", kUnknownWord);
}

}  // namespace

void visit_sentences(const Path& file, const Tokenizer& tokenizer, const VisitSentence& visit,
                     const std::function<bool(std::int64_t)>& read) {
  const auto ending = file.extension();
  if (ending == ".conllu") return read_conllu(file, tokenizer, visit, read);
  if (ending == ".mrg") return read_trees(file, tokenizer, visit, read);
  read_plain(file, tokenizer, visit, read);
}

std::vector<Path> sentence_files(const Path& path) {
  std::vector<Path> all;
  for (const auto& files : sources_of(path).files)
    all.insert(all.end(), files.begin(), files.end());
  return all;
}

std::optional<SentenceParts> prepare_sentences(const Path& path, const Path& folder,
                                               const SentenceOptions& given,
                                               const SentenceProgress& progress) {
  const Sources sources = sources_of(path);
  check_options(sources, given);
  SentenceOptions options = given;
  if (options.shares.empty() && !sources.divided) options.shares = {0.9, 0.1};
  const Json source = description(sources, options);
  Walk walk(sources, options, progress);
  const auto names = part_names(walk.parts());
  if (auto found = prepared(folder, names, source)) return found;
  make_writable_folder(folder);
  try {
    const Alphabet vocabulary = options.alphabet ? *options.alphabet : vocabulary_of(walk, options);
    const int unknown = vocabulary.id(kUnknownWord);
    std::vector<std::unique_ptr<TokenFileWriter>> writers;
    for (const auto& name : names)
      writers.push_back(std::make_unique<TokenFileWriter>(folder / (name + ".tokens"), vocabulary));
    Word ids;
    walk.run([&](std::size_t part, const SentenceWords& words) {
      ids.clear();
      for (const auto& word : words) ids.push_back(vocabulary.find(word).value_or(unknown));
      writers[part]->add(ids);
    });
    for (std::size_t i = 0; i < names.size(); ++i)
      check(writers[i]->size() > 0, kWhere, "'{}': the part '{}' has no sentences", path.string(),
            names[i]);
    for (auto& writer : writers) writer->commit(source);
  } catch (const Stopped&) {
    return std::nullopt;
  }
  SentenceParts parts;
  for (const auto& name : names)
    parts.emplace_back(name, std::make_shared<const TokenFile>(folder / (name + ".tokens")));
  return parts;
}

}  // namespace pushdown
