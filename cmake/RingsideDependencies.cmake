# Everything that is not ours, found once. docs/dependencies.md says why each one.
# RINGSIDE_OPTIONAL gathers "name|found or missing|what that means" for the summary.

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(yaml-cpp 0.7 REQUIRED)
pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium>=1.0.18)
pkg_check_modules(FLATBUFFERS REQUIRED IMPORTED_TARGET flatbuffers>=2.0)
find_program(FLATC_PROGRAM flatc REQUIRED)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash>=0.8)
pkg_check_modules(SIMGRID REQUIRED IMPORTED_TARGET simgrid>=3.32)

# yaml-cpp 0.7 exports the plain name only, later ones the namespaced one.
if(NOT TARGET yaml-cpp::yaml-cpp)
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()

function(ringside_optional name found meaning)
  if(found)
    set(state found)
  else()
    set(state missing)
  endif()
  set_property(GLOBAL APPEND PROPERTY RINGSIDE_OPTIONAL "${name}|${state}|${meaning}")
endfunction()

pkg_check_modules(PMIX IMPORTED_TARGET pmix)
ringside_optional(PMIx "${PMIX_FOUND}"
                  "finding the other ranks under mpirun and srun --mpi=pmix")

if(RINGSIDE_BUILD_TESTS)
  find_package(GTest 1.12 REQUIRED)
  find_package(benchmark 1.7 QUIET)
  ringside_optional("Google Benchmark" "${benchmark_FOUND}" "microbenchmarks")
endif()
ringside_optional(ccache "${CCACHE_PROGRAM}" "reuse of what an earlier build compiled")

if(RINGSIDE_CUDA)
  include(RingsideCuda)
endif()
