// The beginning of code that is printed for a device (recurrence/device/program.h): what it uses of
// the system's headers. NVRTC has none of them. For printed code only.
#pragma once
#ifdef __CUDACC_RTC__
namespace std {
using size_t = decltype(sizeof(0));
using int32_t = int;
using int64_t = long long;
using uint8_t = unsigned char;
using uint32_t = unsigned;
using uint64_t = unsigned long long;
using uintptr_t = unsigned long long;
template <class T>
struct type_identity {
  using type = T;
};
template <class T>
using type_identity_t = typename type_identity<T>::type;
template <bool kFirst, class A, class B>
struct conditional {
  using type = A;
};
template <class A, class B>
struct conditional<false, A, B> {
  using type = B;
};
template <bool kFirst, class A, class B>
using conditional_t = typename conditional<kFirst, A, B>::type;
#define PUSHDOWN_FUNCTION(name)                                  \
  __device__ inline float name(float x) { return ::name##f(x); } \
  __device__ inline double name(double x) { return ::name(x); }
PUSHDOWN_FUNCTION(exp)
PUSHDOWN_FUNCTION(tanh)
PUSHDOWN_FUNCTION(log)
PUSHDOWN_FUNCTION(log1p)
PUSHDOWN_FUNCTION(expm1)
PUSHDOWN_FUNCTION(sqrt)
PUSHDOWN_FUNCTION(sin)
PUSHDOWN_FUNCTION(cos)
PUSHDOWN_FUNCTION(erf)
PUSHDOWN_FUNCTION(floor)
PUSHDOWN_FUNCTION(ceil)
PUSHDOWN_FUNCTION(rint)
#undef PUSHDOWN_FUNCTION
__device__ inline float pow(float x, float y) { return ::powf(x, y); }
__device__ inline double pow(double x, double y) { return ::pow(x, y); }
__device__ inline float fmod(float x, float y) { return ::fmodf(x, y); }
__device__ inline double fmod(double x, double y) { return ::fmod(x, y); }
}  // namespace std
#endif

#define PUSHDOWN_INLINE inline  // for kernel/isa.h, which is the processor's
#ifndef PUSHDOWN_KERNEL
#define PUSHDOWN_KERNEL extern "C" __global__
#endif
// Barriers between the parts of a step have numbers, so that tests can leave one out.
#ifndef PUSHDOWN_BARRIER
#define PUSHDOWN_BARRIER(number) __syncthreads()
#endif
