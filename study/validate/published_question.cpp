#include "study/validate/published_question.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/fd.h"
#include "base/text.h"
#include "base/text_parts.h"
#include "engine/releases/releases.h"

namespace ringside::study {
namespace {

/// Returns the value of --net for a description; empty: none.
std::string net_of(std::string_view network) {
  constexpr std::array<std::pair<std::string_view, const char*>, 7> kWords{
      {{"EFA", "efa"},
       {"TCPX", "fastrak"},
       {"FasTrak", "fastrak"},
       {"Slingshot", "slingshot"},
       {"RoCE", "roce"},
       {"InfiniBand", "ib"},
       {"TCP", "tcp"}}};
  for (const auto& [part, word] : kWords) {
    if (contains(network, part)) return word;
  }
  return {};
}

/// Returns the launch style of a tool's command: -g 8 and -t 8 are GPUs of one process.
std::string launch_of(std::string_view tool) {
  if (contains(tool, "CUDA graph")) return "graph";
  if (contains(tool, "1 process")) return "threads";
  for (const std::string_view option : {"-g ", "-t "}) {
    const std::size_t at = tool.find(option);
    if (at == std::string_view::npos) continue;
    const std::string_view number = tool.substr(at + option.size());
    const bool is_one_digit =
        number.size() == 1 || std::isdigit(static_cast<unsigned char>(number[1])) == 0;
    if (!number.empty() && is_one_digit && number[0] >= '2' && number[0] <= '8') return "threads";
  }
  return "process";
}

/// `pairs of GPUs, 2 x 4` -> `pairs-of-gpus-2-x-4`
std::string slug_of(std::string_view note) {
  std::string slug;
  for (const char c : note) {
    const auto lower = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (std::isalnum(static_cast<unsigned char>(lower)) != 0) {
      slug += lower;
    } else if (!slug.empty() && slug.back() != '-') {
      slug += '-';
    }
  }
  while (!slug.empty() && slug.back() == '-') slug.pop_back();
  return slug;
}

/// Reads the number at the start: for "27.7 + tuner" 27; the rest follows it.
std::optional<int> number_at(std::string_view& text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const Result<std::int64_t> number = parse_int(text.substr(0, digits));
  text.remove_prefix(digits);
  if (!number || *number > 1000) return {};
  return static_cast<int>(*number);
}

/// Returns the known release nearest to a published version: "2.27.7 + tuner" is 2.27.7; nothing: no version is given.
std::optional<std::string> release_of(std::string_view version) {
  const std::size_t at = version.find("2.");
  if (at == std::string_view::npos) return {};
  version.remove_prefix(at + 2);
  const std::optional<int> minor = number_at(version);
  if (!minor) return {};
  std::optional<int> patch;
  if (version.starts_with('.')) {
    version.remove_prefix(1);
    patch = number_at(version);
  }
  return nearest_release(*minor, patch);
}

/// SendRecv -> send_recv
std::string snake_of(std::string_view name) {
  std::string snake;
  for (const char c : name) {
    if (std::isupper(static_cast<unsigned char>(c)) != 0) {
      if (!snake.empty()) snake += '_';
      snake += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else {
      snake += c;
    }
  }
  return snake;
}

}  // namespace

std::string path_of_machine(const PublishedRow& row, const std::string& folder) {
  const std::string per_node = fmt::format("{}@{}", row.system, row.ranks / row.nodes);
  for (const std::string& name : {per_node + "-" + slug_of(row.note), per_node, row.system}) {
    const std::string path = fmt::format("{}/{}.yaml", folder, name);
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) return path;
  }
  return {};
}

MeasuredHosts read_machine(const PublishedRow& row, const std::string& path) {
  MeasuredHosts machine{.path = path};
  const auto text = read_file(path);
  std::istringstream lines(text ? *text : "");
  for (std::string line; std::getline(lines, line);) {
    constexpr std::string_view kUnit = "#: unit ";
    constexpr std::string_view kSet = "#: --set ";
    if (line.starts_with(kUnit)) {
      const auto unit = parse_int(line.substr(kUnit.size()));
      if (unit && *unit > 0 && *unit <= row.nodes) machine.unit = static_cast<int>(*unit);
    } else if (line.starts_with(kSet)) {
      machine.set.push_back(line.substr(kSet.size(), line.find(' ', kSet.size()) - kSet.size()));
    }
  }
  return machine;
}

SimQuestion question_of(const PublishedRow& row, const PublishedSystem& system,
                        const MeasuredHosts& machine) {
  SimQuestion question;
  question.job.on = machine.path;
  question.job.nodes = row.nodes / machine.unit;
  question.job.set = machine.set;
  const auto force = [&](const char* variable, const std::string& value) {
    if (!value.empty() && value != "auto") {
      question.job.set.push_back(fmt::format("NCCL_{}={}", variable, value));
    }
  };
  force("ALGO", row.algorithm);
  force("PROTO", row.protocol);
  force("MIN_NCHANNELS", row.channels);
  force("MAX_NCHANNELS", row.channels);
  question.calls.collective = snake_of(row.collective);
  question.calls.sizes = fmt::format("{}", row.bytes.value);
  const bool is_known = row.type == "half" || row.type == "bfloat16" || row.type == "double";
  question.calls.type = is_known ? row.type : "float";
  question.nccl =
      release_of(row.nccl).value_or(release_of(system.nccl).value_or(std::string(kDefaultRelease)));
  question.net = net_of(system.network);
  question.launch = launch_of(system.tool);
  question.is_in_loop = true;
  return question;
}

}  // namespace ringside::study
