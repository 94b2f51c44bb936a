# cmake --install: library, headers, find_package(stope), command line, man page, completions.
include(CMakePackageConfigHelpers)

install(TARGETS stope EXPORT stopeTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/stope DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT stopeTargets NAMESPACE stope:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/stope)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/stopeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
file(WRITE ${PROJECT_BINARY_DIR}/stopeConfig.cmake
  "include(\"\${CMAKE_CURRENT_LIST_DIR}/stopeTargets.cmake\")\n")
install(FILES ${PROJECT_BINARY_DIR}/stopeConfig.cmake ${PROJECT_BINARY_DIR}/stopeConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/stope)
