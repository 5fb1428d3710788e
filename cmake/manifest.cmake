# Runs twice during `make install`: at the beginning, to note the existing folders, and at the end,
# to write lib/pushdown/manifest.txt. This lists the files and the new folders, relative to the
# prefix.
set(prefix "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")
set(manifest "${prefix}/lib/pushdown/manifest.txt")
if(prefix MATCHES "_CPack_Packages")
  return()  # A package manager keeps its own list.
endif()
if(PUSHDOWN_MANIFEST_STEP STREQUAL "begin")
  set(PUSHDOWN_MANIFEST "")
  if(EXISTS "${manifest}")
    file(STRINGS "${manifest}" PUSHDOWN_MANIFEST)  # of an earlier installation
  endif()
  foreach(folder bin lib share share/doc share/man share/man/man1)
    if(NOT EXISTS "${prefix}/${folder}")
      list(APPEND PUSHDOWN_MANIFEST "folder ${folder}")
    endif()
  endforeach()
else()
  foreach(file ${CMAKE_INSTALL_MANIFEST_FILES})
    file(RELATIVE_PATH file "${CMAKE_INSTALL_PREFIX}" "${file}")
    list(APPEND PUSHDOWN_MANIFEST "file ${file}")
    # The program's own folders.
    get_filename_component(folder "${file}" DIRECTORY)
    while(folder MATCHES "(^|/)pushdown(/|$)")
      list(APPEND PUSHDOWN_MANIFEST "folder ${folder}")
      get_filename_component(folder "${folder}" DIRECTORY)
    endwhile()
  endforeach()
  list(REMOVE_DUPLICATES PUSHDOWN_MANIFEST)
  list(JOIN PUSHDOWN_MANIFEST "\n" text)
  file(WRITE "${manifest}" "${text}\n")
endif()
