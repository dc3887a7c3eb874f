# So many of a target's sources are compiled as one, which takes some two thirds of the time; 0: each by itself, as the
# preset `tidy` has it.
set(RINGSIDE_BATCH 0 CACHE STRING "sources that are compiled together")

# ringside_batch(ringside_base)
function(ringside_batch target)
  if(RINGSIDE_BATCH GREATER 1)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${RINGSIDE_BATCH})
    # GCC 12 takes joined strings for overruns, and variants for uninitialised, where it inlines more of them:
    # gcc.gnu.org/bugzilla, 105329, 105562. A class of one source is not another's, wherever it is compiled.
    target_compile_options(${target} PRIVATE "$<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-maybe-uninitialized;-Wno-restrict;-Wno-stringop-overflow;-Wno-stringop-overread;-Wno-subobject-linkage>")
  endif()
endfunction()

# ringside_add_library(base SOURCES a.cpp HEADERS a.h PUBLIC ringside::x PRIVATE fmt::fmt)
#
# One folder, one target: library ringside_<name>, alias ringside::<name>, and HEADERS, which other folders include. The target headers_alone compiles every header alone: it includes what
# it uses. That takes a quarter of the time of a whole build and seldom finds anything: CI builds it.
function(ringside_add_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;HEADERS;PUBLIC;PRIVATE" ${ARGN})
  set(target ringside_${name})
  if(RINGSIDE_WEB)
    ringside_choose_sources(arg_SOURCES)
  endif()
  add_library(${target} STATIC ${arg_SOURCES})
  add_library(ringside::${name} ALIAS ${target})
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}
                                  FILES ${arg_HEADERS})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/include)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_link_libraries(${target} PUBLIC ${arg_PUBLIC}
                        PRIVATE ${arg_PRIVATE} $<BUILD_INTERFACE:ringside_warnings>)
  target_precompile_headers(${target} REUSE_FROM ringside_precompiled)
  ringside_batch(${target})

  if(RINGSIDE_BUILD_TESTS)
    set(checks "")
    foreach(header IN LISTS arg_HEADERS)
      cmake_path(ABSOLUTE_PATH header BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
      cmake_path(RELATIVE_PATH header BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE path)
      string(MAKE_C_IDENTIFIER ${path} stem)
      set(check ${CMAKE_CURRENT_BINARY_DIR}/alone/${stem}.cpp)
      file(CONFIGURE OUTPUT ${check} CONTENT "#include \"${path}\"\n#include \"${path}\"\n" @ONLY)
      list(APPEND checks ${check})
    endforeach()
    add_library(${target}_headers_alone OBJECT EXCLUDE_FROM_ALL ${checks})
    target_compile_options(${target}_headers_alone PRIVATE -O0 -g0)
    target_link_libraries(${target}_headers_alone PRIVATE ${target} ${arg_PRIVATE} ringside_warnings)
    if(NOT TARGET headers_alone)
      add_custom_target(headers_alone)
    endif()
    add_dependencies(headers_alone ${target}_headers_alone)
  endif()
endfunction()

# ringside_cold(cli): ringside_cli waits for a person or a disk. It is optimised less, and compiles a fifth faster.
function(ringside_cold name)
  # A sanitizer's preset has chosen. GCC 13 and later take a precompiled header for the -O it was made with alone, and
  # that saves more.
  if(NOT RINGSIDE_SANITIZE AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(ringside_${name} PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:-O1>)
  endif()
endfunction()

# ringside_trust_bounds(study): GCC 12 takes moved strings for overruns where it inlines more of them, in an Error that is
# not there: gcc.gnu.org/bugzilla, 105329. The sanitizers look at the same places.
set(RINGSIDE_TRUST_BOUNDS "$<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread>")
function(ringside_trust_bounds name)
  target_compile_options(ringside_${name} PRIVATE "${RINGSIDE_TRUST_BOUNDS}")
endfunction()
