# The kernel layer. Files named *.isa.cpp contain the hot loops. They do not use LibTorch or inline
# functions of the standard library, are compiled once for each instruction set, and one is chosen
# at run time.
file(GLOB_RECURSE kernel_sources CONFIGURE_DEPENDS src/kernel/*.cpp)
file(GLOB_RECURSE isa_sources CONFIGURE_DEPENDS src/kernel/*.isa.cpp)
list(REMOVE_ITEM kernel_sources ${isa_sources})
if(PUSHDOWN_HAVE_CUDA)
  list(FILTER kernel_sources EXCLUDE REGEX "/nocuda\\.cpp$")
  file(GLOB_RECURSE cuda_sources CONFIGURE_DEPENDS src/kernel/*.cu)
endif()
add_library(pushdown_kernel STATIC ${kernel_sources} ${cuda_sources})
# A separate object library, so that a program can contain the kernels (tests/cuda).
set_source_files_properties(src/kernel/nocuda.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
target_link_libraries(pushdown_kernel PUBLIC pushdown_base)
target_precompile_headers(pushdown_kernel REUSE_FROM pushdown_base)
pushdown_unity(pushdown_kernel 12)
if(PUSHDOWN_HAVE_CUDA)
  set_target_properties(pushdown_kernel PROPERTIES CUDA_RUNTIME_LIBRARY Static)
  # Kernels call constexpr functions that they share with those for the processor.
  target_compile_options(pushdown_kernel PRIVATE
    $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr>)
  target_compile_definitions(pushdown_kernel PRIVATE PUSHDOWN_HAVE_CUDA=1)
  list(JOIN CMAKE_CUDA_ARCHITECTURES " " architectures)
  set_source_files_properties(src/kernel/device.cu PROPERTIES COMPILE_DEFINITIONS
    "PUSHDOWN_CUDA_ARCHITECTURES=\"${architectures}\"")
endif()

# Adam's numbers are the same on every machine.
set_source_files_properties(src/kernel/dense/adam.isa.cpp PROPERTIES
  COMPILE_OPTIONS -ffp-contract=off SKIP_UNITY_BUILD_INCLUSION ON)
set(flags_baseline "")
set(flags_avx2 -mavx2 -mfma)
set(flags_avx512 -mavx2 -mfma -mavx512f -mavx512dq -mavx512bw -mavx512vl -mprefer-vector-width=512)
set(PUSHDOWN_ISAS baseline)
set(PUSHDOWN_PROCESSORS native CACHE STRING
  "Instruction sets of the kernels: native, the baseline and this processor's, or all")
set_property(CACHE PUSHDOWN_PROCESSORS PROPERTY STRINGS native all)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND NOT PUSHDOWN_FUZZ)
  # A package runs on other processors.
  if(PUSHDOWN_PORTABLE OR PUSHDOWN_PROCESSORS STREQUAL all)
    list(APPEND PUSHDOWN_ISAS avx2 avx512)
  elseif(EXISTS /proc/cpuinfo)
    file(STRINGS /proc/cpuinfo flags REGEX "^flags" LIMIT_COUNT 1)
    if(flags MATCHES " avx512f " AND flags MATCHES " avx512dq " AND flags MATCHES " avx512bw "
       AND flags MATCHES " avx512vl ")
      list(APPEND PUSHDOWN_ISAS avx512)
    elseif(flags MATCHES " avx2 " AND flags MATCHES " fma ")
      list(APPEND PUSHDOWN_ISAS avx2)
    endif()
  endif()
endif()
foreach(isa ${PUSHDOWN_ISAS})
  string(TOUPPER ${isa} name)
  target_compile_definitions(pushdown_kernel PUBLIC PUSHDOWN_WITH_${name})
endforeach()
foreach(isa ${PUSHDOWN_ISAS})
  add_library(pushdown_kernel_${isa} OBJECT ${isa_sources})
  target_include_directories(pushdown_kernel_${isa} PRIVATE src)
  # -O3 in every build type except the sanitizers', because the loops are useless without it.
  # Products and sums may be fused; the order of sums is that of the source.
  target_compile_options(pushdown_kernel_${isa} PRIVATE ${flags_${isa}} -ffp-contract=fast
    -fno-math-errno -fno-trapping-math
    $<$<NOT:$<OR:$<BOOL:${PUSHDOWN_ASAN}>,$<BOOL:${PUSHDOWN_TSAN}>,$<BOOL:${PUSHDOWN_FUZZ}>>>:-O3>)
  target_compile_definitions(pushdown_kernel_${isa} PRIVATE PUSHDOWN_ISA=${isa})
  target_sources(pushdown_kernel PRIVATE $<TARGET_OBJECTS:pushdown_kernel_${isa}>)
endforeach()
list(LENGTH PUSHDOWN_ISAS isas)
if(isas EQUAL 2)  # the baseline is only for other processors
  target_compile_definitions(pushdown_kernel_baseline PRIVATE PUSHDOWN_GENERIC_SIZES)
endif()
