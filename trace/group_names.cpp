#include "trace/group_names.h"

#include <algorithm>

namespace ringside {
namespace {

constexpr std::string_view kTransfers = ", transfers";

}  // namespace

std::vector<std::string> communicator_names(std::vector<std::string> groups) {
  const std::size_t count = groups.size();
  for (std::size_t i = 0; i < count; ++i) groups.push_back(groups[i] + std::string(kTransfers));
  return groups;
}

std::vector<std::string> communicator_names(const TraceInfo& info) {
  const auto found = std::ranges::find(
      info.values, kTraceGroups, [](const auto& pair) -> const auto& { return pair.first; });
  if (found == info.values.end()) return {};
  constexpr std::string_view kBetween = "; ";
  std::string_view groups = found->second;
  std::vector<std::string> names;
  for (;;) {
    const std::size_t end = groups.find(kBetween);
    names.emplace_back(groups.substr(0, end));
    if (end == std::string_view::npos) return communicator_names(std::move(names));
    groups.remove_prefix(end + kBetween.size());
  }
}

std::string_view kind_of_group(std::string_view name) {
  const std::size_t end = std::min({name.find(" ["), name.find(" ("), name.find(kTransfers)});
  return name.substr(0, end);
}

}  // namespace ringside
