#include "diag/logparse/follow_logs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <string>
#include <vector>

#include "base/fd.h"
#include "diag/logparse/byte_source.h"
#include "diag/logparse/line_parser.h"
#include "diag/logparse/line_reader.h"

namespace ringside::logs {
namespace {

/// How far a file was read.
struct Followed {
  std::uint32_t piece = 0;
  std::uint64_t inode = 0;
  /// Offset of the unread part; it follows the last whole line, apart from `rest`
  std::uint64_t offset = 0;
  std::uint64_t lines = 0;
  std::string rest;          ///< an incomplete line
  bool is_skipping = false;  ///< true: skips to the end of a line that is too long
  bool is_done = false;  ///< nothing more to read: compressed and read, or a pipe without a writer
  UniqueFd pipe = {};    ///< descriptor of a named pipe
};

}  // namespace

struct LogFollower::Impl {
  Impl(std::vector<std::string> names, RecordSink& sink)
      : arguments(std::move(names)), parser(sink), block(kBlock) {}

  static constexpr std::size_t kBlock = 256 << 10;

  std::vector<std::string> arguments;
  LogFiles files;
  std::map<std::string, std::uint32_t> index;  ///< index in `files`, by name
  std::vector<Followed> followed;
  std::vector<InputProblem> problems;
  std::vector<ParseReport::Piece> pieces;
  LineParser parser;
  LineReader reader;
  std::vector<char> block;

  void look_for_files();
  void start_piece(std::uint32_t file);
  std::size_t poll_file(std::uint32_t file);
  std::size_t poll_stream(std::uint32_t file);
  std::size_t read_compressed(std::uint32_t file);
  std::size_t read_more(std::uint32_t file, int fd);
  void take(std::uint32_t file, std::size_t size);
  void finish_rest(std::uint32_t file);
};

void LogFollower::Impl::look_for_files() {
  LogFiles found = find_logs(arguments);
  if (files.files.empty()) files.problems = found.problems;
  for (LogFile& file : found.files) {
    const auto [entry, is_new] =
        index.try_emplace(file.name, static_cast<std::uint32_t>(files.files.size()));
    if (!is_new) {
      files.files[entry->second].size = file.size;
      continue;
    }
    files.files.push_back(std::move(file));
    followed.emplace_back();
    start_piece(entry->second);
  }
}

/// The lines of a new file count from 1 again.
void LogFollower::Impl::start_piece(std::uint32_t file) {
  Followed& state = followed[file];
  const std::uint64_t inode = state.inode;
  state = {};
  state.inode = inode;
  state.piece = static_cast<std::uint32_t>(pieces.size());
  pieces.push_back({file, 1});
}

/// Joins the bytes read into `block` with the unfinished line; parses whole lines.
void LogFollower::Impl::take(std::uint32_t file, std::size_t size) {
  Followed& state = followed[file];
  state.offset += size;
  std::string_view more(block.data(), size);
  if (state.is_skipping) {
    const std::size_t end = more.find('\n');
    if (end == std::string_view::npos) return;
    more.remove_prefix(end + 1);
    state.is_skipping = false;
    ++state.lines;
  }
  state.rest += more;
  parser.begin(state.piece, file, files.files[file].name);
  std::uint64_t lines = 0;
  const std::size_t whole = reader.parse_whole_lines(state.rest, parser, state.lines, lines);
  state.lines += lines;
  state.rest.erase(0, whole);
  if (!state.rest.empty() && state.rest.size() > longest_from(state.rest.front())) {
    ++parser.counts().overlong;
    state.rest.resize(kMaxLine);
    parser.parse(state.rest, static_cast<std::uint32_t>(state.lines), true, true);
    parser.flush();
    state.rest.clear();
    state.is_skipping = true;
  }
}

void LogFollower::Impl::finish_rest(std::uint32_t file) {
  Followed& state = followed[file];
  if (state.rest.empty()) return;
  parser.begin(state.piece, file, files.files[file].name);
  parser.counts().bytes += state.rest.size();
  parser.parse(state.rest, static_cast<std::uint32_t>(state.lines), true, false);
  parser.flush();
  state.rest.clear();
  ++state.lines;
}

std::size_t LogFollower::Impl::read_more(std::uint32_t file, int fd) {
  std::size_t sum = 0;
  for (;;) {
    const ssize_t got =
        ::pread(fd, block.data(), kBlock, static_cast<off_t>(followed[file].offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return sum;
    take(file, static_cast<std::size_t>(got));
    sum += static_cast<std::size_t>(got);
  }
}

std::size_t LogFollower::Impl::read_compressed(std::uint32_t file) {
  Followed& state = followed[file];
  state.is_done = true;
  const std::string& name = files.files[file].name;
  auto source = open_source(name, 0);
  if (!source) {
    problems.push_back({name, source.error().message, source.error().help});
    return 0;
  }
  parser.begin(state.piece, file, name);
  const Status read = reader.read(
      **source, {}, parser, [](std::size_t) { return true; }, state.lines);
  if (!read) problems.push_back({name, read.error().message, read.error().help});
  return files.files[file].size.value;
}

std::size_t LogFollower::Impl::poll_file(std::uint32_t file) {
  const std::string& name = files.files[file].name;
  const UniqueFd fd(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0)
    return 0;  // rotated just now: the new file is expected soon
  const auto inode = static_cast<std::uint64_t>(status.st_ino);
  const bool is_new = followed[file].inode == 0;
  const bool is_other = !is_new && inode != followed[file].inode;
  if (is_other || static_cast<std::uint64_t>(status.st_size) < followed[file].offset) {
    finish_rest(file);
    start_piece(file);
  }
  followed[file].inode = inode;
  if (followed[file].offset == 0 && status.st_size > 0) {
    const ssize_t got = ::pread(fd.get(), block.data(), 4096, 0);
    const std::span<const char> head(block.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
    if (compression_of(head) != Compression::None || binary_kind(head) != nullptr)
      return read_compressed(file);
  }
  return read_more(file, fd.get());
}

/// Reads what a pipe has now, without waiting, not even for its other end to be opened.
std::size_t LogFollower::Impl::poll_stream(std::uint32_t file) {
  Followed& state = followed[file];
  const std::string& name = files.files[file].name;
  const bool is_stdin = name == "-";
  if (!is_stdin && !state.pipe) {
    state.pipe = UniqueFd(::open(name.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
    if (!state.pipe) return 0;
  }
  const int fd = is_stdin ? STDIN_FILENO : state.pipe.get();
  pollfd waiting{fd, POLLIN, 0};
  std::size_t sum = 0;
  while (!followed[file].is_done && ::poll(&waiting, 1, 0) > 0) {
    const ssize_t got = ::read(fd, block.data(), kBlock);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) break;
    if (got <= 0) {
      followed[file].is_done = true;
      finish_rest(file);
      break;
    }
    take(file, static_cast<std::size_t>(got));
    sum += static_cast<std::size_t>(got);
  }
  return sum;
}

Result<std::unique_ptr<LogFollower>> LogFollower::make(std::vector<std::string> arguments,
                                                       RecordSink& sink) {
  if (arguments.empty())
    return Error{ErrorCode::InvalidArgument, "no file to follow", "name files or folders"};
  return std::unique_ptr<LogFollower>(
      new LogFollower(std::make_unique<Impl>(std::move(arguments), sink)));
}

LogFollower::LogFollower(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
LogFollower::~LogFollower() = default;

Bytes LogFollower::poll() {
  impl_->look_for_files();
  std::uint64_t sum = 0;
  for (std::uint32_t file = 0; file < impl_->followed.size(); ++file) {
    if (impl_->followed[file].is_done) continue;
    sum += impl_->files.files[file].is_stream ? impl_->poll_stream(file) : impl_->poll_file(file);
  }
  return {sum};
}

void LogFollower::finish() {
  for (std::uint32_t file = 0; file < impl_->followed.size(); ++file) impl_->finish_rest(file);
  impl_->parser.finish();
}

bool LogFollower::is_over() const {
  const std::vector<LogFile>& files = impl_->files.files;
  bool is_over = impl_->arguments.size() == files.size();  // folders may get more files
  for (std::size_t i = 0; i < files.size(); ++i) {
    is_over = is_over && files[i].is_stream && impl_->followed[i].is_done;
  }
  return is_over;
}

const LogFiles& LogFollower::files() const { return impl_->files; }

ParseReport LogFollower::report() const {
  ParseReport report;
  report.counts = impl_->parser.counts();
  report.unparsed = impl_->parser.unparsed().sorted();
  report.problems = impl_->problems;
  report.pieces = impl_->pieces;
  return report;
}

}  // namespace ringside::logs
