// Gradients of a list of parameters: their norm, clipping, clearing. On the CPU sums run in float64
// in a fixed order, so the numbers do not depend on the number of threads.
#pragma once
#include "tensor/torch.h"

namespace pushdown {

// The Euclidean norm over all gradients together; parameters without one count as zero. Not finite
// when any entry is not.
double gradient_norm(const ParameterList& parameters);

// Multiplies all gradients by the factor.
void scale_gradients(const ParameterList& parameters, double factor);
// Scales all gradients by limit / (norm + 1e-6) when that is below 1, `norm` being gradient_norm().
void clip_gradient_norm(const ParameterList& parameters, double norm, double limit);

// Moves every entry into [-limit, limit].
void clip_gradient_values(const ParameterList& parameters, double limit);

// Drops the gradients; the next backward pass makes new ones.
void clear_gradients(const ParameterList& parameters);

}  // namespace pushdown
