#include "diag/job/slurm_layout.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace ringside::job {
namespace {

constexpr std::size_t kMostHosts = 4096;

/// Returns the value after `key` and an `=` or blanks; empty: no such key.
std::string_view value_behind(std::string_view line, std::string_view key) {
  for (std::size_t at = line.find(key); at != std::string_view::npos; at = line.find(key, at + 1)) {
    std::size_t from = at + key.size();
    if (from >= line.size() || (line[from] != '=' && line[from] != ' ')) continue;
    from = line.find_first_not_of("= \"'", from);
    if (from == std::string_view::npos) continue;
    return line.substr(from, line.find_first_of(" \t\"';", from) - from);
  }
  return {};
}

int option_number(std::string_view line, std::string_view key) {
  const std::string_view value = value_behind(line, key);
  int number = 0;
  std::from_chars(value.data(), value.data() + value.size(), number);
  return number > 0 && number <= (1 << 16) ? number : 0;
}

/// Returns 8 for `4 nodes x 8 GPUs`.
int gpus_of_each(std::string_view line) {
  const std::size_t nodes = line.find(" nodes x ");
  if (nodes == std::string_view::npos) return 0;
  int number = 0;
  const std::string_view rest = line.substr(nodes + 9);
  std::from_chars(rest.data(), rest.data() + rest.size(), number);
  return number > 0 && number <= 64 ? number : 0;
}

/// Reads `15-18,20` between `prefix` and `suffix`.  returns  false: not such a list
bool add_range(std::string_view prefix, std::string_view ranges, std::string_view suffix,
               std::vector<std::string>& hosts) {
  while (!ranges.empty()) {
    const std::string_view one = ranges.substr(0, ranges.find(','));
    ranges.remove_prefix(std::min(one.size() + 1, ranges.size()));
    const std::size_t dash = one.find('-');
    const std::string_view low = one.substr(0, dash);
    const std::string_view high = dash == std::string_view::npos ? low : one.substr(dash + 1);
    long first = 0, last = 0;
    const auto is_whole = [](std::string_view text, long& number) {
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      return error == std::errc() && end == text.data() + text.size() && number >= 0;
    };
    if (!is_whole(low, first) || !is_whole(high, last) || last < first) return false;
    for (long number = first; number <= last; ++number) {
      if (hosts.size() >= kMostHosts) return false;
      std::string digits = std::to_string(number);
      if (digits.size() < low.size()) digits.insert(0, low.size() - digits.size(), '0');
      hosts.push_back(std::string(prefix) + digits + std::string(suffix));
    }
  }
  return true;
}

}  // namespace

std::vector<std::string> expand_hosts(std::string_view list) {
  std::vector<std::string> hosts;
  while (!list.empty()) {
    const std::size_t open = list.find('[');
    const std::size_t comma = list.find(',');
    if (open == std::string_view::npos || comma < open) {
      const std::string_view one = list.substr(0, comma);
      if (one.empty() || hosts.size() >= kMostHosts) return {};
      hosts.emplace_back(one);
      list.remove_prefix(std::min(one.size() + 1, list.size()));
      continue;
    }
    const std::size_t close = list.find(']', open);
    if (close == std::string_view::npos) return {};
    const std::string_view behind = list.substr(close + 1);
    const std::string_view suffix = behind.substr(0, behind.find(','));
    if (!add_range(list.substr(0, open), list.substr(open + 1, close - open - 1), suffix, hosts))
      return {};
    list = behind.substr(std::min(suffix.size() + 1, behind.size()));
  }
  return hosts;
}

void SlurmLayout::take(std::string_view line) {
  for (const std::string_view key :
       {"--nodelist", "JOB_NODELIST", "SLURM_NODELIST", "NodeList", "StepNodeList"}) {
    std::vector<std::string> hosts = expand_hosts(value_behind(line, key));
    if (hosts.size() > 1) hosts_ = std::move(hosts);
  }
  for (const std::string_view key : {"--ntasks-per-node", "NTASKS_PER_NODE", "--gpus-per-node",
                                     "--nproc_per_node", "--nproc-per-node", "TasksPerNode"}) {
    if (const int tasks = option_number(line, key); tasks > 0) tasks_ = tasks;
  }
  if (const int gpus = gpus_of_each(line); gpus > 0 && tasks_ == 0) tasks_ = gpus;
  if (const int nodes = option_number(line, "--nodes"); nodes > 0) nodes_ = nodes;
  const std::string_view dealt = value_behind(line, "--distribution");
  if (!dealt.empty()) is_dealt_ = !dealt.starts_with("block");
}

std::vector<int> SlurmLayout::ranks_of(std::string_view host) const {
  const auto short_of = [](std::string_view name) { return name.substr(0, name.find('.')); };
  const auto found = std::find_if(hosts_.begin(), hosts_.end(), [&](const std::string& one) {
    return short_of(one) == short_of(host);
  });
  const bool is_known = found != hosts_.end() && tasks_ > 0 && !is_dealt_ &&
                        (nodes_ == 0 || static_cast<std::size_t>(nodes_) == hosts_.size());
  if (!is_known) return {};
  std::vector<int> ranks(static_cast<std::size_t>(tasks_));
  const int first = static_cast<int>(found - hosts_.begin()) * tasks_;
  for (int i = 0; i < tasks_; ++i) ranks[static_cast<std::size_t>(i)] = first + i;
  return ranks;
}

}  // namespace ringside::job
