# Relocatable install: bin/pushdown finds lib/pushdown and share/pushdown relative to itself.
# SKBUILD: for a Python package (pyproject.toml), where pip knows the files, and where the module is
# one of several (scripts/tools/make_wheel.sh).
#   PUSHDOWN_MODULES  modules of other build folders, each named after its LibTorch
set(PUSHDOWN_MODULES "" CACHE STRING "Modules for other versions of LibTorch, for a Python package")
if(NOT SKBUILD)
  # The first and the last of these rules write the list that cmake/uninstall.cmake reads.
  install(CODE "set(PUSHDOWN_MANIFEST_STEP begin)")
  install(SCRIPT ${CMAKE_CURRENT_LIST_DIR}/manifest.cmake)
endif()
install(TARGETS shell RUNTIME DESTINATION bin)
if(TARGET notebook)
  install(TARGETS notebook RUNTIME DESTINATION bin)
endif()
set(module_folder lib/pushdown)
if(SKBUILD)
  string(APPEND module_folder /torch-${PUSHDOWN_TORCH_VERSION}$<$<BOOL:${PUSHDOWN_TORCH_CUDA}>:-cuda>)
endif()
install(TARGETS core LIBRARY DESTINATION ${module_folder})
foreach(module ${PUSHDOWN_MODULES})
  get_filename_component(folder ${module} DIRECTORY)
  get_filename_component(folder ${folder} NAME)
  install(PROGRAMS ${module} DESTINATION lib/pushdown/${folder})
endforeach()
if(EXISTS ${CMAKE_BINARY_DIR}/torch-stubs)
  install(DIRECTORY ${CMAKE_BINARY_DIR}/torch-stubs DESTINATION lib/pushdown)
endif()
install(DIRECTORY scripts grammars DESTINATION share/pushdown)
# The pages that help searches.
install(DIRECTORY docs DESTINATION share/pushdown FILES_MATCHING PATTERN "*.md"
  PATTERN adr EXCLUDE PATTERN results EXCLUDE PATTERN pictures EXCLUDE PATTERN output EXCLUDE)
install(FILES README.md CITATION.cff LICENSE DESTINATION share/pushdown)
if(SKBUILD)
  # The charts of report pages work without the system's package.
  install(FILES /usr/share/javascript/dygraphs/dygraph.min.js DESTINATION share/pushdown/dygraphs
    OPTIONAL)
  install(FILES /usr/share/doc/libjs-dygraphs/copyright DESTINATION share/pushdown/dygraphs
    RENAME LICENSE.txt OPTIONAL)
else()
  install(FILES README.md LICENSE DESTINATION share/doc/pushdown)
  install(FILES ${CMAKE_BINARY_DIR}/stubs/pushdown.1 DESTINATION share/man/man1)
endif()

# The commit of the build, for the provenance of runs (pd.build); none without git. Every build of
# the module updates it.
add_custom_target(commit COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_CURRENT_SOURCE_DIR}
  -DFILE=${CMAKE_CURRENT_BINARY_DIR}/commit -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/commit.cmake VERBATIM)
add_dependencies(core commit)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/commit DESTINATION share/pushdown OPTIONAL)

# Stubs for editors and the manual page, which the program itself writes.
file(GLOB_RECURSE stub_sources CONFIGURE_DEPENDS scripts/lib/*.lua)
set(stubs ${CMAKE_BINARY_DIR}/stubs/pushdown.lua)
set(manual ${CMAKE_BINARY_DIR}/stubs/pushdown.1)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/stubs)
set(started shell)
if(PUSHDOWN_PORTABLE)
  # Its module does not know where LibTorch is.
  set(started ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${torch_lib_folder} $<TARGET_FILE:shell>)
endif()
add_custom_command(OUTPUT ${stubs} ${manual}
  COMMAND ${started} ${CMAKE_CURRENT_SOURCE_DIR}/scripts/tools/make_stubs.lua ${stubs}
  COMMAND ${started} ${CMAKE_CURRENT_SOURCE_DIR}/scripts/tools/make_manual.lua ${manual}
  DEPENDS shell core scripts/tools/make_stubs.lua scripts/tools/make_manual.lua docs/pushdown.1
    ${stub_sources}
  COMMENT "Making stubs for editors and the manual page" VERBATIM)
add_custom_target(stubs ALL DEPENDS ${stubs} ${manual})
install(FILES ${stubs} DESTINATION share/pushdown/stubs)

if(NOT SKBUILD)
  install(CODE "set(PUSHDOWN_MANIFEST_STEP end)")
  install(SCRIPT ${CMAKE_CURRENT_LIST_DIR}/manifest.cmake)
endif()

# `cpack -G DEB` in the build folder makes a Debian package for /usr. Its dependencies are those of
# the linked libraries.
set(CPACK_PACKAGE_NAME pushdown)
set(CPACK_PACKAGE_CONTACT "The Pushdown developers <pushdown@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY
    "Lua-scriptable experiments with stack-augmented neural networks")
set(CPACK_PACKAGE_DESCRIPTION "Stack-augmented neural networks that learn context-free languages:
 models, stacks, grammars, automata, samplers and trainers as a module of LuaJIT, with a prompt and
 the experiments of the papers as scripts.")
set(CPACK_GENERATOR DEB)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS libjs-dygraphs)
# Dependencies that shlibdeps cannot find: the stub libraries replace others, and scripts call
# programs.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR}/torch-stubs)
include(CPack)
