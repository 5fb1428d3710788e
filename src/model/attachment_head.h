// Where symbols attach in a parse that a network builds while it reads (Murty et al. 2023,
// grammar/incremental_parse.h). Symbol w_t, with embedding E, comes after h_{t-1}, the hidden
// vector that predicted it:
//     u_t = W_2 relu(W_1 [E; h_{t-1}] + b_1) + b_2,    q_t = U u_t,
//     score of an earlier symbol j:  q_t . (h_j + R p(t - j)),   of itself:  q_t . (u_t + R p(0)),
// and p(attachment) is the softmax over the choices that the parse has: it is a distribution over
// trees. p(k) is the sinusoidal encoding of distance k. As in the published program, whose relative
// encoding the term R p is, symbols attach only after they are known; unlike there, choices that
// the parse does not have get no probability in training, and h_j enters without another map.
//
// Dimension letters: B batch, n length, t symbols before, d size of the vectors.
#pragma once
#include "grammar/incremental_parse.h"
#include "model/network.h"
#include "model/positions.h"

namespace pushdown {

// The depths of all positions after each position, and the choices, for strings whose symbols
// attach as given. Position 0, before the first symbol, has depth 0.
struct ParseOfBatch {
  Tensor depths;   // B x (n+1) x (n+1), int64, on the CPU; 0 for later positions
  Tensor choices;  // B x n x n, bool: row t has the choices of symbol t
};
// attachments : B x n, int64, on the CPU. Throws std::invalid_argument as IncrementalParse::add.
ParseOfBatch parse_of_batch(const Tensor& attachments);
// Returns the most probable attachment of each string, log_probabilities : B x (t+1).
Attachments most_probable(const Tensor& log_probabilities);

class AttachmentHead {
 public:
  // Appends its parameters to `parameters`.
  AttachmentHead(const ModuleContext& context, ParameterList& parameters);

  // Returns the log-probabilities of the attachments of n symbols after t others: embedded and
  // before, h_{t-1}, are B x n x d, hiddens of the symbols in front of the last one, B x (t+n-1) x
  // d, choices B x n x (t+n) -> B x n x (t+n), -infinity where there is no choice.
  Tensor log_probabilities(const Tensor& embedded, const Tensor& before, const Tensor& hiddens,
                           const Tensor& choices) const;

 private:
  Tensor inner_weight_, inner_bias_, outer_weight_, outer_bias_, choice_weight_, distance_weight_;
  PositionTable distances_;
};

// The parses of a batch of strings while a network reads them.
struct AttachmentState {
  std::vector<IncrementalParse> parses;
  Tensor hiddens;      // of the positions so far, B x p x d
  Attachments chosen;  // of the symbol that was given and not yet read; empty: the most probable

  // Adds a symbol to each parse.
  void attach(const Attachments& attachments);
  // Returns the choices of the next symbols, B x 1 x (t+1).
  Tensor choices() const;
  // Returns the depths at the position of the last symbols, B x 1 x (t+1).
  Tensor depths() const;
  // Returns those at all positions, B x (t+1) x (t+1).
  Tensor all_depths() const;
};

}  // namespace pushdown
