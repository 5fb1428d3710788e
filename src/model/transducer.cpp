#include "model/transducer.h"

#include <numeric>

#include "base/check.h"
#include "base/stopping.h"
#include "recurrence/affine.h"

namespace pushdown {
namespace {

constexpr auto kWhere = "model.transducer";

const std::vector<OptionSpec>& transducer_own_options() {
  static const std::vector<OptionSpec> specs{
      integer_option("output_embedding", 64,
                     "size of the vector tanh(W_o h + b_o) that the softmax is applied to; 0: the "
                     "softmax is applied to h",
                     0),
      boolean_option("rectified", false,
                     "with output_embedding = 0: apply the softmax to the positive part of h"),
      boolean_option("feedback", true,
                     "read each written target symbol; false: read the separator instead"),
      text_option("alignment", "after",
                  "when targets are written: after the source; or along with it, one symbol after "
                  "each symbol of the source, which reads no target",
                  {"after", "along"})};
  return specs;
}

void check_word(const char* what, const Word& word, const Alphabet& alphabet) {
  for (const int id : word)
    check(id >= 0 && id < alphabet.size(), kWhere, "{} symbol ids must be 0 to {}, got {}", what,
          alphabet.size() - 1, id);
}

}  // namespace

std::vector<OptionSpec> transducer_options(const std::string& architecture) {
  return sequence_model_options(kWhere, architecture, transducer_own_options());
}

Transducer::Transducer(Alphabet source, Alphabet target, const Json& options, const Kinds& kinds)
    : SequenceModel(std::move(source), kWhere, transducer_own_options(), options, kinds),
      target_(std::move(target)),
      feedback_(options_["feedback"]),
      along_(options_["alignment"] == "along"),
      rectified_(options_["rectified"]) {
  check(target_.size() > 0, kWhere, "the target alphabet is empty");
  const std::int64_t size = options_["output_embedding"];
  check(!rectified_ || size == 0, kWhere,
        "'rectified' needs output_embedding = 0, whose softmax is applied to the hidden state, "
        "got {}",
        size);
  if (along_)
    build(kinds, 1, target_.size(), size);
  else
    build(kinds, 2 + target_.size(), target_.size() + 1, size);
  if (size == 0) return;
  Random random(options_["seed"].get<std::uint64_t>(), "interface");
  const ModuleContext context{network_->hidden_size(), output_weight_.options(), &random};
  interface_weight_ = xavier_parameter(size, context.input, 5.0 / 3.0, context);
  interface_bias_ = uniform_parameter({size}, -0.1, 0.1, context);
  parameters_.emplace_back("interface.weight", interface_weight_);
  parameters_.emplace_back("interface.bias", interface_bias_);
}

JointBatch Transducer::joint(const std::vector<Word>& sources, const std::vector<Word>& targets,
                             bool padded) const {
  check(!padded || (!feedback_ && !along_), kWhere,
        "padded targets need feedback = false and alignment = 'after', because nothing is read "
        "after an end");
  // The symbols that follow the end of target b.
  const auto padding = [&](std::size_t b) {
    return padded ? std::max(std::ssize(sources[b]) - std::ssize(targets[b]), std::ptrdiff_t{0})
                  : 0;
  };
  check(!sources.empty() && sources.size() == targets.size(), kWhere,
        "the numbers of sources and targets must be equal and at least 1, got {} and {}",
        targets.size(), sources.size());
  std::vector<std::int64_t> lengths;
  for (std::size_t b = 0; b < sources.size(); ++b) {
    check_word("source", sources[b], alphabet_);
    check_word("target", targets[b], target_);
    check(!along_ || sources[b].size() == targets[b].size(), kWhere,
          "with alignment 'along', a target has as many symbols as its source, {}, got {}",
          sources[b].size(), targets[b].size());
    lengths.push_back(static_cast<std::int64_t>(
        along_ ? sources[b].size() + 1 : sources[b].size() + targets[b].size() + padding(b) + 2));
  }
  std::vector<std::size_t> longest_first(sources.size()), rows(sources.size());
  std::iota(longest_first.begin(), longest_first.end(), 0);
  std::stable_sort(longest_first.begin(), longest_first.end(),
                   [&](std::size_t a, std::size_t b) { return lengths[a] > lengths[b]; });
  JointBatch batch;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    rows[longest_first[row]] = row;
    batch.lengths.push_back(lengths[longest_first[row]]);
    batch.sources.push_back(std::ssize(sources[longest_first[row]]));
  }
  const auto n = batch.lengths.front();
  // Padding is never predicted, and nothing before it depends on it.
  batch.inputs = at::full({static_cast<std::int64_t>(sources.size()), n},
                          along_ ? start_input() : separator_input(), at::kLong);
  std::vector<std::int64_t> outcomes, places;
  for (std::size_t b = 0; b < sources.size(); ++b) {
    const auto row = static_cast<std::int64_t>(rows[b]);
    auto* input = batch.inputs.data_ptr<std::int64_t>() + row * n;
    *input++ = start_input();
    for (const int id : sources[b]) *input++ = id;
    batch.predictions.push_back(static_cast<std::int64_t>(targets[b].size()) + padding(b) +
                                (along_ ? 0 : 1));
    // h_t depends on t symbols.
    if (along_) {
      for (std::size_t t = 0; t < targets[b].size(); ++t) {
        outcomes.push_back(targets[b][t]);
        places.push_back(row * (n + 1) + static_cast<std::int64_t>(t) + 2);
      }
      continue;
    }
    *input++ = separator_input();
    auto place = row * (n + 1) + static_cast<std::int64_t>(sources[b].size()) + 2;
    for (const int id : targets[b]) {
      *input++ = written_input(id);
      outcomes.push_back(id);
      places.push_back(place++);
    }
    outcomes.push_back(end_outcome());
    places.push_back(place++);
    // The rest of the row consists of separators.
    for (auto k = padding(b); k > 0; --k) {
      outcomes.push_back(0);
      places.push_back(place++);
    }
  }
  batch.targets = at::tensor(outcomes, at::kLong);
  batch.places = at::tensor(places, at::kLong);
  return batch;
}

Tensor Transducer::scores(const Tensor& hiddens) const {
  const Tensor output = interface_weight_.defined()
                            ? affine(hiddens, interface_weight_, interface_bias_).tanh()
                        : rectified_ ? hiddens.relu()
                                     : hiddens;
  return affine(output, output_weight_, output_bias_);
}

Tensor Transducer::logits(const JointBatch& batch, Random* noise) const {
  // B x (n+1) x H
  const Tensor hiddens = network_
                             ->run({.words = batch.inputs,
                                    .noise = noise,
                                    .lengths = batch.lengths,
                                    .sources = batch.sources})
                             .hiddens;
  return scores(hiddens.flatten(0, 1).index_select(0, batch.places.to(hiddens.device())));
}

Tensor Transducer::losses(const JointBatch& batch, Random* noise) const {
  const Tensor all = logits(batch, noise).log_softmax(-1);
  return -all.gather(1, batch.targets.to(all.device()).unsqueeze(1)).squeeze(1);
}

std::vector<Transducer::Translation> Transducer::translate(const std::vector<Word>& sources,
                                                           std::int64_t longest) const {
  check(longest >= 0, kWhere, "longest must be at least 0, got {}", longest);
  if (sources.empty()) return {};
  at::NoGradGuard no_grad;
  const auto batch = static_cast<std::int64_t>(sources.size());
  std::vector<Translation> results(sources.size());
  std::vector<bool> open(sources.size(), true);
  std::size_t shortest = sources[0].size(), greatest = 0;
  for (const Word& source : sources) {
    check_word("source", source, alphabet_);
    shortest = std::min(shortest, source.size());
    greatest = std::max(greatest, source.size());
  }
  // Steps before the first one after which a target is written.
  const std::size_t silent = along_ ? 1 : shortest + 1;
  for (std::size_t b = 0; along_ && b < sources.size(); ++b) open[b] = !sources[b].empty();
  std::vector<std::int64_t> lengths;
  for (const Word& source : sources) lengths.push_back(std::ssize(source));
  auto state =
      network_->initial_of_pairs(lengths, static_cast<std::int64_t>(greatest) + 2 + longest);
  Tensor inputs = at::empty({batch, 1}, at::kLong);
  auto* input = inputs.data_ptr<std::int64_t>();
  const StopCheck stop;
  // Sources of different lengths are read in parallel; each string begins to write when its source
  // ends.
  for (std::size_t t = 0; std::find(open.begin(), open.end(), true) != open.end(); ++t) {
    for (std::size_t b = 0; b < sources.size(); ++b) {
      const Word& source = sources[b];
      if (t == 0)
        input[b] = start_input();
      else if (t <= source.size())
        input[b] = source[t - 1];
      else if (along_)
        input[b] = start_input();
      else if (t == source.size() + 1)
        input[b] = separator_input();
      else if (open[b])
        input[b] = written_input(results[b].target.back());
    }
    stop();
    const Passes read = network_->advance(inputs, 1, state, nullptr);
    state = read.state;
    if (t < silent) continue;
    const Tensor best = scores(read.hiddens.select(1, 0)).argmax(1).cpu().contiguous();
    for (std::size_t b = 0; b < sources.size(); ++b) {
      if (!open[b] || (!along_ && t < sources[b].size() + 1)) continue;
      const auto outcome = best.data_ptr<std::int64_t>()[b];
      auto& [target, ended] = results[b];
      ended = outcome == end_outcome();
      if (ended || static_cast<std::int64_t>(target.size()) == longest)
        open[b] = false;
      else
        target.push_back(static_cast<int>(outcome));
      if (!along_ || t < sources[b].size()) continue;
      ended = target.size() == sources[b].size();
      open[b] = false;
    }
  }
  return results;
}

Transducer::Translation Transducer::translate(const Word& source, std::int64_t longest,
                                              std::int64_t beam) const {
  check(longest >= 0, kWhere, "longest must be at least 0, got {}", longest);
  check(beam >= 1, kWhere, "beam must be at least 1, got {}", beam);
  check_word("source", source, alphabet_);
  // Without knowledge of earlier answers, each symbol is chosen by itself.
  if (along_) return translate(std::vector<Word>{source}, longest).front();
  at::NoGradGuard no_grad;
  struct Beginning {
    Word target;
    double log_probability = 0;
    NetworkStatePtr state;  // after the last symbol but one
    std::int64_t input = 0;
  };
  struct Outcome {
    std::size_t of;  // number of the beginning
    std::int64_t symbol;
    double log_probability;
  };
  std::vector<std::int64_t> ids{start_input()};
  ids.insert(ids.end(), source.begin(), source.end());
  const auto length = std::ssize(source) + 2 + longest;
  std::vector<Beginning> open{
      {{},
       0,
       network_
           ->advance(at::tensor(ids, at::kLong).unsqueeze(0), 1,
                     network_->initial_of_pairs({std::ssize(source)}, length), nullptr)
           .state,
       separator_input()}};
  std::optional<Beginning> best;  // of those that have ended
  const StopCheck stop;
  for (;;) {
    std::vector<Outcome> outcomes;
    for (std::size_t b = 0; b < open.size(); ++b) {
      stop();
      auto& [target, log_probability, state, input] = open[b];
      const Passes read = network_->advance(at::full({1, 1}, input, at::kLong), 1, state, nullptr);
      state = read.state;
      const Tensor logs =
          scores(read.hiddens.select(1, 0)).to(at::kCPU, at::kDouble).log_softmax(1).contiguous();
      for (std::int64_t symbol = 0; symbol <= end_outcome(); ++symbol)
        outcomes.push_back({b, symbol, log_probability + logs.data_ptr<double>()[symbol]});
    }
    std::stable_sort(outcomes.begin(), outcomes.end(), [](const Outcome& a, const Outcome& b) {
      return a.log_probability > b.log_probability;
    });
    if (std::ssize(outcomes) > beam) outcomes.resize(static_cast<std::size_t>(beam));
    std::vector<Beginning> next;
    for (const auto& [of, symbol, log_probability] : outcomes) {
      const Beginning& from = open[of];
      if (symbol == end_outcome()) {
        if (!best || log_probability > best->log_probability)
          best = Beginning{from.target, log_probability, nullptr, 0};
      } else {
        next.push_back({from.target, log_probability, from.state, written_input(symbol)});
        next.back().target.push_back(static_cast<int>(symbol));
      }
    }
    // A longer target is never more probable than its beginning.
    const bool done = next.empty() || (best && best->log_probability >= next[0].log_probability);
    if (done) return {best->target, true};
    if (std::ssize(open[0].target) == longest) {
      if (best) return {best->target, true};
      next[0].target.pop_back();
      return {next[0].target, false};
    }
    open = std::move(next);
  }
}

}  // namespace pushdown
