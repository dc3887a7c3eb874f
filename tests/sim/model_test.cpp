#include "sim/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "sim/costs.h"
#include "sim/models.h"
#include "sim/surroundings.h"
#include "tests/sim/requests.h"

namespace ringside {
namespace {

using testing::AllOf;
using testing::Each;
using testing::Ge;
using testing::Gt;
using testing::HasSubstr;
using testing::Le;

TEST(SimModel, TheOneThatComesWithRingsideIsWhole) {
  const auto model = load_sim_model();
  ASSERT_TRUE(model) << model.error().message;
  for (const SimModel::Link& net : model->net) {
    EXPECT_THAT(net.step, Each(Gt(0)));
    EXPECT_THAT(net.share, Each(AllOf(Gt(0), Le(1.1))));
  }
  EXPECT_THAT(model->kernel, Each(Ge(0)));
}

/// Returns the model that comes with ringside, with a replacement in one place.
Result<SimModel> model_with(const std::string& what, const std::string& instead) {
  std::string text(kSimModels.front().text);
  const std::size_t place = text.find(what);
  EXPECT_NE(place, std::string::npos) << what;
  text.replace(place, what.size(), instead);
  const std::string path =
      testing::TempDir() + "sim_model_test_" + std::to_string(::getpid()) + ".yaml";
  std::ofstream(path) << text;
  return load_sim_model(path);
}

/// Returns the first piece of the built-in model's text that begins with `begin`, up to and including `end`.
std::string first_piece(const std::string& begin, char end) {
  const std::string text(kSimModels.front().text);
  const std::size_t place = text.find(begin);
  EXPECT_NE(place, std::string::npos) << begin;
  return text.substr(place, text.find(end, place + begin.size()) + 1 - place);
}

TEST(SimModel, AFileOfOnesOwnIsReadAsTheBuiltInOneIs) {
  const auto own = model_with("name: measured", "name: mine");
  ASSERT_TRUE(own) << own.error().message;
  EXPECT_EQ(own->name, "mine");
  EXPECT_EQ(own->kernel, load_sim_model()->kernel);
}

TEST(SimModel, BadFilesAreRefusedWithThePlace) {
  EXPECT_THAT(model_with("name:", "nmae:").error().message, HasSubstr("unknown key 'nmae'"));
  EXPECT_THAT(model_with("kernel: [", "kernel: [-").error().message, HasSubstr("kernel"));
  EXPECT_THAT(model_with("kernel: [", "kernel: [1, ").error().message,
              HasSubstr("key 'kernel' must be a list of 3 numbers"));
  EXPECT_THAT(model_with("sim-model/1", "sim-model/2").error().message, HasSubstr("sim-model/1"));
  EXPECT_THAT(model_with("kernel: [", "kernel: [x").error().message,
              testing::ContainsRegex("sim_model_test_[0-9]+.yaml:"));
  EXPECT_THAT(model_with("name: measured", "name: [").error().message,
              testing::ContainsRegex("sim_model_test_[0-9]+.yaml:"));
  for (const char* kernel : {".inf", "1e308", ".nan", "-1"}) {
    EXPECT_THAT(model_with("nic: 1", std::string("nic: ") + kernel).error().message,
                testing::ContainsRegex("sim_model_test_[0-9]+.yaml:"))
        << kernel;
  }
  // The error names the line, the keys, the value and the fix.
  const Error share =
      model_with(first_piece("  share: [", ']'), "  share: [0.926, 1.5, 1]").error();
  EXPECT_THAT(share.message,
              testing::ContainsRegex("sim_model_test_[0-9]+.yaml:[0-9]+: nvlink share: '1.5'"));
  EXPECT_THAT(share.help, HasSubstr("give 0.000001 to 1: no link carries more than its rate"));
  const Error step = model_with(first_piece("  step: [", ','), "  step: [-5,").error();
  EXPECT_THAT(step.message, testing::ContainsRegex(":[0-9]+: nvlink step: '-5' is not a time"));
  const Error ramp = model_with(first_piece("over: ", '}'), "over: 0}").error();
  EXPECT_THAT(ramp.message, testing::ContainsRegex(":[0-9]+: nvlink ramp over: '0' is not a time"));
  const Error pci = model_with("pci:", "pcii:").error();
  EXPECT_THAT(pci.message, testing::ContainsRegex(":[0-9]+: unknown key 'pcii'"));
  EXPECT_THAT(pci.help, HasSubstr("did you mean 'pci'"));
  EXPECT_THAT(model_with("  efa:", "  afe:").error().message, HasSubstr("net efa"));
  const auto nowhere = load_sim_model("/nowhere.yaml");
  EXPECT_EQ(nowhere.error().code, ErrorCode::NotFound);
  EXPECT_NE(nowhere.error().help.find("sim/models/measured.yaml"), std::string::npos);
}

TEST(SimCosts, AreTheModelsAndTheNicsTogether) {
  const auto job = job_case("dgx-h100", 2, Collective::AllReduce, 1_GiB);
  ASSERT_TRUE(job) << job.error().message;
  const auto model = load_sim_model();
  ASSERT_TRUE(model);
  const std::size_t net = static_cast<std::size_t>(StepLink::Net);
  const std::size_t simple = static_cast<std::size_t>(Protocol::Simple);
  EXPECT_NEAR(job->request.costs.step[net].count() * 1e6, model->net[0].step[simple], 1e-9);
  EXPECT_EQ(job->request.costs.share[net], model->net[0].share[simple]);
  EXPECT_EQ(job->request.overheads.least, Seconds{0});
  EXPECT_NEAR(job->request.overheads.ramp.count() * 1e6, model->net[0].ramp.most, 1e-9);
}

TEST(SimModel, ReportsItsErrorBySizeAndNodes) {
  const auto model = load_sim_model();
  ASSERT_TRUE(model);
  const auto row_of = [](const auto& rows, auto kind) {
    return rows[static_cast<std::size_t>(kind)];
  };
  const SystemGroup alone{.link = GpuLink::Pcie};
  const SystemGroup joined{.link = GpuLink::Pcie, .net = NetKind::Efa};
  EXPECT_EQ(model->typical_error(64_KiB, alone).percent,
            row_of(model->errors_one_node, GpuLink::Pcie).percent[0]);
  EXPECT_EQ(model->typical_error(64_KiB + 1_B, joined).percent,
            row_of(model->errors_several, NetKind::Efa).percent[1]);
  EXPECT_EQ(model->typical_error(16_MiB, joined).percent,
            row_of(model->errors_several, NetKind::Efa).percent[2]);
  EXPECT_GT(model->typical_error(16_MiB, joined).percent, 0);
  EXPECT_GT(model->typical_error(16_MiB, joined).systems, 0);
}

TEST(SimOverheads, ARampIsLostOnceAndALaunchIsTheLeast) {
  const SimOverheads overheads{
      .least = Seconds{40e-6}, .ramp = Seconds{30e-6}, .ramp_over = Seconds{100e-6}};
  EXPECT_EQ(overheads.total(Seconds{10e-6}, Seconds{0}), Seconds{40e-6});
  EXPECT_NEAR(overheads.total(Seconds{50e-6}, Seconds{1}).count(), 80e-6, 1e-12);
  EXPECT_EQ(SimOverheads{}.total(Seconds{5e-6}, Seconds{1}), Seconds{5e-6});
}

TEST(Surroundings, AreNamedAndNearNamesAreSuggested) {
  for (std::size_t i = 0; i < kNetKinds; ++i) {
    const auto kind = static_cast<NetKind>(i);
    EXPECT_EQ(parse_net_kind(to_string(kind)).value(), kind);
  }
  for (std::size_t i = 0; i < kLaunchStyles; ++i) {
    const auto style = static_cast<LaunchStyle>(i);
    EXPECT_EQ(parse_launch_style(to_string(style)).value(), style);
  }
  EXPECT_THAT(parse_net_kind("rocee").error().help, HasSubstr("roce"));
  EXPECT_THAT(parse_launch_style("thread").error().help, HasSubstr("threads"));
}

}  // namespace
}  // namespace ringside
