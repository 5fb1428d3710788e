#include "task/number_treebank.h"

#include <algorithm>

#include "base/utf8.h"

namespace pushdown {
namespace {

enum class Number { none, singular, plural };

Number number_feature(const ConlluWord& word) {
  const auto value = feature(word, "Number");
  return value == "Sing" ? Number::singular : value == "Plur" ? Number::plural : Number::none;
}

// Returns the number of a present-tense verb, otherwise none.
Number verb_number(const ConlluWord& word) {
  if (word.xpos == "VBZ") return Number::singular;
  if (word.xpos == "VBP") return Number::plural;
  if (word.xpos.starts_with("VB") || word.xpos == "MD") return Number::none;
  const auto person = feature(word, "Person");
  if (feature(word, "VerbForm") != "Fin" || feature(word, "Tense") != "Pres" ||
      (!person.empty() && person != "3"))
    return Number::none;
  return number_feature(word);
}

// Returns whether the word is a finite verb form other than present: a modal or a past tense.
bool other_finite(const ConlluWord& word) {
  if (word.xpos == "MD" || word.xpos == "VBD") return true;
  return feature(word, "VerbForm") == "Fin" && feature(word, "Tense") != "Pres";
}

Number noun_number(const ConlluWord& word, bool proper) {
  const bool noun = word.upos == "NOUN" || (word.upos.empty() && word.xpos.starts_with("NN"));
  if (!noun && !(proper && word.upos == "PROPN")) return Number::none;
  if (word.xpos == "NN" || word.xpos == "NNP") return Number::singular;
  if (word.xpos == "NNS" || word.xpos == "NNPS") return Number::plural;
  return number_feature(word);
}

// Compares without the subtype: nsubj:pass is nsubj.
bool is_relation(const ConlluWord& word, std::string_view relation) {
  return word.relation == relation ||
         (word.relation.starts_with(relation) && word.relation[relation.size()] == ':');
}

bool is_lower(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

std::string ascii_lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  return text;
}

// Replaces white space in a word.
std::string one_word(const std::string& form, const Fold& fold) {
  std::string word = fold ? fold(form) : form;
  for (char& c : word)
    if (is_white_space(c)) c = '_';
  return word;
}

// Returns the index (from 0) of the verb that agrees with the subject of the predicate, or -1. It
// is the first present-tense verb among the predicate and its auxiliaries.
int agreeing_verb(const ConlluSentence& sentence, int predicate, bool auxiliaries) {
  int verb = -1;
  for (int i = 0; i < static_cast<int>(sentence.words.size()); ++i) {
    const auto& word = sentence.words[i];
    const bool helps =
        word.head == predicate + 1 && (is_relation(word, "aux") || is_relation(word, "cop"));
    if (helps && other_finite(word)) return -1;
    if (!helps && i != predicate) continue;
    if (verb < 0 && verb_number(word) != Number::none) verb = i;
  }
  const bool helper = verb >= 0 && (verb != predicate || sentence.words[verb].upos == "AUX");
  return helper && !auxiliaries ? -1 : verb;
}

}  // namespace

NumberTreebank::NumberTreebank(NumberTreebankOptions options)
    : options_(std::move(options)), random_(options_.seed, "sentences with several verbs") {}

void NumberTreebank::count_forms(const ConlluSentence& sentence) {
  for (const auto& word : sentence.words) {
    const auto number = verb_number(word);
    if (number == Number::none || word.lemma.empty()) continue;
    ++forms_[number == Number::plural][word.lemma][ascii_lower(word.form)];
  }
}

void NumberTreebank::add(const ConlluSentence& sentence) {
  count_forms(sentence);
  const int size = static_cast<int>(sentence.words.size());
  NumberExamples found;
  std::vector<std::string> lemmas;
  // Positions of the words among the output words; only the first word of a range has one.
  std::vector<int> place(size);
  const auto words = forms(sentence, options_.surface);
  {
    int at = 0;
    std::size_t range = 0;
    for (int i = 0; i < size; ++i, ++at) {
      place[i] = at;
      if (!options_.surface || range == sentence.ranges.size() ||
          sentence.ranges[range].first != i + 1)
        continue;
      for (; i + 1 < sentence.ranges[range].last; ++i) place[i + 1] = -1;
      ++range;
    }
  }
  for (int s = 0; s < size; ++s) {
    const auto& subject = sentence.words[s];
    const auto number = noun_number(subject, options_.proper_nouns);
    if (number == Number::none || !is_relation(subject, "nsubj") || subject.head < 1) continue;
    const int verb = agreeing_verb(sentence, subject.head - 1, options_.auxiliaries);
    if (verb <= s || verb_number(sentence.words[verb]) != number || place[verb] < 1) continue;
    NumberExample example;
    example.plural = number == Number::plural;
    example.attractors = example.intervening = 0;
    for (int i = s + 1; i < verb; ++i) {
      const auto between = noun_number(sentence.words[i], options_.proper_nouns);
      example.intervening += between != Number::none;
      example.attractors += between != Number::none && between != number;
    }
    for (int i = 0; i < place[verb]; ++i)
      example.prefix.append(i == 0 ? "" : " ").append(one_word(words[i], options_.fold));
    // A surface word may contain more than the verb; the example then has the whole word.
    example.verb = one_word(words[place[verb]], options_.fold);
    const bool whole = words[place[verb]] == sentence.words[verb].form;
    found.push_back(std::move(example));
    lemmas.push_back(whole ? sentence.words[verb].lemma : "");
  }
  if (options_.one_for_each_sentence && found.size() > 1) {
    const auto k = random_.below(found.size());
    found = {std::move(found[k])};
    lemmas = {std::move(lemmas[k])};
  }
  std::move(found.begin(), found.end(), std::back_inserter(examples_));
  std::move(lemmas.begin(), lemmas.end(), std::back_inserter(lemmas_));
}

std::string NumberTreebank::other_form(const std::string& verb, const std::string& lemma,
                                       bool plural) const {
  if (lemma.empty() || !is_lower(verb)) return {};
  if (auto known = other_number_of_auxiliary(verb, lemma, plural); !known.empty()) return known;
  if (lemma == "be" || lemma == "have" || lemma == "do") return {};
  const auto entry = forms_[!plural].find(lemma);
  if (entry == forms_[!plural].end()) return {};
  const auto best =
      std::max_element(entry->second.begin(), entry->second.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  // A verb with the same form for both numbers is not informative.
  return best->first == verb ? std::string() : best->first;
}

NumberExamples NumberTreebank::finish() {
  for (std::size_t i = 0; i < examples_.size(); ++i)
    examples_[i].other = other_form(examples_[i].verb, lemmas_[i], examples_[i].plural);
  lemmas_.clear();
  return std::exchange(examples_, {});
}

}  // namespace pushdown
