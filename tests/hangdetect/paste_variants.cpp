#include "tests/hangdetect/paste_variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <regex>

namespace ringside::hang {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::string each_line(const std::string& text,
                      const std::function<std::string(const std::string&, std::size_t)>& change) {
  std::string out;
  std::size_t number = 0;
  for (const std::string& line : lines_of(text)) out += change(line, number++) + "\n";
  return out;
}

std::string as_it_is(const std::string& text) { return text; }

/// PyTorch's logger header and a launcher's label are what people cut first.
std::string without_prefix(const std::string& text) {
  static const std::regex kTorch(R"(\[[IWEF][0-9]* ?[0-9:.]* ?[A-Za-z]+\.cpp:[0-9]+\] )");
  static const std::regex kRank(R"(\[rank[0-9]+\]: ?)");
  return each_line(text, [](const std::string& line, std::size_t) {
    return std::regex_replace(std::regex_replace(line, kTorch, ""), kRank, "");
  });
}

/// As a terminal does it: at the column, within words.
std::string cut_at(const std::string& text, std::size_t width) {
  return each_line(text, [&](const std::string& line, std::size_t) {
    std::string out;
    for (std::size_t at = 0; at < line.size(); at += width)
      out += (at > 0 ? "\n" : "") + line.substr(at, width);
    return out;
  });
}
std::string cut_at_80(const std::string& text) { return cut_at(text, 80); }
std::string cut_at_120(const std::string& text) { return cut_at(text, 120); }

/// As an editor does it: before the word that does not fit.
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
std::string filled_to_120(const std::string& text) { return filled_to(text, 120); }

std::string quoted(const std::string& text) {
  return each_line(text, [](const std::string& line, std::size_t) { return "> " + line; });
}
std::string quoted_and_filled(const std::string& text) { return quoted(filled_to(text, 100)); }
std::string indented(const std::string& text) {
  return each_line(text, [](const std::string& line, std::size_t) { return "        " + line; });
}
std::string as_markdown(const std::string& text) {
  return "Hi, our job stops, and this is all we have.\n\n<details><summary>log</summary>\n\n```\n" +
         text + "```\n\n</details>\n\nAny idea?\n";
}
std::string with_times(const std::string& text) {
  return each_line(text, [](const std::string& line, std::size_t number) {
    return fmt::format("2026-03-14T09:{:02}:{:02}.123456789Z {}", number / 60 % 60, number % 60,
                       line);
  });
}
std::string with_pods(const std::string& text) {
  return each_line(text, [](const std::string& line, std::size_t number) {
    return fmt::format("2026-03-14T09:{:02}:{:02}.123Z train-job-worker-0 {}", number / 60 % 60,
                       number % 60, line);
  });
}
std::string with_labels(const std::string& text) {
  return each_line(text,
                   [](const std::string& line, std::size_t) { return "trainer-7f9c4 | " + line; });
}
std::string coloured(const std::string& text) {
  return each_line(text, [](const std::string& line, std::size_t number) {
    return number % 2 == 0 ? "\x1b[31m" + line + "\x1b[0m" : line;
  });
}
std::string with_gaps(const std::string& text) {
  return each_line(text, [](const std::string& line, std::size_t number) {
    return number % 3 == 2 ? line + "\n..." : line;
  });
}
std::string from_windows(const std::string& text) {
  return each_line(text, [](const std::string& line, std::size_t) { return line + "\r"; });
}
std::string redacted(const std::string& text) {
  static const std::regex kAddress(R"([0-9]+\.[0-9]+\.[0-9]+\.[0-9]+)");
  static const std::regex kHost(R"(\b(node-?[0-9]+|nid[0-9]+|glm-node[0-9]+)\b)");
  return std::regex_replace(std::regex_replace(text, kAddress, "x.x.x.x"), kHost, "host-XXXX");
}
/// Half a line at either end, as a selection with a mouse leaves it.
std::string truncated(const std::string& text) {
  const std::string before = "ces, subsequent GPU operations might run on corrupted data.\n";
  const std::string after = "[rank0]:[E ProcessGroupNC";
  return before + text + after;
}

}  // namespace

const std::vector<PasteVariant>& paste_variants() {
  static const std::vector<PasteVariant> kAll = {
      {"as it is", as_it_is, ""},
      {"without prefix", without_prefix, ""},
      {"cut at 80", cut_at_80, ""},
      {"cut at 120", cut_at_120, ""},
      {"filled to 80", filled_to_80, ""},
      {"filled to 120", filled_to_120, ""},
      {"quoted", quoted, ""},
      {"quoted and filled", quoted_and_filled, ""},
      {"indented", indented, ""},
      {"markdown", as_markdown, ".md"},
      {"times", with_times, ""},
      {"pods", with_pods, ""},
      {"labels", with_labels, ""},
      {"coloured", coloured, ""},
      {"gaps", with_gaps, ""},
      {"CR LF", from_windows, ""},
      {"redacted", redacted, ""},
      {"truncated", truncated, ""},
  };
  return kAll;
}

Paste varied(const Paste& paste, const PasteVariant& variant) {
  Paste out = paste;
  for (PasteFile& file : out.files) {
    file.text = variant.apply(file.text);
    if (!variant.extension.empty()) {
      file.name = std::filesystem::path(file.name).stem().string() + std::string(variant.extension);
    }
  }
  return out;
}

std::string test_name(const PasteVariant& variant) {
  std::string name(variant.name);
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

PasteResult score_pastes(const std::string& folder, const PasteVariant& variant) {
  PasteResult result;
  for (const Paste& paste : load_pastes(folder)) {
    const Paste one = varied(paste, variant);
    const PasteScore score = score_paste(one);
    PasteTally& tally = result.tally[paste.answerable];
    ++tally.all;
    tally.right += score.is_right() ? 1 : 0;
    if (!score.is_right()) result.wrong += "\n" + line_of(one, score);
  }
  return result;
}

}  // namespace ringside::hang
