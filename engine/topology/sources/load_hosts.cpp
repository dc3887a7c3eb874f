#include "engine/topology/sources/load_hosts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <vector>

#include "base/fd.h"
#include "base/folder.h"
#include "base/suggest.h"
#include "base/text.h"
#include "engine/topology/sources/find_preset.h"
#include "engine/topology/sources/host_source.h"
#include "engine/topology/sources/host_yaml.h"

namespace ringside {
namespace {

constexpr std::string_view kSynthetic = "synthetic:";
constexpr std::string_view kLocal = "local";

/// One element of `--on`: `A.xml:4`.
struct Part {
  std::string source;
  std::optional<int> count;
};

Error bad_count(const std::string& what) {
  return {ErrorCode::InvalidArgument, what, fmt::format("give 1 to {}", kMaxHosts)};
}

/// Digits after the last colon are a count, unless a file of that whole name exists.
Result<Part> parse_part(const std::string& text) {
  if (text.empty()) {
    return Error{ErrorCode::InvalidArgument, "--on has an empty part",
                 "give presets or files with one comma between, such as dgx-h100:2,a.xml:2"};
  }
  const auto colon = text.rfind(':');
  std::error_code ignored;
  if (colon == std::string::npos || std::filesystem::exists(text, ignored)) return Part{text, {}};
  const std::string digits = text.substr(colon + 1);
  if (digits.empty() || digits.find_first_not_of("-0123456789") != std::string::npos) {
    return Part{text, {}};
  }
  const auto count = parse_int(digits);
  if (!count || *count < 1 || *count > kMaxHosts) {
    return bad_count(fmt::format("--on {}: {} hosts", text, digits));
  }
  return Part{text.substr(0, colon), static_cast<int>(*count)};
}

Result<std::vector<Part>> parse_parts(const std::string& on) {
  // hwloc's synthetic descriptions contain colons and commas themselves.
  if (on.starts_with(kSynthetic)) return std::vector<Part>{{on, {}}};
  std::vector<Part> parts;
  for (std::size_t from = 0;;) {
    const std::size_t comma = on.find(',', from);
    RINGSIDE_TRY(Part part, parse_part(on.substr(from, comma - from)));
    parts.push_back(std::move(part));
    if (comma == std::string::npos) return parts;
    from = comma + 1;
  }
}

/// Suggests a preset, or a file in the same folder, for a mistyped name.
Error unknown_source(const std::string& name) {
  const auto presets = host_preset_names();
  std::vector<std::string> files;
  const std::filesystem::path path{name};
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path{"."};
  for (const std::string& entry : names_or_none(folder)) {
    if (entry.ends_with(".xml") || entry.ends_with(".yaml")) {
      files.push_back((path.parent_path() / entry).string());
    }
    if (files.size() == 1000) break;
  }
  std::vector<std::string_view> names(files.begin(), files.end());
  names.insert(names.end(), presets.begin(), presets.end());
  const std::string_view near = nearest_word(name, names);
  const bool is_file = std::ranges::find(files, near) != files.end();
  return {ErrorCode::NotFound, fmt::format("no host '{}': neither a preset nor a file", name),
          is_file ? fmt::format("did you mean '{}'?", near) : suggestion(name, presets)};
}

Result<DescribedHost> load_source(const std::string& source) {
  if (source == kLocal) {
    RINGSIDE_TRY(Host host, load_local_host());
    return DescribedHost{std::move(host), 1};
  }
  if (source.starts_with(kSynthetic)) {
    RINGSIDE_TRY(Host host, parse_synthetic_host(source.substr(kSynthetic.size())));
    return DescribedHost{std::move(host), 1};
  }
  std::error_code ignored;
  const Preset* const preset = find_preset(source);
  if (preset != nullptr && (preset->name == source || !std::filesystem::exists(source, ignored))) {
    return parse_host_yaml(std::string{preset->text}, fmt::format("{}.yaml", preset->name));
  }
  if (std::filesystem::is_directory(source, ignored)) {
    return Error{ErrorCode::InvalidArgument, fmt::format("{} is a folder", source),
                 "give a file in it"};
  }
  auto host = load_host_file(source);
  if (!host && host.error().code == ErrorCode::NotFound) return unknown_source(source);
  return host;
}

/// Checks that the number of hosts that is asked for is one, and agrees with the counts of the parts.
Status check_nodes(const std::vector<Part>& parts, std::optional<int> nodes) {
  if (nodes && (*nodes < 1 || *nodes > kMaxHosts)) {
    return bad_count(fmt::format("{} nodes", *nodes));
  }
  if (parts.size() == 1 && !parts[0].count) return {};
  int total = 0;
  for (const Part& part : parts) {
    if (part.count.value_or(1) > kMaxHosts - total)
      return bad_count("--on names more hosts than a job can have");
    total += part.count.value_or(1);
  }
  if (!nodes || *nodes == total) return {};
  return Error{ErrorCode::InvalidArgument,
               fmt::format("--on names {} hosts, --nodes {}", total, *nodes),
               fmt::format("leave --nodes out, or give --nodes {}", total)};
}

}  // namespace

std::span<const std::string_view> host_preset_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const Preset& preset : kHostPresets) all.push_back(preset.name);
    return all;
  }();
  return names;
}

Result<JobHosts> load_hosts(const std::string& on, std::optional<int> nodes,
                            std::optional<int> nvl_domain) {
  RINGSIDE_TRY(const std::vector<Part> parts, parse_parts(on));
  RINGSIDE_TRY(check_nodes(parts, nodes));
  if (nvl_domain && (*nvl_domain < 1 || *nvl_domain > kMaxHosts)) {
    return bad_count(fmt::format("--nvl-domain {}", *nvl_domain));
  }
  JobHosts job;
  std::optional<int> domain = nvl_domain;
  for (const Part& part : parts) {
    RINGSIDE_TRY(DescribedHost described, load_source(part.source));
    if (domain && !nvl_domain && *domain != described.hosts_per_domain) {
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("{}: hosts of different NVLink domains in one job", on),
                   "count them host by host, and say with --nvl-domain how many share one"};
    }
    domain = domain.value_or(described.hosts_per_domain);
    const int count = part.count.value_or(parts.size() == 1 ? nodes.value_or(1) : 1);
    const int hosts_each = nvl_domain ? 1 : described.hosts_per_domain;
    if (count > kMaxHosts / hosts_each)
      return bad_count(fmt::format("--on {}: {} nodes", on, count));
    job.runs.push_back({std::move(described.host), count * hosts_each});
  }
  job.hosts_per_nvl_domain = *domain;
  return job;
}

}  // namespace ringside
