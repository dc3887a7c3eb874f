#include "tests/support/paste_variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <regex>

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

std::string each_line(const std::string& text,
                      const std::function<std::string(const std::string&, std::size_t)>& change) {
  std::string out;
  std::size_t number = 0;
  for (const std::string& line : lines_of(text)) out += change(line, number++) + "\n";
  return out;
}

std::string replaced(const std::string& text, const char* what, const char* with) {
  return std::regex_replace(text, std::regex(what), with);
}

std::string as_it_is(const std::string& text) { return text; }

// Removes what people cut of NCCL's prefix, `host:pid:tid [n] file:line`.
std::string without_process(const std::string& text) {
  return replaced(text, R"([A-Za-z0-9._-]+:\d+:\d+( \[\d+\])? )", "");
}
std::string without_place(const std::string& text) {
  return replaced(without_process(text), R"([A-Za-z0-9_/]+\.(cc|cu|h):\d+ NCCL WARN)", "NCCL WARN");
}
std::string with_device_alone(const std::string& text) {
  return replaced(text, R"([A-Za-z0-9._-]+:\d+:\d+ \[(\d+)\])", "[$1]");
}
std::string with_node_and_device(const std::string& text) {
  return replaced(text, R"(([A-Za-z0-9._-]+):\d+:\d+ \[(\d+)\])", "$1 [$2]");
}
std::string with_process_redacted(const std::string& text) {
  return replaced(text, R"(([A-Za-z0-9._-]+):(\d+):(\d+)( \[\d+\])?(?= ))", "host:XXXX:XXXX$4");
}

/// Removes PyTorch's logger header and a launcher's label.
std::string without_logger(const std::string& text) {
  static const std::regex kTorch(R"(\[[IWEF][0-9]* ?[0-9:.]* ?[A-Za-z]+\.cpp:[0-9]+\] )");
  static const std::regex kRank(R"(\[rank[0-9]+\]: ?)");
  return each_line(text, [](const std::string& line, std::size_t) {
    return std::regex_replace(std::regex_replace(line, kTorch, ""), kRank, "");
  });
}

std::string with_names_redacted(const std::string& text) {
  static const std::regex kAddress(R"([0-9]+\.[0-9]+\.[0-9]+\.[0-9]+)");
  static const std::regex kHost(R"(\b(node-?[0-9]+|nid[0-9]+|glm-node[0-9]+)\b)");
  return std::regex_replace(std::regex_replace(text, kAddress, "x.x.x.x"), kHost, "host-XXXX");
}

std::string wrapped_at_80(const std::string& text) { return wrapped_at(text, 80); }
std::string wrapped_at_120(const std::string& text) { return wrapped_at(text, 120); }

/// Wraps as an editor does: before the word that does not fit, with the rest continued at the margin.
std::string filled_to(const std::string& text, std::size_t width) {
  return each_line(text, [&](const std::string& line, std::size_t) {
    std::string out;
    std::string rest = line;
    while (rest.size() > width) {
      const std::size_t first = rest.find_first_not_of(' ');
      std::size_t blank = rest.rfind(' ', width);
      if (blank == std::string::npos || blank == 0 || blank < first) blank = rest.find(' ', width);
      if (blank == std::string::npos) break;
      out += rest.substr(0, blank) + "\n";
      rest.erase(0, blank + 1);
    }
    return out + rest;
  });
}
std::string filled_to_80(const std::string& text) { return filled_to(text, 80); }
std::string filled_to_100(const std::string& text) { return filled_to(text, 100); }
std::string filled_to_120(const std::string& text) { return filled_to(text, 120); }

std::string quoted(const std::string& text) {
  return each_line(text, [](const std::string& line, std::size_t) { return "> " + line; });
}
std::string quoted_and_filled(const std::string& text) { return quoted(filled_to_100(text)); }
std::string indented(const std::string& text) {
  return each_line(text, [](const std::string& line, std::size_t) { return "        " + line; });
}
std::string fenced(const std::string& text) {
  return "Hi all, we see this on our cluster, any idea?\n\n```bash\n" + text +
         "```\n\nThe same image works elsewhere. Thanks!\n";
}
std::string folded(const std::string& text) {
  return "Hi, our job stops, and this is all we have.\n\n<details><summary>log</summary>\n\n```\n" +
         text + "```\n\n</details>\n\nAny idea?\n";
}

std::string with_times(const std::string& text) {
  return each_line(text, [](const std::string& line, std::size_t number) {
    return fmt::format("2026-03-14T09:{:02}:{:02}.123456789Z {}", number / 60 % 60, number % 60,
                       line);
  });
}
std::string with_times_and_pods(const std::string& text) {
  return each_line(text, [](const std::string& line, std::size_t number) {
    return fmt::format("2026-03-14T09:{:02}:{:02}.123Z app-worker-a-0 {}", number / 60 % 60,
                       number % 60, line);
  });
}
std::string with_labels(const std::string& text) {
  return each_line(text,
                   [](const std::string& line, std::size_t) { return "app-7f9c4 | " + line; });
}
std::string in_columns(const std::string& text) {
  return each_line(text, [](const std::string& line, std::size_t) {
    return "| 2026-03-01T10:11:12Z | " + line + " |";
  });
}
/// Formats as `aws logs tail` does, and as a spreadsheet's export.
std::string behind_tabs(const std::string& text) {
  return each_line(text, [](const std::string& line, std::size_t number) {
    return fmt::format("2026-03-14T09:{:02}:{:02}+00:00\tjob/app-0/7f9c4\t{}", number / 60 % 60,
                       number % 60, line);
  });
}
std::string exported(const std::string& text) {
  return "timestamp,message\n" + each_line(text, [](const std::string& line, std::size_t number) {
           return fmt::format("{},\"{}\"", 1739848302006 + number,
                              std::regex_replace(line, std::regex("\""), "\"\""));
         });
}
/// Prefixes stern's pod, container and bar.
std::string behind_pods(const std::string& text) {
  return each_line(text, [](const std::string& line, std::size_t) {
    return "app-worker-0 pytorch \u2502 " + line;
  });
}
std::string as_items(const std::string& text) {
  return each_line(text, [](const std::string& line, std::size_t) {
    return line.empty() || line.find('`') != std::string::npos ? line : "- `" + line + "`";
  });
}
std::string in_a_notebook(const std::string& text) {
  return each_line(text, [](const std::string& line, std::size_t) {
    const std::string slashes = std::regex_replace(line, std::regex("\\\\"), "\\\\");
    return "      \"" + std::regex_replace(slashes, std::regex("\""), "\\\"") + "\\n\",";
  });
}
std::string coloured(const std::string& text) {
  return each_line(text, [](const std::string& line, std::size_t number) {
    return number % 2 == 0 ? "\x1b[31m" + line + "\x1b[0m" : line;
  });
}
std::string from_windows(const std::string& text) {
  return each_line(text, [](const std::string& line, std::size_t) { return line + "\r"; });
}

std::string parted_by_dots(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t count = 0;
  for (const std::string& line : lines_of(text)) {
    // Inserts between lines of the log, not within one that the paste has wrapped.
    const bool begins = line.find("NCCL ") != std::string::npos || line.starts_with("[rank") ||
                        line.starts_with("[Rank");
    if (begins && count++ > 0) lines.emplace_back("...");
    lines.push_back(line);
  }
  return text_of(lines);
}

/// The first line has lost its start and the last one its end, as in a selection by mouse.
std::string truncated(const std::string& text) {
  std::vector<std::string> lines = lines_of(text);
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  if (lines.empty()) return {};
  lines.front().erase(0, std::min<std::size_t>(8, lines.front().size()));
  std::string& last = lines.back();
  last.erase(last.size() - std::min<std::size_t>(6, last.size()));
  return text_of(lines);
}
/// Adds halves of the lines before and after.
std::string between_halves(const std::string& text) {
  return "ces, subsequent GPU operations might run on corrupted data.\n" + text +
         "[rank0]:[E ProcessGroupNC";
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
  static const std::vector<Variant> kAll = {
      {"as it is", as_it_is},
      {"without host, pid and tid", without_process},
      {"without place and process", without_place},
      {"device alone", with_device_alone},
      {"node and device", with_node_and_device},
      {"process redacted", with_process_redacted},
      {"without logger", without_logger},
      {.name = "names redacted", .change = with_names_redacted, .hides_names = true},
      {"quoted", quoted},
      {"quoted and filled", quoted_and_filled},
      {"indented", indented},
      {"in a code fence", fenced},
      {"folded in Markdown", folded, ".md"},
      {"times before", with_times},
      {"times and pods before", with_times_and_pods},
      {"labels before", with_labels},
      {"in columns", in_columns},
      {"behind tabs", behind_tabs},
      {"exported to CSV", exported},
      {"behind pods", behind_pods},
      {"items of a list", as_items, ".md"},
      {"in a notebook", in_a_notebook},
      {"coloured", coloured},
      {"CR LF", from_windows},
      {"dots between lines", parted_by_dots},
      {"truncated at both ends", truncated},
      {.name = "between halves of lines", .change = between_halves, .speaks_of_a_job = true},
      {"wrapped at 80", wrapped_at_80},
      {"wrapped at 120", wrapped_at_120},
      {"filled to 80", filled_to_80},
      {"filled to 100", filled_to_100},
      {"filled to 120", filled_to_120},
  };
  return kAll;
}

}  // namespace ringside::pastes
