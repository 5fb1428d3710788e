// Gradients of a list of parameters: norm, clipping, clearing. On the CPU, sums are computed in
// float64 in a fixed order, so the results do not depend on the number of threads.
#pragma once
#include "tensor/torch.h"

namespace pushdown {

// Returns the Euclidean norm over all gradients together; a parameter without a gradient counts as
// zero. Not finite if any entry is not.
double gradient_norm(const ParameterList& parameters);

// Multiplies all gradients by the factor.
void scale_gradients(const ParameterList& parameters, double factor);
// Returns limit / (norm + 1e-6), at most 1.
double norm_clip_factor(double norm, double limit);
// Multiplies all gradients by norm_clip_factor(), where `norm` is gradient_norm().
void clip_gradient_norm(const ParameterList& parameters, double norm, double limit);

// Clamps every entry to [-limit, limit].
void clip_gradient_values(const ParameterList& parameters, double limit);

// Drops the gradients; the next backward pass creates new ones.
void clear_gradients(const ParameterList& parameters);

}  // namespace pushdown
