#include "recurrence/execute/answer_losses.h"

#include <cmath>
#include <limits>

namespace pushdown {
namespace {

template <class F>
F dot(const F* a, const F* b, std::int64_t n) {
  F sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

template <class F>
void add_multiple(F factor, const F* from, F* to, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) to[i] += factor * from[i];
}

// Values and derivatives for one batch.
template <class F>
struct AnswerHead {
  AnswerCosts costs;
  std::int64_t strings, first, steps, hidden, outcomes = 0;  // outcomes: 0 without symbols
  Tensor hiddens, validity, symbols;                         // as given; 1 x H and O x H
  Tensor slopes;  // B x T x (1 + O): derivatives of the loss by the score and by the logits

  AnswerHead(const AnswerRows& rows, const AnswerLayers& layers, const AnswerCosts& costs)
      : costs(costs),
        strings(rows.hiddens.size(0)),
        first(rows.first),
        steps(rows.hiddens.size(1) - first),
        hidden(rows.hiddens.size(2)),
        hiddens(rows.hiddens.detach().contiguous()),
        validity(layers.validity_weight.contiguous()) {
    if (costs.symbol_weight <= 0) return;
    symbols = layers.symbol_weight.contiguous();
    outcomes = symbols.size(0);
  }

  // Computes one step; returns its loss.
  F step(const F* h, F label, std::int64_t next, F bias, const F* symbol_bias, F* score,
         F* slope) const {
    const F x = dot(h, validity.data_ptr<F>(), hidden) + bias;
    const F p = 1 / (1 + std::exp(-x)), v = static_cast<F>(costs.validity_weight);
    *score = x;
    F loss;
    if (costs.squared) {
      loss = v * (p - label) * (p - label) / 2;
      slope[0] = v * (p - label) * p * (1 - p);
    } else {
      loss = v * (std::max(x, F(0)) + std::log1p(std::exp(-std::abs(x))) - x * label);
      slope[0] = v * (p - label);
    }
    F* by_logits = slope + 1;
    if (next < 0 || (!costs.symbols_of_invalid && label <= F(0.5))) {
      std::fill(by_logits, by_logits + outcomes, F(0));
      return loss;
    }
    F greatest = -std::numeric_limits<F>::infinity(), total = 0;
    for (std::int64_t o = 0; o < outcomes; ++o) {
      by_logits[o] = dot(h, symbols.data_ptr<F>() + o * hidden, hidden) + symbol_bias[o];
      greatest = std::max(greatest, by_logits[o]);
    }
    const F logit = by_logits[next], s = static_cast<F>(costs.symbol_weight);
    for (std::int64_t o = 0; o < outcomes; ++o)
      total += by_logits[o] = std::exp(by_logits[o] - greatest);
    for (std::int64_t o = 0; o < outcomes; ++o) by_logits[o] *= s / total;
    by_logits[next] -= s;
    return loss + s * (std::log(total) + greatest - logit);
  }

  AnswerGradients forward(const AnswerRows& rows, const AnswerLayers& layers) {
    const Tensor labels = rows.labels.contiguous(),
                 next = outcomes > 0 ? rows.next.contiguous() : Tensor(),
                 weights = rows.weights.defined()
                               ? rows.weights.to(hiddens.scalar_type()).contiguous()
                               : Tensor();
    const Tensor symbol_bias = outcomes > 0 ? layers.symbol_bias.contiguous() : Tensor();
    const F bias = *layers.validity_bias.template data_ptr<F>();
    AnswerGradients result{at::zeros({strings}, hiddens.options()),
                           at::empty({strings, steps}, hiddens.options()), at::zeros_like(hiddens)};
    slopes = at::empty({strings, steps, 1 + outcomes}, hiddens.options());
    const F* h = hiddens.data_ptr<F>();
    F *loss = result.losses.template data_ptr<F>(), *score = result.scores.template data_ptr<F>(),
      *slope = slopes.data_ptr<F>();
    for (std::int64_t b = 0; b < strings; ++b)
      for (std::int64_t t = 0; t < steps; ++t) {
        const auto row = b * steps + t;
        F of_step = step(h + (row + (b + 1) * first) * hidden, labels.template data_ptr<F>()[b],
                         outcomes > 0 ? next.template data_ptr<std::int64_t>()[row] : -1, bias,
                         outcomes > 0 ? symbol_bias.template data_ptr<F>() : nullptr, score + row,
                         slope + row * (1 + outcomes));
        if (weights.defined()) {
          const F weight = weights.template data_ptr<F>()[row];
          of_step *= weight;
          for (std::int64_t o = 0; o <= outcomes; ++o) slope[row * (1 + outcomes) + o] *= weight;
        }
        loss[b] += of_step;
      }
    return result;
  }

  // Adds `scale` times the gradients of the sum of the losses to the gradients of the hidden
  // vectors and of the layers: W, b, V, c.
  void backward(F scale, const std::vector<Tensor>& results) const {
    const auto data = [&](std::size_t i) {
      return i < results.size() ? results[i].data_ptr<F>() : nullptr;
    };
    F *of_hiddens = data(0), *of_validity = data(1), *of_bias = data(2), *of_symbols = data(3),
      *of_symbol_bias = data(4);
    const F *h = hiddens.data_ptr<F>(), *slope = slopes.data_ptr<F>();
    for (std::int64_t b = 0; b < strings; ++b) {
      h += first * hidden;
      of_hiddens += first * hidden;
      for (std::int64_t t = 0; t < steps; ++t, h += hidden, of_hiddens += hidden) {
        const F by_score = scale * *slope++;
        add_multiple(by_score, validity.data_ptr<F>(), of_hiddens, hidden);
        add_multiple(by_score, h, of_validity, hidden);
        *of_bias += by_score;
        for (std::int64_t o = 0; o < outcomes; ++o) {
          const F by_logit = scale * *slope++;
          add_multiple(by_logit, symbols.data_ptr<F>() + o * hidden, of_hiddens, hidden);
          add_multiple(by_logit, h, of_symbols + o * hidden, hidden);
          of_symbol_bias[o] += by_logit;
        }
      }
    }
  }
};

template <class F>
AnswerGradients at_once(const AnswerRows& rows, const AnswerLayers& layers,
                        const AnswerCosts& costs, double scale) {
  const at::NoGradGuard no_gradient;
  AnswerHead<F> head(rows, layers, costs);
  AnswerGradients result = head.forward(rows, layers);
  std::vector<Tensor> into{result.slopes};
  const auto layer = [&](const Tensor& parameter) {
    into.push_back(parameter.requires_grad() ? gradient_of(parameter) : at::zeros_like(parameter));
  };
  layer(layers.validity_weight);
  layer(layers.validity_bias);
  if (head.outcomes > 0) {
    layer(layers.symbol_weight);
    layer(layers.symbol_bias);
  }
  head.backward(static_cast<F>(scale), into);
  return result;
}

}  // namespace

bool suits_answers(const Tensor& hiddens) {
  return hiddens.is_cpu() &&
         (hiddens.scalar_type() == at::kFloat || hiddens.scalar_type() == at::kDouble);
}

AnswerGradients differentiate_answers(const AnswerRows& rows, const AnswerLayers& layers,
                                      const AnswerCosts& costs, double scale) {
  return rows.hiddens.scalar_type() == at::kFloat ? at_once<float>(rows, layers, costs, scale)
                                                  : at_once<double>(rows, layers, costs, scale);
}

}  // namespace pushdown
