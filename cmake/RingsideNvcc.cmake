# RINGSIDE_NVCC: nvcc, where there is one. It is CUDACXX, or on PATH, or where NVIDIA's packages put it.
find_program(RINGSIDE_NVCC NAMES $ENV{CUDACXX} nvcc HINTS /usr/local/cuda/bin)

# RINGSIDE_NVCC_VERSION: its release; empty where there is none.
function(ringside_nvcc_version)
  if(NOT RINGSIDE_NVCC OR DEFINED RINGSIDE_NVCC_VERSION)
    return()
  endif()
  execute_process(COMMAND ${RINGSIDE_NVCC} --version OUTPUT_VARIABLE text ERROR_QUIET)
  string(REGEX MATCH "release ([0-9]+\\.[0-9]+)" found "${text}")
  set(RINGSIDE_NVCC_VERSION "${CMAKE_MATCH_1}" CACHE INTERNAL "of RINGSIDE_NVCC")
endfunction()

# ringside_compile_ptx(name source [architecture]): compiles a *.cu to PTX as part of the build, without the CUDA language,
# whose set-up takes longer than that; the target `name` has it as its property PTX. Compiling is all: no
# GPU is needed, and none is asked for. Sets <name>_FOUND.
function(ringside_compile_ptx name source)
  set(architecture 75)
  if(ARGC GREATER 2)
    set(architecture ${ARGV2})
  endif()
  set(${name}_FOUND FALSE PARENT_SCOPE)
  if(NOT RINGSIDE_NVCC)
    return()
  endif()
  ringside_nvcc_version()
  if(RINGSIDE_NVCC_VERSION VERSION_LESS 12.0) # no C++20
    return()
  endif()
  set(ptx ${CMAKE_CURRENT_BINARY_DIR}/${name}.ptx)
  set(warnings "")
  if(RINGSIDE_WARNINGS_AS_ERRORS)
    set(warnings -Werror all-warnings)
  endif()
  add_custom_command(
    OUTPUT ${ptx}
    COMMAND ${RINGSIDE_NVCC} -std=c++20 -ptx -arch=compute_${architecture} -allow-unsupported-compiler
            -ccbin ${CMAKE_CXX_COMPILER} ${warnings} -I ${PROJECT_SOURCE_DIR} -I ${PROJECT_SOURCE_DIR}/include
            -MD -MF ${ptx}.d -MT ${ptx} -o ${ptx} ${CMAKE_CURRENT_SOURCE_DIR}/${source}
    DEPENDS ${source}
    DEPFILE ${ptx}.d
    COMMENT "nvcc ${source}"
    VERBATIM)
  add_custom_target(${name} ALL DEPENDS ${ptx})
  set_target_properties(${name} PROPERTIES PTX ${ptx})
  set(${name}_FOUND TRUE PARENT_SCOPE)
endfunction()
