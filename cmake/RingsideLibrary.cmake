# ringside_add_library(base SOURCES a.cpp HEADERS a.h PUBLIC ringside::x PRIVATE fmt::fmt)
#
# One folder, one target: library ringside_<name>, alias ringside::<name>, headers installed under
# include/ringside/ with their paths, and every header compiled alone (so that it includes what it
# uses) as part of the normal build when the tests are on.
function(ringside_add_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;HEADERS;PUBLIC;PRIVATE" ${ARGN})
  set(target ringside_${name})
  add_library(${target} STATIC ${arg_SOURCES})
  add_library(ringside::${name} ALIAS ${target})
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}
                                  FILES ${arg_HEADERS})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_link_libraries(${target} PUBLIC ${arg_PUBLIC}
                        PRIVATE ${arg_PRIVATE} $<BUILD_INTERFACE:ringside_warnings>)
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  set_property(GLOBAL APPEND PROPERTY RINGSIDE_LIBRARIES ${target})

  # Once is enough: a sanitizer's build would find nothing new in them.
  if(RINGSIDE_BUILD_TESTS AND NOT RINGSIDE_SANITIZE)
    set(checks "")
    foreach(header IN LISTS arg_HEADERS)
      cmake_path(ABSOLUTE_PATH header BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
      cmake_path(RELATIVE_PATH header BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE path)
      string(MAKE_C_IDENTIFIER ${path} stem)
      set(check ${CMAKE_CURRENT_BINARY_DIR}/alone/${stem}.cpp)
      file(CONFIGURE OUTPUT ${check} CONTENT "#include \"${path}\"\n#include \"${path}\"\n" @ONLY)
      list(APPEND checks ${check})
    endforeach()
    add_library(${target}_headers_alone OBJECT ${checks})
    target_link_libraries(${target}_headers_alone PRIVATE ${target} ${arg_PRIVATE} ringside_warnings)
  endif()
endfunction()
