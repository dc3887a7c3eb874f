#include "base/free_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/fd.h"

namespace ringside {
namespace {

/// The file names and keys of one version of control groups.
/// source  Linux Documentation/admin-guide/cgroup-v1/memory.rst and cgroup-v2.rst
struct GroupFiles {
  const char* mount;
  const char* limit;
  const char* usage;
  std::string_view inactive_cache;
  std::string_view active_cache;
};
constexpr GroupFiles kVersion1{"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                               "memory.usage_in_bytes", "total_inactive_file", "total_active_file"};
constexpr GroupFiles kVersion2{"/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file",
                               "active_file"};

std::optional<std::uint64_t> leading_number(std::string_view text) {
  text.remove_prefix(std::min(text.size(), text.find_first_not_of(" \t")));
  std::uint64_t value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc()) return {};
  return value;
}

std::optional<std::uint64_t> number_in(const std::string& path) {
  const Result<std::string> text = read_file(path);
  return text ? leading_number(*text) : std::nullopt;
}

/// Returns the number that follows `word` at the start of a line.
std::optional<std::uint64_t> number_after(std::string_view word, const std::string& path) {
  const Result<std::string> text = read_file(path);
  std::istringstream lines(text ? *text : "");
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(word)) return leading_number(std::string_view(line).substr(word.size()));
  }
  return std::nullopt;
}

/// Returns how much memory the limit of one group leaves; nullopt if the group has no limit.
std::optional<Bytes> left_in(const std::string& folder, const GroupFiles& files) {
  const auto limit = number_in(folder + files.limit);  // nullopt for "max"
  const auto usage = number_in(folder + files.usage);
  if (!limit || !usage) return std::nullopt;
  const std::uint64_t cache =
      number_after(files.inactive_cache, folder + "memory.stat").value_or(0) +
      number_after(files.active_cache, folder + "memory.stat").value_or(0);
  const std::uint64_t held = *usage - std::min(*usage, cache);
  return Bytes{*limit - std::min(*limit, held)};
}

/// Lowers `free` to what the limits of the group and its parents leave.
/// group  path as in /proc/self/cgroup. A container often sees its own group as the root, so there may be no folder of
/// that name.
void apply_limits(const std::string& root, std::string group, const GroupFiles& files,
                  FreeMemory& free) {
  while (group.starts_with('/')) {
    const std::string folder = root + files.mount + (group == "/" ? "" : group) + "/";
    const auto left = left_in(folder, files);
    if (left && *left < free.bytes) free = {*left, "in control group " + group};
    if (group.size() == 1) return;
    group.resize(std::max<std::size_t>(1, group.rfind('/')));
  }
}

/// Returns a text such as "22.6 GiB", with enough digits to compare two sizes.
std::string rounded(Bytes size) {
  const auto bytes = static_cast<double>(size.value);
  for (const auto& [step, name] : {std::pair{40, "TiB"}, {30, "GiB"}, {20, "MiB"}}) {
    const double unit = static_cast<double>(std::uint64_t{1} << step);
    if (bytes >= unit) return fmt::format("{:.1f} {}", bytes / unit, name);
  }
  return fmt::format("{} bytes", size.value);
}

}  // namespace

std::optional<FreeMemory> free_memory(const std::string& root) {
  const auto available = number_after("MemAvailable:", root + "/proc/meminfo");  // KiB
  if (!available) return std::nullopt;
  FreeMemory free{Bytes{*available << 10}, "on this host"};
  const Result<std::string> groups = read_file(root + "/proc/self/cgroup");
  std::istringstream lines(groups ? *groups : "");
  for (std::string line; std::getline(lines, line);) {  // number:controllers:group
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string group = line.substr(second + 1);
    if (controllers == ",,") apply_limits(root, group, kVersion2, free);
    if (controllers.find(",memory,") != std::string::npos)
      apply_limits(root, group, kVersion1, free);
  }
  return free;
}

Status check_memory(Bytes needed, const std::string& what, const std::string& help,
                    const std::string& root) {
  const auto free = free_memory(root);
  if (!free || needed <= free->bytes) return {};
  return Error{ErrorCode::System,
               fmt::format("{} would take {} of memory, but only {} are free {}", what,
                           rounded(needed), rounded(free->bytes), free->where),
               help};
}

}  // namespace ringside
