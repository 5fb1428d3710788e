// The kernel of mixed.sass: a barrier, a loop whose lanes end at different times, a branch within
// it, a function that only some lanes call (a reciprocal of a small number), and a shuffle.
extern "C" __global__ void mixed(float* out, const float* in, int count) {
  __shared__ float shared[64];
  const int i = threadIdx.x;
  shared[i] = in[i];
  __syncthreads();
  float sum = shared[63 - i];
#pragma unroll 1
  for (int k = 0; k < i % 5 + count; ++k) sum += k % 2 == 1 ? in[k] * in[k] : 1 / in[i + k];
  if (i % 3 == 0) sum = -sum;
  sum += __shfl_xor_sync(0xffffffffu, sum, 1);
  out[blockIdx.x * 64 + i] = sum;
}
