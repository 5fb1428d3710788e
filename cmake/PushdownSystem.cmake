# Requirements of Pushdown on the system and the compiler, and how programs find their libraries.
if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux"
   OR NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|aarch64|arm64)$")
  message(FATAL_ERROR "Unsupported system: expected Linux on x86-64 or arm64, got "
                      "${CMAKE_SYSTEM_NAME} on ${CMAKE_SYSTEM_PROCESSOR}.")
endif()
# The kernels call __builtin_shufflevector, which GCC has since version 12.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
  message(FATAL_ERROR "The compiler ${CMAKE_CXX_COMPILER} is too old: expected g++ 12 or newer, got "
                      "${CMAKE_CXX_COMPILER_VERSION}; set CXX to a newer one and remove the build folder.")
elseif(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  message(WARNING "Pushdown is tested with g++ 12 and 14 only, not with ${CMAKE_CXX_COMPILER_ID} "
                  "${CMAKE_CXX_COMPILER_VERSION}.")
endif()
# Installed programs look for libraries outside the system's folders where the build found them.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
# The build uses the same search paths. Otherwise CMake would pad those of the build with colons, to
# have room for those of the installation. The loader takes an empty element for the current folder.
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
