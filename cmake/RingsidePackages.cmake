# Packages for Debian, by cpack: a component is a package. packaging/make.sh calls it and makes the archive.
set(CPACK_GENERATOR DEB)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_COMPONENTS_ALL ringside ringside-gui libringside-dev)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_VENDOR ringside)
# Who builds the package, as Debian's tools have it.
set(CPACK_PACKAGE_CONTACT "The ringside maintainers <ringside@users.noreply.github.com>")
if(DEFINED ENV{DEBFULLNAME} AND DEFINED ENV{DEBEMAIL})
  set(CPACK_PACKAGE_CONTACT "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()
# Empty, or the project's summary becomes the first line of each package in place of the package's own.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# The window uses libraries that the package `ringside` bundles. dpkg-shlibdeps would name the packages of this release for them,
# so what it needs in addition to that package is listed below.
set(CPACK_DEBIAN_RINGSIDE-GUI_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# ringside_package(NAME "one line" "a paragraph" [SECTION] [DEPENDS])
function(ringside_package name summary text)
  cmake_parse_arguments(arg "" "SECTION;DEPENDS" "" ${ARGN})
  string(TOUPPER ${name} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${summary}\n${text}" PARENT_SCOPE)
  foreach(key IN ITEMS SECTION DEPENDS)
    if(arg_${key})
      set(CPACK_DEBIAN_${upper}_PACKAGE_${key} "${arg_${key}}" PARENT_SCOPE)
    endif()
  endforeach()
endfunction()
set(same "ringside (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
ringside_package(ringside "diagnostics and simulation for the GPU communication stack"
  "Finds out why collectives of NCCL, RCCL and PyTorch distributed hang or are\nslow, from dumps and logs; simulates them on clusters that need not exist;\nmeasures real ones between processes. It needs no GPU and no network card.\nThis package has the program, its data, and the library libringside.")
ringside_package(ringside-gui "replay window of ringside"
  "Watch a collective run, channel by channel: a trace, a simulation or a lesson.\nDraws pictures and films without a display, too."
  DEPENDS "${same}, fonts-dejavu-core, libc6 (>= 2.35), libstdc++6 (>= 12), libegl1, libgl1, libglfw3 (>= 3.3), libopengl0, libstb0")
ringside_package(libringside-dev "ringside as a library: headers, CMake package, examples"
  "Public headers of libringside in C and C++, its pkg-config file and CMake\npackage, examples, and the source of the backend of torch.distributed."
  SECTION libdevel DEPENDS "${same}")

# What Debian asks of each package: whose it is, and what has changed.
file(STRINGS ${PROJECT_SOURCE_DIR}/CITATION.cff released REGEX "^date-released:")
string(REGEX REPLACE "^date-released: *" "" released "${released}")
set(papers ${PROJECT_BINARY_DIR}/packaging)
configure_file(${PROJECT_SOURCE_DIR}/packaging/copyright.in ${papers}/copyright @ONLY)
execute_process(COMMAND date -u -d ${released} "+%a, %d %b %Y %T +0000" OUTPUT_VARIABLE RINGSIDE_RELEASED
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
configure_file(${PROJECT_SOURCE_DIR}/packaging/changelog.in ${papers}/changelog.Debian @ONLY)
configure_file(${PROJECT_SOURCE_DIR}/CHANGELOG.md ${papers}/changelog COPYONLY)
execute_process(COMMAND gzip -9nf changelog.Debian changelog WORKING_DIRECTORY ${papers} COMMAND_ERROR_IS_FATAL ANY)
foreach(package IN LISTS CPACK_COMPONENTS_ALL)
  install(FILES ${papers}/copyright ${papers}/changelog.gz ${papers}/changelog.Debian.gz
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} COMPONENT ${package})
endforeach()

# The library is found as soon as it is installed.
file(WRITE ${papers}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_RINGSIDE_PACKAGE_CONTROL_EXTRA ${papers}/triggers)
include(CPack)
