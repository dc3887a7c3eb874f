# Install rules and the CMake package: find_package(ringside), then link ringside::base, ...
# Comes last: only what the folders declared by ringside_add_library is installed.

include(CMakePackageConfigHelpers)
get_property(libraries GLOBAL PROPERTY RINGSIDE_LIBRARIES)
install(TARGETS ${libraries} EXPORT ringside_targets
        FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ringside
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ringside)
install(TARGETS ringside RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET ringside_gui)
  install(TARGETS ringside_gui RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(TARGETS ringside_simgrid EXPORT ringside_targets
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
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The package preset: cmake --workflow --preset package writes build/package/ringside-*.tar.gz
set(CPACK_PACKAGE_VENDOR ringside)
set(CPACK_PACKAGE_FILE_NAME ringside-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
include(CPack)
