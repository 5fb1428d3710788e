// Number prediction from a treebank in CoNLL-U. In every clause with a subject to the left of its
// present-tense verb, the example consists of the words before the verb.
//
//   verb     a word of the part of speech VBZ or VBP; in treebanks without these, a finite word
//            (VerbForm=Fin, Tense=Pres) of the third person or without a person, with a Number. It
//            is the predicate itself, or an auxiliary or copula of it (aux, aux:pass, cop): in "the
//            keys to the cabinet are here" the subject depends on "here", but "are" agrees with it.
//            This includes are, is, have, has, do and does, as in Linzen et al.; without
//            `auxiliaries` they are left out.
//   subject  a NOUN, its number by NN and NNS, otherwise by its Number, that is nsubj or one of its
//            subtypes of the predicate. PROPN counts as a noun only with `proper_nouns`. If its
//            number differs from the verb's (coordinations, collective nouns, mistakes), there is
//            no example.
//   between  nouns of the same kind between subject and verb; those of the other number are
//            attractors.
//
// The other form of the verb is is/are, has/have, does/do, or the form that the treebank itself
// shows most often for the verb's lemma in the other number. It is looked up in lower case; a verb
// that is not in lower case has no other form.
#pragma once
#include <map>

#include "task/conllu.h"
#include "task/number_prediction.h"

namespace pushdown {

struct NumberTreebankOptions {
  bool auxiliaries = true;
  bool proper_nouns = false;
  bool surface = false;  // surface words instead of syntactic words: don't, not do n't
  bool one_for_each_sentence = false;  // if there are several, one at random, as in Linzen et al.
  std::uint64_t seed = 0;
  Fold fold = nullptr;
};

// Collects examples from one sentence after another.
class NumberTreebank {
 public:
  explicit NumberTreebank(NumberTreebankOptions options);

  void add(const ConlluSentence& sentence);
  // Returns the examples of all sentences, with the other forms known by now, and clears them.
  NumberExamples finish();

 private:
  void count_forms(const ConlluSentence& sentence);
  std::string other_form(const std::string& verb, const std::string& lemma, bool plural) const;

  NumberTreebankOptions options_;
  Random random_;
  NumberExamples examples_;
  std::vector<std::string> lemmas_;  // of the verbs of the examples
  // lemma -> form in lower case -> count; [plural]
  std::map<std::string, std::map<std::string, std::int64_t>> forms_[2];
};

}  // namespace pushdown
