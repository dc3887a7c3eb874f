#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

#include "diag/audit/audit.h"
#include "diag/audit/finding_types.h"
#include "diag/audit/plain_lines.h"

// For every row of reasons/*.def, its sample is read as this reason and reported, and its look-alikes are not.

namespace ringside::audit {
namespace {

struct Sample {
  std::string_view name;
  PlainLine line;
  std::string_view text;
  bool is_alike;  ///< false: it only looks like the reason
};

constexpr Sample kSamples[] = {
#define RINGSIDE_SAMPLE(name, line) {#name, PlainLine::name, line, true},
#define RINGSIDE_UNLIKE(name, line) {#name, PlainLine::name, line, false},
#include "diag/audit/reasons/all.def"
};

struct Reason {
  std::string_view name, id;
  PlainLine line;
};

constexpr Reason kReasons[] = {
#define RINGSIDE_REASON(name, id, severity, title, cause, fix) {#name, #id, PlainLine::name},
#include "diag/audit/reasons/all.def"
};

std::string_view id_of(PlainLine line) {
  for (const Reason& reason : kReasons) {
    if (reason.line == line) return reason.id;
  }
  return {};
}

TEST(AuditReasons, MatchTheirSamplesAndNotSimilarLines) {
  for (const Sample& sample : kSamples)
    EXPECT_EQ(has_line(plain_lines_of(sample.text), sample.line), sample.is_alike)
        << sample.name << ": " << sample.text;
}

TEST(AuditReasons, HaveASampleOrARowOfTheCatalogue) {
  std::set<PlainLine> sampled;
  for (const Sample& sample : kSamples) {
    if (sample.is_alike) sampled.insert(sample.line);
  }
#define RINGSIDE_CATALOGUED(name, message) sampled.insert(PlainLine::name);
#define RINGSIDE_NOTED(name, message) sampled.insert(PlainLine::name);
#include "diag/audit/reasons/all.def"
  for (const Reason& reason : kReasons) EXPECT_TRUE(sampled.contains(reason.line)) << reason.name;
}

TEST(AuditReasons, AreOfKnownKinds) {
  for (const Reason& reason : kReasons)
    EXPECT_NE(finding_type(reason.id), nullptr) << reason.name << ": " << reason.id;
}

// A line alone suffices: something is reported about it, and every part of the sentence is filled in.
TEST(AuditReasons, AreReported) {
  for (const Sample& sample : kSamples) {
    if (!sample.is_alike) continue;
    const Audit audit = audit_text(std::string(sample.text) + "\n");
    ASSERT_FALSE(audit.findings.empty()) << sample.name;
    bool is_quoted = false;
    for (const Finding& finding : audit.findings) {
      for (const std::string* sentence : {&finding.title, &finding.cause, &finding.fix})
        EXPECT_EQ(sentence->find("|<"), std::string::npos) << *sentence;
      is_quoted = is_quoted || (finding.id == id_of(sample.line) && !finding.evidence.empty());
    }
    EXPECT_TRUE(is_quoted) << sample.name << " gave " << audit.findings.front().id;
  }
}

TEST(AuditReasons, NameTheValuesOfTheirLine) {
  const Audit busy = audit_text(
      "torchrun: starting\n[Errno 98] error while attempting to bind on address ('0.0.0.0', 8000): "
      "address already in use\n");
  ASSERT_FALSE(busy.findings.empty());
  EXPECT_NE(busy.findings.front().title.find("port 8000"), std::string::npos);
  EXPECT_NE(busy.findings.front().fix.find("grep 8000"), std::string::npos);
  const Audit unset = audit_text(
      "ValueError: Error initializing torch.distributed using env:// rendezvous: environment "
      "variable RANK expected, but not set\n");
  ASSERT_FALSE(unset.findings.empty());
  EXPECT_NE(unset.findings.front().title.find("RANK is not set"), std::string::npos);
}

}  // namespace
}  // namespace ringside::audit
