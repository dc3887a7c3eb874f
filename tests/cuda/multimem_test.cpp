#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace {

[[maybe_unused]] std::string text_of(const char* path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// sm_90 is the first architecture that has them; the code of older ones must not contain them, as it could not be
// assembled.
TEST(Multimem, IsInCodeForGpusThatHaveItAlone) {
#ifndef RINGSIDE_MULTIMEM_90
  GTEST_SKIP() << "needs nvcc 12 or newer, which compiles the instructions for GPUs";
#else
  const std::string newer = text_of(RINGSIDE_MULTIMEM_90);
  for (const char* const what : {"fence.proxy.alias",
                                 "multimem.st.relaxed.sys.global.v4.f32",
                                 "multimem.ld_reduce.relaxed.sys.global.add.v4.f32",
                                 "multimem.ld_reduce.relaxed.sys.global.add.f64",
                                 "multimem.ld_reduce.relaxed.sys.global.add.acc::f32.v4.f16x2",
                                 "multimem.ld_reduce.relaxed.sys.global.min.v4.f16x2",
                                 "multimem.ld_reduce.relaxed.sys.global.max.v4.f16x2",
                                 "multimem.ld_reduce.relaxed.sys.global.add.acc::f32.v4.bf16x2",
                                 "multimem.ld_reduce.relaxed.sys.global.min.v4.bf16x2",
                                 "multimem.ld_reduce.relaxed.sys.global.max.v4.bf16x2",
                                 "multimem.ld_reduce.relaxed.sys.global.add.u32",
                                 "multimem.ld_reduce.relaxed.sys.global.min.s32",
                                 "multimem.ld_reduce.relaxed.sys.global.max.s32",
                                 "multimem.ld_reduce.relaxed.sys.global.min.u32",
                                 "multimem.ld_reduce.relaxed.sys.global.max.u32",
                                 "multimem.ld_reduce.relaxed.sys.global.add.u64",
                                 "multimem.ld_reduce.relaxed.sys.global.min.s64",
                                 "multimem.ld_reduce.relaxed.sys.global.max.s64",
                                 "multimem.ld_reduce.relaxed.sys.global.min.u64",
                                 "multimem.ld_reduce.relaxed.sys.global.max.u64"}) {
    EXPECT_NE(newer.find(what), std::string::npos) << what;
  }
  const std::string older = text_of(RINGSIDE_MULTIMEM_80);
  EXPECT_NE(older.find("ringside_reduce_and_multicast"), std::string::npos);
  EXPECT_EQ(older.find("multimem."), std::string::npos);
#endif
}

}  // namespace
