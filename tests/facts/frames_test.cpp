#include "diag/facts/frames.h"

#include <gtest/gtest.h>

#include "diag/logparse/frame_line.h"

namespace ringside::facts {
namespace {

TEST(FrameRows, EachSampleIsAFrameOfItsRow) {
  for (const FrameRow& row : frame_rows()) {
    logs::FrameLine frame;
    ASSERT_TRUE(logs::parse_frame(row.sample, frame)) << row.sample;
    const FrameRow* const found = frame_row(frame.function, frame.file);
    ASSERT_NE(found, nullptr) << row.sample;
    EXPECT_EQ(found, &row) << row.sample << " has an earlier row: " << found->sample;
  }
}

TEST(FrameRows, WholeNamesDoNotMatchParts) {
  EXPECT_EQ(frame_row("items", "train.py"), nullptr);
  EXPECT_EQ(frame_row("collector", "train.py"), nullptr);
  EXPECT_EQ(frame_row("forward", "model.py"), nullptr);
}

}  // namespace
}  // namespace ringside::facts
