# Programs and modules that run on other Linux systems than that of the build. They need no shared
# libraries but LibTorch's and those of C and C++. The C++ library stays shared because exceptions
# and locales cross to LibTorch.
#   in : PUSHDOWN_PORTABLE, the targets of pkg-config
#   out: PUSHDOWN_FMT, PUSHDOWN_SPDLOG: the targets to link
option(PUSHDOWN_PORTABLE "Link all libraries but LibTorch's and those of C and C++ statically" OFF)
set(PUSHDOWN_FMT fmt::fmt)
set(PUSHDOWN_SPDLOG spdlog::spdlog)
if(NOT PUSHDOWN_PORTABLE)
  return()
endif()

# Where LibTorch is, only the system that runs the program knows.
set(PUSHDOWN_MODULE_RPATH "")
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH OFF)

# Debian has no static libraries of these two.
set(PUSHDOWN_FMT fmt::fmt-header-only)
set(PUSHDOWN_SPDLOG spdlog::spdlog_header_only)
set_target_properties(${PUSHDOWN_SPDLOG} PROPERTIES
  INTERFACE_LINK_LIBRARIES "Threads::Threads;${PUSHDOWN_FMT}")

# Replaces the libraries of a target by static ones. Their names are hidden, so that a library that
# LibTorch loads cannot replace them.
function(pushdown_static target)
  set(libraries "")
  foreach(name ${ARGN})
    find_library(PUSHDOWN_STATIC_${name} lib${name}.a REQUIRED)
    list(APPEND libraries ${PUSHDOWN_STATIC_${name}} -Wl,--exclude-libs,lib${name}.a)
  endforeach()
  set_target_properties(PkgConfig::${target} PROPERTIES INTERFACE_LINK_LIBRARIES
                        "${libraries};m;${CMAKE_DL_LIBS}")
endfunction()
pushdown_static(SQLITE sqlite3)
pushdown_static(UTF8PROC utf8proc)
pushdown_static(ZLIB z)
# The program has all of LuaJIT and shows its names, because the module calls it.
find_library(PUSHDOWN_STATIC_luajit libluajit-5.1.a REQUIRED)
set_target_properties(PkgConfig::LUAJIT PROPERTIES INTERFACE_LINK_LIBRARIES
  "$<LINK_LIBRARY:WHOLE_ARCHIVE,${PUSHDOWN_STATIC_luajit}>;m;${CMAKE_DL_LIBS}")
