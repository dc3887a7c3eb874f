#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "study/scenario/synthesis.h"
#include "tests/diag/labelled_hangs.h"
#include "tests/support/shared.h"

namespace ringside::study {
namespace {

/// The result of `ringside hang --verify` compared with verdicts on labelled dumps.
struct Verified {
  int cases = 0;
  int right = 0;      ///< verdicts with --verify and without it, which it must not change
  int likeliest = 0;  ///< cases in which the culprits of the likeliest fault are acceptable
  int looked_at = 0;
  int agrees = 0, agrees_rightly = 0;
  int differs = 0, differs_rightly = 0;  ///< rightly: the verdict is wrong
};

Verified verify(const std::string& set) {
  Verified all;
  for (const hang::LabelledHang& label :
       hang::load_all_labelled_dumps(shared_folder() + "/corpus/" + set)) {
    const auto evidence = hang::examine({label.folder});
    EXPECT_TRUE(evidence) << label.folder << evidence.error().message;
    if (!evidence) continue;
    const std::vector<Hypothesis> tried = synthesize(*evidence);
    const auto is_right = [&](const std::vector<int>& culprits) {
      return std::ranges::find(label.culprits, culprits) != label.culprits.end();
    };
    const bool is_verdict_right = is_right(evidence->verdict.best.culprits);
    ++all.cases;
    all.right += is_verdict_right;
    if (tried.empty()) continue;
    ++all.looked_at;
    all.likeliest += is_right(tried.front().culprits);
    const Support support = support_of(evidence->verdict.best, tried);
    all.agrees += support == Support::Agrees;
    all.agrees_rightly += support == Support::Agrees && is_verdict_right;
    all.differs += support == Support::Differs;
    all.differs_rightly += support == Support::Differs && !is_verdict_right;
    if (support == Support::Differs) {
      fmt::print("{}: the verdict names [{}], and {} has misfit {}\n", label.id,
                 fmt::join(evidence->verdict.best.culprits, ", "), tried.front().what,
                 tried.front().misfit);
    }
  }
  fmt::print(
      "{}: {} cases, verdicts right {}; {} looked at, likeliest right {}; agrees {} (right {}), "
      "differs {} (rightly {})\n",
      set, all.cases, all.right, all.looked_at, all.likeliest, all.agrees, all.agrees_rightly,
      all.differs, all.differs_rightly);
  return all;
}

TEST(SynthesisCorpus, SupportsTheRightVerdicts) {
  const Verified clusters = verify("fr");
  EXPECT_EQ(clusters.right, clusters.cases);
  EXPECT_EQ(clusters.differs, 0);
  const Verified torch = verify("fr-torch");
  EXPECT_EQ(torch.agrees_rightly, torch.agrees);
  EXPECT_GE(torch.agrees * 2, torch.looked_at) << "it distinguishes ranks";
  EXPECT_LE(torch.differs - torch.differs_rightly, torch.looked_at / 20);
}

}  // namespace
}  // namespace ringside::study
