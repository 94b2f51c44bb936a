# cmake --install: library, headers, find_package(stope). The command line, its man page and the completions are
# installed by cli/CMakeLists.txt.
include(CMakePackageConfigHelpers)

set(STOPE_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/stope)

install(TARGETS stope EXPORT stopeTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET stope_cuda) # beside the library, where it is looked for
  install(TARGETS stope_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(TARGET stope_files)
  install(FILES ${STOPE_FILES_LIBRARY} DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(DIRECTORY include/stope DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
install(EXPORT stopeTargets NAMESPACE stope:: DESTINATION ${STOPE_CMAKE_DIR})

# Before 1.0 a minor version may break callers: find_package(stope 0.1) must not take 0.2.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/stopeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/stopeConfig.cmake.in
  ${PROJECT_BINARY_DIR}/stopeConfig.cmake INSTALL_DESTINATION ${STOPE_CMAKE_DIR})
install(FILES ${PROJECT_BINARY_DIR}/stopeConfig.cmake ${PROJECT_BINARY_DIR}/stopeConfigVersion.cmake
  DESTINATION ${STOPE_CMAKE_DIR})
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
