// The BLAS whose products LibTorch calls in this process.
#pragma once
#include <string>

namespace pushdown {

// For example "OpenBLAS 0.3.21 (/usr/lib/x86_64-linux-gnu/openblas-pthread/libblas.so.3)",
// "reference BLAS (...)", or "oneMKL 2024.2, inside LibTorch".
std::string blas_text();

// Keeps it to one thread, as LibTorch's own operations are: OpenBLAS takes every core otherwise,
// whatever LibTorch was told.
void limit_blas_to_one_thread();

}  // namespace pushdown
