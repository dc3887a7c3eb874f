#pragma once

#include <vector>

#include "tests/cuda/process_job.h"

/// Cases for ranks that each have a GPU behind one switch: with fibres, and on machines with such GPUs.
namespace ringside {

/// The exit status of a rank on a machine without a switch.
inline constexpr int kNoSwitch = 7;

ProcessJob switch_job(int nranks, MemoryAccess shares_by);

/// Returns whether as many ranks as `nranks` have such GPUs; this rank's GPU has been opened.
bool has_switch(const ProcessRank& rank, int nranks);

/// Returns a case with nvls, slots of 512 bytes and small integers.
DeviceCase nvls_case(Collective collective, int nranks, std::int64_t count);

/// Returns cases with nvls and nvls_tree. There are two slot lengths, and one or two channels, so the memory behind
/// the switch is laid out several times.
std::vector<DeviceCase> nvls_cases(int nranks);

/// Like run_cases(), for cases that must run by the switch.
///
/// returns  as run_cases() does; kNoSwitch without a switch; 2 if one case did not run by it
Result<int> run_switch_cases(const ProcessRank& rank, const std::vector<DeviceCase>& cases,
                             const std::vector<std::vector<std::vector<std::byte>>>& expected);

}  // namespace ringside

#define RINGSIDE_ENDS_WELL_OR_SKIP(status)                                             \
  if (!status && status.error().message.find("no NVIDIA driver") != std::string::npos) \
    GTEST_SKIP() << status.error().message;                                            \
  ASSERT_TRUE(status) << status.error().message;                                       \
  if (*status == kNoSwitch) GTEST_SKIP() << "needs a GPU a rank, with multicast";      \
  EXPECT_EQ(*status, 0)
