#include "model/attachment_head.h"

#include <limits>

#include "tensor/product.h"

namespace pushdown {
namespace {

// Marks where row b of `parses` may attach its next symbol.
void mark_choices(const IncrementalParse& parse, bool* row) {
  for (const int choice : parse.choices()) row[choice] = true;
}

void copy_depths(const IncrementalParse& parse, std::int64_t* row) {
  for (std::size_t i = 0; i < parse.depths().size(); ++i) row[i + 1] = parse.depths()[i];
}

}  // namespace

ParseOfBatch parse_of_batch(const Tensor& attachments) {
  const auto batch = attachments.size(0), length = attachments.size(1);
  ParseOfBatch result{at::zeros({batch, length + 1, length + 1}, at::kLong),
                      at::zeros({batch, length, length}, at::kBool)};
  const Tensor given = attachments.contiguous();
  auto* depths = result.depths.data_ptr<std::int64_t>();
  auto* choices = result.choices.data_ptr<bool>();
  for (std::int64_t b = 0; b < batch; ++b) {
    IncrementalParse parse;
    depths += length + 1;
    for (std::int64_t t = 0; t < length; ++t) {
      mark_choices(parse, choices);
      parse.add(static_cast<int>(given.data_ptr<std::int64_t>()[b * length + t]));
      copy_depths(parse, depths);
      choices += length;
      depths += length + 1;
    }
  }
  return result;
}

AttachmentHead::AttachmentHead(const ModuleContext& context, ParameterList& parameters)
    : inner_weight_(xavier_parameter(context.input, 2 * context.input, 1.0, context)),
      inner_bias_(uniform_parameter({context.input}, -0.1, 0.1, context)),
      outer_weight_(xavier_parameter(context.input, context.input, 1.0, context)),
      outer_bias_(uniform_parameter({context.input}, -0.1, 0.1, context)),
      choice_weight_(xavier_parameter(context.input, context.input, 1.0, context)),
      distance_weight_(xavier_parameter(context.input, context.input, 1.0, context)),
      distances_(context.input, 1, context.tensor_options) {
  for (const auto& [name, tensor] : {std::pair{"inner_weight", inner_weight_},
                                     {"inner_bias", inner_bias_},
                                     {"outer_weight", outer_weight_},
                                     {"outer_bias", outer_bias_},
                                     {"choice_weight", choice_weight_},
                                     {"distance_weight", distance_weight_}})
    parameters.emplace_back(std::string("attachment_") + name, tensor);
}

Tensor AttachmentHead::log_probabilities(const Tensor& embedded, const Tensor& before,
                                         const Tensor& hiddens, const Tensor& choices) const {
  const auto count = embedded.size(1), all = choices.size(2);
  const Tensor units = linear_product(
      linear_product(at::cat({embedded, before}, 2), inner_weight_, inner_bias_).relu(),
      outer_weight_, outer_bias_);                               // B x n x d
  const Tensor queries = linear_product(units, choice_weight_);  // B x n x d
  const Tensor earlier =
      at::constant_pad_nd(product(queries, hiddens.transpose(1, 2)), {0, 1});  // B x n x (t+n)
  const Tensor own = (queries * units).sum(2, true);                           // B x n x 1
  const Tensor vectors = linear_product(distances_.rows(0, all), distance_weight_);
  const Tensor of_distances =
      scores_of_distances(product(queries, vectors.t()).unsqueeze(1), all - count).squeeze(1);
  // Symbol i of these is position t + i of the choices.
  const Tensor places = at::arange(all);
  const Tensor itself = places.narrow(0, all - count, count).unsqueeze(1) == places;  // n x (t+n)
  const Tensor scores = at::where(itself.to(embedded.device()), own, earlier) + of_distances;
  return scores
      .masked_fill(choices.to(embedded.device()).logical_not(),
                   -std::numeric_limits<double>::infinity())
      .log_softmax(2);
}

Attachments most_probable(const Tensor& log_probabilities) {
  const Tensor places = log_probabilities.argmax(1).cpu().contiguous();
  const auto* first = places.data_ptr<std::int64_t>();
  return Attachments(first, first + places.numel());
}

void AttachmentState::attach(const Attachments& attachments) {
  for (std::size_t b = 0; b < parses.size(); ++b) parses[b].add(attachments[b]);
}

Tensor AttachmentState::choices() const {
  const std::int64_t all = parses.front().size() + 1;
  Tensor marks = at::zeros({static_cast<std::int64_t>(parses.size()), 1, all}, at::kBool);
  auto* row = marks.data_ptr<bool>();
  for (const auto& parse : parses) {
    mark_choices(parse, row);
    row += all;
  }
  return marks;
}

Tensor AttachmentState::depths() const {
  const std::int64_t all = parses.front().size() + 1;
  Tensor numbers = at::zeros({static_cast<std::int64_t>(parses.size()), 1, all}, at::kLong);
  auto* row = numbers.data_ptr<std::int64_t>();
  for (const auto& parse : parses) {
    copy_depths(parse, row);
    row += all;
  }
  return numbers;
}

Tensor AttachmentState::all_depths() const {
  std::vector<Tensor> rows;
  for (const auto& parse : parses)
    rows.push_back(at::tensor(attachments_of(parse.size(), parse.constituents()), at::kLong));
  return parse_of_batch(at::stack(rows)).depths;
}

}  // namespace pushdown
