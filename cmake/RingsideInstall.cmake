# (order matters: all targets exist by now)
# Install rules and the CMake package: find_package(ringside), then link ringside::base, ...

include(CMakePackageConfigHelpers)
get_property(libraries GLOBAL PROPERTY RINGSIDE_LIBRARIES)
install(TARGETS ${libraries} EXPORT ringside_targets
        FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ringside
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ringside)
install(TARGETS ringside RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
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
