# Finds LibTorch and checks that this project can be built with it. Also runs alone:
#   cmake -D PUSHDOWN_TORCH_DIR=... -P cmake/PushdownFindTorch.cmake
#   in : PUSHDOWN_TORCH_DIR  empty: the system's LibTorch; else a torch package (.../site-packages/torch)
#        SKBUILD, Python_EXECUTABLE  in the build of a Python package
#   out: PUSHDOWN_TORCH_INCLUDE, PUSHDOWN_LIB_{torch,torch_cpu,c10}, PUSHDOWN_LIB_{torch,c10}_cuda where
#        they are, PUSHDOWN_TORCH_VERSION
set(oldest_torch 1.13)
set(PUSHDOWN_TORCH_DIR "$ENV{PUSHDOWN_TORCH_DIR}" CACHE PATH
    "LibTorch or Python torch package directory; empty: the system's")
if(SKBUILD AND NOT PUSHDOWN_TORCH_DIR)
  # For a Python package: the torch of the same environment, which pip hides from its Python.
  execute_process(COMMAND ${Python_EXECUTABLE} -c "import sysconfig; print(sysconfig.get_path('purelib'))"
                  OUTPUT_VARIABLE python_packages OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(EXISTS ${python_packages}/torch)
    set(PUSHDOWN_TORCH_DIR ${python_packages}/torch)
  endif()
endif()
if(PUSHDOWN_TORCH_DIR)
  get_filename_component(torch_dir "${PUSHDOWN_TORCH_DIR}" ABSOLUTE)
  set(torch_place "in PUSHDOWN_TORCH_DIR (${torch_dir})")
  set(torch_hints PATHS ${torch_dir} NO_DEFAULT_PATH)
else()
  set(torch_dir "")
  set(torch_place "in the system's folders (Debian: libtorch-dev; or set PUSHDOWN_TORCH_DIR)")
  set(torch_hints "")
endif()

# Results for another PUSHDOWN_TORCH_DIR are not valid.
if(NOT "${PUSHDOWN_TORCH_FOUND_FOR}" STREQUAL "${torch_dir}")
  unset(PUSHDOWN_TORCH_INCLUDE CACHE)
  foreach(library torch_cpu torch c10 torch_cuda c10_cuda)
    unset(PUSHDOWN_LIB_${library} CACHE)
  endforeach()
endif()
set(PUSHDOWN_TORCH_FOUND_FOR "${torch_dir}" CACHE INTERNAL "PUSHDOWN_TORCH_DIR of the libraries found")

find_path(PUSHDOWN_TORCH_INCLUDE ATen/ATen.h ${torch_hints} PATH_SUFFIXES include)
if(NOT PUSHDOWN_TORCH_INCLUDE)
  message(FATAL_ERROR "No LibTorch: expected include/ATen/ATen.h ${torch_place}.")
endif()
foreach(library torch_cpu torch c10)
  find_library(PUSHDOWN_LIB_${library} NAMES ${library} lib${library}.so ${torch_hints} PATH_SUFFIXES lib)
  if(NOT PUSHDOWN_LIB_${library})
    message(FATAL_ERROR "No LibTorch: expected lib${library}.so ${torch_place}.")
  endif()
endforeach()
foreach(library torch_cuda c10_cuda)
  find_library(PUSHDOWN_LIB_${library} NAMES ${library} lib${library}.so ${torch_hints} PATH_SUFFIXES lib)
endforeach()

# From 2.9 on torch/version.h only forwards to torch/headeronly/version.h.
set(torch_version_header ${PUSHDOWN_TORCH_INCLUDE}/torch/headeronly/version.h)
if(NOT EXISTS ${torch_version_header})
  set(torch_version_header ${PUSHDOWN_TORCH_INCLUDE}/torch/csrc/api/include/torch/version.h)
endif()
if(NOT EXISTS ${torch_version_header})
  message(FATAL_ERROR "The LibTorch in ${PUSHDOWN_TORCH_INCLUDE} is too old or incomplete: expected "
                      "${oldest_torch} or newer, got one without torch/version.h.")
endif()
file(READ ${torch_version_header} torch_version_text)
string(REGEX MATCH "TORCH_VERSION_MAJOR ([0-9]+)" _ "${torch_version_text}")
set(torch_major ${CMAKE_MATCH_1})
string(REGEX MATCH "TORCH_VERSION_MINOR ([0-9]+)" _ "${torch_version_text}")
set(PUSHDOWN_TORCH_VERSION ${torch_major}.${CMAKE_MATCH_1})
if(PUSHDOWN_TORCH_VERSION VERSION_LESS oldest_torch)
  message(FATAL_ERROR "The LibTorch in ${PUSHDOWN_TORCH_INCLUDE} is too old: expected ${oldest_torch} or "
                      "newer, got ${PUSHDOWN_TORCH_VERSION}; docs/install.md says how to get a newer one.")
endif()

# The libraries' own version: a Python package has it in version.py, a LibTorch archive in
# build-version, and Debian in the name of the library.
get_filename_component(torch_lib_folder ${PUSHDOWN_LIB_c10} DIRECTORY)
get_filename_component(torch_real_name ${PUSHDOWN_LIB_torch_cpu} REALPATH)
set(torch_library_version "")
if(torch_real_name MATCHES "\\.so\\.([0-9]+\\.[0-9]+)")
  set(torch_library_version ${CMAKE_MATCH_1})
else()
  foreach(file version.py build-version)
    if(EXISTS ${torch_lib_folder}/../${file} AND NOT torch_library_version)
      file(STRINGS ${torch_lib_folder}/../${file} torch_lines REGEX "^(__version__ = ')?[0-9]+\\.[0-9]+")
      if(torch_lines MATCHES "([0-9]+\\.[0-9]+)")
        set(torch_library_version ${CMAKE_MATCH_1})
      endif()
    endif()
  endforeach()
endif()
if(torch_library_version AND NOT torch_library_version VERSION_EQUAL PUSHDOWN_TORCH_VERSION)
  message(FATAL_ERROR "The headers and libraries of LibTorch do not belong together: expected libraries of "
                      "version ${PUSHDOWN_TORCH_VERSION}, as the headers in ${PUSHDOWN_TORCH_INCLUDE}, got "
                      "${torch_library_version} in ${torch_lib_folder}.")
endif()

# Bytes 18 and 19 of an ELF file contain the machine.
file(READ ${PUSHDOWN_LIB_c10} torch_header LIMIT 20 HEX)
string(SUBSTRING "${torch_header}                                        " 36 4 torch_machine)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(expected_machine 3e00)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  set(expected_machine b700)
else()
  set(expected_machine ${torch_machine})
endif()
if(NOT torch_header MATCHES "^7f454c46" OR NOT torch_machine STREQUAL expected_machine)
  message(FATAL_ERROR "The LibTorch in ${torch_lib_folder} is for another processor: expected libc10.so for "
                      "${CMAKE_SYSTEM_PROCESSOR}, got one with the ELF machine '${torch_machine}'.")
endif()
# Libraries with the old ABI of C++ strings have no symbol with this word.
file(STRINGS ${PUSHDOWN_LIB_c10} torch_new_strings REGEX "__cxx11" LIMIT_COUNT 1)
if(NOT torch_new_strings)
  message(FATAL_ERROR "The LibTorch in ${torch_lib_folder} has the old ABI of C++ strings: expected one built "
                      "with _GLIBCXX_USE_CXX11_ABI=1, as Python packages are from version 2.7 on, got "
                      "${PUSHDOWN_TORCH_VERSION} without it.")
endif()
