// Stack networks in plain form, one sequence and one step at a time. The cells follow the equations
// of Mali et al. (2021), Appendix A, and of the cells' papers. The memories follow Joulin and
// Mikolov (2015), Suzgun et al. (2019) and Mali et al. (2021, equations 4-9).
#pragma once
#include <map>

#include "model/stack_rnn.h"

namespace pushdown::testing_support {

class RecurrenceReference {
 public:
  RecurrenceReference(const StackRnn& network, Json controller, Json stack)
      : recurrence_(network.recurrence()),
        controller_(std::move(controller)),
        stack_(std::move(stack)),
        size_(network.hidden_size()) {
    for (const auto& [name, tensor] : network.parameters()) p_[name] = tensor.detach();
  }

  // inputs : n x I, noise : n x H or undefined -> the hidden vectors of all passes : nK x H
  Tensor run(const Tensor& inputs, const Tensor& noise, int passes = 1, bool carry_first = false) {
    z_ = driver_ = at::zeros({size_}, at::kDouble);
    c_ = at::zeros({size_}, at::kDouble);
    begin();
    std::vector<Tensor> hiddens;
    int resting = 0;
    for (std::int64_t t = 0; t < inputs.size(0); ++t) {
      double u = 1;
      if (t > 0) {
        const Tensor a = actions();
        move(a);
        if (recurrence_.carry == CarryForward::soft) u = a[0].item<double>() + a[1].item<double>();
        if (recurrence_.carry == CarryForward::counter) {
          resting = a.argmax().item<std::int64_t>() == 2 ? resting + 1 : 0;
          if (resting > 1) u = 0;
          ++(u == 0 ? kept : updated);
        }
      }
      Tensor x = inputs[t];
      const Tensor r = reading();
      if (!recurrence_.coupled_state) x = at::cat({x, r});
      Tensor first_z, first_c;
      for (int pass = 0; pass < passes; ++pass) {
        Tensor hat = z_;
        if (recurrence_.coupled_state) hat = hat + at::mv(p_.at("coupling.weight"), r);
        if (noise.defined() && pass == 0) hat = hat + noise[t];
        const Tensor old_cell = c_;
        const auto [z, c] = cell(x, hat);
        z_ = u * z + (1 - u) * hat;
        c_ = u * c + (1 - u) * old_cell;
        hiddens.push_back(z_);
        if (pass > 0) continue;
        driver_ = first_z = z_;
        first_c = c_;
      }
      if (carry_first) z_ = first_z, c_ = first_c;
    }
    return at::stack(hiddens);
  }

  int kept = 0, updated = 0;  // steps, by the counter of carry-forward

 private:
  Tensor of(const std::string& name, const Tensor& x) const {
    return at::mv(p_.at("controller." + name + "_l0"), x);
  }
  Tensor of(const std::string& name) const { return p_.at("controller." + name + "_l0"); }
  Tensor squash(const Tensor& x) const {
    const auto name = controller_.value("activation", std::string("tanh"));
    if (name == "sigmoid") return x.sigmoid();
    return name == "tanh" ? x.tanh() : 1.7519 * (2 * x / 3).tanh();
  }
  Tensor affine(const Tensor& x, const Tensor& z) const {
    return of("weight_ih", x) + of("bias_ih") + of("weight_hh", z) + of("bias_hh");
  }
  Tensor integrated(const Tensor& x, const Tensor& z) const {
    const Tensor a = of("weight_ih", x), b = of("weight_hh", z);
    return of("alpha") * a * b + of("beta_hidden") * b + of("beta_input") * a + of("bias");
  }
  // Gates in the order i, f, g, o (equations 12-16).
  std::pair<Tensor, Tensor> gated(const Tensor& sums) const {
    const auto part = [&](int k) { return sums.narrow(0, k * size_, size_); };
    const Tensor c = part(1).sigmoid() * c_ + part(0).sigmoid() * part(2).tanh();
    return {c.tanh() * part(3).sigmoid(), c};
  }

  // x_t and the old hidden vector, after any addition to it -> z_t and the cell.
  std::pair<Tensor, Tensor> cell(const Tensor& x, const Tensor& z) const {
    const std::string kind = controller_["kind"];
    if (kind == "elman") return {squash(affine(x, z)), c_};
    if (kind == "lstm") return gated(affine(x, z));
    if (kind == "mi_rnn") return {squash(integrated(x, z)), c_};
    if (kind == "delta_rnn") {
      const Tensor r = (of("weight_ih", x) + of("gate_bias")).sigmoid();
      return {(1 - r) * integrated(x, z).tanh() + r * z, c_};
    }
    if (kind == "gru") {
      const Tensor a = of("weight_ih", x) + of("bias_ih"), b = of("weight_hh", z) + of("bias_hh");
      const auto part = [&](const Tensor& all, int k) { return all.narrow(0, k * size_, size_); };
      const Tensor reset = (part(a, 0) + part(b, 0)).sigmoid();
      const Tensor update = (part(a, 1) + part(b, 1)).sigmoid();
      return {(1 - update) * (part(a, 2) + reset * part(b, 2)).tanh() + update * z, c_};
    }
    const Tensor m = of("weight_mx", x) * of("weight_mh", z);
    const Tensor sums = of("weight_ih", x) + of("weight_hm", m) + of("bias");
    if (kind == "mrnn") return {squash(sums), c_};
    return gated(sums);  // mlstm
  }

  Tensor layer(const std::string& name) const {
    const Tensor product = at::mv(p_.at("stack." + name + "_weight"), driver_);
    const auto bias = p_.find("stack." + name + "_bias");
    return bias == p_.end() ? product : product + bias->second;
  }
  std::int64_t memories() const { return stack_.value("stacks", std::int64_t{1}); }
  bool scalars() const { return stack_["kind"] == "parallel_superposition"; }

  // Uses the first memory if only one is needed; A numbers per memory.
  Tensor actions() const {
    if (stack_["kind"] == "none") return {};
    const Tensor scores = layer("action") / stack_.value("temperature", 1.0);
    return scores.view({memories(), -1}).softmax(1).flatten();
  }

  void begin() {
    if (scalars())
      scalars_.assign(memories(), std::vector<double>(100, stack_.value("empty", -1.0)));
    else
      cells_.assign(stack_.value(stack_["kind"] == "baby_ntm" ? "cells" : "depth", std::int64_t{1}),
                    at::zeros({stack_.value("size", std::int64_t{0})}, at::kDouble));
  }
  Tensor reading() const {
    if (!scalars()) return cells_[0];
    std::vector<double> top;
    for (const auto& stack : scalars_)
      top.insert(top.end(), stack.begin(), stack.begin() + stack_.value("read_depth", 2));
    return at::tensor(top, at::kDouble);
  }
  void move(const Tensor& a) {
    const std::string kind = stack_["kind"];
    if (kind == "parallel_superposition") return move_scalars(a);
    if (kind == "none") return;
    const Tensor v = layer("vector").sigmoid();
    const auto old = cells_;
    const auto n = cells_.size();
    for (std::size_t i = 0; i < n; ++i) {
      const Tensor zero = at::zeros_like(v);
      const Tensor above = i > 0 ? old[i - 1] : zero, below = i + 1 < n ? old[i + 1] : zero;
      if (kind == "superposition")
        cells_[i] = a[0] * (i == 0 ? v : above) + a[1] * below;
      else  // rotate up, rotate down, no-op, shift down, shift up
        cells_[i] = a[0] * old[(i + 1) % n] + a[1] * old[(i + n - 1) % n] + a[2] * old[i] +
                    a[3] * above + a[4] * below;
    }
    if (kind == "baby_ntm") cells_[0] = cells_[0] + v;
  }
  void move_scalars(const Tensor& a) {
    const Tensor v = layer("value").sigmoid();
    const bool no_op = stack_.value("no_op", false);
    const bool all = stack_.value("no_op_keeps", "all") == "all";
    for (std::size_t k = 0; k < scalars_.size(); ++k) {
      const auto old = scalars_[k];
      const auto share = [&](std::size_t i) {
        return a[static_cast<std::int64_t>(k * (no_op ? 3 : 2) + i)].item<double>();
      };
      for (std::size_t i = 0; i + 1 < old.size(); ++i) {
        const double above = i == 0 ? v[static_cast<std::int64_t>(k)].item<double>() : old[i - 1];
        scalars_[k][i] = share(0) * above + share(1) * old[i + 1];
        if (no_op && (all || i == 0)) scalars_[k][i] += share(2) * old[i];
      }
    }
  }

  Recurrence recurrence_;
  Json controller_, stack_;
  std::int64_t size_;
  std::map<std::string, Tensor> p_;
  Tensor z_, c_, driver_;  // driver_: the hidden vector that moves the memory
  std::vector<std::vector<double>> scalars_;
  std::vector<Tensor> cells_;
};

}  // namespace pushdown::testing_support
