# Relocatable install: bin/pushdown finds lib/pushdown and share/pushdown beside itself.
install(TARGETS shell RUNTIME DESTINATION bin)
install(TARGETS core LIBRARY DESTINATION lib/pushdown)
if(EXISTS ${CMAKE_BINARY_DIR}/torch-stubs)
  install(DIRECTORY ${CMAKE_BINARY_DIR}/torch-stubs DESTINATION lib/pushdown)
endif()
install(DIRECTORY scripts grammars DESTINATION share/pushdown)
install(FILES README.md LICENSE DESTINATION share/doc/pushdown)
