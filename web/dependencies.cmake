# The libraries of the web's program, under the names that cmake/RingsideDependencies.cmake gives them. Those with sources are
# compiled here; of the others the headers that Debian installs are enough.

enable_language(C)
set(deps ${RINGSIDE_WEB_DEPS})
if(NOT EXISTS ${deps}/llvm)
  message(FATAL_ERROR "${deps} lacks what the web's program is linked to: ./run web fetches it, or web/toolchain.sh")
endif()

# web_library(NAME ALIAS FOLDER_OF_HEADERS SOURCES...)
function(web_library name alias headers)
  add_library(web_${name} STATIC EXCLUDE_FROM_ALL ${ARGN})
  target_include_directories(web_${name} SYSTEM PUBLIC ${headers})
  target_compile_options(web_${name} PRIVATE -w)
  set_target_properties(web_${name} PROPERTIES UNITY_BUILD OFF)
  add_library(${alias} ALIAS web_${name})
endfunction()

web_library(fmt fmt::fmt ${deps}/fmt/include ${deps}/fmt/src/format.cc)
file(GLOB yaml ${deps}/yaml-cpp/src/*.cpp)
web_library(yaml yaml-cpp::yaml-cpp ${deps}/yaml-cpp/include ${yaml})
set_target_properties(web_yaml PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
target_compile_options(web_yaml PRIVATE ${RINGSIDE_WEB_CATCHING})
web_library(pugixml pugixml::pugixml ${deps}/pugixml/src ${deps}/pugixml/src/pugixml.cpp)
target_compile_definitions(web_pugixml PUBLIC PUGIXML_NO_XPATH)
set(zlib adler32 crc32 inffast inflate inftrees zutil)
list(TRANSFORM zlib REPLACE "(.+)" "${deps}/zlib/\\1.c")
web_library(zlib ZLIB::ZLIB ${deps}/zlib ${zlib})
file(GLOB zstd ${deps}/zstd/lib/common/*.c ${deps}/zstd/lib/decompress/*.c)
list(FILTER zstd EXCLUDE REGEX "/(pool|threading)\\.c$")
web_library(zstd PkgConfig::ZSTD ${deps}/zstd/lib ${zstd})
target_compile_definitions(web_zstd PRIVATE ZSTD_DISABLE_ASM=1)

# What a throw calls, with catching.
set(abi ${deps}/llvm/libcxxabi/src)
set(cxxabi)
foreach(file abort_message cxa_aux_runtime cxa_default_handlers cxa_exception cxa_exception_storage cxa_guard
        cxa_handlers cxa_personality cxa_thread_atexit cxa_vector cxa_virtual fallback_malloc private_typeinfo stdlib_exception
        stdlib_stdexcept stdlib_typeinfo)
  list(APPEND cxxabi ${abi}/${file}.cpp)
endforeach()
web_library(cxxabi web::cxxabi ${deps}/llvm/libcxxabi/include ${cxxabi} ${deps}/llvm/libunwind/src/Unwind-wasm.c)
target_compile_options(web_cxxabi PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-frtti> -fwasm-exceptions)
target_include_directories(web_cxxabi PRIVATE ${abi} ${deps}/llvm/libunwind/include ${deps}/llvm/libcxx/src)
target_compile_definitions(web_cxxabi PRIVATE _LIBCXXABI_BUILDING_LIBRARY _LIBCPP_BUILDING_LIBRARY _LIBUNWIND_HIDE_SYMBOLS)
target_compile_definitions(web_cxxabi PRIVATE _LIBCPP_ENABLE_CXX17_REMOVED_UNEXPECTED_FUNCTIONS LIBCXXABI_NON_DEMANGLING_TERMINATE)

# What POSIX has and WASI has not.
include_directories(BEFORE SYSTEM ${PROJECT_SOURCE_DIR}/web/platform/posix)
add_library(web_posix OBJECT ${PROJECT_SOURCE_DIR}/web/platform/posix/posix.c ${PROJECT_SOURCE_DIR}/web/platform/posix/memory.c)
target_compile_options(web_posix PRIVATE -O2 -fno-builtin)

# Headers alone: linked into one folder, so that no other header of the system's is found.
set(headers ${CMAKE_BINARY_DIR}/headers)
file(MAKE_DIRECTORY ${headers})
foreach(header CLI nlohmann flatbuffers hwy xxhash.h)
  if(NOT EXISTS /usr/include/${header})
    message(FATAL_ERROR "no /usr/include/${header}: ./run build installs it")
  endif()
  file(CREATE_LINK /usr/include/${header} ${headers}/${header} SYMBOLIC)
endforeach()
foreach(name CLI11::CLI11 nlohmann_json::nlohmann_json PkgConfig::FLATBUFFERS PkgConfig::HWY PkgConfig::XXHASH Threads::Threads)
  add_library(${name} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${name} SYSTEM INTERFACE ${headers})
endforeach()
target_compile_definitions(PkgConfig::XXHASH INTERFACE XXH_INLINE_ALL)
target_compile_definitions(PkgConfig::HWY INTERFACE HWY_COMPILE_ONLY_STATIC)
find_program(FLATC_PROGRAM flatc REQUIRED)

# What only absent sources use.
foreach(name HWLOC PROTOBUF SODIUM SQLITE)
  add_library(PkgConfig::${name} INTERFACE IMPORTED GLOBAL)
endforeach()
