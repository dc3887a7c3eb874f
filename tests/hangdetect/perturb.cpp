#include "tests/hangdetect/perturb.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "diag/hangdetect/readers/dump_files.h"

namespace ringside::hang {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::array<std::size_t, 3> kKept = {1, 3, 8};
constexpr const char* kDump = "comm_lib_trace_rank_";

std::vector<int> ranks_with_dump(const std::string& folder) {
  std::vector<int> ranks;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kDump) && !name.ends_with(".json")) ranks.push_back(rank_of_name(name));
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

bool is_dump(const std::string& name) { return name.starts_with(kDump); }
/// Returns whether only a scoring program may read the file.
bool is_answer(const std::string& name) { return name == "label.json" || name == "meta.json"; }

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

void keep_newest(const fs::path& from, const fs::path& to, std::size_t kept) {
  Json dump = Json::parse(text_of(from));
  if (dump.contains("entries") && dump["entries"].size() > kept) {
    Json& entries = dump["entries"];
    entries.erase(entries.begin(), entries.end() - static_cast<std::ptrdiff_t>(kept));
  }
  write(to, dump.dump());
}

/// Adds texts of no job, or of a healthy job elsewhere.
void add_strange(const fs::path& folder) {
  write(folder / "README.md", "# notes\nrank 0 was slow on monday\n");
  write(folder / "results.json", R"({"loss": [3.1, 2.9], "entries": 2, "rank": 1})");
  write(folder / "core.4217", std::string("\177ELF\2\1\1\0\0\0\0\0", 12) + std::string(4000, '\0'));
  write(folder / "empty.log", "");
  std::string steps;
  for (int i = 0; i < 40; ++i)
    steps += fmt::format("step {} loss {:.3f} 812 ms/it\n", i, 3.0 / (i + 1));
  write(folder / "train.out", steps);
  std::string nccl = "other-1:900:900 [0] NCCL INFO NCCL version 2.21.5+cuda12.4\n";
  for (int rank = 0; rank < 2; ++rank) {
    for (int call = 0; call < 5; ++call) {
      nccl += fmt::format(
          "other-1:{0}:{0} [{1}] NCCL INFO AllReduce: opCount {2:x} sendbuff 0x7f0000 recvbuff "
          "0x7f0000 count 4096 datatype 7 op 0 root 0 comm 0x55aa{1} [nranks=2] stream 0x66\n",
          900 + rank, rank, call);
    }
  }
  write(folder / "nccl_of_another_job.log", nccl);
  write(folder / "notes.txt", "Traceback of last week:\n  see ticket\n");
}

}  // namespace

const char* to_string(Harm harm) {
  switch (harm) {
    case Harm::LostDump:
      return "one dump lost";
    case Harm::LostRank:
      return "all files of one rank lost";
    case Harm::DumpsOnly:
      return "no logs, no stacks";
    case Harm::LogsOnly:
      return "no dumps";
    case Harm::ShortHistory:
      return "newest 1, 3 or 8 calls of all ranks";
    case Harm::UnevenHistory:
      return "newest 3 calls of one rank";
    case Harm::TornDump:
      return "one dump cut in its middle";
    case Harm::StrangeFiles:
      break;
  }
  return "strange files next to it";
}

int variants_of(const std::string& folder, Harm harm) {
  switch (harm) {
    case Harm::DumpsOnly:
    case Harm::LogsOnly:
    case Harm::StrangeFiles:
      return 1;
    case Harm::ShortHistory:
      return static_cast<int>(kKept.size());
    default:
      return static_cast<int>(ranks_with_dump(folder).size());
  }
}

HarmedCase::HarmedCase(const std::string& folder, Harm harm, int variant) {
  const auto index = static_cast<std::size_t>(variant);
  path_ = (fs::temp_directory_path() / fmt::format("ringside-harmed-{}-{}-{}-{}", ::getpid(),
                                                   fs::path(folder).filename().string(),
                                                   static_cast<int>(harm), variant))
              .string();
  fs::remove_all(path_);
  fs::create_directories(path_);
  const bool is_of_rank = harm == Harm::LostDump || harm == Harm::LostRank ||
                          harm == Harm::UnevenHistory || harm == Harm::TornDump;
  const int rank = is_of_rank ? ranks_with_dump(folder).at(index) : -1;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const fs::path to = fs::path(path_) / name;
    const bool is_mine = is_of_rank && rank_of_name(name) == rank;
    const bool is_json = name.ends_with(".json");
    if (is_answer(name)) continue;
    if (harm == Harm::LostDump && is_mine && is_dump(name)) continue;
    if (harm == Harm::LostRank && is_mine) continue;
    if (harm == Harm::DumpsOnly && !is_dump(name)) continue;
    if (harm == Harm::LogsOnly && is_dump(name)) continue;
    const bool is_shortened =
        harm == Harm::ShortHistory || (harm == Harm::UnevenHistory && is_mine);
    if (is_shortened && is_dump(name)) {
      if (is_json) keep_newest(entry.path(), to, is_of_rank ? 3 : kKept.at(index));
      continue;
    }
    if (harm == Harm::TornDump && is_mine && is_dump(name)) {
      const std::string text = text_of(entry.path());
      if (!is_json) write(to, text.substr(0, text.size() / 2));
      continue;
    }
    fs::create_symlink(entry.path(), to);
  }
  if (harm == Harm::StrangeFiles) add_strange(path_);
}

HarmedCase::~HarmedCase() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace ringside::hang
