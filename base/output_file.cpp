#include "base/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/fd.h"
#include "base/text.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHead = 4096;

/// Returns the text from its first character that is not a blank.
std::string_view body_of(std::string_view head) {
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos ? std::string_view{} : head.substr(first);
}

/// Returns the name of an XML text's first element, after declarations and comments; empty: there is none.
std::string_view first_element(std::string_view body) {
  while (body.starts_with("<?") || body.starts_with("<!")) {
    const std::string_view end = body.starts_with("<!--") ? "-->" : ">";
    const std::size_t behind = body.find(end);
    if (behind == std::string_view::npos) return {};
    body = body_of(body.substr(behind + end.size()));
  }
  if (!body.starts_with('<')) return {};
  body.remove_prefix(1);
  return body.substr(0, body.find_first_of(" \t\r\n/>"));
}

bool has_line(std::string_view text, std::string_view beginning) {
  for (std::size_t at = text.find(beginning); at != std::string_view::npos;
       at = text.find(beginning, at + 1)) {
    if (at == 0 || text[at - 1] == '\n') return true;
  }
  return false;
}

bool is_film(std::string_view head) {
  return head.starts_with("\x1a\x45\xdf\xa3") || head.starts_with("GIF8") ||
         (head.size() > 8 && head.substr(4, 4) == "ftyp");
}

bool is_web_page(std::string_view head) {
  const std::string start = lower_case(body_of(head).substr(0, 16));
  return start.starts_with("<!doctype html") || start.starts_with("<html");
}

bool is_json(std::string_view head) {
  const std::string_view body = body_of(head);
  if (!body.starts_with('{') && !body.starts_with('[')) return false;
  // Log lines also start with a bracket: [0] NCCL INFO
  const std::string_view inner = body_of(body.substr(1));
  return inner.empty() || std::string_view("\"{[]}").find(inner[0]) != std::string_view::npos;
}

bool is_binary(std::string_view head) { return head.find('\0') != std::string_view::npos; }

struct KindFacts {
  ContentKind kind;
  const char* name;
  bool (*is_it)(std::string_view head);
};

/// The first row that matches applies: special kinds precede general ones.
constexpr std::array kKinds{
    KindFacts{ContentKind::Empty, "nothing", [](std::string_view head) { return head.empty(); }},
    KindFacts{ContentKind::Trace, "an .rtrace trace",
              [](std::string_view head) { return head.starts_with("\x89RTRACE\n"); }},
    KindFacts{ContentKind::Png, "a PNG picture",
              [](std::string_view head) { return head.starts_with("\x89PNG"); }},
    KindFacts{ContentKind::Film, "a film", is_film},
    KindFacts{ContentKind::Compressed, "compressed data",
              [](std::string_view head) {
                return head.starts_with("\x1f\x8b") || head.starts_with("\x28\xb5\x2f\xfd");
              }},
    KindFacts{ContentKind::WebPage, "a web page", is_web_page},
    KindFacts{ContentKind::Svg, "an SVG picture",
              [](std::string_view head) { return first_element(body_of(head)) == "svg"; }},
    KindFacts{ContentKind::TopologyXml, "a topology of NCCL",
              [](std::string_view head) { return first_element(body_of(head)) == "system"; }},
    KindFacts{ContentKind::GraphXml, "graphs of NCCL",
              [](std::string_view head) { return first_element(body_of(head)) == "graphs"; }},
    KindFacts{ContentKind::OtherXml, "XML",
              [](std::string_view head) {
                return body_of(head).starts_with("<?xml") || !first_element(body_of(head)).empty();
              }},
    KindFacts{ContentKind::PerfettoJson, "a trace that ringside exported for Perfetto",
              [](std::string_view head) {
                return is_json(head) &&
                       head.find("\"source\":\"ringside\"") != std::string_view::npos;
              }},
    KindFacts{ContentKind::OtherJson, "JSON", is_json},
    KindFacts{ContentKind::Scenario, "a scenario",
              [](std::string_view head) { return has_line(head, "ringside: scenario/"); }},
    KindFacts{ContentKind::ReproducedScript, "a script of ringside reproduce",
              [](std::string_view head) {
                return head.starts_with("#!") && has_line(head, "# Written by ringside reproduce:");
              }},
    KindFacts{ContentKind::OtherYaml, "a YAML file of ringside",
              [](std::string_view head) { return has_line(head, "ringside: "); }},
    KindFacts{ContentKind::AccuracyTable, "a table of ringside validate",
              [](std::string_view head) { return head.starts_with("| system |"); }},
    KindFacts{ContentKind::Pickle, "a pickle",
              [](std::string_view head) {
                return head.size() > 1 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5;
              }},
    KindFacts{ContentKind::Binary, "binary data", is_binary},
    KindFacts{ContentKind::Text, "other text", [](std::string_view) { return true; }}};

Result<std::string> head_of(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::string head(kHead, '\0');
  const ssize_t got = file ? ::read(file.get(), head.data(), head.size()) : -1;
  if (got < 0) return system_error(path, errno);
  head.resize(static_cast<std::size_t>(got));
  return head;
}

Error refused(const OutputFile& output, std::string_view why, std::string help) {
  return {
      ErrorCode::InvalidArgument,
      fmt::format("{}{}{}: {}", output.option, output.option.empty() ? "" : " ", output.path, why),
      std::move(help)};
}

/// Checks access now rather than after the work. Traces are not checked: each host writes its own, and one of them
/// reports errors for all.
Status check_access(const OutputFile& output, const std::string& place) {
  if (output.kind == ContentKind::Trace) return {};
  if (::access(place.c_str(), W_OK) == 0) return {};
  return refused(output, "cannot be written: " + std::generic_category().message(errno),
                 "give a path in a folder where you may write");
}

bool is_below(const std::string& path, const std::string& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) return false;
  const fs::path from = fs::canonical(folder, ignored);
  const fs::path below = fs::canonical(path, ignored).lexically_relative(from);
  return !below.empty() && *below.begin() != "..";
}

Status check_new(const OutputFile& output) {
  const fs::path parent = fs::path(output.path).parent_path();
  return check_access(output, parent.empty() ? "." : parent.string() + "/");
}

}  // namespace

const char* to_string(ContentKind kind) {
  return std::ranges::find(kKinds, kind, &KindFacts::kind)->name;
}

ContentKind content_kind_of(std::string_view head) {
  return std::ranges::find_if(kKinds, [&](const KindFacts& one) { return one.is_it(head); })->kind;
}

Status check_output(const OutputFile& output, std::span<const std::string> inputs, bool force) {
  if (output.path.empty() || output.path == "-") return {};
  struct stat info {};
  if (::stat(output.path.c_str(), &info) != 0) return check_new(output);
  if (S_ISDIR(info.st_mode)) return refused(output, "is a folder", "give a file in it");
  if (!S_ISREG(info.st_mode)) return {};
  const Result<std::string> head = head_of(output.path);
  const ContentKind found = head ? content_kind_of(*head) : ContentKind::Binary;
  const bool is_own = head && (found == output.kind || found == ContentKind::Empty);
  for (const std::string& input : inputs) {
    std::error_code ignored;
    // A report may be written into a folder of the logs that it describes.
    const bool is_lost =
        fs::equivalent(output.path, input, ignored) || (!is_own && is_below(output.path, input));
    if (!is_lost) continue;
    return refused(output, fmt::format("would overwrite what this command reads: {}", input),
                   "give another path");
  }
  if (!is_own && !force) {
    return refused(
        output,
        head ? fmt::format("this file holds {}, not {}", to_string(found), to_string(output.kind))
             : fmt::format("what this file holds cannot be read: {}", head.error().message),
        "give another path; --force overwrites the file");
  }
  return check_access(output, output.path);
}

}  // namespace ringside
