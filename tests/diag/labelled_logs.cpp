#include "tests/diag/labelled_logs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <stdexcept>

#include "base/fd.h"
#include "base/json.h"
#include "base/text.h"
#include "diag/audit/finding_types.h"

namespace ringside::audit {
namespace {

namespace fs = std::filesystem;
using diag::Outcome;

std::string text_of(const std::string& path) {
  auto text = read_file(path);
  if (!text) throw std::runtime_error(text.error().message);
  return *std::move(text);
}

std::vector<std::string> split(std::string_view text, std::string_view at) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find(at);
    if (end != 0 && !text.empty()) parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + at.size());
  }
}

/// Returns the lines of a table that are not comments.
std::vector<std::string> rows_of(const std::string& path) {
  std::vector<std::string> rows = split(text_of(path), "\n");
  std::erase_if(rows, [](const std::string& row) { return row.starts_with('#'); });
  return rows;
}

/// Parses `ID|ID ~ WORDS|WORDS & WORDS`, `healthy` or `may ID ID`: tests/audit/pastes.txt.
LabelledLog expectation(const std::string& row) {
  LabelledLog log{.must_be_first = true};
  if (row == "healthy") {
    log.answerable = "healthy";
    log.forbids_others = true;
  } else if (row.starts_with("may ")) {
    log.answerable = "no";
    log.forbids_others = true;
    log.others_from = Severity::Error;
    for (const std::string& id : split(row.substr(4), " ")) log.allowed.insert(id);
  } else {
    const std::size_t tilde = row.find(" ~ ");
    Wanted wanted{.ids = split(row.substr(0, tilde), "|")};
    for (const std::string& words : split(row.substr(tilde + 3), " & "))
      wanted.said.push_back(split(words, "|"));
    log.wanted.push_back(std::move(wanted));
  }
  return log;
}

std::map<std::string, LabelledLog> load_expectations(const std::string& path) {
  std::map<std::string, LabelledLog> logs;
  for (const std::string& row : rows_of(path)) {
    const std::size_t colon = row.find(": ");
    if (colon == std::string::npos) throw std::runtime_error(path + ": no `NAME: ` in " + row);
    LabelledLog log = expectation(row.substr(colon + 2));
    log.id = row.substr(0, colon);
    logs[log.id] = std::move(log);
  }
  return logs;
}

void expect_same_names(const std::string& folder, const std::vector<LabelledLog>& logs) {
  std::set<std::string> rows, files;
  for (const LabelledLog& log : logs) rows.insert(log.id);
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".log") files.insert(entry.path().stem().string());
  }
  for (const std::string& file : files) {
    if (rows.count(file) == 0) throw std::runtime_error(folder + "/" + file + ".log has no row");
  }
}

/// Returns a finding's text without the lines that it quotes.
std::string words_of(const Finding& finding) {
  std::string text = finding.title + "\n" + finding.cause + "\n" + finding.fix + "\n";
  for (const int rank : finding.ranks) text += std::to_string(rank) + "\n";
  for (const std::string& host : finding.hosts) text += host + "\n";
  return text;
}

bool has_id(const Finding& finding, const auto& ids) {
  return std::any_of(ids.begin(), ids.end(),
                     [&](const std::string& id) { return is_a(finding.id, id); });
}

bool has_any(const std::string& lower, const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return lower.find(lower_case(word)) != std::string::npos;
  });
}

bool has_pattern(const std::string& text, const std::string& pattern) {
  return std::regex_search(text, std::regex(pattern, std::regex::icase));
}

bool is_quoted(const Wanted& wanted, const Finding& finding, const Audit& audited) {
  const std::vector<QuotedLine>& lines = finding.evidence.lines();
  const auto any_line = [&](auto is_it) { return std::any_of(lines.begin(), lines.end(), is_it); };
  if (!wanted.quoted_lines.empty() && !any_line([&](const QuotedLine& line) {
        return wanted.quoted_lines.count(audited.where(line.place).line) > 0;
      }))
    return false;
  if (wanted.quoted.empty()) return true;
  if (lines.empty()) return has_any(lower_case(finding.title), wanted.quoted);
  return any_line(
      [&](const QuotedLine& line) { return has_any(lower_case(line.text), wanted.quoted); });
}

/// Returns how closely a finding matches the wanted one.
Outcome match(const Wanted& wanted, const Finding& finding, const Audit& audited) {
  if (finding.severity < wanted.at_least) return Outcome::Silent;
  if (!wanted.ids.empty() && !has_id(finding, wanted.ids)) return Outcome::Silent;
  const std::string words = words_of(finding), lower = lower_case(words);
  const bool is_said =
      std::all_of(wanted.said.begin(), wanted.said.end(),
                  [&](const auto& either) { return has_any(lower, either); }) &&
      std::all_of(wanted.said_patterns.begin(), wanted.said_patterns.end(),
                  [&](const std::string& pattern) { return has_pattern(words, pattern); });
  if (wanted.ids.empty() && !is_said) return Outcome::Silent;
  const bool is_fix_bad =
      std::any_of(wanted.not_in_fix.begin(), wanted.not_in_fix.end(),
                  [&](const std::string& pattern) { return has_pattern(finding.fix, pattern); });
  return is_said && !is_fix_bad && is_quoted(wanted, finding, audited) ? Outcome::Right
                                                                       : Outcome::Fair;
}

bool is_false_alarm(const LabelledLog& log, const Finding& finding) {
  for (const auto& [id, from] : log.forbidden) {
    if (finding.severity >= from && is_a(finding.id, id)) return true;
  }
  if (!log.forbids_others || finding.severity < log.others_from) return false;
  return !has_id(finding, log.allowed) &&
         std::none_of(log.wanted.begin(), log.wanted.end(),
                      [&](const Wanted& wanted) { return has_id(finding, wanted.ids); });
}

Outcome outcome_of(const LabelledLog& log, const Audit& audited) {
  const std::vector<Finding>& findings = audited.findings;
  if (std::any_of(findings.begin(), findings.end(),
                  [&](const Finding& finding) { return is_false_alarm(log, finding); }))
    return Outcome::Wrong;
  Outcome least = Outcome::Right, most = log.wanted.empty() ? Outcome::Right : Outcome::Silent;
  for (const Wanted& wanted : log.wanted) {
    Outcome best = Outcome::Silent;
    for (const Finding& finding : findings) {
      Outcome one = match(wanted, finding, audited);
      const bool is_late = log.must_be_first && log.answerable == "yes" && &finding != &findings[0];
      if (is_late) one = std::min(one, Outcome::Fair);
      best = std::max(best, one);
    }
    least = std::min(least, best);
    most = std::max(most, best);
  }
  if (least == Outcome::Right) return Outcome::Right;
  if (most > Outcome::Silent) return Outcome::Fair;
  // Another cause is named instead of the wanted one.
  const bool misleads = log.must_be_first && audited.worst() >= Severity::Warning;
  return misleads ? Outcome::Wrong : Outcome::Silent;
}

std::string wanted_text(const LabelledLog& log) {
  std::string text = log.answerable;
  for (const Wanted& wanted : log.wanted) {
    text += fmt::format("; {} ~", fmt::join(wanted.ids, "|"));
    for (const auto& words : wanted.said) text += fmt::format(" {} &", fmt::join(words, "|"));
    text += fmt::format(" {} {}", fmt::join(wanted.said_patterns, " & "),
                        fmt::join(wanted.quoted, "|"));
  }
  return text;
}

Severity severity_of(const std::string& word) {
  return word == "error" ? Severity::Error : word == "warn" ? Severity::Warning : Severity::Info;
}

}  // namespace

std::vector<LabelledLog> load_corpus_logs(const std::string& folder) {
  std::vector<LabelledLog> logs;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string path = entry.path().string();
    constexpr std::string_view kEnd = ".label.json";
    if (!path.ends_with(kEnd)) continue;
    const Json label = Json::parse(text_of(path));
    LabelledLog log{.id = label.at("id")};
    log.path = path.substr(0, path.size() - kEnd.size()) + ".log";
    if (label.at("truth_basis").get<std::string>() == "healthy") {
      log.answerable = "healthy";
      log.forbids_others = true;
    }
    for (const Json& finding : label.at("findings")) {
      const std::string id = finding.at("id");
      log.allowed.insert(id);
      if (severity_of(finding.at("severity")) < Severity::Warning) continue;
      Wanted wanted{.ids = {id}};
      for (const Json& line : finding.at("evidence_line_numbers"))
        wanted.quoted_lines.insert(line.get<std::uint64_t>());
      log.wanted.push_back(std::move(wanted));
    }
    for (const Json& id : label.at("must_not_report"))
      log.forbidden[id.get<std::string>()] = Severity::Warning;
    logs.push_back(std::move(log));
  }
  std::sort(logs.begin(), logs.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return logs;
}

std::vector<LabelledLog> load_labelled_pastes(const std::string& folder,
                                              const std::string& expectations) {
  const auto rows = load_expectations(expectations);
  const Json labels = Json::parse(text_of(folder + "/labels.json"));
  std::vector<LabelledLog> logs;
  for (const Json& label : labels.at("samples")) {
    const std::string id = label.at("id");
    LabelledLog log{.must_be_first = true};
    const auto row = rows.find(id);
    if (label.contains("keys")) {
      log.forbids_others = label.at("answerable") == "healthy";
      Wanted wanted;
      for (const Json& key : label.at("keys")) wanted.said_patterns.push_back(key);
      for (const Json& words : label.at("avoid_in_fix")) wanted.not_in_fix.push_back(words);
      if (!log.forbids_others) log.wanted.push_back(std::move(wanted));
    } else if (row != rows.end()) {
      log = row->second;
    } else {
      throw std::runtime_error(expectations + " has no row for " + id);
    }
    log.id = id;
    log.answerable = label.at("answerable");
    log.text = text_of(folder + "/" + id + ".log");
    logs.push_back(std::move(log));
  }
  return logs;
}

std::vector<LabelledLog> load_threads(const std::string& folder, const std::string& expectations) {
  std::vector<LabelledLog> logs;
  for (auto& [name, log] : load_expectations(expectations)) {
    log.text = text_of(folder + "/" + name + ".log");
    logs.push_back(log);
  }
  expect_same_names(folder, logs);
  return logs;
}

std::vector<LabelledLog> load_audit_cases(const std::string& folder) {
  const std::string table = folder + "/expected.txt";
  std::vector<LabelledLog> logs;
  for (const std::string& row : rows_of(table)) {
    if (!row.starts_with("  ")) {
      LabelledLog log{.id = row.substr(0, row.find(':')), .forbids_others = true};
      log.text = text_of(folder + "/" + log.id + ".log");
      logs.push_back(std::move(log));
      continue;
    }
    LabelledLog& log = logs.at(logs.size() - 1);
    const std::size_t space = row.find(' ', 2), tilde = row.find(" ~ ");
    const std::string verb = row.substr(2, space - 2);
    const std::string ids = row.substr(space + 1, tilde - space - 1);
    if (verb == "find" || verb == "note") {
      log.wanted.push_back({.ids = split(ids, "|"),
                            .at_least = verb == "find" ? Severity::Warning : Severity::Info,
                            .quoted = split(row.substr(tilde + 3), "|")});
    } else if (verb == "not") {
      for (const std::string& id : split(ids, " ")) log.forbidden[id] = Severity::Info;
    } else if (verb == "may") {
      for (const std::string& id : split(ids, " ")) log.allowed.insert(id);
    } else {
      throw std::runtime_error(table + ": unknown word in " + row);
    }
  }
  expect_same_names(folder, logs);
  return logs;
}

LabelledLog varied(LabelledLog log, const pastes::Variant& variant) {
  log.text = variant.change(log.text);
  if (variant.hides_names) {
    for (Wanted& wanted : log.wanted) wanted.said.clear();
  }
  return log;
}

diag::Answer compare(const LabelledLog& log, const Audit& audited) {
  std::string said;
  for (const Finding& finding : audited.findings) {
    if (finding.severity >= Severity::Warning)
      said +=
          fmt::format("\n    {} {}: {}", to_string(finding.severity), finding.id, finding.title);
  }
  const bool is_quiet = audited.worst() < Severity::Warning;
  return {outcome_of(log, audited), is_quiet ? "quiet" : audited.findings.front().id,
          fmt::format("{} (label: {}):{}", log.id, wanted_text(log), is_quiet ? " quiet" : said)};
}

diag::Answer answer_of(const LabelledLog& log) {
  if (log.path.empty()) return compare(log, audit_text(log.text, log.id + ".log"));
  const Result<Audit> audited = audit_logs({log.path}, {.threads = 1});
  if (!audited) throw std::runtime_error(audited.error().message);
  return compare(log, *audited);
}

}  // namespace ringside::audit
