# Toolchain of the preset `wasm`: Debian's clang 19, and the sysroot that web/toolchain.sh has put into RINGSIDE_WEB_DEPS.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
if(NOT DEFINED RINGSIDE_WEB_DEPS)
  if(DEFINED ENV{RINGSIDE_WEB_DEPS})
    set(RINGSIDE_WEB_DEPS $ENV{RINGSIDE_WEB_DEPS})
  else()
    set(RINGSIDE_WEB_DEPS ${CMAKE_CURRENT_LIST_DIR}/../build/wasm-deps)
  endif()
endif()
get_filename_component(RINGSIDE_WEB_DEPS "${RINGSIDE_WEB_DEPS}" ABSOLUTE)
set(RINGSIDE_WEB_DEPS ${RINGSIDE_WEB_DEPS} CACHE PATH "what web/toolchain.sh has fetched")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES RINGSIDE_WEB_DEPS)

set(CMAKE_C_COMPILER clang-19)
set(CMAKE_CXX_COMPILER clang++-19)
set(CMAKE_AR llvm-ar-19)
set(CMAKE_RANLIB llvm-ranlib-19)
set(CMAKE_C_COMPILER_TARGET wasm32-wasip1)
set(CMAKE_CXX_COMPILER_TARGET wasm32-wasip1)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)

set(sysroot ${RINGSIDE_WEB_DEPS}/sysroot)
# WASI's own substitutes for what it has no calls for: each is a library that is linked below.
string(CONCAT flags "--sysroot=${sysroot} -msimd128 -mbulk-memory -mnontrapping-fptoint -D_WASI_EMULATED_MMAN -D_WASI_EMULATED_SIGNAL "
                    "-D_WASI_EMULATED_PROCESS_CLOCKS -D_WASI_EMULATED_GETPID")
set(CMAKE_C_FLAGS_INIT "${flags}")
# Without its time in it, a precompiled header is the same each time, and ccache finds what was compiled with it.
# A throw passes the functions that are compiled so. Those that catch have RINGSIDE_WEB_CATCHING, too.
set(CMAKE_CXX_FLAGS_INIT "-nostdinc++ -isystem ${sysroot}/include/c++/v1 -fno-rtti -Xclang -fno-pch-timestamp ${flags}")
set(RINGSIDE_WEB_CATCHING -fwasm-exceptions -frtti)
# clang calls Debian's wasm-opt on what it has linked, with the -O of the linker's line. It joins equal functions, of which
# templates make many: 30 % less. -O1 takes a quarter of the time of -Oz, and its result is no larger once it is packed.
find_program(WASM_OPT_PROGRAM wasm-opt REQUIRED)
string(CONCAT CMAKE_EXE_LINKER_FLAGS_INIT
              "--sysroot=${sysroot} -nodefaultlibs -Wl,--gc-sections,--strip-all,-z,stack-size=8388608 -O1")
string(CONCAT CMAKE_CXX_STANDARD_LIBRARIES_INIT
              "-lc++ -lc++abi -lwasi-emulated-mman -lwasi-emulated-signal -lwasi-emulated-process-clocks -lwasi-emulated-getpid -lc "
              "${sysroot}/lib/wasm32-unknown-wasip1/libclang_rt.builtins.a")
