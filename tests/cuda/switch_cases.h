#pragma once

#include <vector>

#include "tests/cuda/process_job.h"

/// Ranks with a GPU each, behind one switch: on fibres, and wherever there are such GPUs.
namespace ringside {

/// The exit status of a rank on a machine without a switch.
inline constexpr int kNoSwitch = 7;

ProcessJob switch_job(int nranks, MemoryWay shares_by);

/// Returns whether as many ranks as that have such GPUs; this one's has been opened.
bool has_switch(const ProcessRank& rank, int nranks);

/// By nvls over slots of 512 bytes, of small integers.
DeviceCase nvls_case(Collective collective, int nranks, std::int64_t count);

/// By nvls and nvls_tree. Two lengths of slots, one channel and two: memory behind the switch is laid in several turns.
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
