#include "diag/audit/capability_lines.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/text.h"
#include "diag/audit/link_matrix.h"
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
  constexpr std::size_t kLongest = 60;
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
  fact.quoted = {record.place, record.speaker, quotable(record.line)};
  return fact;
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
  const std::string_view line = logs::trimmed(record.line);
  if (line.empty()) return;
  is_answer_next_ = prompt_end(line) != std::string_view::npos;
  if (is_answer_next_) return take_prompt(line, record, facts);
  const auto add = [&](What what, std::string_view device, std::string_view value) {
    facts.push_back(fact_of(what, record, host_));
    facts.back().device = device;
    facts.back().value = value;
  };
  for (const Tool& tool : kTools) {
    if (contains(line, tool.mark)) add(What::Command, {}, tool.command);
  }
  const std::vector<std::string_view> words = cells_of(line);

  // ulimit -l, ulimit -a, /proc/PID/limits
  const bool is_answer = contains(command_, "ulimit -l") && words.size() == 1;
  if (is_answer && (words[0] == "unlimited" || is_number(words[0])))
    add(What::Memlock, {}, words[0]);
  if (lower_case(line).starts_with("max locked memory"))
    add(What::Memlock, {}, contains(line, "unlimited") ? "unlimited" : words.back());

  // show_gids: DEV PORT INDEX GID [IPv4] VER DEV
  constexpr std::size_t kGid = 39;
  if (words.size() >= 6 && is_number(words[1]) && is_number(words[2]) && words[3].size() == kGid &&
      contains(words[3], ":")) {
    add(What::Gid, words[0], contains(line, "v2") ? "v2" : "v1");
    facts.back().index = std::atoi(std::string(words[2]).c_str());
    if (words.size() > 6) facts.back().value += " " + std::string(words[4]);
  }

  // ibv_devinfo: `hca_id: mlx5_0`, `state: PORT_ACTIVE (4)`; ibstat: `CA 'mlx5_0'`, `State: Active`
  if (words.size() == 2 && words[0] == "hca_id:") device_ = words[1];
  if (words.size() == 2 && words[0] == "CA" && words[1].starts_with("'"))
    device_ = words[1].substr(1, words[1].size() - 2);
  if (words.size() >= 2 && (words[0] == "state:" || words[0] == "State:")) {
    const bool is_active = words[1] == "PORT_ACTIVE" || words[1] == "Active";
    const bool is_port = is_active || words[1].starts_with("PORT_") || words[1] == "Down" ||
                         words[1] == "Initializing";
    if (is_port) add(What::Port, device_, is_active ? "active" : "down");
  }

  // ping -M do -s 8972: a packet larger than the smallest MTU on the path is lost, or a router refuses it.
  if (contains(command_, "ping ") && contains_any(line, {" 100% packet loss", "Frag needed"})) {
    constexpr int kStandard = 1472;  // payload of an Ethernet frame of 1,500 bytes
    const std::size_t size_at = command_.find("-s ");
    const int bytes = size_at == std::string::npos ? 0 : std::atoi(command_.c_str() + size_at + 3);
    const bool is_large = bytes > kStandard && contains(command_, "-M do");
    add(is_large ? What::LargePacket : What::NoPing, {}, "lost");
    facts.back().index = bytes;
  }

  // pip list, pip freeze
  if (words.size() == 2 && (words[0].starts_with("nvidia-nccl-") || words[0] == "nccl"))
    add(What::Package, {}, std::string(words[0]) + " " + std::string(words[1]));

  // docker inspect --format '{{.HostConfig.Privileged}} {{.HostConfig.Devices}}'
  if (contains(command_, "HostConfig") && line == "false []") add(What::Device, {}, "none");
}

}  // namespace ringside::audit
