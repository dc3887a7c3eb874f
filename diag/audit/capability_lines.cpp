#include "diag/audit/capability_lines.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

#include "base/text.h"
#include "diag/audit/link_matrix.h"
#include "diag/audit/quoted_line.h"
#include "diag/logparse/cursor.h"

namespace ringside::audit {
namespace {

using What = CapabilityFact::What;

bool is_number(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Tools whose output the rules read, and a text that identifies the output if there is no prompt.
struct Tool {
  std::string_view command, mark;
};
constexpr std::array kTools{
    Tool{"show_gids", "n_gids_found="},     Tool{"ibstat", "CA type: MT"},
    Tool{"ibv_devinfo", "hca_id:"},         Tool{"nvidia-smi topo", "Legend:"},
    Tool{"ulimit -l", "max locked memory"}, Tool{"ncclras", "ncclras"},
    Tool{"nvidia-smi -L", "(UUID: GPU-"},   Tool{"df -h /dev/shm", "% /dev/shm"},
    Tool{"fi_info", "provider: "},          Tool{"ip -br addr", "ip -br addr"},
    Tool{"systemctl status", "Active: "},
};

/// Returns where the prompt ends and the command begins.
/// returns  npos: the line has no prompt
std::size_t prompt_end(std::string_view line) {
  if (line.starts_with("$ ") || line.starts_with("# ")) return 2;
  const std::size_t end = std::min(line.find("$ "), line.find("# "));
  const std::string_view before = line.substr(0, std::min(end, line.size()));
  constexpr std::size_t kLongest = 60;  // a longer text before `$` or `#` is a sentence
  const bool is_prompt = end != std::string_view::npos && !before.empty() &&
                         before.size() <= kLongest &&
                         (contains(before, "@") || !contains(before, " "));
  return is_prompt ? end + 2 : std::string_view::npos;
}

/// Returns `worker-2` for the prompts `root@worker-2:/`, `[me@worker-2 ~]` and `worker-2`.
std::string_view host_of(std::string_view prompt) {
  const std::size_t at = prompt.find('@');
  if (at != std::string_view::npos) prompt.remove_prefix(at + 1);
  return prompt.substr(0, prompt.find_first_of(": ]$#~"));
}

CapabilityFact fact_of(What what, const logs::Record& record, const std::string& host) {
  CapabilityFact fact;
  fact.what = what;
  fact.host = host;
  fact.quoted = quoted_line(record);
  return fact;
}

/// A line of a tool's output.
struct OutputLine {
  std::string_view text;
  std::vector<std::string_view> words;
  std::string_view command;  ///< that the last prompt shows; empty: no prompt
};

/// Appends facts that one line states.
class FactsOfLine {
 public:
  FactsOfLine(const logs::Record& record, const std::string& host,
              std::vector<CapabilityFact>& facts)
      : record_(record), host_(host), facts_(facts) {}

  CapabilityFact& add(What what, std::string_view device, std::string_view value) {
    CapabilityFact& fact = facts_.emplace_back(fact_of(what, record_, host_));
    fact.device = device;
    fact.value = value;
    return fact;
  }

 private:
  const logs::Record& record_;
  const std::string& host_;
  std::vector<CapabilityFact>& facts_;
};

/// Returns the soft limit in KiB, or `unlimited`, of a row of `ulimit -a`, `max locked memory (kbytes, -l) 64`, or of
/// /proc/PID/limits, `Max locked memory 65536 unlimited bytes`: soft, hard, unit.
std::string soft_limit(const std::vector<std::string_view>& words) {
  constexpr std::size_t kSoft = 3, kRow = 6;
  const bool is_of_proc = words.size() == kRow && words.back() == "bytes";
  const std::string soft(is_of_proc ? words[kSoft] : words.back());
  if (!is_of_proc || !is_number(soft)) return soft;
  constexpr unsigned long long kKib = 1024;
  return std::to_string(std::strtoull(soft.c_str(), nullptr, 10) / kKib);
}

/// Reads `ulimit -l`, `ulimit -a` and /proc/PID/limits.
void read_memlock(const OutputLine& line, FactsOfLine& facts) {
  const bool is_answer = contains(line.command, "ulimit -l") && line.words.size() == 1;
  if (is_answer && (line.words[0] == "unlimited" || is_number(line.words[0])))
    facts.add(What::Memlock, {}, line.words[0]);
  if (lower_case(line.text).starts_with("max locked memory"))
    facts.add(What::Memlock, {}, soft_limit(line.words));
}

/// Reads a row of show_gids: DEV PORT INDEX GID [IPv4] VER DEV
void read_gid(const OutputLine& line, FactsOfLine& facts) {
  constexpr std::size_t kGid = 39;  // characters of eight groups of four digits
  const auto& words = line.words;
  const bool is_row = words.size() >= 6 && is_number(words[1]) && is_number(words[2]) &&
                      words[3].size() == kGid && contains(words[3], ":");
  if (!is_row) return;
  CapabilityFact& fact = facts.add(What::Gid, words[0], contains(line.text, "v2") ? "v2" : "v1");
  fact.index = std::atoi(std::string(words[2]).c_str());
  if (words.size() > 6) fact.value += " " + std::string(words[4]);
}

/// Reads ibv_devinfo, `hca_id: mlx5_0` and `state: PORT_ACTIVE (4)`, and ibstat, `CA 'mlx5_0'` and `State: Active`.
/// device  that the last heading names; a heading changes it
void read_port(const OutputLine& line, std::string& device, FactsOfLine& facts) {
  const auto& words = line.words;
  if (words.size() == 2 && words[0] == "hca_id:") device = words[1];
  if (words.size() == 2 && words[0] == "CA" && words[1].starts_with("'"))
    device = words[1].substr(1, words[1].size() - 2);
  if (words.size() < 2 || (words[0] != "state:" && words[0] != "State:")) return;
  const bool is_active = words[1] == "PORT_ACTIVE" || words[1] == "Active";
  const bool is_port = is_active || words[1].starts_with("PORT_") || words[1] == "Down" ||
                       words[1] == "Initializing";
  if (is_port) facts.add(What::Port, device, is_active ? "active" : "down");
}

/// Reads `ping -M do -s 8972`: a packet larger than the smallest MTU on the path is lost, or a router refuses it.
void read_ping(const OutputLine& line, FactsOfLine& facts) {
  const bool is_lost = contains(line.command, "ping ") &&
                       contains_any(line.text, {" 100% packet loss", "Frag needed"});
  if (!is_lost) return;
  constexpr int kStandard = 1472;  // payload of an Ethernet frame of 1,500 bytes
  constexpr std::string_view kSize = "-s ";
  const std::size_t size_at = line.command.find(kSize);
  const int bytes =
      size_at == std::string_view::npos
          ? 0
          : std::atoi(std::string(line.command.substr(size_at + kSize.size())).c_str());
  const bool is_large = bytes > kStandard && contains(line.command, "-M do");
  facts.add(is_large ? What::LargePacket : What::NoPing, {}, "lost").index = bytes;
}

/// Reads pip list and pip freeze.
void read_package(const OutputLine& line, FactsOfLine& facts) {
  const auto& words = line.words;
  if (words.size() == 2 && (words[0].starts_with("nvidia-nccl-") || words[0] == "nccl"))
    facts.add(What::Package, {}, std::string(words[0]) + " " + std::string(words[1]));
}

}  // namespace

void CapabilityLines::take_prompt(std::string_view line, const logs::Record& record,
                                  std::vector<CapabilityFact>& facts) {
  const std::size_t end = prompt_end(line);
  if (end == std::string_view::npos) return;
  const std::string_view prompt = line.substr(0, end - 2);
  host_ = host_of(prompt);
  command_ = line.substr(end);
  for (const Tool& tool : kTools) {
    if (!contains(command_, tool.command)) continue;
    facts.push_back(fact_of(What::Command, record, host_));
    facts.back().value = tool.command;
  }
}

void CapabilityLines::take(const logs::Record& record, std::vector<CapabilityFact>& facts) {
  constexpr std::size_t kMostFacts = 10'000;
  if (facts.size() >= kMostFacts) return;
  const std::string_view text = logs::trimmed(record.line);
  if (text.empty()) return;
  is_answer_next_ = prompt_end(text) != std::string_view::npos;
  if (is_answer_next_) return take_prompt(text, record, facts);
  FactsOfLine found(record, host_, facts);
  for (const Tool& tool : kTools) {
    if (contains(text, tool.mark)) found.add(What::Command, {}, tool.command);
  }
  const OutputLine line{text, cells_of(text), command_};
  read_memlock(line, found);
  read_gid(line, found);
  read_port(line, device_, found);
  read_ping(line, found);
  read_package(line, found);
  // docker inspect --format '{{.HostConfig.Privileged}} {{.HostConfig.Devices}}'
  if (contains(command_, "HostConfig") && text == "false []") found.add(What::Device, {}, "none");
}

}  // namespace ringside::audit
