#include "tests/audit/pastes.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "base/fd.h"
#include "base/json.h"
#include "base/text.h"
#include "diag/audit/findings.h"
#include "tests/support/shared.h"

namespace ringside::pastes {
namespace {

std::vector<std::string> split(std::string_view text, std::string_view at) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find(at);
    if (end != 0) parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + at.size());
  }
}

Answerable answerable_of(const std::string& word) {
  if (word == "yes") return Answerable::Yes;
  if (word == "partly") return Answerable::Partly;
  return word == "healthy" ? Answerable::Healthy : Answerable::No;
}

/// What a finding says, apart from the lines that it quotes.
std::string words_of(const audit::Finding& finding) {
  std::string text = finding.title + "\n" + finding.cause + "\n" + finding.fix + "\n";
  for (const int rank : finding.ranks) text += std::to_string(rank) + "\n";
  for (const std::string& host : finding.hosts) text += host + "\n";
  return lower_case(text);
}

bool names_cause(const Expectation& expected, const audit::Finding& finding) {
  if (finding.severity < audit::Severity::Warning) return false;
  if (std::find(expected.ids.begin(), expected.ids.end(), finding.id) == expected.ids.end())
    return false;
  const std::string said = words_of(finding);
  return std::all_of(expected.words.begin(), expected.words.end(), [&](const auto& either) {
    return std::any_of(either.begin(), either.end(), [&](const std::string& word) {
      return said.find(lower_case(word)) != std::string::npos;
    });
  });
}

std::string ids_of(const audit::Audit& audited) {
  std::string ids;
  for (const audit::Finding& finding : audited.findings) {
    if (finding.severity >= audit::Severity::Warning)
      ids += (ids.empty() ? "" : ", ") + finding.id + " (" + finding.title + ")";
  }
  return ids.empty() ? "nothing" : ids;
}

}  // namespace

std::map<std::string, Expectation> load_expectations(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + " cannot be read");
  std::map<std::string, Expectation> rows;
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.empty() || line.front() == '#' || colon == std::string::npos) continue;
    Expectation row;
    const std::string rest = line.substr(colon + 2);
    const std::size_t tilde = rest.find(" ~ ");
    if (rest.starts_with("may ")) {
      row.ids = split(rest.substr(4), " ");
    } else if (rest != "healthy") {
      row.ids = split(rest.substr(0, tilde), "|");
      for (const std::string& words : split(rest.substr(tilde + 3), " & "))
        row.words.push_back(split(words, "|"));
    }
    rows[line.substr(0, colon)] = row;
  }
  return rows;
}

std::vector<Paste> labelled_pastes() {
  const std::string folder = shared_folder() + "/corpus/pastes/";
  const auto rows = load_expectations(RINGSIDE_PASTE_EXPECTATIONS);
  const Result<std::string> labels = read_file(folder + "labels.json");
  if (!labels) throw std::runtime_error(labels.error().message);
  std::vector<Paste> pastes;
  const Json document = Json::parse(*labels);
  for (const Json& label : document.at("samples")) {
    Paste paste{.id = label.at("id"), .answerable = answerable_of(label.at("answerable"))};
    const auto row = rows.find(paste.id);
    const Result<std::string> text = read_file(folder + paste.id + ".log");
    if (row == rows.end() || !text) throw std::runtime_error(paste.id + " has no row or no text");
    paste.expected = row->second;
    paste.text = *text;
    pastes.push_back(std::move(paste));
  }
  return pastes;
}

bool is_as_expected(const Paste& paste, const audit::Audit& audited, std::string& why) {
  const auto& findings = audited.findings;
  switch (paste.answerable) {
    case Answerable::Yes:
      if (!findings.empty() && names_cause(paste.expected, findings.front())) return true;
      break;
    case Answerable::Partly:
      if (std::any_of(findings.begin(), findings.end(),
                      [&](const auto& finding) { return names_cause(paste.expected, finding); }))
        return true;
      break;
    case Answerable::Healthy:
      if (audited.worst() < audit::Severity::Warning) return true;
      break;
    case Answerable::No: {
      const auto& may = paste.expected.ids;
      if (std::all_of(findings.begin(), findings.end(), [&](const auto& finding) {
            return finding.severity < audit::Severity::Error ||
                   std::find(may.begin(), may.end(), finding.id) != may.end();
          }))
        return true;
      break;
    }
  }
  why = paste.id + ": " + ids_of(audited);
  return false;
}

Scores score(const std::vector<Paste>& pastes, const Variant& variant) {
  Scores scores;
  for (Paste paste : pastes) {
    if (variant.hides_names) paste.expected.words.clear();
    const audit::Audit audited = audit::audit_text(variant.change(paste.text), paste.id + ".log");
    std::string why;
    Score& one = scores.by[paste.answerable];
    ++one.all;
    if (is_as_expected(paste, audited, why)) {
      ++one.right;
    } else {
      scores.wrong.push_back(why);
    }
  }
  return scores;
}

std::string forms_table(const std::vector<Paste>& pastes, bool shows_wrong) {
  std::string text =
      "| form | named first (answerable) | named (partly) | nothing invented (not) | quiet "
      "(healthy) "
      "|\n|---|---:|---:|---:|---:|\n";
  for (const Variant& variant : variants()) {
    Scores scores = score(pastes, variant);
    text += fmt::format("| {} |", variant.name);
    for (const Answerable kind :
         {Answerable::Yes, Answerable::Partly, Answerable::No, Answerable::Healthy})
      text += fmt::format(" {} of {} |", scores.by[kind].right, scores.by[kind].all);
    text += "\n";
    if (!shows_wrong) continue;
    for (const std::string& wrong : scores.wrong) text += fmt::format("    {}\n", wrong);
  }
  return text;
}

}  // namespace ringside::pastes
