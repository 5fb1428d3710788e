// Gradients of a list of parameters: norm, clipping, clearing. On the CPU, sums are computed in
// float64 in a fixed order, so the results do not depend on the number of threads. `used`: the rows
// of tables outside of which a gradient is zero; it saves time and does not change the results.
#pragma once
#include "train/optimizing/used_rows.h"

namespace pushdown {

// Returns the Euclidean norm over all gradients together; a parameter without a gradient counts as
// zero. Not finite if any entry is not.
double gradient_norm(const ParameterList& parameters, const UsedRows& used = {});

// Multiplies all gradients by the factor.
void scale_gradients(const ParameterList& parameters, double factor, const UsedRows& used = {});
// Returns limit / (norm + 1e-6), at most 1.
double norm_clip_factor(double norm, double limit);
// Multiplies all gradients by norm_clip_factor(), where `norm` is gradient_norm().
void clip_gradient_norm(const ParameterList& parameters, double norm, double limit,
                        const UsedRows& used = {});

// Clamps every entry to [-limit, limit].
void clip_gradient_values(const ParameterList& parameters, double limit, const UsedRows& used = {});

// Drops the gradients; the next backward pass creates new ones.
void clear_gradients(const ParameterList& parameters);

}  // namespace pushdown
