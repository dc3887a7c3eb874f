#include "cli/explain/explain_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "base/wording.h"

namespace ringside::cli {
namespace {

constexpr std::size_t kTextWidth = 100;
using study::Comparison;
using study::ExplainedSize;
using study::Explanation;

std::string name_of(Algorithm a, Protocol p) {
  return fmt::format("{}/{}", to_string(a), to_string(p));
}
std::string name_of(const Candidate& c) { return name_of(c.algorithm, c.protocol); }
std::string name_of(const TunedChoice& c) { return name_of(c.algorithm, c.protocol); }

std::string us(float value) {
  return value < 100'000 ? fmt::format("{:.2f}", value) : fmt::format("{:.0f}", value);
}

std::string bold(const std::string& text, bool colour) {
  return colour ? "\033[1m" + text + "\033[0m" : text;
}

/// `text` on lines that begin with `indent` spaces and end before column 100.
std::string folded(const std::string& text, std::size_t indent) {
  const std::string spaces(indent, ' ');
  return wrap(text, spaces, spaces, static_cast<int>(kTextWidth));
}

/// Three lines: the words of an algorithm's name, then the protocol.
std::string heading(const std::vector<study::Combination>& columns, std::size_t width) {
  std::string lines[3] = {fmt::format("{:>7}", ""), fmt::format("{:>7}", "size"),
                          fmt::format("{:>7}", "")};
  for (const auto& [algorithm, protocol] : columns) {
    const std::string name = to_string(algorithm);
    const std::size_t cut = name.find('_');
    const bool has_two = cut != std::string::npos;
    lines[0] += fmt::format("{:>{}}", has_two ? name.substr(0, cut) : "", width);
    lines[1] += fmt::format("{:>{}}", has_two ? name.substr(cut + 1) : name, width);
    lines[2] += fmt::format("{:>{}}", to_string(protocol), width);
  }
  std::string out;
  for (const std::string& line : lines) {
    if (line.find_first_not_of(' ') != std::string::npos) out += line + "\n";
  }
  return out;
}

std::string times_text(const Explanation& explanation, bool colour) {
  const std::vector<study::Combination>& columns = explanation.available;
  if (columns.empty()) return "";
  const std::size_t width = std::min<std::size_t>(12, (kTextWidth - 7) / columns.size());
  std::string out =
      "time in us by NCCL's own model, which it chooses by (to expect: ringside sim), * the "
      "fastest\n" +
      heading(columns, width);
  for (const ExplainedSize& size : explanation.sizes) {
    out += fmt::format("{:>7}", format_bytes(size.bytes));
    for (const Candidate& candidate : size.candidates) {
      if (candidate.obstacle != Obstacle::None) continue;
      const bool is_chosen = candidate.algorithm == size.choice.algorithm &&
                             candidate.protocol == size.choice.protocol;
      const std::string text = (is_chosen ? "*" : "") + us(candidate.prediction.time_us);
      const std::string cell = fmt::format("{:>{}}", text, width);
      out += is_chosen ? bold(cell, colour) : cell;
    }
    out += "\n";
  }
  for (const auto& [algorithm, protocol] : explanation.last_resorts) {
    out += folded(
        fmt::format("{} is NCCL's last resort with several ranks per node: it is taken, whatever "
                    "its time, only where nothing else is left, as by NCCL_ALGO={}",
                    name_of(algorithm, protocol), nccl_name(algorithm)),
        2);
  }
  return out;
}

/// Returns the name, without the protocol if the algorithm has only one.
std::string short_name(const Candidate& c) {
  return facts_of(c.algorithm).is_simple_only ? to_string(c.algorithm) : name_of(c);
}

std::string choices_text(const Explanation& explanation) {
  std::string out = fmt::format("chosen\n{:>7}  {:<21}{:>9}{:>5}{:>8}{:>8}{:>11}  {}\n", "size",
                                "algorithm/protocol", "channels", "used", "threads", "chunk",
                                "time (us)", "decided by, over");
  for (const ExplainedSize& size : explanation.sizes) {
    const TunedChoice& c = size.choice;
    const std::string over =
        size.verdict.runner_up ? fmt::format(" {}", short_name(*size.verdict.runner_up)) : "";
    out += fmt::format("{:>7}  {:<21}{:>9}{:>5}{:>8}{:>8}{:>11}  {}{}\n", format_bytes(size.bytes),
                       name_of(c), c.max_channels, c.channels.nchannels(), c.nthreads,
                       c.chunk.value, us(c.prediction.time_us), size.verdict.term, over);
  }
  return out;
}

std::string stretches_text(const Explanation& explanation) {
  std::string out = "where each begins to win, and what it costs there\n";
  for (const auto& [stretch, terms] : explanation.stretches) {
    out += fmt::format("{:>13} B  {}\n", stretch.from.value, name_of(stretch.fastest));
    out += folded("latency " + terms.latency, 17);
    out += folded("bandwidth " + terms.bandwidth, 17);
  }
  return out;
}

std::string obstacles_text(const Explanation& explanation) {
  if (explanation.obstructed.empty()) return "";
  std::string out = "not available\n";
  for (const study::Obstructed& group : explanation.obstructed) {
    std::string names;
    for (const Candidate& candidate : group.candidates) {
      names += (names.empty() ? "" : ", ") + name_of(candidate);
    }
    out += folded(fmt::format("{}: {}", names, to_string(group.obstacle)), 2);
  }
  return out;
}

std::string head_of(const Explanation& explanation, const study::ExplainQuestion& question) {
  const CommShape& shape = explanation.shape;
  std::string channels = fmt::format("{} channels", shape.nchannels);
  if (shape.nvls_channels > 0) channels += fmt::format(" ({} of NVLS)", shape.nvls_channels);
  const auto count = [](int n) { return static_cast<std::size_t>(n); };
  return fmt::format("{} of {} on {}: {}, {}, {}\n{}", question.calls.collective,
                     to_string(explanation.calls.type), question.job.on,
                     plural(count(shape.nranks), "rank", "ranks"),
                     plural(count(shape.nnodes), "node", "nodes"), channels, explanation.label);
}

}  // namespace

std::string explanation_text(const Explanation& explanation, const study::ExplainQuestion& question,
                             bool colour) {
  std::string out = head_of(explanation, question) + "\n";
  for (const std::string& part : {times_text(explanation, colour), choices_text(explanation),
                                  stretches_text(explanation), obstacles_text(explanation)}) {
    if (!part.empty()) out += "\n" + part;
  }
  return out;
}

std::string comparison_text(const Explanation& before, const Explanation& after, bool colour) {
  std::string out = fmt::format("before: {}\nafter:  {}\n\n", before.label, after.label);
  out += fmt::format("{:>7}  {:<21}{:>6}{:>12}    {:<21}{:>6}{:>12}{:>9}\n", "size", "before",
                     "chan.", "time (us)", "after", "chan.", "time (us)", "change");
  for (const Comparison& row : compare(before, after)) {
    const float was = row.before.prediction.time_us;
    const float is = row.after.prediction.time_us;
    const bool other = name_of(row.before) != name_of(row.after);
    const std::string name = fmt::format("{:<21}", name_of(row.after));
    out += fmt::format("{:>7}  {:<21}{:>6}{:>12}  {} {}{:>6}{:>12}{:>9}\n", format_bytes(row.bytes),
                       name_of(row.before), row.before.max_channels, us(was), other ? "*" : " ",
                       other ? bold(name, colour) : name, row.after.max_channels, us(is),
                       was > 0 ? fmt::format("{:+.1f} %", 100 * (is / was - 1)) : "");
  }
  return out + "* another algorithm or protocol\n";
}

}  // namespace ringside::cli
