# Compiler settings that hold for every target of ours.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT RINGSIDE_WEB)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
endif()
# What libringside.so offers is marked in include/ringside (export.h).
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
# A source waits for what is generated, not for the libraries that its own one is linked with.
set(CMAKE_OPTIMIZE_DEPENDENCIES ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without these it gives up on precompiled headers: https://ccache.dev/manual/4.7.5.html#_precompiled_headers
  set(CMAKE_CXX_COMPILER_LAUNCHER
      env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE_PROGRAM})
endif()

# Errors in our presets, but for what a newer library than Debian 12's calls deprecated: that builds. So it does whatever a
# newer GCC than CI's warns of (14 finds std::variant uninitialised): that is no user's trouble.
set(ringside_errors ${RINGSIDE_WARNINGS_AS_ERRORS})
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
  set(ringside_errors OFF)
endif()
add_library(ringside_warnings INTERFACE)
target_compile_options(
  ringside_warnings
  INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
            -Wnon-virtual-dtor -Woverloaded-virtual -Wformat=2
            "$<$<BOOL:${ringside_errors}>:-Werror;-Wno-error=deprecated-declarations>")

# RINGSIDE_SANITIZE=address,undefined or =thread, set by the presets.
set(RINGSIDE_SANITIZE "" CACHE STRING "Sanitizers for every target: address,undefined or thread")
if(RINGSIDE_SANITIZE)
  add_compile_options(-fsanitize=${RINGSIDE_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${RINGSIDE_SANITIZE})
  # An empty optional that is read, an index past a vector's end inside its capacity: no sanitizer sees those.
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # GCC's manual: sanitizers make flow-based warnings false, and advises against -Werror together with them (the presets
    # have it off). The other presets warn of all that these would have found.
    add_compile_options(-Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread
                        -Wno-restrict -Wno-tsan)
  endif()
endif()

# The code under test is optimised as ever; the tests around it compile in half the time so. To step through a test, use
# a sanitizer's preset, which has chosen already.
set(RINGSIDE_TEST_OPTIONS "")
if(NOT RINGSIDE_SANITIZE)
  set(RINGSIDE_TEST_OPTIONS -Og -g0)
endif()

# The fuzzer steers by the coverage of every library, not of the target alone.
if(RINGSIDE_BUILD_FUZZERS)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
