// Prints every hypothesis about every labelled case, a line each, for fit_weights.py:
//   SET/CASE <tab> right (1) or wrong (0) <tab> kind <tab> culprits <tab> features
//
//   ringside_hang_hypotheses WHAT...     WHAT: torch, harmed, generated, lost, or a folder of pastes
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/temporary.h"
#include "base/text.h"
#include "harness/hangs/generate.h"
#include "tests/diag/labelled_hangs.h"
#include "tests/hangdetect/perturb.h"
#include "tests/support/shared.h"

namespace ringside::hang {
namespace {

void print(const std::string& set, const LabelledHang& hang) {
  const Verdict verdict = verdict_on(hang);
  const auto line = [&](const Explanation& one) {
    std::string features;
    for (const Feature feature : one.features)
      features += fmt::format("{}{}", features.empty() ? "" : ",", to_string(feature));
    fmt::print("{}/{}\t{}\t{}\t{}\t{}\n", set, hang.id, is_right(hang, one) ? 1 : 0,
               to_string(one.kind), format_ranks(one.culprits), features);
  };
  line(verdict.best);
  for (const Explanation& other : verdict.others) line(other);
}

void print_torch(bool is_harmed) {
  for (LabelledHang hang : load_all_labelled_dumps(shared_folder() + "/corpus/fr-torch")) {
    if (!is_harmed) {
      print("torch", hang);
      continue;
    }
    const std::string folder = hang.folder;
    for (const Harm harm : {Harm::DumpsOnly, Harm::LogsOnly, Harm::LostDump}) {
      for (int variant = 0; variant < variants_of(folder, harm); ++variant) {
        const HarmedCase harmed(folder, harm, variant);
        hang.folder = harmed.path();
        print(fmt::format("harmed-{}", to_string(harm)), hang);
      }
    }
  }
}

void print_generated(int lost_percent) {
  const TemporaryFolder folder = TemporaryFolder::make("test").value();
  hangs::GenerateOptions options;
  options.cases = 300;
  options.seed = 7;  // neither the seed of docs/lab/hang-accuracy.md nor that of the baseline
  options.each.lost_percent = lost_percent;
  const auto made = hangs::generate(options, folder.path());
  if (!made) throw std::runtime_error(made.error().message);
  for (const LabelledHang& hang : load_all_labelled_dumps(folder.path()))
    print(fmt::format("generated{}", lost_percent), hang);
}

}  // namespace
}  // namespace ringside::hang

int main(int count, char** arguments) {
  using namespace ringside::hang;
  try {
    for (int i = 1; i < count; ++i) {
      const std::string what = arguments[i];
      if (what == "torch" || what == "harmed") {
        print_torch(what == "harmed");
      } else if (what == "generated" || what == "lost") {
        print_generated(what == "lost" ? 40 : 0);
      } else {
        const std::string set = std::filesystem::path(what).filename().string();
        for (const LabelledHang& hang : load_labelled_texts(what)) print(set, hang);
      }
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 2;
  }
  return 0;
}
