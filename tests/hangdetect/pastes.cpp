#include "tests/hangdetect/pastes.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/fd.h"
#include "base/json.h"
#include "base/text.h"
#include "diag/hangdetect/examine.h"
#include "diag/hangdetect/model/job.h"
#include "diag/hangdetect/readers/log_facts.h"
#include "diag/hangdetect/verdict/decide.h"
#include "diag/hangdetect/verdict/explain.h"

namespace ringside::hang {
namespace {

namespace fs = std::filesystem;

std::string text_of(const std::string& path) {
  auto text = read_file(path);
  if (!text) throw std::runtime_error(text.error().message);
  return *std::move(text);
}

/// null, where nobody knows, is answered by naming nobody.
std::vector<int> set_of(const Json& ranks) {
  std::vector<int> set = ranks.is_array() ? ranks.get<std::vector<int>>() : std::vector<int>{};
  std::sort(set.begin(), set.end());
  return set;
}

/// A folder that goes with the object.
class Folder {
 public:
  Folder() {
    static std::atomic<int> count{0};
    path_ = fs::temp_directory_path() / fmt::format("ringside-paste-{}-{}", ::getpid(), count++);
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  void write(const PasteFile& file) const { std::ofstream(path_ / file.name) << file.text; }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

}  // namespace

std::vector<Paste> load_pastes(const std::string& folder) {
  const Json labels = Json::parse(text_of(folder + "/labels.json"));
  std::vector<Paste> pastes;
  for (const Json& label : labels.at("cases")) {
    Paste paste;
    paste.id = label.at("id");
    paste.answerable = label.at("answerable");
    paste.kinds = label.at("also_kinds").get<std::vector<std::string>>();
    paste.kinds.insert(paste.kinds.begin(), label.at("kind").get<std::string>());
    paste.culprits.push_back(set_of(label.at("culprits")));
    for (const Json& also : label.at("also_culprits")) paste.culprits.push_back(set_of(also));
    for (const Json& name : label.at("files")) {
      const std::string file = name;
      const std::string inside = paste.id + "/" + file;
      paste.files.push_back({file, label.contains("texts") ? label.at("texts").at(file)
                                                           : Json(text_of(folder + "/" + inside))});
    }
    pastes.push_back(std::move(paste));
  }
  return pastes;
}

PasteScore score_paste(const Paste& paste) {
  const Folder folder;
  for (const PasteFile& file : paste.files) folder.write(file);
  const auto all = examine({folder.path()});
  if (!all) throw std::runtime_error(all.error().message);
  const Explanation& best = all->verdict.best;
  PasteScore out;
  out.kind = to_string(best.kind);
  out.culprits = best.culprits;
  out.confidence = best.confidence;
  out.why = best.why;
  out.is_kind_right =
      std::find(paste.kinds.begin(), paste.kinds.end(), out.kind) != paste.kinds.end();
  out.are_culprits_right =
      std::find(paste.culprits.begin(), paste.culprits.end(), out.culprits) != paste.culprits.end();
  // Where nothing can be told, only blame is wrong.
  if (paste.answerable == "no") {
    out.is_kind_right |= out.kind == "unknown" || out.kind == "network_stall";
    out.are_culprits_right |= out.culprits.empty();
  }
  return out;
}

Explanation verdict_on(const std::string& text) {
  Names names;
  const LogFacts facts = read_log_text(text, "paste.txt", names);
  const Job job(names, facts.dumps, {}, facts.world);
  return decide(job, facts).best;
}

std::string line_of(const Paste& paste, const PasteScore& score) {
  std::string right;
  for (const std::vector<int>& ranks : paste.culprits)
    right += fmt::format(" [{}]", format_ranks(ranks));
  return fmt::format("{} {:<4} {} ({}): {} [{}] at {:.2f}; label {} with{}: {}",
                     score.is_right() ? "  " : "X ", paste.answerable.substr(0, 4), paste.id,
                     score.is_right()           ? "right"
                     : score.is_kind_right      ? "other ranks"
                     : score.are_culprits_right ? "other kind"
                                                : "wrong",
                     score.kind, format_ranks(score.culprits), score.confidence,
                     paste.kinds.front(), right, score.why);
}

}  // namespace ringside::hang
