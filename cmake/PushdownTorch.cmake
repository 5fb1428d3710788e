# Finds LibTorch without its own TorchConfig.cmake, which requires compilers and libraries for CUDA
# builds that are not needed here.
#   in : PUSHDOWN_TORCH_DIR  empty = the system's LibTorch; else a torch package (…/site-packages/torch)
#        PUSHDOWN_CUDA       OFF = without LibTorch's CUDA (cmake/PushdownCuda.cmake)
#   out: target pushdown::torch, PUSHDOWN_TORCH_VERSION, PUSHDOWN_TORCH_CUDA, PUSHDOWN_MODULE_RPATH
include(PushdownFindTorch)
option(PUSHDOWN_TRIM_TORCH
       "Shadow libtorch's unused OpenCV/FFmpeg dependencies with empty libraries (starts 140 ms sooner)" ON)

# A Python package contains headers of other libraries, such as fmt, which would hide the system's.
# Therefore only LibTorch's own headers are visible.
if(PUSHDOWN_TORCH_DIR)
  set(torch_own_headers ${CMAKE_BINARY_DIR}/torch-headers)
  file(MAKE_DIRECTORY ${torch_own_headers})
  foreach(folder ATen c10 caffe2 torch)
    if(EXISTS ${PUSHDOWN_TORCH_INCLUDE}/${folder})
      file(CREATE_LINK ${PUSHDOWN_TORCH_INCLUDE}/${folder} ${torch_own_headers}/${folder} SYMBOLIC)
    endif()
  endforeach()
  set(torch_include ${torch_own_headers})
else()
  set(torch_include ${PUSHDOWN_TORCH_INCLUDE})
endif()

add_library(pushdown_torch INTERFACE)
add_library(pushdown::torch ALIAS pushdown_torch)
target_include_directories(pushdown_torch SYSTEM INTERFACE ${torch_include}
  ${torch_include}/torch/csrc/api/include)
set(torch_libraries ${PUSHDOWN_LIB_torch_cpu})
set(PUSHDOWN_TORCH_CUDA OFF)
# Without CUDA the module also runs with a LibTorch that has it, and does not load its libraries.
if(PUSHDOWN_LIB_torch_cuda AND NOT PUSHDOWN_CUDA STREQUAL "OFF")
  set(PUSHDOWN_TORCH_CUDA ON)
  list(APPEND torch_libraries ${PUSHDOWN_LIB_torch} ${PUSHDOWN_LIB_torch_cuda} ${PUSHDOWN_LIB_c10_cuda})
  target_compile_definitions(pushdown_torch INTERFACE PUSHDOWN_TORCH_CUDA=1)
  # A Python package has the CUDA libraries that torch_cuda needs in neighbouring folders.
  target_link_options(pushdown_torch INTERFACE -Wl,--allow-shlib-undefined)
endif()
list(JOIN torch_libraries "," torch_list)
# torch_cuda registers itself in static initializers, so the linker must not drop it. The C++
# library comes first, because libtorch.so of a Python package contains and exports parts of an
# older one (std::filesystem).
target_link_libraries(pushdown_torch INTERFACE
  "-Wl,--push-state,--no-as-needed,-lstdc++,${torch_list},--pop-state" ${PUSHDOWN_LIB_c10})

# Debian's libtorch_cpu is linked with 24 libraries that it never calls. Empty libraries of the same
# names, found first through DT_RPATH, avoid loading them.
if(PUSHDOWN_TRIM_TORCH AND NOT PUSHDOWN_TORCH_DIR)
  execute_process(COMMAND ldd -u ${PUSHDOWN_LIB_torch_cpu} OUTPUT_VARIABLE unused ERROR_QUIET)
  string(REGEX MATCHALL "lib(opencv_[a-z0-9]+|av[a-z]+|sw[a-z]+|lmdb|leveldb)\\.so[.0-9a-z]*"
         unused "${unused}")
  set(PUSHDOWN_STUB_DIR ${CMAKE_BINARY_DIR}/torch-stubs)
  if(unused)
    file(MAKE_DIRECTORY ${PUSHDOWN_STUB_DIR})
    file(WRITE ${CMAKE_BINARY_DIR}/empty.c "")
  endif()
  foreach(name ${unused})
    if(NOT EXISTS ${PUSHDOWN_STUB_DIR}/${name})
      execute_process(COMMAND ${CMAKE_CXX_COMPILER} -x c -shared -nostdlib -Wl,-soname,${name}
                      -o ${PUSHDOWN_STUB_DIR}/${name} ${CMAKE_BINARY_DIR}/empty.c
                      COMMAND_ERROR_IS_FATAL ANY)
    endif()
  endforeach()
  if(unused)
    # DT_RPATH and not RUNPATH, because it must also apply to libtorch's own dependencies.
    # Programs and modules name the folder themselves, relative to their own place (INSTALL_RPATH).
    target_link_options(pushdown_torch INTERFACE -Wl,--disable-new-dtags)
  endif()
endif()
# The module finds the stub libraries in its own folder, and a LibTorch outside the system's
# folders.
set(PUSHDOWN_MODULE_RPATH "$ORIGIN/torch-stubs")
if(torch_dir)
  list(APPEND PUSHDOWN_MODULE_RPATH ${torch_lib_folder})
endif()
message(STATUS "LibTorch ${PUSHDOWN_TORCH_VERSION}, CUDA ${PUSHDOWN_TORCH_CUDA}: ${PUSHDOWN_LIB_torch_cpu}")
