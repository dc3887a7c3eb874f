#include <functional>
#include <regex>

#include "tests/audit/pastes.h"

namespace ringside::pastes {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::string text_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::string each_line(std::string_view text,
                      const std::function<std::string(std::string)>& change) {
  std::vector<std::string> lines = lines_of(text);
  for (std::string& line : lines) line = change(std::move(line));
  return text_of(lines);
}

std::string replaced(std::string_view text, const char* what, const char* with) {
  return std::regex_replace(std::string(text), std::regex(what), with);
}

/// `host:pid:tid [n] ` and `host:pid:tid ` before the place or the level.
constexpr const char* kPrefix = R"(([A-Za-z0-9._-]+):(\d+):(\d+)( \[\d+\])?(?= ))";

std::string as_it_is(std::string_view text) { return std::string(text); }
std::string without_process(std::string_view text) {
  return replaced(text, R"([A-Za-z0-9._-]+:\d+:\d+( \[\d+\])? )", "");
}
std::string without_place(std::string_view text) {
  const std::string bare = without_process(text);
  return replaced(bare, R"([A-Za-z0-9_/]+\.(cc|cu|h):\d+ NCCL WARN)", "NCCL WARN");
}
std::string with_device_alone(std::string_view text) {
  return replaced(text, R"([A-Za-z0-9._-]+:\d+:\d+ \[(\d+)\])", "[$1]");
}
std::string with_node_and_device(std::string_view text) {
  return replaced(text, R"(([A-Za-z0-9._-]+):\d+:\d+ \[(\d+)\])", "$1 [$2]");
}
std::string redacted(std::string_view text) { return replaced(text, kPrefix, "host:XXXX:XXXX$4"); }
std::string quoted(std::string_view text) {
  return each_line(text, [](std::string line) { return "> " + line; });
}
std::string indented(std::string_view text) {
  return each_line(text, [](std::string line) { return "    " + line; });
}
std::string fenced(std::string_view text) {
  return "Hi all, we see this on our cluster, any idea?\n\n```bash\n" + std::string(text) +
         "```\n\nThe same image works elsewhere. Thanks!\n";
}
std::string with_times_and_pods(std::string_view text) {
  return each_line(text, [](std::string line) {
    return "2026-03-01T10:11:12.123456789Z trainer-worker-1 " + line;
  });
}
std::string in_columns(std::string_view text) {
  return each_line(text,
                   [](std::string line) { return "| 2026-03-01T10:11:12Z | " + line + " |"; });
}
std::string coloured(std::string_view text) {
  return each_line(text, [](std::string line) { return "\x1b[36m" + line + "\x1b[0m"; });
}
std::string parted_by_dots(std::string_view text) {
  std::vector<std::string> lines;
  std::size_t count = 0;
  for (const std::string& line : lines_of(text)) {
    // Between lines of the log, not within one that the paste has wrapped.
    const bool begins = line.find("NCCL ") != std::string::npos || line.starts_with("[rank") ||
                        line.starts_with("[Rank");
    if (begins && count++ > 0) lines.emplace_back("...");
    lines.push_back(line);
  }
  return text_of(lines);
}
/// The first line has lost its start and the last one its end, as with a selection by mouse.
std::string truncated(std::string_view text) {
  std::vector<std::string> lines = lines_of(text);
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  if (lines.empty()) return {};
  lines.front().erase(0, std::min<std::size_t>(8, lines.front().size()));
  std::string& last = lines.back();
  last.erase(last.size() - std::min<std::size_t>(6, last.size()));
  return text_of(lines);
}
std::string wrapped_at_80(std::string_view text) { return wrapped_at(text, 80); }
std::string wrapped_at_120(std::string_view text) { return wrapped_at(text, 120); }
/// An editor wraps between words and goes on at the margin.
std::string filled_to_100(std::string_view text) {
  constexpr std::size_t kColumns = 100;
  std::string out;
  for (std::string line : lines_of(text)) {
    while (line.size() > kColumns) {
      const std::size_t blank = line.rfind(' ', kColumns);
      if (blank == std::string::npos || line.find_first_not_of(' ') > blank) break;
      out += line.substr(0, blank) + "\n";
      line.erase(0, blank + 1);
    }
    out += line + "\n";
  }
  return out;
}

}  // namespace

std::string wrapped_at(std::string_view text, std::size_t columns) {
  std::string out;
  for (const std::string& line : lines_of(text)) {
    std::size_t wide = 0;
    for (const char c : line) {
      const bool is_first_byte = (static_cast<unsigned char>(c) & 0xC0) != 0x80;
      if (is_first_byte && wide++ == columns) {
        out += '\n';
        wide = 1;
      }
      out += c;
    }
    out += '\n';
  }
  return out;
}

const std::vector<Variant>& variants() {
  static const std::vector<Variant> kVariants = {
      {"as it is", as_it_is},
      {"without host, pid and tid", without_process},
      {"without place and process", without_place},
      {"device alone", with_device_alone},
      {"node and device", with_node_and_device},
      {"process redacted", redacted},
      {"quoted", quoted},
      {"indented", indented},
      {"in a code fence", fenced},
      {"times and pods before", with_times_and_pods},
      {"in columns", in_columns},
      {"coloured", coloured},
      {"dots between lines", parted_by_dots},
      {"truncated at both ends", truncated},
      {"wrapped at 80", wrapped_at_80},
      {"wrapped at 120", wrapped_at_120},
      {"filled to 100", filled_to_100},
  };
  return kVariants;
}

}  // namespace ringside::pastes
