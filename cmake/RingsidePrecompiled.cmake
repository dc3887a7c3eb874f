# What most sources include from elsewhere, compiled once for the libraries and once for the tests. Each
# file still includes what it uses: headers are compiled alone without any of this, and so are all files
# in the presets that set CMAKE_DISABLE_PRECOMPILE_HEADERS. Nothing of ours may stand here, or a change of
# it would compile the world. In <> alone: a path would be another one in each checkout, and ccache would
# find nothing that another checkout has compiled. Nor nlohmann's JSON: its inline functions set off the
# instantiation of a whole parser at the end of each file, 0.8 s for those that want none.

set(RINGSIDE_PRECOMPILED
    <algorithm> <array> <atomic> <bit> <charconv> <chrono> <cmath> <cstddef> <cstdint> <cstdio> <cstdlib>
    <cstring> <deque> <filesystem> <functional> <iterator> <limits> <map> <memory> <mutex> <numeric>
    <optional> <set> <span> <string> <string_view> <thread> <tuple> <unordered_map> <utility> <variant>
    <vector> <fmt/format.h>)

# ringside_add_precompiled(NAME PIC_OPTION OPTIONS... LIBRARIES... HEADERS...): the target that compiles them.
function(ringside_add_precompiled target pic)
  cmake_parse_arguments(arg "" "" "OPTIONS;LIBRARIES;HEADERS" ${ARGN})
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "// Nothing: the header next to it is what is compiled.\n")
  add_library(${target} OBJECT ${source})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF UNITY_BUILD OFF)
  target_compile_options(${target} PRIVATE ${pic} ${arg_OPTIONS})
  target_link_libraries(${target} PRIVATE fmt::fmt ${arg_LIBRARIES} ringside_warnings)
  target_precompile_headers(${target} PRIVATE ${RINGSIDE_PRECOMPILED} ${arg_HEADERS})
endfunction()

# A library's code is position-independent in one way, an executable's in another; the compiler refuses
# what was made the other way.
ringside_add_precompiled(ringside_precompiled "$<$<NOT:$<BOOL:${RINGSIDE_WEB}>>:-fPIC>")
if(RINGSIDE_BUILD_TESTS)
  ringside_add_precompiled(ringside_test_precompiled -fPIE OPTIONS ${RINGSIDE_TEST_OPTIONS}
                           LIBRARIES GTest::gmock GTest::gtest
                           HEADERS <fstream> <random> <sstream> <gtest/gtest.h> <gmock/gmock.h>)
endif()
