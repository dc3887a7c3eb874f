# Install rules, the CMake package and the pkg-config file: find_package(ringside), then link ringside::ringside. Comes last.
# Of the libraries and headers, libringside.so and include/ringside alone are installed.

include(CMakePackageConfigHelpers)
install(TARGETS ringside_library EXPORT ringside_targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS ringside RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET ringside_gui)
  install(TARGETS ringside_gui RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(TARGETS ringside_simgrid
        RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/ringside)
install(EXPORT ringside_targets NAMESPACE ringside::
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/ringside)
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/ringsideConfig.cmake.in ${PROJECT_BINARY_DIR}/ringsideConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/ringside)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ringsideConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ringsideConfig.cmake
              ${PROJECT_BINARY_DIR}/ringsideConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/ringside)
file(RELATIVE_PATH RINGSIDE_PC_TO_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(${PROJECT_SOURCE_DIR}/cmake/ringside.pc.in ${PROJECT_BINARY_DIR}/ringside.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/ringside.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The package preset: cmake --workflow --preset package writes build/package/ringside-*.tar.gz
set(CPACK_PACKAGE_VENDOR ringside)
set(CPACK_PACKAGE_FILE_NAME ringside-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
include(CPack)
