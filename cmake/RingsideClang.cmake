# Toolchain of the fuzz preset: the newest clang++ there is, for libFuzzer.
find_program(RINGSIDE_CLANG NAMES clang++-19 clang++-18 clang++-17 clang++-16 clang++ REQUIRED)
set(CMAKE_CXX_COMPILER ${RINGSIDE_CLANG})
