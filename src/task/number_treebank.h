// Number prediction from a tree bank in CoNLL-U. In every clause with a subject to the left of its
// present verb the example is what comes before the verb.
//
//   verb     a word of the part of speech VBZ or VBP; in tree banks without these, a finite word
//            (VerbForm=Fin, Tense=Pres) of the third person or of none, with a Number. It is the
//            predicate itself, or an auxiliary or copula of it (aux, aux:pass, cop): in "the keys
//            to the cabinet are here" the subject hangs on "here", and "are" is what agrees. Like
//            this are, is, have, has, do and does counted, as Linzen et al. do; `auxiliaries`
//            leaves them out.
//   subject  a NOUN, its number by NN and NNS, else by its Number, that is nsubj or one of its
//            subtypes of the predicate. PROPN is a noun with `proper_nouns` alone. Where its
//            number is not the verb's (coordinations, collective nouns, mistakes) there is no
//            example.
//   between  nouns of the same kind between subject and verb; those of the other number are
//            attractors.
//
// The other form of the verb is is/are, has/have, does/do, or what the tree bank itself shows most
// often for the verb's lemma in the other number; it is looked for in lower case, and nothing is
// said of a verb that is written otherwise.
#pragma once
#include <map>

#include "task/conllu.h"
#include "task/number_prediction.h"

namespace pushdown {

struct NumberTreebankOptions {
  bool auxiliaries = true;
  bool proper_nouns = false;
  bool surface = false;  // words of the text in place of syntactic words: don't, not do n't
  bool one_for_each_sentence = false;  // of several one at random, as Linzen et al. do
  std::uint64_t seed = 0;
  Fold fold = nullptr;
};

// Takes one sentence after another.
class NumberTreebank {
 public:
  explicit NumberTreebank(NumberTreebankOptions options);

  void add(const ConlluSentence& sentence);
  // The examples of all sentences, with the other forms that are known by now; leaves none.
  NumberExamples finish();

 private:
  void count_forms(const ConlluSentence& sentence);
  std::string other_form(const std::string& verb, const std::string& lemma, bool plural) const;

  NumberTreebankOptions options_;
  Random random_;
  NumberExamples examples_;
  std::vector<std::string> lemmas_;  // of the verbs of the examples
  // lemma -> form in lower case -> how often; [plural]
  std::map<std::string, std::map<std::string, std::int64_t>> forms_[2];
};

}  // namespace pushdown
