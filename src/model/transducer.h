// A transducer reads a source string and writes a target string (Grefenstette et al. 2015, section
// 4). It reads the joint sequence
//   <s> a_1 .. a_k ||| b_1 .. b_m
// and from the separator ||| onwards predicts b_1, .., b_m and the end </s>:
//   o_t = tanh(W_o h_t + b_o),   p(b | what was read) = softmax(E o_t + c)
// with o_t of size output_embedding (section 3.4; the paper's parameter counts correspond to 64).
// With output_embedding = 0, the softmax is applied directly to h_t, or with rectified to its
// positive part, as Delétang et al. (2023) do. Without feedback, the
// separator also replaces b_1 .. b_m in the input, like the empty tape of Delétang et al. (2023).
// With alignment 'along' there is no separator, no end, and one target symbol for each symbol of
// the source, which is predicted as soon as that symbol has been read (sequence labelling): from
//   <s> a_1 .. a_k,   b_t after a_t.
// Source and target have separate alphabets, even if their symbols are spelled alike, so that an
// embedding has separate rows for them.
//
// Dimension letters: B batch, n length of the joint sequence, P predictions, H hidden.
#pragma once
#include "model/sequence_model.h"

namespace pushdown {

// Returns architecture, the options of that network, output_embedding, feedback, alignment, dtype,
// device, seed.
std::vector<OptionSpec> transducer_options(const std::string& architecture = "recurrent");

// A batch of joint sequences. The rows of `inputs` are in descending order of length, padded at
// their ends; everything else is in the order of the pairs.
struct JointBatch {
  Tensor inputs;                      // B x n, int64: the symbols to read
  std::vector<std::int64_t> lengths;  // B: of the rows
  std::vector<std::int64_t> sources;  // B: of the sources in the rows
  Tensor targets;  // P, int64: the symbols to predict, one sequence after the other
  Tensor places;   // P, int64: row (n + 1) + t of the hidden vector h_t that predicts it
  std::vector<std::int64_t> predictions;  // B: m + 1 each, with the end and padding; along: m
};

class Transducer : public SequenceModel {
 public:
  Transducer(Alphabet source, Alphabet target, const Json& options,
             const Kinds& kinds = registered_kinds());

  std::string kind() const override { return "transducer"; }
  const Alphabet& target_alphabet() const { return target_; }
  // Returns whether it writes during the source, without an end.
  bool along() const { return along_; }

  // Input ids: source symbols have their ids, followed by start, separator, and the target symbols.
  std::int64_t start_input() const { return alphabet_.size(); }
  std::int64_t separator_input() const { return alphabet_.size() + 1; }
  std::int64_t target_input(std::int64_t id) const { return alphabet_.size() + 2 + id; }
  // Returns the input id that follows a written target symbol.
  std::int64_t written_input(std::int64_t id) const {
    return feedback_ ? target_input(id) : separator_input();
  }
  // Outcome ids: target symbols have their ids, followed by the end.
  std::int64_t end_outcome() const { return target_.size(); }

  // Throws std::invalid_argument if there are no pairs, the lists differ in length, an id is
  // outside its alphabet, or a target written along has another length than its source. `padded`:
  // after its end, a target shorter than its source is followed by the first symbol of the target
  // alphabet, up to the source's length and the end; not with feedback or along (Delétang et al.
  // 2023, who train on this padding).
  JointBatch joint(const std::vector<Word>& sources, const std::vector<Word>& targets,
                   bool padded = false) const;
  // Returns the logits of the predictions : P x (target symbols + 1; along: without the end). With
  // `noise` it is a training pass.
  Tensor logits(const JointBatch& batch, Random* noise = nullptr) const;
  // Returns -log p of the targets : P, in nats.
  Tensor losses(const JointBatch& batch, Random* noise = nullptr) const;

  // The most probable symbol after each step, until the end. `longest`: a target that has not ended
  // after this many symbols ends there.
  struct Translation {
    Word target;
    bool ended = true;
  };
  std::vector<Translation> translate(const std::vector<Word>& sources, std::int64_t longest) const;
  // The most probable of the targets that a beam search finds, which keeps the `beam` most probable
  // beginnings after each symbol. beam = 1 is translate(); a beam of all targets is exact.
  Translation translate(const Word& source, std::int64_t longest, std::int64_t beam) const;

 private:
  Tensor scores(const Tensor& hiddens) const;  // ... x H -> ... x outcomes

  Alphabet target_;
  bool feedback_, along_, rectified_;
  Tensor interface_weight_, interface_bias_;  // W_o, b_o; undefined with output_embedding = 0
};
using TransducerPtr = std::shared_ptr<Transducer>;

}  // namespace pushdown
