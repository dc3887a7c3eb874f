#pragma once

#include <string>

namespace ringside {

/// The folder of data next to the checkout: the one that RINGSIDE_SHARED names, else ../shared. It is read when a test
/// runs; nothing of it is compiled in. Tests that call this have the label `shared`, and ctest skips them where
/// the folder is absent (tests/support/shared_tests.cmake.in), so that none of them needs to ask first.
/// errors  throws std::runtime_error, which says what to set, where there is no such folder
std::string shared_folder();

}  // namespace ringside
