#include "diag/hangdetect/recordings/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <numeric>
#include <span>
#include <tuple>

#include "base/wording.h"
#include "diag/hangdetect/recordings/formats.h"

namespace ringside::recordings {
namespace {

constexpr std::size_t kLargestText = std::size_t{2} << 30;

Error with_path(Error error, const std::string& path) {
  error.message = fmt::format("{}: {}", path, error.message);
  return error;
}

Result<std::string> read_text(logs::ByteSource& source) {
  std::string text;
  std::array<char, 1 << 16> room;
  for (;;) {
    RINGSIDE_TRY(const std::size_t count, source.read(room));
    if (count == 0) return text;
    text.append(room.data(), count);
    if (text.size() > kLargestText)
      return Error{ErrorCode::Corrupt, "more than 2 GiB", "record a shorter window"};
  }
}

template <typename T>
Result<std::vector<T>> one(Result<T> made) {
  if (!made) return std::move(made).error();
  std::vector<T> list;
  list.push_back(*std::move(made));
  return list;
}

/// Bounds times so that sums of two are within 2^63.
void bound_times(Recording& recording) {
  constexpr std::int64_t kLatest = 4'000'000'000'000'000'000;  // the year 2096
  for (Call& call : recording.calls) {
    for (std::int64_t* const time :
         {&call.issued_ns, &call.begin_ns, &call.end_ns, &call.duration_ns})
      *time = std::clamp<std::int64_t>(*time, -1, kLatest);
    if (call.end_ns >= 0) call.end_ns = std::max(call.begin_ns, call.end_ns);
  }
  recording.window_end_ns = std::clamp<std::int64_t>(recording.window_end_ns, -1, kLatest);
  for (Span& span : recording.compute) {
    span.begin_ns = std::clamp<std::int64_t>(span.begin_ns, 0, kLatest);
    span.end_ns = std::clamp(span.end_ns, span.begin_ns, kLatest);
  }
}

void number_calls(Recording& recording) {
  std::map<std::pair<int, bool>, std::int64_t> last;
  for (Call& call : recording.calls) {
    std::int64_t& number = last[{call.group, call.is_transfer()}];
    if (call.sequence < 0) call.sequence = number + 1;
    number = std::max(number, call.sequence);
  }
}

/// Returns whether the calls of the one group are those of every other recording's group, as far as both go.
bool is_same_beginning(const Recording& a, const Recording& b) {
  const std::size_t both = std::min(a.calls.size(), b.calls.size());
  for (std::size_t i = 0; i < both; ++i) {
    if (a.calls[i].is_transfer() != b.calls[i].is_transfer()) return false;
    if (!a.calls[i].is_transfer() && a.calls[i].op != b.calls[i].op) return false;
  }
  return true;
}

/// Traces that name no groups hold the calls of all groups as one list.
void check_groups(std::vector<Recording>& all) {
  const auto is_unnamed = [](const Recording& one) {
    return one.groups.size() == 1 && one.groups.front().name.empty() &&
           one.groups.front().members.empty();
  };
  if (all.empty() || !std::ranges::all_of(all, is_unnamed)) return;
  const bool is_one_group = std::ranges::all_of(
      all, [&](const Recording& one) { return is_same_beginning(all.front(), one); });
  for (Recording& recording : all) {
    Group& group = recording.groups.front();
    group.name = is_one_group ? "0" : fmt::format("calls of rank {}", recording.rank);
    if (is_one_group) {
      for (int rank = 0; rank < static_cast<int>(all.size()); ++rank) group.members.push_back(rank);
      group.size = static_cast<int>(all.size());
      continue;
    }
    group.members = {recording.rank};
    group.size = 1;
    recording.notes.emplace_back(
        "which group a call is of, so calls of ranks are not matched: the trace does not name "
        "groups (PyTorch 2.3 and "
        "later do)");
  }
}

}  // namespace

int Recording::group_of(const std::string& name, const std::vector<int>& members, int size) {
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].name != name || groups[i].members != members) continue;
    groups[i].size = std::max(groups[i].size, size);
    return static_cast<int>(i);
  }
  groups.push_back({name, {}, std::max(size, static_cast<int>(members.size())), members});
  return static_cast<int>(groups.size()) - 1;
}

Result<std::vector<Recording>> parse(Format format, std::string_view bytes,
                                     const std::string& path) {
  auto made = format == Format::Nsys        ? parse_nsys(bytes)
              : format == Format::Kineto    ? one(parse_kineto(bytes))
              : format == Format::Inspector ? one(parse_inspector(bytes))
                                            : one(parse_clog(bytes));
  if (!made) return with_path(std::move(made).error(), path);
  for (Recording& recording : *made) recording.path = path;
  return made;
}

Result<std::vector<Recording>> load(Format format, const std::string& path) {
  Result<std::vector<Recording>> made = Error{};
  if (format == Format::Nsys) {
    made = read_nsys(path);
  } else {
    RINGSIDE_TRY(const auto source, logs::open_source(path, 0));
    if (format == Format::Kineto) {
      made = one(read_kineto(*source));
    } else {
      auto text = read_text(*source);
      if (!text) return with_path(std::move(text).error(), path);
      return parse(format, *text, path);
    }
  }
  if (!made) return with_path(std::move(made).error(), path);
  for (Recording& recording : *made) recording.path = path;
  return made;
}

void complete(Loaded& loaded) {
  std::vector<Recording>& all = loaded.recordings;
  if (all.empty()) return;
  std::map<std::string, int> of_file;
  for (const Recording& one : all) ++of_file[one.path];
  std::map<int, int> named;
  for (const Recording& one : all)
    ++named[of_file[one.path] == 1 ? hang::rank_of_name(one.path) : -1];
  const bool do_names_tell =
      !named.contains(-1) && named.size() == all.size() && named.rbegin()->first < hang::kMostRanks;
  int next = 0;
  for (Recording& one : all) {
    if (one.rank < 0) {
      one.rank = do_names_tell ? hang::rank_of_name(one.path) : next;
      one.notes.emplace_back(do_names_tell ? "which rank a file is of: the number in its name"
                                           : "which rank a file is of: the order of the files");
    }
    ++next;
    bound_times(one);
    number_calls(one);
  }
  std::ranges::stable_sort(all, {}, &Recording::rank);
  std::vector<Recording> kept;
  for (Recording& one : all) {
    if (!kept.empty() && kept.back().rank == one.rank) {
      loaded.bad.push_back({one.path,
                            {ErrorCode::Corrupt,
                             fmt::format("{}: a second recording of rank {}, besides {}", one.path,
                                         one.rank, kept.back().path),
                             "give one file a rank, of one window"}});
    } else {
      kept.push_back(std::move(one));
    }
  }
  all = std::move(kept);
  check_groups(all);
}

Loaded load(const std::vector<hang::InputFile>& files) {
  Loaded loaded;
  for (const hang::InputFile& file : files) {
    if (file.kind != hang::FileKind::Recording || !file.format) continue;
    auto made = load(*file.format, file.path);
    if (!made) {
      loaded.bad.push_back({file.path, std::move(made).error()});
      continue;
    }
    for (Recording& recording : *made) loaded.recordings.push_back(std::move(recording));
  }
  complete(loaded);
  return loaded;
}

namespace {

/// A collective of a group, the same on all members.
using CallKey = std::tuple<std::string, std::vector<int>, std::int64_t>;

/// Visits collectives that end on all ranks at nearly the same time.
template <typename Visit>
void for_each_common_end(const Recording& recording, const Visit& visit) {
  for (const Call& call : recording.calls) {
    if (call.end_ns < 0 || call.begin_ns < 0 || !hang::needs_everybody(call.op)) continue;
    const Group& group = recording.groups[static_cast<std::size_t>(call.group)];
    visit(CallKey{group.name, group.members, call.sequence}, call.end_ns);
  }
}

/// Returns whether times count from 1970, and not from the start of the recorder or the host.
bool is_dated(const Recording& recording) {
  constexpr std::int64_t kEarliest = 1'000'000'000'000'000'000;  // the year 2001
  return std::ranges::any_of(recording.calls,
                             [](const Call& call) { return call.begin_ns > kEarliest; });
}

/// Returns the median of the differences; 0 if it is within what ends on one clock differ by.
/// is_one_clock  both clocks count from 1970; false: each may count from another moment
std::int64_t offset_of(std::vector<std::int64_t> differences, bool is_one_clock) {
  if (differences.empty()) return 0;
  const auto middle = differences.begin() + static_cast<std::ptrdiff_t>(differences.size() / 2);
  std::ranges::nth_element(differences, middle);
  const std::int64_t offset = *middle;
  if (!is_one_clock) return offset;
  for (std::int64_t& difference : differences) difference = std::abs(difference - offset);
  std::ranges::nth_element(differences, middle);
  // On one clock, a difference within the noise (four times its median, at least 100 us) is no offset.
  constexpr std::int64_t kLeast = 100'000;
  return std::abs(offset) <= std::max(kLeast, 4 * *middle) ? 0 : offset;
}

/// Visits all times of a recording that are known.
template <typename Visit>
void for_each_time(Recording& recording, const Visit& visit) {
  for (Call& call : recording.calls) {
    for (std::int64_t* const time : {&call.issued_ns, &call.begin_ns, &call.end_ns})
      if (*time >= 0) visit(*time);
  }
  if (recording.window_end_ns >= 0) visit(recording.window_end_ns);
  for (Span& span : recording.compute) {
    visit(span.begin_ns);
    visit(span.end_ns);
  }
}

}  // namespace

std::vector<std::pair<int, std::int64_t>> align_clocks(std::vector<Recording>& recordings) {
  std::map<CallKey, std::int64_t> ends;  // of recordings on the common clock
  std::vector<std::optional<std::int64_t>> offsets(recordings.size());
  const auto join = [&](std::size_t i, std::int64_t offset) {
    offsets[i] = offset;
    for_each_common_end(recordings[i], [&](const CallKey& key, std::int64_t end) {
      ends.try_emplace(key, end + offset);
    });
  };
  if (!recordings.empty()) join(0, 0);
  // Each pass takes the recordings that share calls with those on the common clock.
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (std::size_t i = 1; i < recordings.size(); ++i) {
      if (offsets[i]) continue;
      std::vector<std::int64_t> differences;
      for_each_common_end(recordings[i], [&](const CallKey& key, std::int64_t end) {
        const auto known = ends.find(key);
        if (known != ends.end()) differences.push_back(known->second - end);
      });
      if (differences.empty()) continue;
      join(i, offset_of(std::move(differences), is_dated(recordings[i])));
      has_changed = true;
    }
  }
  std::int64_t first = 0;
  for (std::size_t i = 0; i < recordings.size(); ++i) {
    for_each_time(recordings[i], [&](std::int64_t time) {
      first = std::min(first, time + offsets[i].value_or(0));
    });
  }
  std::vector<std::pair<int, std::int64_t>> moved;
  for (std::size_t i = 0; i < recordings.size(); ++i) {
    const std::int64_t offset = offsets[i].value_or(0);
    if (offset != 0) moved.emplace_back(recordings[i].rank, offset);
    if (offset == first) continue;
    for_each_time(recordings[i], [&](std::int64_t& time) { time += offset - first; });
  }
  return moved;
}

}  // namespace ringside::recordings
