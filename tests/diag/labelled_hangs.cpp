#include "tests/diag/labelled_hangs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/fd.h"
#include "base/json.h"
#include "base/temporary.h"
#include "base/text.h"
#include "diag/hangdetect/examine.h"
#include "diag/hangdetect/verdict/decide.h"
#include "diag/report/sentences/hang_sentences.h"

namespace ringside::hang {
namespace {

namespace fs = std::filesystem;
using diag::Outcome;

std::string text_of(const std::string& path) {
  auto text = read_file(path);
  if (!text) throw std::runtime_error(text.error().message);
  return *std::move(text);
}

/// With null (the culprits are not known), the correct answer names no rank.
std::vector<int> set_of(const Json& ranks) {
  std::vector<int> set = ranks.is_array() ? ranks.get<std::vector<int>>() : std::vector<int>{};
  std::sort(set.begin(), set.end());
  return set;
}

bool contains(const auto& values, const auto& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

// If the files do not show the culprit, an answer is wrong only if it names a rank.

bool is_kind_right(const LabelledHang& hang, Kind kind) {
  const bool is_doubt = kind == Kind::Unknown || kind == Kind::NetworkStall;
  return contains(hang.kinds, to_string(kind)) || (hang.answerable == "no" && is_doubt);
}

bool are_culprits_right(const LabelledHang& hang, const std::vector<int>& culprits) {
  return contains(hang.culprits, culprits) || (hang.answerable == "no" && culprits.empty());
}

bool names_innocent_rank(const LabelledHang& hang, const ScoredHang& scored) {
  return std::any_of(scored.culprits.begin(), scored.culprits.end(), [&](int rank) {
    return std::none_of(hang.culprits.begin(), hang.culprits.end(),
                        [&](const std::vector<int>& set) { return contains(set, rank); });
  });
}

Outcome outcome_of(const LabelledHang& hang, const ScoredHang& scored) {
  const bool says_all = std::all_of(
      hang.says.begin(), hang.says.end(),
      [&](const std::string& words) { return scored.why.find(words) != std::string::npos; });
  if (scored.is_right()) return says_all ? Outcome::Right : Outcome::Fair;
  if (names_innocent_rank(hang, scored)) return Outcome::Wrong;
  // The named culprits are correct, and some are missing.
  if (scored.is_kind_right || !scored.culprits.empty()) return Outcome::Fair;
  const bool is_guess = scored.kind == "unknown" || scored.confidence < 0.5;
  return is_guess ? Outcome::Silent : Outcome::Wrong;
}

std::string sets_text(const std::vector<std::vector<int>>& sets) {
  std::string text;
  for (const std::vector<int>& set : sets)
    text += fmt::format("{}[{}]", text.empty() ? "" : " or ", format_ranks(set));
  return text;
}

}  // namespace

LabelledHang load_labelled_dumps(const std::string& folder) {
  const std::string label = folder + "/label.json";
  const Json json = Json::parse(text_of(fs::exists(label) ? label : folder + "/truth.json"));
  LabelledHang hang{.id = json.at("id"), .folder = folder};
  const auto diverged = json.find("diverged_ranks");
  if (diverged != json.end() && diverged->is_array()) hang.exact = set_of(*diverged);
  if (json.contains("class")) {
    hang.kinds = json.at("acceptable_classes").get<std::vector<std::string>>();
    const std::string kind = json.at("class");
    std::erase(hang.kinds, kind);
    hang.kinds.insert(hang.kinds.begin(), kind);
    for (const Json& set : json.at("acceptable_culprits")) hang.culprits.push_back(set_of(set));
  } else {
    // The labels of corpus/fr have no class: their findings express it.
    hang.culprits = {hang.exact};
    for (const Json& finding : json.at("findings")) {
      const std::string id = finding.at("id");
      if (id == "hang_dead_rank" || id == "hang_slow_rank")
        hang.kinds.insert(hang.kinds.end(), {"dead_rank", "missing_rank", "straggler"});
      if (id == "hang_shape_mismatch") hang.kinds.emplace_back("shape_mismatch");
    }
    if (hang.kinds.empty()) hang.kinds.emplace_back("not_a_hang");
  }
  if (hang.kinds.front() == "not_a_hang") hang.answerable = "not_a_hang";
  if (json.contains("answerable")) hang.answerable = json.at("answerable");
  if (json.contains("says")) hang.says = json.at("says").get<std::vector<std::string>>();
  return hang;
}

std::vector<LabelledHang> load_all_labelled_dumps(const std::string& folder) {
  std::vector<LabelledHang> hangs;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (fs::exists(entry.path() / "label.json") || fs::exists(entry.path() / "truth.json"))
      hangs.push_back(load_labelled_dumps(entry.path().string()));
  }
  std::sort(hangs.begin(), hangs.end(),
            [](const auto& a, const auto& b) { return a.folder < b.folder; });
  return hangs;
}

std::vector<LabelledHang> load_labelled_texts(const std::string& folder) {
  const Json labels = Json::parse(text_of(folder + "/labels.json"));
  std::vector<LabelledHang> hangs;
  for (const Json& label : labels.at("cases")) {
    LabelledHang hang{.id = label.at("id"), .answerable = label.at("answerable")};
    hang.kinds = label.at("also_kinds").get<std::vector<std::string>>();
    hang.kinds.insert(hang.kinds.begin(), label.at("kind").get<std::string>());
    hang.exact = set_of(label.at("culprits"));
    hang.culprits.push_back(hang.exact);
    for (const Json& also : label.at("also_culprits")) hang.culprits.push_back(set_of(also));
    for (const Json& name : label.at("files")) {
      const std::string file = name;
      hang.files.push_back({file, label.contains("texts")
                                      ? label.at("texts").at(file).get<std::string>()
                                      : text_of(folder + "/" + hang.id + "/" + file)});
    }
    hangs.push_back(std::move(hang));
  }
  return hangs;
}

LabelledHang varied(LabelledHang hang, const pastes::Variant& variant) {
  for (TextFile& file : hang.files) {
    file.text = variant.change(file.text);
    if (!variant.extension.empty())
      file.name = fs::path(file.name).stem().string() + std::string(variant.extension);
  }
  return hang;
}

Verdict verdict_on(const LabelledHang& hang) {
  const TemporaryFolder texts = TemporaryFolder::make("test").value();
  for (const TextFile& file : hang.files)
    std::ofstream(texts.path() + "/" + file.name) << file.text;
  auto all = examine({hang.folder.empty() ? texts.path() : hang.folder});
  if (!all) throw std::runtime_error(hang.id + ": " + all.error().message);
  return std::move(all->verdict);
}

bool is_right(const LabelledHang& hang, const Explanation& one) {
  return is_kind_right(hang, one.kind) && are_culprits_right(hang, one.culprits);
}

ScoredHang score(const LabelledHang& hang) {
  const Verdict verdict = verdict_on(hang);
  const Explanation& best = verdict.best;
  ScoredHang scored{.kind = to_string(best.kind),
                    .culprits = best.culprits,
                    .confidence = best.confidence,
                    .why = why_of(best)};
  scored.is_kind_right = is_kind_right(hang, best.kind);
  scored.are_culprits_right = are_culprits_right(hang, best.culprits);
  scored.is_exact = scored.culprits == hang.exact;
  scored.outcome = outcome_of(hang, scored);
  return scored;
}

diag::Answer answer_of(const LabelledHang& hang) {
  const ScoredHang scored = score(hang);
  const char* confidence = scored.confidence >= 0.8   ? "high"
                           : scored.confidence >= 0.5 ? "medium"
                                                      : "low";
  return {scored.outcome,
          fmt::format("{} [{}] {}", scored.kind, format_ranks(scored.culprits), confidence),
          line_of(hang, scored)};
}

std::string line_of(const LabelledHang& hang, const ScoredHang& scored) {
  return fmt::format("{}: {} [{}] at {:.2f}; label ({}): {} {}: {}", hang.id, scored.kind,
                     format_ranks(scored.culprits), scored.confidence, hang.answerable,
                     fmt::join(hang.kinds, "|"), sets_text(hang.culprits), scored.why);
}

Explanation verdict_on(const std::string& text) {
  Names names;
  const LogFacts facts = read_log_text(text, "paste.txt", names);
  const bool is_stated = facts.dumps.empty();
  const Job job(names, is_stated ? facts.stated_calls : facts.dumps, {}, facts.world);
  return decide(job, facts).best;
}

}  // namespace ringside::hang
