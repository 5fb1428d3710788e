# Writes the commit of the sources SOURCE into FILE, which does not change if the commit is the
# same.
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
set(before "")
if(EXISTS ${FILE})
  file(READ ${FILE} before)
endif()
if(failed)
  file(REMOVE ${FILE})
elseif(NOT before STREQUAL "${commit}\n")
  file(WRITE ${FILE} "${commit}\n")
endif()
