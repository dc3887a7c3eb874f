#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <string>

namespace {

/// The body of a kernel in PTX, up to the brace at the begin of a line.
[[maybe_unused]] std::string kernel(const std::string& ptx, const std::string& name) {
  const std::size_t begin = ptx.find(".visible .entry " + name + "(");
  if (begin == std::string::npos) return "";
  return ptx.substr(begin, ptx.find("\n}", begin) - begin);
}

// The build fails if code does not compile; this test checks that the binary contains all of it.
TEST(DeviceCode, EveryAlgorithmCompilesForGpus) {
#ifndef RINGSIDE_DEVICE_TEXTS
  GTEST_SKIP() << "needs nvcc 12 or newer, which compiles every algorithm's text for GPUs";
#else
  std::ifstream file(RINGSIDE_DEVICE_TEXTS);
  ASSERT_TRUE(file) << RINGSIDE_DEVICE_TEXTS;
  const std::string ptx((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  for (const char* name : {"ringside_run_channel", "ringside_run_strand"}) {
    ASSERT_NE(kernel(ptx, name), "") << name;
  }
  // The steps of each algorithm are stored somewhere, in a kernel or in a function that several kernels call: the
  // model has more stores than members.
  const std::regex store(R"(\bst(\.global)?\.\w+)");
  EXPECT_GT(std::distance(std::sregex_iterator(ptx.begin(), ptx.end(), store), {}), 100);
#endif
}

}  // namespace
