// The BLAS library that LibTorch uses for matrix products in this process.
#pragma once
#include <string>

namespace pushdown {

// Returns its name, for example "OpenBLAS 0.3.21
// (/usr/lib/x86_64-linux-gnu/openblas-pthread/libblas.so.3)", "reference BLAS (...)", or "oneMKL
// 2024.2, inside LibTorch".
std::string blas_text();

// Limits it to one thread, like LibTorch's own operations. Otherwise OpenBLAS takes every core,
// whatever thread count LibTorch was given.
void limit_blas_to_one_thread();

}  // namespace pushdown
