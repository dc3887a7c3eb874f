#include <gtest/gtest.h>

#include "study/validate/validation.h"
#include "tests/support/shared.h"

namespace ringside::study {
namespace {

// The stated error is a median: about half of the measurements must lie within it, and the simulator must be nearer
// than NCCL's own model.
TEST(StatedErrors, CoverHalfOfTheMeasurements) {
  const std::string folder = shared_folder() + "/published";
  const auto validation = validate({.published = folder, .machines = folder + "/machines"});
  ASSERT_TRUE(validation) << validation.error().message;
  EXPECT_GE(validation->covered_all, 0.45);
  EXPECT_LE(validation->covered_all, 0.60);
  for (std::size_t i = 0; i < kSizeClasses; ++i) {
    EXPECT_LT(validation->simulated[i].median, validation->nccl[i].median) << name_of_size_class(i);
  }
}

}  // namespace
}  // namespace ringside::study
