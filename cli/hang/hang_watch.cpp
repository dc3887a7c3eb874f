#include "cli/hang/hang_watch.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "diag/report/sentences/hang_sentences.h"

namespace ringside::cli {
namespace {

namespace fs = std::filesystem;

constexpr auto kPoll = std::chrono::milliseconds{500};
constexpr auto kQuiet = std::chrono::seconds{8};

/// The size of the folder's content, which shows whether something was written: bytes and files.
struct Weight {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::int64_t newest_ns = 0;
  friend bool operator==(const Weight&, const Weight&) = default;
};

Weight weigh(const std::string& folder) {
  Weight weight;
  std::error_code error;
  fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error);
  for (const fs::recursive_directory_iterator end; !error && it != end; it.increment(error)) {
    struct stat info = {};
    if (::stat(it->path().c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    ++weight.files;
    weight.bytes += static_cast<std::uint64_t>(info.st_size);
    weight.newest_ns = std::max<std::int64_t>(
        weight.newest_ns, info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec);
  }
  return weight;
}

bool is_sure(const hang::Verdict& verdict) {
  return verdict.best.kind != hang::Kind::NotAHang && verdict.best.kind != hang::Kind::Unknown &&
         verdict.best.confidence >= 0.5;
}

}  // namespace

Result<std::unique_ptr<hang::Examination>> watch_for_hang(const std::string& folder,
                                                          Seconds longest, Clock& clock) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    return Error{ErrorCode::NotFound, fmt::format("{}: no such folder", folder),
                 "give the folder that the job writes its logs and dumps to"};
  }
  const fs::directory_iterator readable(folder, error);
  if (error) {
    return Error{ErrorCode::InvalidArgument, fmt::format("{}: {}", folder, error.message()),
                 "check the permissions of the folder"};
  }
  const Clock::Time began = clock.now();
  auto changed = began;
  Weight last = weigh(folder);
  bool is_examined = false;
  while (longest.count() <= 0 || clock.now() - began < longest) {
    clock.sleep(kPoll);
    if (const Weight now = weigh(folder); !(now == last)) {
      last = now;
      changed = clock.now();
      is_examined = false;
      continue;
    }
    if (is_examined || clock.now() - changed < kQuiet) continue;
    is_examined = true;
    auto all = hang::examine({folder});
    if (all && is_sure(all->verdict)) {
      return std::make_unique<hang::Examination>(*std::move(all));
    }
    fmt::print(stderr, "note: {} has been quiet for {} s; {}\n", folder, kQuiet.count(),
               all ? hang::why_of(all->verdict.best) : all.error().message);
  }
  return std::unique_ptr<hang::Examination>{};
}

}  // namespace ringside::cli
