# RINGSIDE_CUDA_FOUND: whether the parts that run on a GPU are built. The preset `cuda` asks for them. nvcc compiles the
# kernels alone, without CMake's CUDA language, whose set-up takes longer than they are worth; the rest is C++ over the
# runtime, which is linked statically, so that the program starts where there is no driver.
include(RingsideNvcc)
ringside_nvcc_version()
set(architectures 75 80 90)
if(NOT RINGSIDE_NVCC_VERSION VERSION_LESS 12.8) # older ones do not know Blackwell
  list(APPEND architectures 100)
endif()
set(RINGSIDE_CUDA_ARCHITECTURES "${architectures}" CACHE STRING "GPUs that kernels are compiled for, by compute capability")
set(RINGSIDE_CUDA_FOUND FALSE)
if(RINGSIDE_NVCC AND NOT RINGSIDE_NVCC_VERSION VERSION_LESS 12.0)
  get_filename_component(nvcc ${RINGSIDE_NVCC} REALPATH)
  get_filename_component(root ${nvcc}/../.. ABSOLUTE)
  find_path(RINGSIDE_CUDART_INCLUDE cuda_runtime_api.h HINTS ${root}/include ${root}/targets/x86_64-linux/include /usr/local/cuda/include)
  find_library(RINGSIDE_CUDART cudart_static HINTS ${root}/lib64 ${root}/lib ${root}/targets/x86_64-linux/lib /usr/local/cuda/lib64)
  if(RINGSIDE_CUDART_INCLUDE AND RINGSIDE_CUDART)
    set(RINGSIDE_CUDA_FOUND TRUE)
  endif()
endif()
ringside_optional("CUDA Toolkit 12 or newer" "${RINGSIDE_CUDA_FOUND}" "kernels: bench and tests on GPUs")

# ringside_compile_kernels(target source.cu): adds the source's kernels to a library, and what they need of CUDA.
function(ringside_compile_kernels target source)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${source}.o)
  set(code "")
  foreach(architecture IN LISTS RINGSIDE_CUDA_ARCHITECTURES)
    list(APPEND code -gencode arch=compute_${architecture},code=sm_${architecture})
  endforeach()
  # The last one's PTX, too: later GPUs compile it when it is loaded.
  list(GET RINGSIDE_CUDA_ARCHITECTURES -1 last)
  list(APPEND code -gencode arch=compute_${last},code=compute_${last})
  add_custom_command(
    OUTPUT ${object}
    # A product and a sum stay two operations, as on hosts. -t: compiles the architectures in parallel. Compressed, code for GPUs
    # takes a sixth of the space; the driver unpacks it.
    COMMAND ${RINGSIDE_NVCC} -std=c++20 -O3 --fmad=false -t 2 -Xfatbin=-compress-all ${code} -allow-unsupported-compiler -ccbin ${CMAKE_CXX_COMPILER}
            -Xcompiler -fPIC -I ${PROJECT_SOURCE_DIR} -I ${PROJECT_SOURCE_DIR}/include -MD -MF ${object}.d -MT ${object}
            -c ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${object}
    DEPENDS ${source}
    DEPFILE ${object}.d
    COMMENT "nvcc ${source}"
    VERBATIM)
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  target_sources(${target} PRIVATE ${object})
  target_include_directories(${target} SYSTEM PRIVATE ${RINGSIDE_CUDART_INCLUDE})
  find_package(Threads REQUIRED)
  target_link_libraries(${target} PRIVATE ${RINGSIDE_CUDART} Threads::Threads ${CMAKE_DL_LIBS} rt)
endfunction()
