// Networks that build a parse while they read: every symbol attaches to an earlier one or to itself
// (model/attachment_head.h), and later hidden vectors depend on it. run() and read() let every
// symbol attach where this is most probable, so they compute the same in pieces as at once.
#pragma once
#include "grammar/incremental_parse.h"
#include "model/network.h"

namespace pushdown {

class AttachingNetwork {
 public:
  // Returns whether this one does so.
  virtual bool attaches() const = 0;
  // Returns h_0 .. h_n, B x (n+1) x H, with these attachments, B x n (int64), of words : B x n.
  // Throws std::invalid_argument if a symbol cannot attach there.
  virtual Tensor run_attached(const Tensor& words, const Tensor& attachments,
                              Random* noise) const = 0;
  // Returns the log-probabilities of the attachments given the symbols up to theirs and the
  // attachments before : B x n. hiddens : the result of run_attached().
  virtual Tensor attachment_log_probabilities(const Tensor& words, const Tensor& attachments,
                                              const Tensor& hiddens) const = 0;
  // Returns the log-probabilities of the attachments of the next symbols, word : B x 1, after t
  // symbols : B x (t+1), -infinity where they cannot attach. The state must be that of
  // Network::peek, which has read all t symbols.
  virtual Tensor next_attachments(const Tensor& word, const NetworkStatePtr& state) const = 0;
  // Gives the state of Network::peek the next symbols with their attachments, one for each string.
  virtual NetworkStatePtr attach(const Tensor& word, const Attachments& attachments,
                                 const NetworkStatePtr& state) const = 0;

 protected:
  ~AttachingNetwork() = default;
};

// Returns the network if it attaches symbols; otherwise null.
inline const AttachingNetwork* attaching(const Network& network) {
  const auto* found = dynamic_cast<const AttachingNetwork*>(&network);
  return found != nullptr && found->attaches() ? found : nullptr;
}

}  // namespace pushdown
