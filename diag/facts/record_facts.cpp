#include "diag/facts/record_facts.h"

#include <fmt/format.h>

#include "diag/job/process_ranks.h"
#include "diag/job/xid_meaning.h"
#include "diag/logparse/benchmark_records.h"
#include "diag/logparse/host_records.h"
#include "diag/logparse/init_records.h"

namespace ringside::facts {
namespace {

using logs::RecordKind;

/// `comm 0x.. rank 3 nranks 8 .. Init COMPLETE`
Member member_of(const logs::CommEvent& comm, const Subject& owner) {
  using Event = logs::CommEventType;
  Member member;
  member.subject = owner;
  member.subject.group_rank = comm.rank;
  member.size = comm.nranks;
  // Pointers belong to one process: the id is the same on all ranks.
  if (comm.comm_id != 0) member.group = fmt::format("{:#x}", comm.comm_id);
  if (comm.bus_id >= 0) member.subject.device = fmt::format("{:x}", comm.bus_id);
  member.has_started = comm.event == Event::InitStart || comm.event == Event::InitComplete;
  member.has_joined = comm.event == Event::InitComplete;
  member.has_left = comm.event == Event::DestroyComplete || comm.event == Event::AbortComplete ||
                    comm.event == Event::DestroyStart || comm.event == Event::AbortStart;
  return member;
}

Setting setting_of(const logs::Environment& variable, const Subject& owner) {
  using How = logs::Environment::How;
  Setting setting;
  setting.subject = owner;
  setting.name = variable.name;
  setting.value = variable.value;
  switch (variable.how) {
    case How::Config:
      setting.scope = "config";
      break;
    case How::Shell:
      setting.scope = "shell";
      break;
    case How::Invalid:
      setting.scope = "invalid";
      break;
    case How::Ignored:
      setting.scope = "ignored";
      break;
    case How::Set:
      setting.scope = "environment";
      break;
  }
  return setting;
}

Warning warning_of(const logs::Xid& xid, const Subject& owner, const logs::Record& record) {
  Warning warning;
  warning.id = "xid";
  warning.program = "kernel";
  warning.domain = Domain::Gpu;
  warning.code = std::to_string(xid.code);
  warning.subject.host = owner.host;
  warning.subject.device = fmt::format("{:x}", xid.bus_id);
  warning.subject.pid = job::pid_in_kernel_line(record.line);
  warning.basis = Basis::Reported;
  // The codes of NVSwitches (SXid) are numbered apart.
  const job::XidMeaning* meaning = xid.is_switch ? nullptr : job::meaning_of_xid(xid.code);
  if (meaning != nullptr) {
    warning.meaning = meaning->text;
    warning.severity = meaning->weight == job::XidWeight::Fault     ? Severity::Error
                       : meaning->weight == job::XidWeight::Warning ? Severity::Warning
                                                                    : Severity::Info;
  }
  return warning;
}

/// A fault of a GPU ends the process that runs on it; a fault of an NVSwitch belongs to no GPU.
void add_xid(const logs::Xid& xid, const Subject& owner, const logs::Record& record,
             std::vector<AnyFact>& facts) {
  Warning warning = warning_of(xid, owner, record);
  if (warning.severity == Severity::Error && !xid.is_switch) {
    Died death;
    death.subject = warning.subject;
    death.basis = Basis::Reported;
    death.cause = DeathCause::GpuFault;
    death.code = xid.code;
    death.reason = "Xid " + warning.code + ": " + warning.meaning;
    facts.emplace_back(std::move(death));
  }
  facts.emplace_back(std::move(warning));
}

Capability capability(const Subject& owner, std::string_view name, std::string_view value) {
  Capability fact;
  fact.subject = owner;
  fact.name = name;
  fact.value = value;
  return fact;
}

void add_adapters(const logs::NetDevices& devices, const Subject& owner,
                  std::vector<AnyFact>& facts) {
  if (devices.none_found) {
    facts.emplace_back(capability(owner, "nic", "none of " + std::string(devices.net)));
    return;
  }
  logs::NetDevice device;
  for (logs::NetDeviceCursor at(devices); at.next(device);) {
    Capability nic = capability(owner, "nic", device.link.empty() ? devices.net : device.link);
    nic.subject.device = device.port >= 0 ? fmt::format("{}:{}", device.name, device.port)
                                          : std::string(device.name);
    facts.emplace_back(std::move(nic));
  }
}

void add_average(const logs::BenchmarkAverage& average, const Subject& owner,
                 std::vector<AnyFact>& facts) {
  Measurement measured;
  measured.subject = owner;
  measured.name = "average_busbw";
  measured.value = average.busbw_gbs;
  facts.emplace_back(std::move(measured));
  Progress end;
  end.subject = owner;
  end.has_finished = true;
  facts.emplace_back(std::move(end));
}

}  // namespace

void facts_of_record(const logs::Record& record, const Subject& owner,
                     std::vector<AnyFact>& facts) {
  switch (record.kind) {
    case RecordKind::CommEvent:
      facts.emplace_back(member_of(record.as<logs::CommEvent>(), owner));
      break;
    case RecordKind::Environment:
      facts.emplace_back(setting_of(record.as<logs::Environment>(), owner));
      break;
    case RecordKind::LibraryVersion: {
      const auto& version = record.as<logs::LibraryVersion>();
      const bool is_rccl = version.library == logs::Library::Rccl;
      facts.emplace_back(capability(owner, is_rccl ? "rccl" : "nccl", version.text));
      break;
    }
    case RecordKind::NetworkInUse:
      facts.emplace_back(capability(owner, "network", record.as<logs::NetworkInUse>().name));
      break;
    case RecordKind::NetDevices:
      add_adapters(record.as<logs::NetDevices>(), owner, facts);
      break;
    case RecordKind::BootstrapInterface: {
      const auto& chosen = record.as<logs::BootstrapInterface>();
      facts.emplace_back(capability(owner, "bootstrap_interface",
                                    fmt::format("{}:{}", chosen.interface, chosen.address)));
      break;
    }
    case RecordKind::GdrOfHca: {
      const auto& gdr = record.as<logs::GdrOfHca>();
      facts.emplace_back(capability(owner, "gpudirect", gdr.is_enabled ? "enabled" : "disabled"));
      base_of(facts.back()).subject.device = gdr.name;
      break;
    }
    case RecordKind::Xid:
      add_xid(record.as<logs::Xid>(), owner, record, facts);
      break;
    case RecordKind::BenchmarkAverage:
      add_average(record.as<logs::BenchmarkAverage>(), owner, facts);
      break;
    default:
      break;
  }
}

}  // namespace ringside::facts
