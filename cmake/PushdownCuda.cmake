# CUDA kernels: PUSHDOWN_CUDA = AUTO | ON | OFF; out: PUSHDOWN_HAVE_CUDA.
# AUTO compiles them if LibTorch has CUDA and nvcc is found, because nothing else can call them. They
# do not include LibTorch, so ON compiles them wherever nvcc is, to check that they compile.
set(PUSHDOWN_CUDA AUTO CACHE STRING "CUDA kernels: AUTO, ON or OFF")
set(PUSHDOWN_HAVE_CUDA OFF)
if(PUSHDOWN_CUDA STREQUAL "ON" OR (PUSHDOWN_CUDA STREQUAL "AUTO" AND PUSHDOWN_TORCH_CUDA))
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    # Machine code for one architecture, and code that a driver translates at the first start for
    # all others, because machine code for each takes minutes to compile.
    set(CMAKE_CUDA_ARCHITECTURES 75-virtual 90-real)
  endif()
  if(NOT CMAKE_CUDA_COMPILER AND EXISTS /usr/local/cuda/bin/nvcc)
    set(CMAKE_CUDA_COMPILER /usr/local/cuda/bin/nvcc)
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    # CMake 3.25.1 does not know the C++20 flag of nvcc.
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION AND CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12)
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
    endif()
    set(CMAKE_CUDA_STANDARD 20)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    set(CMAKE_CUDA_EXTENSIONS OFF)
    set(PUSHDOWN_HAVE_CUDA ON)
  elseif(PUSHDOWN_CUDA STREQUAL "ON")
    message(FATAL_ERROR "PUSHDOWN_CUDA=ON, but no CUDA compiler (nvcc) was found")
  endif()
endif()
message(STATUS "CUDA kernels: ${PUSHDOWN_HAVE_CUDA}")
