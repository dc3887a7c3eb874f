#include "engine/topology/presets.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/topology/sources/host_yaml.h"
#include "engine/topology/sources/nccl_xml.h"

namespace ringside {
namespace {

DescribedHost read(const Preset& preset) {
  auto described = parse_host_yaml(std::string{preset.text}, std::string{preset.name});
  EXPECT_TRUE(described) << described.error().message;
  return described ? *std::move(described) : DescribedHost{};
}

TEST(Presets, APresetsNameIsItsFiles) {
  EXPECT_GE(kHostPresets.size(), 21U);
  for (const Preset& preset : kHostPresets) EXPECT_EQ(read(preset).host.name, preset.name);
}

TEST(Presets, OpenWithTheSourceOfTheirNumbers) {
  for (const Preset& preset : kHostPresets) {
    EXPECT_TRUE(preset.text.starts_with("# ")) << preset.name;
    const std::string_view head = preset.text.substr(0, preset.text.find("ringside:"));
    EXPECT_TRUE(head.find("ssumed") != head.npos || head.find("All of it") != head.npos ||
                head.find("ids: ") != head.npos)
        << preset.name;
  }
}

TEST(Presets, GpuCountsMatchTheirNames) {
  for (const Preset& preset : kHostPresets) {
    const auto gpus = gpus_of(read(preset).host).size();
    EXPECT_GE(gpus, 1U) << preset.name;
    if (preset.name.size() > 1 && preset.name[1] == 'x') {
      EXPECT_EQ(gpus, static_cast<std::size_t>(preset.name[0] - '0')) << preset.name;
    }
  }
}

// NCCL's XML can express all that a preset describes: writing and reading it loses nothing.
TEST(Presets, SurviveNcclsXml) {
  for (const Preset& preset : kHostPresets) {
    SCOPED_TRACE(preset.name);
    const std::string text = to_nccl_xml(read(preset).host);
    const auto back = parse_nccl_xml(text, "preset.xml");
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(to_nccl_xml(*back), text);
  }
}

}  // namespace
}  // namespace ringside
