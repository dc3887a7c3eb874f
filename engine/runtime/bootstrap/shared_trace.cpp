#include "engine/runtime/bootstrap/shared_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "base/fnv.h"
#include "engine/runtime/bootstrap/bootstrap.h"
#include "trace/file_sink.h"

namespace ringside {
namespace {

struct OwnFile {
  std::uint64_t path = 0;  ///< hash, the same on all hosts; 0: the rank records nothing
  std::uint64_t has_joined = 0;
};

/// Returns the rank that creates the file of this rank; empty: it exists.
std::optional<int> creator_of(const std::vector<OwnFile>& files, const OwnFile& own) {
  std::optional<int> first;
  for (std::size_t rank = 0; rank < files.size(); ++rank) {
    if (files[rank].path != own.path) continue;
    if (files[rank].has_joined != 0) return std::nullopt;
    if (!first) first = static_cast<int>(rank);
  }
  return first;
}

}  // namespace

Status create_shared_trace(Bootstrap& bootstrap, const std::string& path, const TraceInfo& info,
                           bool has_joined) {
  const OwnFile own{path.empty() ? 0 : std::max<std::uint64_t>(fnv_of(path), 1),
                    has_joined ? 1U : 0U};
  RINGSIDE_TRY(const std::vector<std::byte> all,
               bootstrap.all_gather(std::as_bytes(std::span(&own, 1))));
  std::vector<OwnFile> files(all.size() / sizeof own);
  std::memcpy(files.data(), all.data(), files.size() * sizeof own);
  if (std::ranges::all_of(files, [](const OwnFile& file) { return file.path == 0; })) return {};
  Status created;
  if (own.path != 0 && creator_of(files, own) == to_int(bootstrap.rank())) {
    const auto recorder = record_to_file(path, info);
    if (!recorder) created = recorder.error();
  }
  const std::byte failed{static_cast<unsigned char>(created ? 0 : 1)};
  RINGSIDE_TRY(const std::vector<std::byte> outcomes, bootstrap.all_gather(std::span(&failed, 1)));
  const auto at = std::ranges::find(outcomes, std::byte{1});
  if (!created || at == outcomes.end()) return created;
  return Error{.code = ErrorCode::System,
               .message = fmt::format("rank {} cannot write the trace", at - outcomes.begin()),
               .is_reported_elsewhere = true};
}

}  // namespace ringside
