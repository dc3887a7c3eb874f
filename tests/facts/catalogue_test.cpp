#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "diag/facts/reader.h"
#include "diag/facts/schema.h"
#include "diag/facts/spec.h"
#include "diag/logparse/line_parser.h"
#include "diag/logparse/row_matcher.h"
#include "diag/logparse/rows.h"

namespace ringside::facts {
namespace {

using Kind = logs::RowEntry::Kind;

class Sink : public logs::RecordSink {
 public:
  explicit Sink(FactReader& reader) : reader_(reader) {}
  void take(std::span<const logs::Record> records, const logs::SpeakerTable& speakers) override {
    for (const logs::Record& record : records) reader_.take(record, speakers[record.speaker]);
  }

 private:
  FactReader& reader_;
};

/// Returns as text the facts of a line that one row emits. `lines` also holds the lines before it that it continues.
std::string facts_in(std::string_view lines, std::string_view id) {
  Facts facts;
  FactReader reader(facts);
  Sink sink(reader);
  logs::LineParser parser(sink);
  parser.begin(0, 0, "sample.log");
  for (std::uint32_t number = 0; !lines.empty(); ++number) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    parser.parse(line, number, false, false);
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
  }
  parser.finish();
  std::string text;
  each_list(facts, [&](const auto& list) {
    for (const auto& fact : list) {
      if (fact.row != id) continue;
      text += (text.empty() ? "" : "; ") + to_text(fact);
    }
  });
  return text;
}

/// Returns the facts of a spec without fields.
std::string facts_of_spec(std::string_view text, std::string_view id) {
  const Result<Spec> spec = Spec::parse(text);
  if (!spec) return spec.error().message;
  Facts facts;
  for (const Spec::Part& part : spec->parts()) {
    std::optional<AnyFact> fact = make_fact(part.type);
    if (!fact) continue;
    for (const Spec::Assignment& one : part.assignments) set_field(*fact, one.field, one.value);
    if (auto* warning = std::get_if<Warning>(&*fact); warning != nullptr && warning->id.empty())
      warning->id = id;
    add_fact(facts, *std::move(fact));
  }
  std::string out;
  each_list(facts, [&](const auto& list) {
    for (const auto& fact : list) out += (out.empty() ? "" : "; ") + to_text(fact);
  });
  return out;
}

/// Returns the facts of a list, sorted: each type has a list of its own, so the order of a spec is lost.
std::vector<std::string> sorted_facts(std::string_view text) {
  std::vector<std::string> facts(1);
  bool is_quoted = false;
  for (const char c : text) {
    if (c == '\'') is_quoted = !is_quoted;
    if (c == ';' && !is_quoted) {
      facts.emplace_back();
    } else if (c != ' ' || !facts.back().empty()) {
      facts.back() += c;
    }
  }
  std::sort(facts.begin(), facts.end());
  return facts;
}

bool has_field(std::string_view spec) { return spec.find('{') != std::string_view::npos; }

TEST(FactCatalogue, EachSpecParses) {
  for (const logs::RowEntry& entry : logs::row_entries()) {
    if (entry.kind != Kind::Row && entry.kind != Kind::Message) continue;
    const Result<Spec> spec = Spec::parse(entry.spec);
    ASSERT_TRUE(spec) << entry.id << ": " << entry.spec << ": " << spec.error().message;
    EXPECT_FALSE(spec->parts().empty()) << entry.id;
  }
}

TEST(FactCatalogue, EachPatternCanBeSearchedFor) {
  for (const logs::Row& row : logs::catalogue_rows())
    EXPECT_EQ(logs::RowMatcher::problem_of(row.pattern), "") << row.pattern;
}

TEST(FactCatalogue, EachFieldOfASpecIsOneOfItsPatternOrIsKept) {
  std::set<std::string, std::less<>> kept;
  for (const logs::RowEntry& entry : logs::row_entries()) {
    if (entry.kind != Kind::Row && entry.kind != Kind::Message) continue;
    const Result<Spec> spec = Spec::parse(entry.spec);
    ASSERT_TRUE(spec) << entry.spec;
    for (const Spec::Part& part : spec->parts()) {
      if (part.type != "keep") continue;
      for (const Spec::Assignment& one : part.assignments) kept.insert(std::string(one.field));
    }
  }
  for (const logs::RowEntry& entry : logs::row_entries()) {
    if (entry.kind != Kind::Row) continue;
    for (std::string_view rest = entry.spec; rest.find('{') != std::string_view::npos;) {
      rest.remove_prefix(rest.find('{') + 1);
      const std::string name(rest.substr(0, rest.find('}')));
      const bool is_of_some_form = std::any_of(
          logs::catalogue_rows().begin(), logs::catalogue_rows().end(), [&](const logs::Row& row) {
            return row.id == entry.id &&
                   (row.pattern.find("{" + name + "}") != std::string_view::npos ||
                    row.pattern.find("{" + name + ":") != std::string_view::npos);
          });
      EXPECT_TRUE(is_of_some_form || kept.count(name) > 0) << entry.id << ": {" << name << "}";
    }
  }
}

TEST(FactCatalogue, EachSampleYieldsItsFacts) {
  std::string_view id;
  std::string_view spec;
  for (const logs::RowEntry& entry : logs::row_entries()) {
    if (entry.kind == Kind::Row) {
      id = entry.id;
      spec = entry.spec;
    } else if (entry.kind == Kind::Message) {
      id = entry.id;
      spec = entry.spec;
    } else if (entry.kind == Kind::LookAlike) {
      EXPECT_EQ(facts_in(entry.sample, id), "") << entry.sample;
      continue;
    } else if (entry.kind != Kind::Form) {
      continue;
    }
    if (std::getenv("RINGSIDE_PRINT_FACTS") != nullptr) {  // for fill_expected.py
      std::printf("FACTS\t%td\t%s\n", &entry - logs::row_entries().data(),
                  facts_in(entry.sample, id).c_str());
      continue;
    }
    const std::string expected =
        entry.expected.empty() ? facts_of_spec(spec, id) : std::string(entry.expected);
    EXPECT_TRUE(!entry.expected.empty() || !has_field(spec) || expected.empty() ||
                entry.kind == Kind::Message)
        << id << ": state the values of the sample's fields: " << facts_in(entry.sample, id);
    EXPECT_EQ(sorted_facts(facts_in(entry.sample, id)), sorted_facts(expected))
        << id << ": " << entry.sample;
  }
}

TEST(FactCatalogue, ASampleMatchesItsOwnForm) {
  std::vector<logs::RowMatch> matches;
  for (std::size_t i = 0; i < logs::catalogue_rows().size(); ++i) {
    const logs::Row& row = logs::catalogue_rows()[i];
    logs::RowMatcher::of_catalogue().match(logs::row_entries()[row.entry].sample, matches);
    EXPECT_TRUE(std::any_of(matches.begin(), matches.end(),
                            [&](const logs::RowMatch& match) { return match.row == i; }))
        << row.pattern << ": another form of " << row.id << " takes its sample, or none does";
  }
}

}  // namespace
}  // namespace ringside::facts
