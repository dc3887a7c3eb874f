#include "cli/explain_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace ringside::cli {
namespace {

constexpr std::size_t kWidth = 100;
using Column = std::pair<Algorithm, Protocol>;

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
  std::string out;
  std::string line(indent, ' ');
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (line.size() > indent && line.size() + 1 + word.size() > kWidth) {
      out += line + "\n";
      line.assign(indent, ' ');
    }
    if (line.size() > indent) line += ' ';
    line += word;
    begin = end + 1;
  }
  return out + line + "\n";
}

/// The combinations that are available, in NCCL's order.
std::vector<Column> columns_of(const Explanation& explanation) {
  std::vector<Column> columns;
  for (const Candidate& candidate : explanation.tuner.candidates(explanation.call)) {
    if (candidate.obstacle == Obstacle::None) {
      columns.emplace_back(candidate.algorithm, candidate.protocol);
    }
  }
  return columns;
}

/// Three lines: the words of an algorithm's name, then the protocol.
std::string heading(const std::vector<Column>& columns, std::size_t width) {
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
  const std::vector<Column> columns = columns_of(explanation);
  if (columns.empty()) return "";
  const std::size_t width = std::min<std::size_t>(12, (kWidth - 7) / columns.size());
  std::string out = "predicted time in us, * the fastest\n" + heading(columns, width);
  for (std::size_t i = 0; i < explanation.sizes.size(); ++i) {
    TuningCall call = explanation.call;
    call.bytes = explanation.sizes[i];
    const TunedChoice& chosen = explanation.choices[i];
    out += fmt::format("{:>7}", format_bytes(call.bytes));
    for (const Candidate& candidate : explanation.tuner.candidates(call)) {
      if (candidate.obstacle != Obstacle::None) continue;
      const bool is_chosen =
          candidate.algorithm == chosen.algorithm && candidate.protocol == chosen.protocol;
      const std::string text = (is_chosen ? "*" : "") + us(candidate.prediction.time_us);
      const std::string cell = fmt::format("{:>{}}", text, width);
      out += is_chosen ? bold(cell, colour) : cell;
    }
    out += "\n";
  }
  return out;
}

/// Without the protocol where the algorithm knows but one.
std::string short_name(const Candidate& c) {
  const bool has_choice = c.algorithm == Algorithm::Ring || c.algorithm == Algorithm::Tree;
  return has_choice ? name_of(c) : to_string(c.algorithm);
}

std::string choices_text(const Explanation& explanation) {
  std::string out = fmt::format("chosen\n{:>7}  {:<21}{:>9}{:>5}{:>8}{:>8}{:>11}  {}\n", "size",
                                "algorithm/protocol", "channels", "used", "threads", "chunk",
                                "time (us)", "decided by, over");
  for (std::size_t i = 0; i < explanation.sizes.size(); ++i) {
    TuningCall call = explanation.call;
    call.bytes = explanation.sizes[i];
    const TunedChoice& c = explanation.choices[i];
    const Verdict verdict = verdict_of(explanation.tuner, call);
    const std::string over =
        verdict.runner_up ? fmt::format(" {}", short_name(*verdict.runner_up)) : "";
    out += fmt::format("{:>7}  {:<21}{:>9}{:>5}{:>8}{:>8}{:>11}  {}{}\n", format_bytes(call.bytes),
                       name_of(c), c.max_channels, c.channels.nchannels(), c.nthreads,
                       c.chunk.value, us(c.prediction.time_us), verdict.term, over);
  }
  return out;
}

std::string stretches_text(const Explanation& explanation) {
  std::string out = "where each begins to win, and what it costs there\n";
  for (const Stretch& stretch : explanation.stretches) {
    const Terms terms = terms_of(explanation.tuner, explanation.call.collective, stretch.fastest);
    out += fmt::format("{:>13} B  {}\n", stretch.from.value, name_of(stretch.fastest));
    out += folded("latency " + terms.latency, 17);
    out += folded("bandwidth " + terms.bandwidth, 17);
  }
  return out;
}

/// What stands in the way of the others, but for what no NCCL can do.
std::string obstacles_text(const Explanation& explanation) {
  std::vector<std::pair<Obstacle, std::string>> reasons;
  for (const Candidate& candidate : explanation.tuner.candidates(explanation.call)) {
    if (candidate.obstacle == Obstacle::None || candidate.obstacle == Obstacle::NotForCollective ||
        candidate.obstacle == Obstacle::SimpleOnly) {
      continue;
    }
    const auto found = std::find_if(reasons.begin(), reasons.end(), [&](const auto& reason) {
      return reason.first == candidate.obstacle;
    });
    if (found == reasons.end()) {
      reasons.emplace_back(candidate.obstacle, name_of(candidate));
    } else {
      found->second += ", " + name_of(candidate);
    }
  }
  if (reasons.empty()) return "";
  std::string out = "not available\n";
  for (const auto& [obstacle, names] : reasons) {
    out += folded(fmt::format("{}: {}", names, to_string(obstacle)), 2);
  }
  return out;
}

}  // namespace

std::string explanation_text(const Explanation& explanation, const std::string& head, bool colour) {
  std::string out = head + "\n";
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
