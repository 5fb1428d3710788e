// Networks of higher order, read string by string with the derivatives of their steps, in double:
// the second-order network (controller/second_order.cpp) and the neural network pushdown automaton
// of second or third order (model/analog_pushdown.h). With z the J neurons, l the symbol and q the
// factors of the neurons, all rows i (the neurons, then the action if there is a stack) compute
//   u_i = b_i + sum_jk W_i,j,c(k,l) z_j q_k,   z' = shift + scale tanh(rate u),   A = tanh(u_J / 2)
//   third order   q = R,         c = k I + l                  R the F read neurons
//   second order  q = (R, 1),    c = k, and F + l for the 1   F = 0 without a stack
// The further passes over a symbol (model/network.h: Refinement) recompute z' with the same q. The
// stack moves by A as in stack/analog_stack.h.
//
// A state is z and, with a stack, the underflow U and the length of every section that was ever
// pushed. A hidden vector is z and, with a stack, the length L and U: H = J or J + 2 numbers.
//
// Multiply-adds of a step: J (J + 1) (F + 1) for the matrix M_ij = sum_k W q, then J^2 per pass for
// each of the values, tangents and gradients.
//
// Parameters are packed for it: column after column of W, each as J rows (by j) of numbers by i,
// padded with zeros to whole vectors, then b. A step reads and writes only the columns of its
// symbol.
#pragma once
#include <cstdint>
#include <vector>

#include "kernel/dense/rows.h"

namespace pushdown {

struct HigherOrderShape {
  std::int64_t states = 0, inputs = 0;          // J, I
  double shift = 0.5, scale = 0.5, rate = 0.5;  // the logistic function
  bool first_active = true;                     // starts with z = (1, 0, ..), else with 0
  std::int64_t passes = 1;                      // K
  bool carry_first = false;                     // the next symbol continues from the first pass

  bool stack = false;
  bool third = false;
  std::int64_t symbols = 0;  // those that are pushed; the first ones among the inputs
  bool bottom = false;       // F = symbols + 1, else symbols
  bool stops = false;        // at a refused pop
  double epsilon = 0, tolerance = 0;

  std::int64_t rows() const { return states + (stack ? 1 : 0); }
  std::int64_t readings() const { return stack ? symbols + (bottom ? 1 : 0) : 0; }  // F
  std::int64_t factors() const { return third ? readings() : readings() + 1; }      // numbers of q
  std::int64_t columns() const { return third ? readings() * inputs : readings() + inputs; }
  std::int64_t column(std::int64_t k, std::int64_t symbol) const {
    if (third) return k * inputs + symbol;
    return k < readings() ? k : k + symbol;
  }
  std::int64_t hidden_size() const { return states + (stack ? 2 : 0); }
  // W : rows x J x columns, then b : rows.
  std::int64_t parameters() const { return rows() * (states * columns() + 1); }
  // The size of the packed parameters.
  std::int64_t padded() const { return (rows() + 7) / 8 * 8; }
  std::int64_t slab() const { return states * padded(); }  // numbers of a column of W
  std::int64_t packed() const { return columns() * slab() + padded(); }
};

// parameters : see HigherOrderShape; packed : HigherOrderShape::packed().
std::vector<double> pack_parameters(const HigherOrderShape& shape, const double* parameters);
// Adds packed numbers to the parameters.
void add_unpacked(const HigherOrderShape& shape, const std::vector<double>& packed,
                  double* parameters);

class HigherOrderSteps {
 public:
  // Starts a string of which nothing is read yet. packed : parameters; referenced, not copied.
  HigherOrderSteps(const HigherOrderShape& shape, const double* packed);

  void read(std::int64_t symbol);
  // The hidden vectors of the latest step: K x H.
  void hiddens(double* to) const;
  std::int64_t state_size() const;
  // Propagates a change of the state before the latest step: returns the changes of the state after
  // it, and of the hidden vectors, K x H.
  void push_forward(const std::vector<double>& state, std::vector<double>& next,
                    std::vector<double>& hiddens);
  // Adds the gradient of (`state` times the state after the latest step plus `hiddens` times its
  // hidden vectors) by the parameters that the step uses, packed; either may be null.
  void pull_back(const double* state, const double* hiddens, double* gradient);
  // Calls use(first number, count) for each range of the packed parameters that the latest step
  // uses.
  template <class Use>
  void visit_used(Use use) const {
    for (std::int64_t k = 0; k < shape_.factors(); ++k)
      use(shape_.column(k, symbol_) * shape_.slab(), shape_.slab());
    use(shape_.columns() * shape_.slab(), shape_.padded());
  }

 private:
  using Numbers = std::vector<double>;

  void read_stack();
  void move_stack(std::int64_t symbol, double sum);
  void mix(const Numbers& factors, std::int64_t count, Numbers& matrix) const;
  const double* column(std::int64_t k) const {
    return weights_ + shape_.column(k, symbol_) * shape_.slab();
  }
  const double* bias() const { return weights_ + shape_.columns() * shape_.slab(); }
  std::int64_t carried() const { return shape_.carry_first ? 0 : shape_.passes - 1; }
  // The neurons before pass k, and after it.
  const double* before(std::int64_t k) const { return neurons_.data() + k * shape_.states; }
  const double* after(std::int64_t k) const { return before(k + 1); }
  bool moves(std::int64_t k) const { return k == 0 ? first_moves_ : later_moves_; }

  HigherOrderShape shape_;
  const double* weights_;
  RowKernel rows_ = kernel_for<RowKernel>(current_isa());
  Numbers state_;                       // z
  double underflow_ = 0;                // U
  Numbers lengths_;                     // of the sections, bottom first
  std::vector<std::int64_t> sections_;  // their symbols

  // Of the latest step.
  std::int64_t symbol_ = 0;
  Numbers factors_;  // q
  Numbers matrix_;   // M transposed, J x padded rows
  Numbers neurons_;  // (K + 1) x J: before the first pass, and after each
  Numbers slopes_;   // K x J: dz / du
  bool first_moves_ = true, later_moves_ = true;  // whether passes change the neurons
  Numbers lengths_before_;
  std::vector<bool> is_cut_, is_left_;  // by section: whether the pop reaches it, leaves a part
  double action_slope_ = 0;             // dA / du, 0 if there is no action
  int move_ = 0;                        // 1: a push, -1: a pop, 0: neither
  bool refused_ = false;

  // Scratch.
  Numbers sums_, turned_, change_, now_, old_, factor_changes_;
};

}  // namespace pushdown
