# The cuda preset: the CUDA language and CUDAToolkit for the folders that have *.cu sources.
# nvcc is CUDACXX, or on PATH, or where NVIDIA's packages put it.
include(CheckLanguage)
find_program(RINGSIDE_NVCC NAMES $ENV{CUDACXX} nvcc HINTS /usr/local/cuda/bin)
if(RINGSIDE_NVCC)
  set(ENV{CUDACXX} ${RINGSIDE_NVCC})
  check_language(CUDA)
endif()
if(CMAKE_CUDA_COMPILER)
  # Turing and later; 90-virtual lets later GPUs compile at load time. CMake 3.25 names no C++20 for CUDA.
  set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 90-real 90-virtual)
  enable_language(CUDA)
  add_compile_options($<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>)
  find_package(CUDAToolkit REQUIRED)
endif()
ringside_optional("CUDA Toolkit" "${CUDAToolkit_FOUND}" "parts that run on a GPU (no folder has any yet)")
