#include <gtest/gtest.h>

#include "base/fd.h"
#include "tests/audit/pastes.h"

// Invented texts in the words of public threads, as they are and in all forms that people give them.

namespace ringside::pastes {
namespace {

std::vector<Paste> threads() {
  const std::string folder = RINGSIDE_AUDIT_THREADS;
  std::vector<Paste> all;
  for (const auto& [name, expected] : load_expectations(folder + ".txt")) {
    const Result<std::string> text = read_file(folder + "/" + name + ".log");
    if (!text) throw std::runtime_error(text.error().message);
    all.push_back(
        {name, expected.ids.empty() ? Answerable::Healthy : Answerable::Yes, expected, *text});
  }
  return all;
}

TEST(AuditThreads, AreAnswered) {
  const std::vector<Paste> all = threads();
  ASSERT_GE(all.size(), 20U);
  Scores scores = score(all, variants().front());
  for (const std::string& wrong : scores.wrong) ADD_FAILURE() << wrong;
}

TEST(AuditThreads, AreAnsweredInMostForms) {
  const std::vector<Paste> all = threads();
  for (const Variant& variant : variants()) {
    SCOPED_TRACE(variant.name);
    Scores scores = score(all, variant);
    EXPECT_GE(scores.by[Answerable::Yes].share(), 0.85);
    if (!variant.speaks_of_a_job) {
      EXPECT_EQ(scores.by[Answerable::Healthy].share(), 1.0);
    }
    for (const std::string& wrong : scores.wrong) GTEST_LOG_(INFO) << variant.name << ": " << wrong;
  }
}

}  // namespace
}  // namespace ringside::pastes
