#include "diag/hangdetect/readers/dump_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <thread>
#include <utility>

#include "base/cores.h"
#include "base/fd.h"
#include "base/walk_folder.h"
#include "diag/hangdetect/readers/dump_builder.h"
#include "diag/hangdetect/readers/dump_json.h"
#include "diag/hangdetect/readers/dump_keys.h"
#include "diag/hangdetect/readers/pickle.h"
#include "diag/logparse/byte_source.h"
#include "diag/logparse/cursor.h"

namespace ringside::hang {
namespace {

namespace fs = std::filesystem;
using logs::is_digit;

/// Above any dump: one of 20,000 calls with deep stacks has 20 MB.
constexpr std::uint64_t kLargestDump = 1U << 30U;
constexpr const char* kOwnDescriptors = "/proc/self/fd";

/// rank2 before rank10; names that differ only in leading zeros as texts.
bool natural_less(const std::string& a, const std::string& b) {
  std::size_t i = 0;
  std::size_t k = 0;
  while (i < a.size() && k < b.size()) {
    if (is_digit(a[i]) && is_digit(b[k])) {
      std::size_t ie = i;
      std::size_t ke = k;
      while (ie < a.size() && is_digit(a[ie])) ++ie;
      while (ke < b.size() && is_digit(b[ke])) ++ke;
      const auto x = parse_whole(std::string_view(a).substr(i, ie - i)).value_or(0);
      const auto y = parse_whole(std::string_view(b).substr(k, ke - k)).value_or(0);
      if (x != y) return x < y;
      i = ie;
      k = ke;
    } else {
      if (a[i] != b[k]) return a[i] < b[k];
      ++i;
      ++k;
    }
  }
  const std::size_t rest_a = a.size() - i;
  const std::size_t rest_b = b.size() - k;
  return rest_a != rest_b ? rest_a < rest_b : a < b;
}

/// Reads up to `limit` bytes into `text`, which keeps its memory between files.
Status read_into(const std::string& path, std::uint64_t limit, std::string& text) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return system_error(path, errno);
  struct stat info = {};
  if (::fstat(fd.get(), &info) != 0) return system_error(path, errno);
  const auto size = static_cast<std::uint64_t>(std::max<off_t>(0, info.st_size));
  text.resize(std::min(size, limit));
  std::size_t have = 0;
  while (have < text.size()) {
    const ssize_t got = ::read(fd.get(), text.data() + have, text.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error(path, errno);
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  text.resize(have);
  return {};
}

/// By the first kilobytes: names of dumps are the user's to choose.
FileKind kind_of(const std::string& path, std::string_view head) {
  if (head.starts_with("\x89RTRACE\n")) return FileKind::Trace;
  if (looks_like_pickle(head)) return FileKind::Dump;
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return FileKind::Other;
  const std::string extension = fs::path(path).extension().string();
  // C++ exceptions end their message with `(most recent call first):` too, so the head must be a thread's.
  const std::string_view body = head.substr(first);
  const bool is_faulthandler =
      (body.starts_with("Thread 0x") || body.starts_with("Current thread 0x")) &&
      head.find("(most recent call first):") != std::string_view::npos;
  const bool is_stack =
      is_faulthandler ||
      (body.starts_with("Process ") && head.find("Thread ") != std::string_view::npos) ||
      (body.starts_with("Thread ") && head.find("LWP ") != std::string_view::npos) ||
      head.find("\"owns_gil\"") != std::string_view::npos;
  // A log can hold a stack; a file of stacks holds little else, and no logger prefix.
  if (is_stack && head.find("NCCL INFO") == std::string_view::npos &&
      head.find("]:[") == std::string_view::npos) {
    return FileKind::Threads;
  }
  // The server's answers to earlier commands can precede a report.
  const bool is_answer = head[first] == '{' || body.starts_with("OK") || body.starts_with("SERVER");
  if (is_answer && head.find("\"communicators\"") != std::string_view::npos &&
      head.find("\"nccl_version\"") != std::string_view::npos) {
    return FileKind::Ras;
  }
  if (recordings::format_of(head)) return FileKind::Recording;
  if (head[first] == '{' || head[first] == '[') {
    for (const std::string_view key :
         {"\"pg_config\"", "\"pg_status\"", "\"profiling_name\"", "\"entries\""}) {
      if (head.find(key) != std::string_view::npos) return FileKind::Dump;
    }
    const bool has_events = head.find("PEER_") != std::string_view::npos;  // ncclras MONITOR
    if (extension == ".json" && !has_events) return FileKind::Other;
  }
  // A README explains the folder and is not of the job; other notes may describe the job.
  const bool is_explanation = extension == ".md" && fs::path(path).stem() == "README";
  if (is_explanation || extension == ".html" || extension == ".png" || extension == ".yaml") {
    return FileKind::Other;
  }
  const bool is_packed = head.starts_with("\x1f\x8b") || head.starts_with("\x28\xb5\x2f\xfd");
  if (!is_packed && head.find('\0') != std::string_view::npos &&
      head.find('\n') == std::string_view::npos) {
    return FileKind::Other;
  }
  return FileKind::Log;
}

/// Replaces the head of a packed file by the head of its content.
void unpack_head(const std::string& path, std::uint64_t limit, std::string& head) {
  if (logs::compression_of(head) == logs::Compression::None) return;
  auto source = logs::open_source(path, 0);
  if (!source) return;
  std::string unpacked(limit, '\0');
  const auto size = (*source)->read(unpacked);
  unpacked.resize(size ? *size : 0);
  // Packed logs are read as logs, and no other packed file is read.
  if (recordings::format_of(unpacked)) head = std::move(unpacked);
}

/// Detects the type of a file.
/// name  as the user named it: its extension counts
Result<InputFile> identify(InputFile input, const std::string& name) {
  constexpr std::uint64_t kHead = 4096;
  std::string head;
  RINGSIDE_TRY(read_into(input.path, kHead, head));
  unpack_head(input.path, kHead, head);
  input.kind = kind_of(name, head);
  if (input.kind == FileKind::Recording) input.format = recordings::format_of(head);
  return input;
}

Result<RankDump> parse_with(DumpBuilder& builder, std::string_view bytes) {
  return looks_like_pickle(bytes) ? parse_pickle(bytes, builder) : parse_dump_json(bytes, builder);
}

/// Parses the bytes of a dump from a file, and adds what the file shows of it.
Result<RankDump> dump_in(std::string_view bytes, const std::string& path, int rank,
                         DumpBuilder& builder) {
  auto dump = parse_with(builder, bytes);
  if (!dump) {
    Error error = std::move(dump).error();
    error.message = fmt::format("{}: {}", path, error.message);
    return error;
  }
  dump->path = path;
  struct stat info = {};
  if (::stat(path.c_str(), &info) == 0) {
    dump->written_ns = info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec;
  }
  dump->rank = rank;
  dump->calls.shrink_to_fit();
  // The ring is written oldest first, but a manually merged file may not be.
  std::stable_sort(dump->calls.begin(), dump->calls.end(),
                   [](const Call& a, const Call& b) { return a.record < b.record; });
  return dump;
}

Result<RankDump> load_one(const std::string& path, std::string& buffer, DumpBuilder& builder) {
  RINGSIDE_TRY(read_into(path, kLargestDump + 1, buffer));
  if (buffer.size() > kLargestDump) {
    return Error{ErrorCode::Corrupt, fmt::format("{}: larger than any dump (1 GiB)", path)};
  }
  return dump_in(buffer, path, rank_of_name(path), builder);
}

bool has_stacks(const RankDump& dump) {
  return std::any_of(dump.calls.begin(), dump.calls.end(),
                     [](const Call& call) { return call.stack != 0; });
}

/// The newest calls are at the end of a dump, so a cut dump lacks them. The status of the groups is before them and
/// shows how far each had come.
/// source  ProcessGroupNCCL counts collectives there; Gloo all calls, which is another number
void complete_torn(RankDump& dump, const Names& names) {
  if (!dump.torn_at || dump.calls.empty()) return;
  dump.is_newest_lost = dump.statuses.empty();
  const std::size_t read = dump.calls.size();
  for (const GroupStatus& status : dump.statuses) {
    const Call* newest = nullptr;
    for (std::size_t i = 0; i < read; ++i) {
      const Call& call = dump.calls[i];
      if (call.pg == status.pg && !call.is_p2p) newest = &call;
    }
    if (status.enqueued < 0) continue;
    const bool counts_collectives =
        newest != nullptr && names.signature(newest->signature).backend == "nccl";
    if (!counts_collectives) {
      dump.is_newest_lost = true;
      continue;
    }
    if (status.enqueued <= static_cast<std::int64_t>(newest->sequence)) continue;
    Call call = *newest;
    const bool is_waiting = status.completed >= 0 && status.completed < status.enqueued;
    call.sequence = static_cast<std::uint32_t>(is_waiting ? status.completed + 1 : status.enqueued);
    if (call.sequence <= newest->sequence) continue;  // it waits in one that was read
    call.record = dump.calls.back().record + 1;
    call.signature = 0;
    call.stack = 0;
    call.state = is_waiting ? CallState::Scheduled : CallState::Completed;
    dump.calls.push_back(call);
  }
}

/// Copies standard input into memory, where every reader can open it any number of times.
/// errors  Corrupt: more than 1 GiB.  Otherwise by errno: it cannot be read
Result<InputFile> take_stdin() {
  auto held = std::make_shared<UniqueFd>(::memfd_create("stdin", MFD_CLOEXEC));
  if (!*held) return system_error("standard input", errno);
  std::vector<char> block(1U << 16U);
  InputFile file;
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("standard input", errno);
    if (got == 0) break;
    file.bytes += static_cast<std::uint64_t>(got);
    if (file.bytes > kLargestDump)
      return Error{ErrorCode::Corrupt, "standard input: more than 1 GiB", "name the file instead"};
    for (ssize_t done = 0; done < got;) {
      const ssize_t put =
          ::write(held->get(), block.data() + done, static_cast<std::size_t>(got - done));
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return system_error("standard input", errno);
      done += put;
    }
  }
  file.path = fmt::format("{}/{}", kOwnDescriptors, held->get());
  file.stdin_copy = std::move(held);
  return file;
}

bool is_pickle_named(const RankDump& dump) { return !dump.path.ends_with(".json"); }

}  // namespace

int rank_of_name(std::string_view path) {
  // The number of a descriptor: standard input, or a shell's <(command).
  const std::string folder = fs::path(path).parent_path().string();
  if (folder == kOwnDescriptors || folder == "/dev/fd") return -1;
  std::string stem = fs::path(path).filename().string();
  for (const std::string_view extension :
       {".gz", ".zst", ".json", ".pickle", ".pkl", ".bin", ".log", ".txt", ".out", ".err"}) {
    if (stem.ends_with(extension)) stem.resize(stem.size() - extension.size());
  }
  std::size_t end = stem.size();
  while (end > 0 && !is_digit(stem[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && is_digit(stem[begin - 1])) --begin;
  const auto rank = parse_whole(std::string_view(stem).substr(begin, end - begin));
  return rank && *rank < 10'000'000 ? static_cast<int>(*rank) : -1;
}

Result<Inputs> find_inputs(const std::vector<std::string>& arguments) {
  std::vector<std::string> paths;
  Inputs inputs;
  for (const std::string& argument : arguments) {
    std::error_code error;
    if (argument == "-") {
      if (inputs.files.empty()) {
        RINGSIDE_TRY(InputFile input, take_stdin());
        inputs.files.push_back(std::move(input));
      }
    } else if (fs::is_directory(argument, error)) {
      const auto visit = [&](const fs::directory_entry& entry) {
        std::error_code ignored;
        if (entry.is_regular_file(ignored)) paths.push_back(entry.path().string());
        return true;
      };
      for (const UnreadFolder& folder : walk_folder(argument, visit)) {
        inputs.unread.push_back(
            {folder.path, Error{ErrorCode::InvalidArgument,
                                fmt::format("{}: {}", folder.path, folder.error.message()),
                                "check the permissions of the folder"}});
      }
    } else if (fs::exists(argument, error)) {
      paths.push_back(argument);
    } else {
      return Error{ErrorCode::NotFound, fmt::format("{}: no such file or folder", argument),
                   "name the folder that holds the dumps and logs of one job"};
    }
  }
  std::sort(paths.begin(), paths.end(), natural_less);
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  for (InputFile& input : inputs.files) {
    if (auto known = identify(input, "stdin")) input = *std::move(known);
  }
  for (const std::string& path : paths) {
    std::error_code ignored;
    const std::uint64_t bytes =
        fs::is_regular_file(path, ignored) ? fs::file_size(path, ignored) : 0;
    auto input = identify({path, FileKind::Other, bytes, nullptr}, path);
    if (input) {
      inputs.files.push_back(*std::move(input));
    } else {
      inputs.unread.push_back({path, Error{ErrorCode::InvalidArgument, input.error().message,
                                           "check the permissions of the file"}});
    }
  }
  return inputs;
}

std::string shown_name(const std::vector<InputFile>& files, const std::string& path) {
  const bool is_stdin = std::any_of(files.begin(), files.end(), [&](const InputFile& file) {
    return file.stdin_copy != nullptr && file.path == path;
  });
  return is_stdin ? "stdin" : path;
}

Dumps load_dumps(const std::vector<InputFile>& files, Names& names) {
  std::vector<const InputFile*> wanted;
  for (const InputFile& file : files) {
    if (file.kind == FileKind::Dump) wanted.push_back(&file);
  }
  std::vector<Result<RankDump>> loaded(wanted.size(), Error{});
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    DumpBuilder builder(names);
    std::string buffer;
    for (std::size_t i = next++; i < wanted.size(); i = next++) {
      loaded[i] = load_one(wanted[i]->path, buffer, builder);
    }
  };
  {
    const std::size_t threads = std::min(static_cast<std::size_t>(worker_count()), wanted.size());
    std::vector<std::jthread> workers;
    for (std::size_t i = 1; i < threads; ++i) workers.emplace_back(work);
    work();
  }
  Dumps all;
  for (std::size_t i = 0; i < loaded.size(); ++i) {
    if (loaded[i]) {
      all.dumps.push_back(*std::move(loaded[i]));
    } else {
      all.bad.push_back({wanted[i]->path, std::move(loaded[i]).error()});
    }
  }
  // A complete dump before a cut one; a pickle before the JSON of the same process: it was taken first and has the
  // stacks.
  std::stable_sort(all.dumps.begin(), all.dumps.end(), [](const RankDump& a, const RankDump& b) {
    if (a.rank != b.rank) return a.rank < b.rank;
    if (a.torn_at.has_value() != b.torn_at.has_value()) return b.torn_at.has_value();
    const bool stacks_a = has_stacks(a);
    const bool stacks_b = has_stacks(b);
    if (stacks_a != stacks_b) return stacks_a;
    return is_pickle_named(a) && !is_pickle_named(b);
  });
  std::vector<RankDump> first;
  for (RankDump& dump : all.dumps) {
    const bool is_second = !first.empty() && first.back().rank == dump.rank && dump.rank >= 0;
    (is_second ? all.later : first).push_back(std::move(dump));
  }
  all.dumps = std::move(first);
  for (RankDump& dump : all.dumps) complete_torn(dump, names);
  // After a cut dump, a second one is no evidence of progress.
  std::erase_if(all.later, [](const RankDump& dump) { return dump.torn_at.has_value(); });
  return all;
}

Result<RankDump> parse_dump_as(std::string_view bytes, const std::string& path, int rank,
                               Names& names) {
  DumpBuilder builder(names);
  return dump_in(bytes, path, rank, builder);
}

Result<RankDump> parse_dump(std::string_view bytes, Names& names) {
  DumpBuilder builder(names);
  return parse_with(builder, bytes);
}

}  // namespace ringside::hang
