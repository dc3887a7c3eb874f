#include "harness/attach/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/one_line.h"
#include "base/text.h"

namespace ringside::attach {
namespace {

constexpr std::size_t kMostOutput = std::size_t{16}
                                    << 20;  ///< of a tool: 1,000 threads of 100 frames have 10 MiB
constexpr std::size_t kMostEnvironment =
    std::size_t{4} << 20;  ///< Linux allows a quarter of the stack, usually 2 MiB
constexpr auto kPoll = std::chrono::milliseconds(50);

/// The file's bytes, as far as the limit.
/// errors  System
Result<std::string> read_some_of(const std::string& path, std::size_t most) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return system_error(path, errno);
  std::string text;
  std::array<char, 64 * 1024> part{};
  while (text.size() < most) {
    const ssize_t got = ::read(file.get(), part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error(path, errno);
    if (got == 0) break;
    text.append(part.data(), static_cast<std::size_t>(got));
  }
  return text;
}

/// The exit status of a tool, and what it printed, up to kMostOutput.
struct ToolAnswer {
  int status = 0;  ///< 0: it worked; 127: it is not installed
  std::string output;
};

/// A tool that runs. The destructor ends it.
class Tool {
 public:
  ~Tool() {
    if (pid_ <= 0) return;
    // A debugger that ends by SIGTERM detaches, so that the process that it had stopped continues. It has a second for that.
    ::kill(pid_, SIGTERM);
    for (int i = 0; i < 20; ++i) {
      if (::waitpid(pid_, nullptr, WNOHANG) != 0) return;
      real_clock().sleep(kPoll);
    }
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Tool() = default;
  Tool(const Tool&) = delete;
  Tool& operator=(const Tool&) = delete;

  Result<ToolAnswer> run(const std::vector<std::string>& words, Deadline deadline) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return system_error("pipe", errno);
    const UniqueFd out(ends[0]);
    UniqueFd in(ends[1]);
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, in.get(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, in.get(), STDERR_FILENO);
    const int failed =
        ::posix_spawnp(&pid_, words[0].c_str(), &files, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    if (failed != 0) {
      pid_ = -1;
      if (failed == ENOENT) return ToolAnswer{127, {}};
      return system_error(words[0], failed);
    }
    in.reset();
    ToolAnswer answer;
    RINGSIDE_TRY(answer.output, read_all(out.get(), deadline));
    int status = 0;
    for (;;) {
      const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
      if (ended == pid_) break;
      if (has_passed(deadline)) return Error{ErrorCode::Timeout, words[0] + " does not end"};
      real_clock().sleep(kPoll);
    }
    pid_ = -1;
    answer.status = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    return answer;
  }

 private:
  static Result<std::string> read_all(int pipe, Deadline deadline) {
    const Patience patience(deadline);
    std::string text;
    std::array<char, 64 * 1024> part{};
    for (;;) {
      const ssize_t got = ::read(pipe, part.data(), part.size());
      if (got == 0) return text;
      if (got > 0) {
        text.append(part.data(),
                    std::min(static_cast<std::size_t>(got), kMostOutput - text.size()));
        continue;
      }
      if (errno == EINTR) continue;
      if (errno != EAGAIN) return system_error("a tool's output", errno);
      RINGSIDE_TRY(const bool is_there, patience.wait_for(pipe, POLLIN));
      if (!is_there) return Error{ErrorCode::Timeout, "the tool does not end"};
    }
  }

  pid_t pid_ = -1;
};

Result<ToolAnswer> run_tool(const std::vector<std::string>& words, Deadline deadline) {
  Tool tool;
  return tool.run(words, deadline);
}

/// Python's frames of the main thread, for gdb's own Python: without the symbols of the libraries that the process has
/// loaded, which for PyTorch take most of the time. PyFramePtr is of the interpreter's debug package (3.11 and later).
/// Neither quotes nor backslashes: it is passed as one word.
constexpr std::string_view kPythonFrames = R"(
state = gdb.parse_and_eval('_PyRuntime.interpreters.main.threads.head')
while int(state['next']) != 0:
  state = state['next']
names = [field.name for field in state.type.target().fields()]
frame = state['cframe']['current_frame'] if 'cframe' in names else state['current_frame']
lines = []
while int(frame) != 0 and len(lines) < 250:
  one = PyFramePtr(frame)
  frame = frame['previous']
  try:
    words = (chr(34), one.filename(), chr(34), one.current_line_num(), one.co_name.proxyval(set()))
    lines.append('  File %s%s%s, line %s, in %s' % words)
  except Exception:
    pass
print('Traceback (most recent call first):')
for line in lines:
  print(line)
print()
)";

std::string python_frames_command() {
  std::string code(kPythonFrames);
  for (std::size_t at = 0; (at = code.find('\n', at)) != std::string::npos; at += 2)
    code.replace(at, 1, "\\n");
  return "python exec(\"" + code + "\")";
}

/// The last line of what a tool prints, for a message.
std::string last_line(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  constexpr std::size_t kMost = 200;
  return one_line(text.substr(text.rfind('\n') + 1).substr(0, kMost));
}

/// The value of the first of the variables that is set.
std::optional<std::string> value_of(const ProcessFacts& process,
                                    std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto found = process.variables.find(name);
    if (found != process.variables.end() && !found->second.empty()) return found->second;
  }
  return std::nullopt;
}

/// A path as the process means it, in its container and folder.
std::string seen_by(const ProcessFacts& process, const std::string& path) {
  return path.starts_with('/') ? fmt::format("{}/root{}", process.folder, path)
                               : fmt::format("{}/cwd/{}", process.folder, path);
}

/// When the file was last written, and how long it is; nothing where there is none.
std::optional<std::pair<std::int64_t, off_t>> stamp_of(const std::string& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  return std::pair(info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec, info.st_size);
}

}  // namespace

std::optional<ProcessFacts> read_process(std::int64_t pid, const std::string& proc) {
  if (pid <= 0) return std::nullopt;
  const std::string folder = fmt::format("{}/{}", proc, pid);
  const auto stat = read_some_of(folder + "/stat", 4096);
  if (!stat) return std::nullopt;
  ProcessFacts facts;
  facts.folder = folder;
  // The name in parentheses may hold blanks and parentheses.
  const std::size_t name_end = stat->rfind(") ");
  if (name_end != std::string::npos && name_end + 2 < stat->size()) {
    facts.state = (*stat)[name_end + 2];
  }
  if (const auto command = read_some_of(folder + "/cmdline", 4096)) {
    facts.program = command->substr(0, command->find('\0'));
  }
  const auto text = read_some_of(folder + "/environ", kMostEnvironment);
  if (!text) return facts;
  for (std::size_t at = 0; at < text->size();) {
    const std::size_t end = std::min(text->find('\0', at), text->size());
    const std::string_view one = std::string_view(*text).substr(at, end - at);
    const std::size_t sign = one.find('=');
    if (sign != std::string_view::npos) {
      facts.variables.emplace(one.substr(0, sign), one.substr(sign + 1));
    }
    at = end + 1;
  }
  return facts;
}

std::optional<std::int64_t> parent_of(std::int64_t pid, const std::string& proc) {
  const auto stat = read_some_of(fmt::format("{}/{}/stat", proc, pid), 4096);
  if (!stat) return std::nullopt;
  // `71 (py) thon) S 1 71 ...`: the parent follows the state.
  const std::size_t name_end = stat->rfind(") ");
  if (name_end == std::string::npos || name_end + 4 >= stat->size()) return std::nullopt;
  const std::string_view rest = std::string_view(*stat).substr(name_end + 4);
  const auto parent = parse_int(rest.substr(0, rest.find(' ')));
  return parent ? std::optional(*parent) : std::nullopt;
}

std::string python_stack_in(std::string_view gdb_text, std::int64_t pid) {
  constexpr std::string_view kHead = "Traceback (most recent call first):";
  std::size_t at = gdb_text.find(kHead);
  if (at == std::string_view::npos) return {};
  std::string frames;
  at = std::min(gdb_text.size(), gdb_text.find('\n', at));
  while (at < gdb_text.size()) {
    const std::size_t end = std::min(gdb_text.find('\n', at + 1), gdb_text.size());
    const std::string_view line = gdb_text.substr(at + 1, end - at - 1);
    at = end;
    if (line.empty()) break;
    // `  File "/srv/train.py", line 12, in main`; source lines and C functions are between them.
    constexpr std::string_view kFile = "  File \"";
    constexpr std::string_view kLine = "\", line ";
    const std::size_t file_end = line.rfind(kLine);
    if (!line.starts_with(kFile) || file_end == std::string_view::npos) continue;
    const std::string_view rest = line.substr(file_end + kLine.size());
    const std::size_t in = rest.find(", in ");
    if (in == std::string_view::npos) continue;
    frames += fmt::format("    {} ({}:{})\n", one_line(rest.substr(in + 5)),
                          one_line(line.substr(kFile.size(), file_end - kFile.size())),
                          one_line(rest.substr(0, in)));
  }
  if (frames.empty()) return {};
  return fmt::format("Process {}:\nThread {} (active): \"MainThread\"\n{}", pid, pid, frames);
}

Result<ProcessText> stack_of(std::int64_t pid, Deadline deadline, bool is_stopped) {
  const std::string number = fmt::format("{}", pid);
  std::string failures;
  std::vector<std::vector<std::string>> tools = {
      {"py-spy", "dump", "--nonblocking", "--pid", number}};
  if (!is_stopped) {
    // Libraries of a process with a root folder of its own are there; gdb knows containers, and not that.
    std::error_code unread;
    const std::string root =
        std::filesystem::read_symlink(fmt::format("/proc/{}/root", pid), unread).string();
    const std::string sysroot = unread || root == "/" ? "set confirm off" : "set sysroot " + root;
    tools.push_back({"gdb", "--batch", "--nx", "-iex", sysroot, "-iex", "set auto-solib-add off",
                     "-ex", python_frames_command(), "-p", number});
    // The exit status is that of the last command: py-bt may be unknown.
    tools.push_back({"gdb", "--batch", "--nx", "-iex", sysroot, "-ex", "set pagination off", "-ex",
                     "py-bt", "-ex", "thread apply all bt", "-p", number});
  }
  for (const std::vector<std::string>& words : tools) {
    RINGSIDE_TRY(const ToolAnswer answer, run_tool(words, deadline));
    if (answer.status == 127 && answer.output.empty()) continue;
    if (std::string python = python_stack_in(answer.output, pid); !python.empty())
      return ProcessText{std::move(python), "gdb, Python frames"};
    // Without Python's frames the last tool shows native ones.
    if (words[0] == "gdb" && &words != &tools.back()) continue;
    const bool is_stack = answer.output.find("Thread ") != std::string::npos ||
                          answer.output.find("\n#0 ") != std::string::npos;
    if (answer.status == 0 && is_stack) {
      const bool has_head = answer.output.starts_with("Process ");
      return ProcessText{
          has_head ? answer.output : fmt::format("Process {}:\n{}", pid, answer.output),
          words[0] == "gdb" ? "gdb, native frames" : words[0]};
    }
    failures +=
        fmt::format("{}{}: {}", failures.empty() ? "" : "; ", words[0], last_line(answer.output));
  }
  if (failures.empty() && is_stopped) {
    return Error{ErrorCode::Unsupported,
                 "the process is stopped, and py-spy is not installed: gdb would let it run",
                 "pip install py-spy"};
  }
  if (failures.empty()) {
    return Error{ErrorCode::Unsupported, "neither py-spy nor gdb is installed",
                 "install one of them: pip install py-spy, or apt-get install gdb"};
  }
  return Error{ErrorCode::System, failures,
               "run ringside as the user of the job or as root, where ptrace is allowed"};
}

Result<std::string> dump_by_pipe(const ProcessFacts& process, int rank, Deadline deadline) {
  const auto pipe_prefix = value_of(process, {"TORCH_NCCL_DEBUG_INFO_PIPE_FILE"});
  const auto dump_prefix =
      value_of(process, {"TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE"});
  if (!pipe_prefix || !dump_prefix) {
    return Error{ErrorCode::NotFound,
                 "the process was started without TORCH_NCCL_DEBUG_INFO_PIPE_FILE and "
                 "TORCH_FR_DUMP_TEMP_FILE"};
  }
  const std::string pipe_path = fmt::format("{}{}.pipe", seen_by(process, *pipe_prefix), rank);
  const std::string dump_path = fmt::format("{}{}", seen_by(process, *dump_prefix), rank);
  const auto before = stamp_of(dump_path);
  {
    const UniqueFd pipe(::open(pipe_path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK));
    if (!pipe) return system_error(pipe_path, errno);
    struct stat info = {};
    if (::fstat(pipe.get(), &info) != 0 || !S_ISFIFO(info.st_mode)) {
      return Error{ErrorCode::NotFound, pipe_path + ": no pipe"};
    }
    constexpr std::array<std::byte, 1> kRequest{std::byte{'1'}};
    RINGSIDE_TRY(write_all(pipe.get(), kRequest));
  }
  // The file is whole when it has stopped growing.
  auto last = before;
  while (!has_passed(deadline)) {
    real_clock().sleep(4 * kPoll);
    const auto now = stamp_of(dump_path);
    if (now && now != before && now == last && now->second > 0) {
      return read_some_of(dump_path, kMostDump);
    }
    last = now;
  }
  return Error{ErrorCode::Timeout, dump_path + ": the process wrote no dump"};
}

const char* describe_state(char letter) {
  switch (letter) {
    case 'R':
      return "runs";
    case 'S':
      return "sleeps";
    case 'D':
      return "is in the kernel";
    case 'T':
    case 't':
      return "stopped by a signal or a debugger";
    case 'Z':
    case 'X':
      return "has ended";
    default:
      return "unknown";
  }
}

}  // namespace ringside::attach
