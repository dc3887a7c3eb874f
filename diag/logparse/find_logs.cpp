#include <fmt/format.h>
#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <span>

#include "base/walk_folder.h"
#include "diag/logparse/byte_source.h"
#include "diag/logparse/cursor.h"
#include "diag/logparse/log_files.h"

namespace ringside::logs {
namespace {

namespace fs = std::filesystem;

/// Compares names with numbers by value: rank2 precedes rank10.
bool comes_before(std::string_view a, std::string_view b) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (!is_digit(a[i]) || !is_digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
      continue;
    }
    const auto number = [](std::string_view text, std::size_t& at) {
      while (at + 1 < text.size() && text[at] == '0' && is_digit(text[at + 1])) ++at;
      const std::size_t begin = at;
      while (at < text.size() && is_digit(text[at])) ++at;
      return text.substr(begin, at - begin);
    };
    const std::string_view x = number(a, i);
    const std::string_view y = number(b, j);
    if (x.size() != y.size()) return x.size() < y.size();
    if (x != y) return x < y;
  }
  if (a.size() - i != b.size() - j) return a.size() - i < b.size() - j;
  return a < b;
}

Compression compression_in(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  std::array<char, 4> head{};
  file.read(head.data(), head.size());
  return compression_of({head.data(), static_cast<std::size_t>(file.gcount())});
}

/// Adds one name that is not a folder.
void add_file(const std::string& name, LogFiles& found) {
  struct stat status {};
  if (::stat(name.c_str(), &status) != 0) {
    found.problems.push_back(
        {name, fmt::format("{}: there is no such file", name), "check the path"});
    return;
  }
  LogFile file;
  file.name = name;
  file.is_stream = !S_ISREG(status.st_mode);
  if (!file.is_stream) {
    file.size = {static_cast<std::uint64_t>(status.st_size)};
    file.compression = compression_in(name);
  }
  found.files.push_back(std::move(file));
}

void add_folder(const std::string& name, LogFiles& found) {
  std::vector<std::string> names;
  const std::vector<UnreadFolder> unread = walk_folder(name, [&](const fs::directory_entry& entry) {
    std::error_code ignored;
    const std::string path = entry.path().string();
    if (entry.path().filename().string().starts_with('.')) return false;
    // This file lists the faults that ringside generate injected; it is not a log.
    if (entry.path().filename() == "truth.json") return true;
    if (entry.is_regular_file(ignored)) {
      names.push_back(path);
    } else if (!entry.is_directory(ignored)) {
      const bool is_broken = entry.is_symlink(ignored) && !entry.exists(ignored);
      found.problems.push_back(
          is_broken ? InputProblem{path, "a link to nothing", "restore its target or remove it"}
                    : InputProblem{path, "no file but a pipe, a socket or a device",
                                   "name it alone if it is meant"});
    }
    return true;
  });
  for (const UnreadFolder& folder : unread) {
    found.problems.push_back(
        {folder.path, folder.error.message(), "check the permissions of the folder"});
  }
  if (names.empty() && unread.empty()) {
    found.problems.push_back(
        {name, fmt::format("{}: there is no file in this folder", name), "name one with logs"});
  }
  std::sort(names.begin(), names.end(), comes_before);
  for (const std::string& file : names) add_file(file, found);
}

void add_path(const std::string& name, LogFiles& found) {
  std::error_code ignored;
  if (fs::is_directory(name, ignored)) {
    add_folder(name, found);
  } else {
    add_file(name, found);
  }
}

/// Expands a glob pattern that the shell has not expanded. Its matches are names of files and folders, never patterns:
/// glob() also returns links to nothing, and a name may contain `*`.
/// returns  whether a name matches
bool add_glob(const std::string& pattern, LogFiles& found) {
  glob_t matches{};
  const int state = ::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &matches);
  std::vector<std::string> names;
  if (state == 0) names.assign(matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
  ::globfree(&matches);
  std::sort(names.begin(), names.end(), comes_before);
  for (const std::string& name : names) add_path(name, found);
  return !names.empty();
}

void add_argument(const std::string& name, LogFiles& found) {
  if (name == "-") {
    LogFile input;
    input.name = name;
    input.is_stream = true;
    found.files.push_back(std::move(input));
    return;
  }
  std::error_code ignored;
  if (fs::exists(name, ignored)) {
    add_path(name, found);
  } else if (name.find_first_of("*?[") == std::string::npos || !add_glob(name, found)) {
    found.problems.push_back({name, fmt::format("{}: there is no such file or folder", name),
                              "check the path; quote a pattern that is meant for ringside"});
  }
}

}  // namespace

LogFiles find_logs(const std::vector<std::string>& arguments) {
  LogFiles found;
  for (const std::string& argument : arguments) add_argument(argument, found);
  return found;
}

Bytes LogFiles::total() const {
  Bytes sum;
  for (const LogFile& file : files) sum = sum + file.size;
  return sum;
}

}  // namespace ringside::logs
