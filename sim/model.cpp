#include "sim/model.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <vector>

#include "base/assert.h"
#include "engine/topology/description_file.h"
#include "engine/topology/yaml_mapping.h"
#include "engine/tuning/class_rows.h"
#include "sim/models.h"

namespace ringside {
namespace {

constexpr double kMostUs = 1e9;
constexpr double kLeastShare = 1e-6;
constexpr double kMostShare = 1.5;  // a description may be too low, not by more

Status read_ramp(YamlKeys keys, SimModel::Ramp& ramp) {
  keys.read("most", ramp.most);
  keys.read("over", ramp.over);
  return keys.finish();
}

Status read_link(YamlKeys& keys, SimModel::Link& link) {
  keys.read("step", link.step);
  keys.read("share", link.share);
  RINGSIDE_TRY(read_ramp({keys.take("ramp"), keys.where() + " ramp"}, link.ramp));
  return {};
}

Status read_nvlink(YamlKeys keys, SimModel& model) {
  RINGSIDE_TRY(read_link(keys, model.nvlink));
  YamlKeys uses{keys.take("uses"), keys.where() + " uses"};
  uses.read("ring", model.nvlink_uses.ring);
  uses.read("tree", model.nvlink_uses.tree);
  uses.read("exchange", model.nvlink_uses.exchange);
  RINGSIDE_TRY(uses.finish());
  RINGSIDE_TRY(read_classes({keys.take("generation"), keys.where() + " generation"},
                            model.nvlink_generation));
  return keys.finish();
}

Status read_pci(YamlKeys keys, SimModel& model) {
  RINGSIDE_TRY(read_link(keys, model.pci));
  keys.read("host_bridge", model.host_bridge);
  return keys.finish();
}

Status read_nvswitch(YamlKeys keys, SimModel& model) {
  RINGSIDE_TRY(read_classes({keys.take("step"), keys.where() + " step"}, model.nvswitch_step));
  RINGSIDE_TRY(read_classes({keys.take("share"), keys.where() + " share"}, model.nvswitch_share));
  keys.read("hosts_step", model.nvswitch_hosts_step);
  keys.read("across", model.nvswitch_across);
  return keys.finish();
}

Status read_channel(YamlKeys keys, SimModel& model) {
  RINGSIDE_TRY(
      read_classes({keys.take("collective"), keys.where() + " collective"}, model.channel));
  return keys.finish();
}

Status read_exchange(YamlKeys keys, SimModel& model) {
  keys.read("channel", model.exchange_channel);
  keys.read("post", model.exchange_post);
  return keys.finish();
}

Status read_launches(YamlKeys keys, SimModel& model) {
  for (std::size_t i = 0; i < kLaunchStyles; ++i) {
    const char* const name = to_string(static_cast<LaunchStyle>(i));
    YamlKeys one{keys.take(name), keys.where() + " " + name};
    one.read("adds", model.launch[i].adds);
    one.read("least_per_gpu", model.launch[i].least_per_gpu);
    RINGSIDE_TRY(one.finish());
  }
  return keys.finish();
}

Status read_nets(YamlKeys keys, SimModel& model) {
  for (std::size_t i = 0; i < kNetKinds; ++i) {
    const char* const name = to_string(static_cast<NetKind>(i));
    YamlKeys one{keys.take(name), keys.where() + " " + name};
    one.read("nic", model.net[i].nic);
    RINGSIDE_TRY(read_link(one, model.net[i]));
    RINGSIDE_TRY(one.finish());
  }
  return keys.finish();
}

/// What no hardware has.
Status check(const SimModel& model, const std::string& where) {
  const auto refuse = [&](const char* what) {
    return Error{ErrorCode::Corrupt, fmt::format("{}: {}", where, what)};
  };
  // Nor is NaN a number.
  const auto is_negative = [](double value) { return !(value >= 0 && value <= kMostUs); };
  const auto is_no_share = [](double value) {
    return !(value >= kLeastShare && value <= kMostShare);
  };
  if (std::ranges::any_of(model.error_one_node, is_negative) ||
      std::ranges::any_of(model.error_several, is_negative) ||
      std::ranges::any_of(model.error_nccl, is_negative)) {
    return refuse("error: a share is from 0 to 1e9 %");
  }
  if (std::ranges::any_of(model.kernel, is_negative))
    return refuse("kernel: a time is from 0 to 1e9 us");
  for (const SimModel::Launch& launch : model.launch) {
    if (is_negative(launch.adds) || is_negative(launch.least_per_gpu)) {
      return refuse("launch: a time is from 0 to 1e9 us");
    }
  }
  std::vector<const SimModel::Link*> links{&model.nvlink, &model.pci};
  for (const SimModel::Link& net : model.net) links.push_back(&net);
  for (const SimModel::Link* link : links) {
    if (std::ranges::any_of(link->step, is_negative) || is_negative(link->nic))
      return refuse("a step is from 0 to 1e9 us");
    if (std::ranges::any_of(link->share, is_no_share)) return refuse("a share is from 1e-6 to 1.5");
    if (is_negative(link->ramp.most) || !(link->ramp.over >= kLeastShare)) {
      return refuse("ramp: both are from 0 to 1e9 us, over more than 0");
    }
  }
  const auto& [ring, tree, exchange] = model.nvlink_uses;
  if (std::ranges::any_of(model.nvswitch_share, is_no_share) ||
      std::ranges::any_of(model.nvlink_generation, is_no_share) ||
      is_no_share(model.nvswitch_across) || is_no_share(model.host_bridge) || is_no_share(ring) ||
      is_no_share(tree) || is_no_share(exchange)) {
    return refuse("a share is from 1e-6 to 1.5");
  }
  const auto is_no_rate = [](double rate) { return !(rate > 0 && rate <= 1e9); };
  if (std::ranges::any_of(model.channel, is_no_rate) || is_no_rate(model.exchange_channel)) {
    return refuse("channel: a rate is more than 0 GB/s, and 1e9 at most");
  }
  if (is_negative(model.exchange_post)) return refuse("exchange: a time is from 0 to 1e9 us");
  if (std::ranges::any_of(model.nvswitch_step, is_negative) ||
      is_negative(model.nvswitch_hosts_step)) {
    return refuse("nvswitch: a time is from 0 to 1e9 us");
  }
  return {};
}

Result<SimModel> read_model(const YAML::Node& document, const std::string& where) {
  SimModel model;
  if (!document.IsMap() || document["ringside"].as<std::string>("") != "sim-model/1") {
    return Error{ErrorCode::Corrupt, where + ": not 'ringside: sim-model/1'",
                 "that is the first line of such a file"};
  }
  YamlKeys root{document, where};
  root.take("ringside");
  model.name = root.take("name").as<std::string>("");
  RINGSIDE_TRY(read_launches({root.take("launch"), where + ": launch"}, model));
  root.read("kernel", model.kernel);
  RINGSIDE_TRY(read_nvlink({root.take("nvlink"), where + ": nvlink"}, model));
  RINGSIDE_TRY(read_pci({root.take("pci"), where + ": pci"}, model));
  RINGSIDE_TRY(read_nvswitch({root.take("nvswitch"), where + ": nvswitch"}, model));
  RINGSIDE_TRY(read_channel({root.take("channel"), where + ": channel"}, model));
  RINGSIDE_TRY(read_exchange({root.take("exchange"), where + ": exchange"}, model));
  RINGSIDE_TRY(read_nets({root.take("net"), where + ": net"}, model));
  YamlKeys error{root.take("error"), where + ": error"};
  error.read("one_node", model.error_one_node);
  error.read("several", model.error_several);
  error.read("nccl", model.error_nccl);
  RINGSIDE_TRY(error.finish());
  RINGSIDE_TRY(root.finish());
  RINGSIDE_TRY(check(model, where));
  return model;
}

Result<SimModel> parse_model(const std::string& text, const std::string& where) {
  try {
    RINGSIDE_TRY(const YAML::Node document, load_yaml_document(text, where));
    return read_model(document, where);
  } catch (const YAML::Exception& exception) {
    return Error{ErrorCode::Corrupt,
                 fmt::format("{}:{}: {}", where, exception.mark.line + 1, exception.msg)};
  }
}

}  // namespace

std::size_t size_class_of(Bytes bytes) {
  if (bytes <= 64_KiB) return 0;
  return bytes < 16_MiB ? 1 : 2;
}

double SimModel::error_percent(Bytes bytes, int nodes) const {
  return (nodes > 1 ? error_several : error_one_node)[size_class_of(bytes)];
}

Result<SimModel> load_sim_model() {
  RINGSIDE_ASSERT(!kSimModels.empty(), "no model was built in");
  const EmbeddedSimModel& model = kSimModels.front();
  return parse_model(std::string(model.text), std::string(model.name));
}

Result<SimModel> load_sim_model(const std::string& path) {
  const Result<std::string> text = read_description(path);
  if (text) return parse_model(*text, path);
  Error error = text.error();
  if (error.help.empty()) {
    error.help = fmt::format(
        "give a file of constants in the form of sim/models/{}.yaml, or nothing: that one is built "
        "in",
        kSimModels.front().name);
  }
  return error;
}

}  // namespace ringside
