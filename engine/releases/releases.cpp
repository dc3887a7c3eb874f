#include "engine/releases/releases.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/text.h"
#include "engine/releases/document.h"
#include "engine/releases/embedded.h"

namespace ringside {
namespace {

/// "nccl-2.27.3" becomes {2, 27, 3}; empty: not the name of a release file.
std::vector<int> numbers_of(std::string_view version) {
  std::vector<int> numbers;
  while (true) {
    const std::size_t dot = version.find('.');
    const Result<std::int64_t> number = parse_int(version.substr(0, dot));
    if (!number || *number < 0 || *number > 9999) return {};
    numbers.push_back(static_cast<int>(*number));
    if (dot == std::string_view::npos) return numbers;
    version.remove_prefix(dot + 1);
  }
}

/// Returns the releases that have a file and consist of `count` numbers, newest first.
std::vector<std::string> described(std::size_t count) {
  std::vector<std::vector<int>> found;
  for (const EmbeddedRelease& release : kReleaseData) {
    if (!release.name.starts_with("nccl-")) continue;
    std::vector<int> numbers = numbers_of(release.name.substr(5));
    if (numbers.size() == count) found.push_back(std::move(numbers));
  }
  std::sort(found.begin(), found.end(), std::greater<>());
  std::vector<std::string> names;
  names.reserve(found.size());
  for (const auto& numbers : found) names.push_back(fmt::format("{}", fmt::join(numbers, ".")));
  return names;
}

/// Overlays `changes` on `base`: mappings are merged key by key, other values are replaced.
YAML::Node overlaid(const YAML::Node& base, const YAML::Node& changes) {
  if (!base.IsMap() || !changes.IsMap()) return changes;
  YAML::Node joined = YAML::Clone(base);
  for (const auto& entry : changes) {
    const auto key = entry.first.as<std::string>();
    joined[key] = base[key] ? overlaid(base[key], entry.second) : entry.second;
  }
  return joined;
}

/// Returns the document of a version, overlaid on those of the releases that it is based on. Each is built once,
/// because all parts of the engine use the same one and the oldest has a dozen below it.
///
/// Threads  one at a time
const YAML::Node& whole_document(const std::string& version) {
  static std::map<std::string, YAML::Node> known;
  if (const auto at = known.find(version); at != known.end()) return at->second;
  const auto found = std::find_if(
      kReleaseData.begin(), kReleaseData.end(),
      [&](const EmbeddedRelease& release) { return release.name == "nccl-" + version; });
  RINGSIDE_ASSERT(found != kReleaseData.end(), "no data for NCCL {}", version);
  YAML::Node document = YAML::Load(std::string(found->text));
  if (document["base"]) {
    const auto base = document["base"].as<std::string>();
    document.remove("base");
    document.reset(overlaid(whole_document(base), document));
  }
  return known.emplace(version, document).first->second;
}

/// Returns a copy, which the caller may change.
YAML::Node copy_of_document(const std::string& version) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  return YAML::Clone(whole_document(version));
}

Error unknown_version(std::string_view version) {
  return {ErrorCode::NotFound, fmt::format("NCCL '{}' is not described", version),
          fmt::format("known: {}", fmt::join(release_versions(), ", "))};
}

}  // namespace

std::span<const std::string> release_versions() {
  static const std::vector<std::string> kMinors = described(2);
  return kMinors;
}

std::span<const std::string> release_patches() {
  static const std::vector<std::string> kPatches = described(3);
  return kPatches;
}

std::string newest_patch(std::string_view version) {
  const Result<ReleaseDocument> release = load_release(version);
  RINGSIDE_ASSERT(release, "no data for NCCL {}", version);
  return release->root["patch"].as<std::string>();
}

std::string release_caveat(std::string_view version) {
  const Result<ReleaseDocument> release = load_release(version);
  return release ? release->root["unverified"].as<std::string>("") : std::string{};
}

std::string nearest_release(int minor, std::optional<int> patch) {
  const int newest = numbers_of(release_versions().front())[1];
  const int oldest = numbers_of(release_versions().back())[1];
  if (minor > newest) return release_versions().front();
  if (minor < oldest) return release_versions().back();
  if (patch) {
    const std::string exact = fmt::format("2.{}.{}", minor, *patch);
    if (load_release(exact)) return exact;
  }
  return fmt::format("2.{}", minor);
}

Result<ReleaseDocument> load_release(std::string_view version) {
  const std::vector<int> asked = numbers_of(version);
  const auto minors = release_versions();
  const std::size_t dot = version.find('.', version.find('.') + 1);
  const std::string minor(version.substr(0, dot));
  if (asked.size() < 2 || asked.size() > 3 || std::ranges::find(minors, minor) == minors.end()) {
    return unknown_version(version);
  }
  std::string file = minor;
  if (asked.size() == 3) {
    // Newest first, so the result is the oldest patch that is not older than the requested one.
    for (const std::string& patch : release_patches()) {
      const std::vector<int> numbers = numbers_of(patch);
      if (numbers[0] == asked[0] && numbers[1] == asked[1] && numbers[2] >= asked[2]) file = patch;
    }
  }
  ReleaseDocument release{.root = {}, .where = "nccl-" + file};
  std::string newest;
  try {
    release.root = copy_of_document(file);
    newest = release.root["patch"].as<std::string>();
  } catch (const YAML::Exception& exception) {
    return Error{ErrorCode::Corrupt, fmt::format("{}: {}", release.where, exception.what())};
  }
  if (asked.size() == 3 && numbers_of(newest) < asked) {
    Error unknown = unknown_version(version);
    unknown.help += fmt::format("; {} goes up to {}", minor, newest);
    return unknown;
  }
  return release;
}

}  // namespace ringside
