#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/text.h"
#include "diag/audit/audit.h"

// Tests, over the findings of all invented logs, that advice fits the vendor, the provider and the layer of its
// finding.

namespace ringside::audit {
namespace {

/// Words of a cause or a fix that are valid only if the log contains certain others.
struct Advice {
  std::vector<std::string> words, needs;
};

const std::vector<Advice>& advices() {
  static const std::vector<Advice> kAdvices = {
      {{"slingshot", "fi_cxi"}, {"cxi", "hsn", "slingshot"}},
      {{"security group", "efa installer"},
       {"efa", "net/ofi", "ofi", "libfabric", "ip-", "aws", "address vector"}},
      {{"rxdm"}, {"tcpx", "fastrak", "rxdm"}},
      {{"gib"}, {"gib", "google", "rail", "gke", "couldn't open config directory"}},
      {{"nvshmem_"}, {"nvshmem", "get memhandle failed"}},
      {{"ccl_atl", "ccl_log"}, {"oneccl", "ccl_error"}},
      {{"rocm-smi", "hip_visible", "/dev/kfd"},
       {"rccl", "hip", "rocm", "amd", "hsa_", "by gpu node"}},
      {{"gloo_socket_ifname"}, {"gloo", "connectfullmesh", "connect ["}},
  };
  return kAdvices;
}

/// The words that advice must not contain if the log contains certain others.
const std::vector<Advice>& forbidden() {
  static const std::vector<Advice> kForbidden = {
      {{"nvidia-smi", "nvidia-fabricmanager", "nvidia-peermem", "xid", "cuda_launch_blocking"},
       {"rccl version", "rccl info", "rccl warn", "hip failure", "hip error", "hipipc", "/rccl/"}},
      {{"slingshot"}, {"efa"}},
      {{"security group"}, {"cannot allocate memory"}},
      {{"ip -6 route get ::ffff:"}, {""}},
  };
  return kForbidden;
}

bool has_one(const std::string& text, const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return text.find(word) != std::string::npos; });
}

TEST(AuditAdvice, FitsTheVendorTheProviderAndTheLayer) {
  std::size_t findings = 0;
  for (const char* folder : {RINGSIDE_AUDIT_CASES, RINGSIDE_AUDIT_THREADS}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() != ".log") continue;
      SCOPED_TRACE(entry.path().filename().string());
      const Result<std::string> text = read_file(entry.path().string());
      ASSERT_TRUE(text);
      const std::string log = lower_case(*text);
      for (const Finding& finding : audit_text(*text, "a.log").findings) {
        ++findings;
        const std::string advice = lower_case(finding.fix);
        SCOPED_TRACE(finding.id + ": " + finding.fix);
        for (const Advice& one : advices())
          EXPECT_TRUE(!has_one(advice, one.words) || has_one(log, one.needs)) << one.words.front();
        for (const Advice& one : forbidden())
          EXPECT_FALSE(has_one(advice, one.words) && has_one(log, one.needs)) << one.words.front();
      }
    }
  }
  EXPECT_GE(findings, 300U);
}

}  // namespace
}  // namespace ringside::audit
