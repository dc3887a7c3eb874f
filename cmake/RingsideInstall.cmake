# Install rules, the CMake package and the pkg-config file: find_package(ringside), then link ringside::ringside. Comes last.
# Of the libraries and headers, libringside.so and include/ringside alone are installed. Each component is a package:
# ringside, ringside-gui and libringside-dev (RingsidePackages.cmake).
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME ringside)
set(development COMPONENT libringside-dev)

install(TARGETS ringside_library EXPORT ringside_targets RUNTIME_DEPENDENCY_SET ringside_needs
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_COMPONENT libringside-dev
        FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${development})
install(TARGETS ringside RUNTIME_DEPENDENCY_SET ringside_needs RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS ringside_simgrid RUNTIME_DEPENDENCY_SET ringside_needs
        RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/ringside)
if(TARGET ringside_gui) # which `./run build` does not build
  install(TARGETS ringside_gui RUNTIME_DEPENDENCY_SET ringside_needs
          RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ringside-gui OPTIONAL)
endif()

install(EXPORT ringside_targets NAMESPACE ringside::
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/ringside ${development})
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/ringsideConfig.cmake.in ${PROJECT_BINARY_DIR}/ringsideConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/ringside)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ringsideConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ringsideConfig.cmake
              ${PROJECT_BINARY_DIR}/ringsideConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/ringside ${development})
file(RELATIVE_PATH RINGSIDE_PC_TO_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(${PROJECT_SOURCE_DIR}/cmake/ringside.pc.in ${PROJECT_BINARY_DIR}/ringside.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/ringside.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig ${development})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR} ${development})

# What documents and messages name by its path in the source tree: base/shipped_file.h finds it. The backend of
# torch.distributed is installed as source: pip builds it for the PyTorch that the user has.
set(shared ${CMAKE_INSTALL_DATADIR}/ringside)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/scenarios DESTINATION ${shared})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${shared}
        PATTERN lab EXCLUDE PATTERN *.sh EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/python DESTINATION ${shared} ${development}
        FILES_MATCHING PATTERN *.py PATTERN *.cpp PATTERN *.h PATTERN *.toml PATTERN *.md)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Manual pages and completions, where the build wrote them (the target ringside_pages).
install(DIRECTORY ${RINGSIDE_PAGES}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL
        FILES_MATCHING PATTERN *.1.gz PATTERN ringside-gui.1.gz EXCLUDE)
install(FILES ${RINGSIDE_PAGES}/ringside-gui.1.gz OPTIONAL DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT ringside-gui)
install(FILES ${RINGSIDE_PAGES}/ringside.bash RENAME ringside OPTIONAL
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${RINGSIDE_PAGES}/_ringside OPTIONAL DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${RINGSIDE_PAGES}/ringside.fish OPTIONAL
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

if(RINGSIDE_BUNDLE)
  include(RingsideBundle)
endif()
include(RingsidePackages)
