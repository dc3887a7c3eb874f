#include "tests/diag/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/fd.h"
#include "base/fnv.h"
#include "base/temporary.h"
#include "harness/hangs/generate.h"
#include "tests/diag/labelled_hangs.h"
#include "tests/diag/labelled_logs.h"
#include "tests/support/paste_variants.h"
#include "tests/support/shared.h"

namespace ringside::diag {
namespace {

constexpr std::string_view kHead =
    "# How good ringside's answer to each labelled case is. Written by `ringside_diag_baseline "
    "--update`; read\n"
    "# docs/contributing/testing.md before you edit it.\n"
    "# set\tcase\tverb\tanswerable\toutcome\tverdict\toutcome in forms of the text where it "
    "differs\n";

/// Returns the forms in which a text is asked about: they depend on its name, so that each form is used with some of
/// the texts.
std::vector<const pastes::Variant*> forms_of(const Row& row) {
  constexpr std::size_t kForms = 4;  // of 31 forms, so that all cases together take seconds
  const auto& all = pastes::variants();
  const std::uint64_t hash = fnv_of(row.set + "/" + row.name);
  std::vector<const pastes::Variant*> forms;
  for (std::size_t i = hash % all.size(); forms.size() < kForms; i = (i + 7) % all.size()) {
    const bool makes_it_a_job =
        all[i].speaks_of_a_job && (row.answerable == "healthy" || row.answerable == "not_a_hang");
    if (i != 0 && !makes_it_a_job) forms.push_back(&all[i]);
  }
  return forms;
}

template <typename Labelled>
void add(Cases& all, const std::string& set, const std::string& verb,
         std::vector<Labelled> labelled, bool are_pastes) {
  for (Labelled& one : labelled) {
    BaselineCase added;
    added.row = {set, one.id, verb, one.answerable};
    if (are_pastes) {
      for (const pastes::Variant* form : forms_of(added.row))
        added.ask_in_form[std::string(form->name)] = [one, form] {
          return answer_of(varied(one, *form));
        };
    }
    added.ask = [one = std::move(one)] { return answer_of(one); };
    all.cases.push_back(std::move(added));
  }
}

/// Adds generated hangs of 8 ranks, of all classes alternately, with all files and with some of them lost.
void add_generated(Cases& all, const std::string& set, int lost_percent) {
  hangs::GenerateOptions options;
  options.cases = 52;
  options.seed = 7;
  options.each.lost_percent = lost_percent;
  options.each.ranks = 8;
  for (int i = 0; i < options.cases; ++i) {
    const hangs::CaseOptions one = hangs::options_of(options, i);
    auto made = hangs::make_case(one, hangs::case_seed(options.seed, i));
    if (!made) throw std::runtime_error(made.error().message);
    BaselineCase added;
    const std::string kind = hangs::to_string(made->fault.kind);
    added.row = {set, fmt::format("{:02}-{}", i, kind), "hang",
                 kind == "not_a_hang" ? kind : "yes"};
    added.ask = [made = std::make_shared<const hangs::HangCase>(*std::move(made))] {
      const TemporaryFolder folder = TemporaryFolder::make("test").value();
      const Status written = hangs::write_case(*made, folder.path());
      if (!written) throw std::runtime_error(written.error().message);
      return answer_of(hang::load_labelled_dumps(folder.path()));
    };
    all.cases.push_back(std::move(added));
  }
}

using Key = std::pair<std::string, std::string>;
Key key_of(const Row& row) { return {row.set, row.name}; }

Outcome outcome_of(std::string_view word) {
  for (const Outcome one : {Outcome::Wrong, Outcome::Silent, Outcome::Fair, Outcome::Right}) {
    if (word == to_string(one)) return one;
  }
  throw std::runtime_error(fmt::format("\"{}\" is no outcome", word));
}

/// Larger is better. A wrong answer is worse if it is given with more confidence.
int quality_of(const Row& row) {
  const int outcome = static_cast<int>(row.outcome) * 3;
  if (row.outcome != Outcome::Wrong) return outcome;
  if (row.verdict.ends_with(" low")) return outcome + 2;
  return row.verdict.ends_with(" medium") ? outcome + 1 : outcome;
}

/// Returns e.g. `quoted: silent, wrapped at 80: fair`, for the forms whose outcome differs from that of the original
/// text.
std::string forms_text(const Row& row) {
  std::string text;
  for (const auto& [form, outcome] : row.forms) {
    if (outcome != row.outcome)
      text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", form, to_string(outcome));
  }
  return text;
}

std::map<std::string, Outcome> parse_forms(std::string_view text) {
  std::map<std::string, Outcome> forms;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find("; "));
    const std::size_t colon = one.find(": ");
    if (colon == std::string_view::npos) throw std::runtime_error("a form has no outcome");
    forms[std::string(one.substr(0, colon))] = outcome_of(one.substr(colon + 2));
    text.remove_prefix(std::min(text.size(), one.size() + 2));
  }
  return forms;
}

std::string text_of(const Row& row) {
  const std::string forms = forms_text(row);
  return fmt::format("{} ({}){}{}", to_string(row.outcome), row.verdict, forms.empty() ? "" : "; ",
                     forms);
}

/// Returns how much better `now` is, in its worst form and in its best form.
std::pair<int, int> compare_forms(const Row& before, const Row& now) {
  std::pair<int, int> range{0, 0};
  for (const auto& [form, outcome] : now.forms) {
    const auto known = before.forms.find(form);
    const Outcome was = known == before.forms.end() ? before.outcome : known->second;
    const int better = static_cast<int>(outcome) - static_cast<int>(was);
    range = {std::min(range.first, better), std::max(range.second, better)};
  }
  return range;
}

}  // namespace

Cases load_cases(const std::string& tests) {
  Cases all;
  const std::string expectations = tests + "/audit/pastes.txt";
  add(all, "audit/cases", "audit", audit::load_audit_cases(tests + "/audit/cases"), false);
  add(all, "audit/threads", "audit",
      audit::load_threads(tests + "/audit/threads", tests + "/audit/threads.txt"), true);
  add(all, "hangdetect/invented", "hang", hang::load_labelled_texts(tests + "/hangdetect/invented"),
      true);
  add(all, "hangdetect/jobs", "hang", hang::load_all_labelled_dumps(tests + "/hangdetect/jobs"),
      false);
  add_generated(all, "generated/all-files", 0);
  add_generated(all, "generated/two-in-five-lost", 40);
  std::string corpus;
  try {
    corpus = shared_folder() + "/corpus/";
  } catch (const std::runtime_error&) {
    all.absent_sets = {"corpus/logs",        "corpus/pastes",       "corpus/pastes3",
                       "corpus/hang-pastes", "corpus/hang-pastes3", "corpus/fr",
                       "corpus/fr-torch"};
    return all;
  }
  add(all, "corpus/logs", "audit", audit::load_corpus_logs(corpus + "logs"), false);
  for (const std::string set : {"pastes", "pastes3"})
    add(all, "corpus/" + set, "audit", audit::load_labelled_pastes(corpus + set, expectations),
        true);
  for (const std::string set : {"hang-pastes", "hang-pastes3"})
    add(all, "corpus/" + set, "hang", hang::load_labelled_texts(corpus + set), true);
  for (const std::string set : {"fr", "fr-torch"})
    add(all, "corpus/" + set, "hang", hang::load_all_labelled_dumps(corpus + set), false);
  return all;
}

std::vector<Row> read_baseline(const std::string& path) {
  const Result<std::string> text = read_file(path);
  if (!text) throw std::runtime_error(text.error().message);
  std::vector<Row> rows;
  std::istringstream lines(*text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    std::array<std::string, 7> cells;
    std::istringstream rest(line);
    for (std::string& cell : cells) std::getline(rest, cell, '\t');
    try {
      rows.push_back({cells[0], cells[1], cells[2], cells[3], outcome_of(cells[4]), cells[5],
                      parse_forms(cells[6])});
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(fmt::format("{}:{}: {}", path, number, error.what()));
    }
  }
  return rows;
}

std::string write_baseline(const std::vector<Row>& rows) {
  std::string text(kHead);
  for (const Row& row : rows) {
    text += fmt::format("{}\t{}\t{}\t{}\t{}\t{}", row.set, row.name, row.verb, row.answerable,
                        to_string(row.outcome), row.verdict);
    const std::string forms = forms_text(row);
    if (!forms.empty()) text += "\t" + forms;
    text += "\n";
  }
  return text;
}

Differences compare(const std::vector<Row>& before, const std::vector<Row>& now,
                    const std::vector<std::string>& absent_sets) {
  std::map<Key, const Row*> old;
  for (const Row& row : before) old[key_of(row)] = &row;
  Differences found;
  for (const Row& row : now) {
    const auto was = old.find(key_of(row));
    if (was == old.end()) {
      found.rows.push_back(fmt::format("{} {}: has no row", row.set, row.name));
      continue;
    }
    const Row& last = *was->second;
    const int better = quality_of(row) - quality_of(last);
    const auto [worst, best] = compare_forms(last, row);
    auto& list = better < 0 || worst < 0  ? found.worse
                 : better > 0 || best > 0 ? found.better
                                          : found.other;
    const bool is_same = row.verdict == last.verdict && &list == &found.other;
    if (!is_same)
      list.push_back(
          fmt::format("{} {}: {} -> {}", row.set, row.name, text_of(last), text_of(row)));
    old.erase(was);
  }
  for (const auto& [key, row] : old) {
    if (std::find(absent_sets.begin(), absent_sets.end(), row->set) == absent_sets.end())
      found.rows.push_back(fmt::format("{} {}: is a row without a case", row->set, row->name));
  }
  return found;
}

std::string summary(const std::vector<Row>& rows) {
  std::map<Key, std::array<int, 4>> counts;
  for (const Row& row : rows)
    ++counts[{row.set, row.answerable}][static_cast<std::size_t>(row.outcome)];
  std::string text = fmt::format("| {:<26} | {:<10} | {:>5} | {:>4} | {:>6} | {:>5} |\n", "set",
                                 "answerable", "right", "fair", "silent", "wrong");
  text +=
      fmt::format("|{:-<28}|{:-<12}|{:->6}:|{:->5}:|{:->7}:|{:->6}:|\n", "", "", "", "", "", "");
  for (const auto& [key, count] : counts)
    text += fmt::format("| {:<26} | {:<10} | {:>5} | {:>4} | {:>6} | {:>5} |\n", key.first,
                        key.second, count[3], count[2], count[1], count[0]);
  return text;
}

}  // namespace ringside::diag
