#include "sim/model.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <vector>

#include "base/assert.h"
#include "engine/topology/sources/description_file.h"
#include "engine/topology/sources/yaml_mapping.h"
#include "engine/tuning/class_rows.h"
#include "sim/models.h"

namespace ringside {
namespace {

constexpr double kMostUs = 1e9;
constexpr double kLeastShare = 1e-6;
constexpr double kLeastRate = 1e-9, kMostRate = 1e9;  // GB/s

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
  keys.read("rate", model.pci_rate);
  YamlKeys socket{keys.take("socket"), keys.where() + " socket"};
  socket.read("intel", model.socket_intel);
  socket.read("amd", model.socket_amd);
  socket.read("other", model.socket_other);
  RINGSIDE_TRY(socket.finish());
  return keys.finish();
}

Status read_nvswitch(YamlKeys keys, SimModel& model) {
  RINGSIDE_TRY(read_classes({keys.take("step"), keys.where() + " step"}, model.nvswitch_step));
  RINGSIDE_TRY(read_classes({keys.take("share"), keys.where() + " share"}, model.nvswitch_share));
  keys.read("across", model.nvswitch_across);
  return keys.finish();
}

Status read_channel(YamlKeys keys, SimModel& model) {
  RINGSIDE_TRY(
      read_classes({keys.take("collective"), keys.where() + " collective"}, model.channel));
  return keys.finish();
}

Status read_exchange(YamlKeys keys, SimModel& model) {
  keys.read("window", model.exchange_window);
  keys.read("across", model.exchange_across);
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
    one.read("stream", model.net[i].stream);
    RINGSIDE_TRY(read_link(one, model.net[i]));
    RINGSIDE_TRY(one.finish());
  }
  return keys.finish();
}

template <typename Kind, std::size_t N>
Status read_errors(YamlKeys keys, std::array<SimModel::ErrorRow, N>& rows) {
  for (std::size_t i = 0; i < N; ++i) {
    const char* const name = to_string(static_cast<Kind>(i));
    YamlKeys one{keys.take(name), keys.where() + " " + name};
    one.read("percent", rows[i].percent);
    one.read("systems", rows[i].systems);
    RINGSIDE_TRY(one.finish());
  }
  return keys.finish();
}

/// The valid range of a number, selected by the keys on the path to it.
struct NumberRule {
  std::string_view key;  ///< a key on the path; empty: any number
  std::string_view what;
  double least, most;
  std::string_view help;
};

// The first rule that matches applies. A share is relative to what a description states, and physics does not exceed
// that.
constexpr NumberRule kNumberRules[] = {
    {"share", "a share", kLeastShare, 1, "give 0.000001 to 1: no link carries more than its rate"},
    {"uses", "a share", kLeastShare, 1, "give 0.000001 to 1: no link carries more than its rate"},
    {"generation", "a share", kLeastShare, 1, "give 0.000001 to 1"},
    {"host_bridge", "a share", kLeastShare, 1, "give 0.000001 to 1"},
    {"across", "a share", kLeastShare, 1, "give 0.000001 to 1"},
    {"socket", "a rate", kLeastRate, kMostRate, "give more than 0 GB/s, and 1e9 at most"},
    {"rate", "a rate over NCCL's", kLeastShare, kMostUs, "give 0.000001 to 1e9"},
    {"stream", "a rate", 0, kMostRate, "give 0 to 1e9 GB/s; 0: no bound"},
    {"window", "a time", kLeastShare, kMostUs, "give more than 0, and 1e9 us at most"},
    {"channel", "a rate", kLeastRate, kMostRate, "give more than 0 GB/s, and 1e9 at most"},
    {"error", "an error", 0, kMostUs, "give 0 to 1e9 %"},
    {"nic", "a share of a latency", 0, kMostUs, "give 0 to 1e9: 1 is what the NIC states"},
    {"over", "a time", kLeastShare, kMostUs, "give more than 0, and 1e9 us at most"},
    {"", "a time", 0, kMostUs, "give from 0 to 1e9 us"},
};

const NumberRule& rule_of(const std::vector<std::string>& path) {
  return *std::ranges::find_if(kNumberRules, [&](const NumberRule& rule) {
    return rule.key.empty() || std::ranges::find(path, rule.key) != path.end();
  });
}

/// Checks that each number is possible for hardware.
Status check_numbers(const YAML::Node& node, const std::string& where,
                     std::vector<std::string>& path) {
  if (node.IsMap()) {
    for (const auto& entry : node) {
      path.push_back(entry.first.as<std::string>());
      RINGSIDE_TRY(check_numbers(entry.second, where, path));
      path.pop_back();
    }
    return {};
  }
  if (node.IsSequence()) {
    for (const YAML::Node& entry : node) {
      RINGSIDE_TRY(check_numbers(entry, where, path));
    }
    return {};
  }
  const NumberRule& rule = rule_of(path);
  const auto value = node.as<double>();  // values that are not numbers were rejected before
  // Also false for NaN.
  if (value >= rule.least && value <= rule.most) return {};
  return YamlMapping{node, where}.bad(
      node, fmt::format("{}: '{}' is not {}", fmt::join(path, " "), node.Scalar(), rule.what),
      std::string(rule.help));
}

Status check(const YAML::Node& document, const std::string& where) {
  for (const auto& entry : document) {
    std::vector<std::string> path{entry.first.as<std::string>()};
    if (path.front() == "ringside" || path.front() == "name") continue;
    RINGSIDE_TRY(check_numbers(entry.second, where, path));
  }
  return {};
}

Result<SimModel> read_model(const YAML::Node& document, const std::string& where) {
  SimModel model;
  if (!document.IsMap() || document["ringside"].as<std::string>("") != "sim-model/1") {
    return Error{ErrorCode::Corrupt, where + ": not 'ringside: sim-model/1'",
                 "that is the first line of such a file"};
  }
  constexpr std::string_view kKeys[] = {"ringside", "name", "launch",   "kernel",
                                        "nvlink",   "pci",  "nvswitch", "channel",
                                        "exchange", "net",  "error"};
  RINGSIDE_TRY(YamlMapping(document, where).check(kKeys));
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
  RINGSIDE_TRY(read_errors<GpuLink>({error.take("one_node"), error.where() + " one_node"},
                                    model.errors_one_node));
  RINGSIDE_TRY(read_errors<NetKind>({error.take("several"), error.where() + " several"},
                                    model.errors_several));
  error.read("nccl", model.error_nccl);
  error.skip("nccl_nearer");
  if (const YAML::Node nearer = document["error"]["nccl_nearer"]) {
    YamlKeys keys{nearer, error.where() + " nccl_nearer", YamlKeys::Absent::Kept};
    for (std::size_t i = 0; i < kNetKinds; ++i) {
      keys.read(to_string(static_cast<NetKind>(i)), model.errors_several[i].nccl);
    }
    RINGSIDE_TRY(keys.finish());
  }
  RINGSIDE_TRY(error.finish());
  RINGSIDE_TRY(root.finish());
  RINGSIDE_TRY(check(document, where));
  return model;
}

Result<SimModel> parse_model(const std::string& text, const std::string& where) {
  try {
    RINGSIDE_TRY(const YAML::Node document, load_yaml_document(text, where));
    return read_model(document, where);
  } catch (const YAML::Exception& exception) {
    return yaml_error(exception, where);
  }
}

}  // namespace

std::size_t size_class_of(Bytes bytes) {
  if (bytes <= 64_KiB) return 0;
  return bytes < 16_MiB ? 1 : 2;
}

SimModel::TypicalError SimModel::typical_error(Bytes bytes, const SystemGroup& group) const {
  const ErrorRow& row = group.net ? errors_several[static_cast<std::size_t>(*group.net)]
                                  : errors_one_node[static_cast<std::size_t>(group.link)];
  const std::size_t size = size_class_of(bytes);
  return {row.percent[size], static_cast<int>(row.systems[size])};
}

double SimModel::nearer_nccl_error(Bytes bytes, const SystemGroup& group) const {
  if (!group.net) return 0;
  return errors_several[static_cast<std::size_t>(*group.net)].nccl[size_class_of(bytes)];
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
