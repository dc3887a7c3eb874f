#include "tests/hangdetect/score.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/fd.h"
#include "base/json.h"
#include "base/text.h"
#include "diag/hangdetect/examine.h"
#include "diag/hangdetect/verdict/explain.h"
#include "tests/support/shared.h"

namespace ringside::hang {

namespace fs = std::filesystem;

std::vector<std::string> corpus_cases(const std::string& set) {
  std::vector<std::string> cases;
  for (const auto& entry : fs::directory_iterator(shared_folder() + "/corpus/" + set)) {
    if (fs::exists(entry.path() / "label.json")) cases.push_back(entry.path().string());
  }
  std::sort(cases.begin(), cases.end());
  return cases;
}

Label load_label(const std::string& path) {
  const auto text = read_file(path);
  if (!text) throw std::runtime_error(text.error().message);
  const Json json = Json::parse(*text);
  Label label;
  label.id = json.at("id");
  const auto diverged = json.find("diverged_ranks");
  if (diverged != json.end() && diverged->is_array())
    label.exact = diverged->get<std::vector<int>>();
  if (json.contains("class")) {
    label.kind = json.at("class");
    label.kinds = json.at("acceptable_classes").get<std::vector<std::string>>();
    label.culprits = json.at("acceptable_culprits").get<std::vector<std::vector<int>>>();
    return label;
  }
  // Labels of the smaller set say it in findings.
  label.culprits = {label.exact};
  for (const Json& finding : json.at("findings")) {
    const std::string id = finding.at("id");
    if (id == "hang_dead_rank" || id == "hang_slow_rank") {
      label.kinds.insert(label.kinds.end(), {"dead_rank", "missing_rank", "straggler"});
    }
    if (id == "hang_shape_mismatch") label.kinds.push_back("shape_mismatch");
  }
  if (label.kinds.empty()) label.kinds.push_back("not_a_hang");
  label.kind = label.kinds.front();
  return label;
}

Scored score(const std::string& folder, const Label& label) {
  Scored out;
  out.label = label;
  const auto all = examine({folder});
  if (!all) throw std::runtime_error(all.error().message);
  const Explanation& best = all->verdict.best;
  out.kind = to_string(best.kind);
  out.culprits = best.culprits;
  out.confidence = best.confidence;
  out.is_exact = best.culprits == label.exact;
  out.is_kind_right =
      std::find(label.kinds.begin(), label.kinds.end(), out.kind) != label.kinds.end();
  out.is_culprit_right =
      std::any_of(label.culprits.begin(), label.culprits.end(), [&](std::vector<int> right) {
        std::sort(right.begin(), right.end());
        return right == best.culprits;
      });
  return out;
}

std::string line_of(const Scored& one) {
  std::string right;
  for (const std::vector<int>& ranks : one.label.culprits)
    right += fmt::format(" [{}]", format_ranks(ranks));
  return fmt::format("{}: {} [{}] at {:.2f}; label {} with{}", one.label.id, one.kind,
                     format_ranks(one.culprits), one.confidence, one.label.kind, right);
}

}  // namespace ringside::hang
