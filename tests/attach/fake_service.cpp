#include "tests/attach/fake_service.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cctype>
#include <span>

#include "base/append.h"
#include "base/assert.h"
#include "engine/transport/socket/socket.h"

namespace ringside::attach {

FakeClient::FakeClient(int socket, const Wakeup& off)
    : socket_(socket),
      patience_(deadline_in(std::chrono::seconds(60)), off),
      reader_(socket, std::size_t{1} << 20) {}

std::string FakeClient::line() {
  auto line = reader_.line(patience_);
  if (line) return *std::move(line);
  has_gone_ = true;
  return {};
}

std::string FakeClient::bytes(std::size_t count) {
  auto bytes = reader_.bytes(count, patience_);
  if (bytes) return *std::move(bytes);
  has_gone_ = true;
  return {};
}

void FakeClient::say(const std::string& text) {
  if (!send_all(socket_, std::as_bytes(std::span(text)), patience_)) has_gone_ = true;
}

void FakeClient::stay_silent() { static_cast<void>(reader_.rest(patience_)); }

void FakeClient::say_forever(const std::string& text) {
  while (!has_gone_) say(text);
}

FakeService::FakeService(Serve serve, std::uint16_t port) : off_(*Wakeup::make()) {
  auto listener = listen_tcp(loopback_address(port));
  RINGSIDE_ASSERT(listener, "{}", listener.error().message);
  listener_ = *std::move(listener);
  port_ = std::get<SocketAddress>(*local_endpoint(listener_.get())).port;
  thread_ = std::jthread([this, serve = std::move(serve)] {
    for (;;) {
      const auto waited =
          Patience(Deadline::never(real_clock()), off_).wait_for(listener_.get(), POLLIN);
      if (!waited) return;
      const auto socket = accept_one(listener_.get());
      if (!socket || !*socket) continue;
      ++connections_;
      FakeClient client(socket->get(), off_);
      serve(client);
    }
  });
}

FakeService::~FakeService() { off_.signal(); }

void FakeRas::serve(FakeClient& client) {
  bool is_json = false;
  for (;;) {
    std::string line = client.line();
    if (client.has_gone()) return;
    std::ranges::transform(line, line.begin(),
                           [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    if (line.starts_with("CLIENT PROTOCOL ")) {
      client.say("SERVER PROTOCOL 2\n");
    } else if (line.starts_with("TIMEOUT ")) {
      const bool is_whole = line.find('.') == std::string::npos;
      client.say(is_whole || release >= 231 ? "OK\n" : "ERROR: Invalid timeout value\n");
    } else if (line.starts_with("SET FORMAT ") && release >= 228) {
      is_json = line.ends_with("JSON");
      client.say("OK\n");
    } else if (line == "VERBOSE STATUS" || line == "STATUS") {
      const std::vector<std::string>& reports = is_json ? json : text;
      if (!reports.empty()) client.say(reports[std::min(asked, reports.size() - 1)]);
      ++asked;
      return;
    } else if (line.starts_with("MONITOR") && release >= 229) {
      client.say("OK\n" + events);
      client.stay_silent();
      return;
    } else if (line == "DIAGNOSTICS" && release >= 231) {
      client.say(is_busy ? "BUSY\n"
                         : "=== RAS Diagnostics ===\nn1:7 NCCL DIAG [OK]   NCCL environment: "
                           "NCCL_* env vars consistent across 2 ranks in comm 0x1\n"
                           "RAS diagnostics completed in 1.0 ms across 2 ranks\n");
      return;
    } else {
      client.say("ERROR: Unknown command " + line + "\n");
    }
  }
}

std::string ras_json(const std::vector<int>& launched, bool lacks_comma) {
  std::string ranks;
  std::string missing;
  for (std::size_t rank = 0; rank < launched.size(); ++rank) {
    std::string& list = launched[rank] >= 0 ? ranks : missing;
    if (!list.empty()) list += ',';
    append(list, R"({{"rank":{},"host":"10.0.0.1","pid":{},"cuda_dev":{},"nvml_dev":{})", rank,
           1000 + rank, rank, rank);
    if (launched[rank] < 0) {
      list += lacks_comma ? "\n" : ",";
      list += R"("status":{"unresponsive":true,"considered_dead":false}})";
    } else {
      append(
          list,
          R"(,"status":{{"init_state":0,"async_error":0,"finalize_called":false,"destroy_flag":false,"abort_flag":false}},"collective_counts":{{"Broadcast":0,"Reduce":0,"AllGather":0,"ReduceScatter":0,"AllReduce":{}}}}})",
          launched[rank]);
    }
  }
  return fmt::format(
      R"({{"nccl_version":"2.28.7","timestamp":"2026-11-27 11:00:00","communicators_count":1,"communicators":[{{"hash":"0xab","secondary_hash":"0x1:0x2","size":{},"ranks_count":{},"missing_ranks_count":{},"ranks":[{}],"missing_ranks":[{}]}}],"ras":{{"collection_time_sec":0.1,"timeouts_count":0}}}})",
      launched.size(), std::ranges::count_if(launched, [](int count) { return count >= 0; }),
      std::ranges::count_if(launched, [](int count) { return count < 0; }), ranks, missing);
}

std::string ras_text(const std::vector<int>& launched) {
  const auto most = *std::ranges::max_element(launched);
  const bool is_ok = std::ranges::all_of(launched, [&](int count) { return count == most; });
  std::string text = fmt::format(
      "NCCL version 2.24.3 compiled with CUDA 12.6\nCUDA runtime version 12060, driver version "
      "12060\n\nJob summary\n===========\n\n  Nodes  Processes         GPUs  Processes     GPUs\n"
      "(total)   per node  per process    (total)  (total)\n\n      1          {0}            1    "
      "  "
      "    {0}        {0}\n\nCommunicators... (0.00s)\n=============\n\nGroup     Comms     Nodes  "
      "   "
      "Ranks     Ranks     Ranks    Status  Errors\n    #  in group  per comm  per node  per comm  "
      "in group\n    0         1         1         {0}         {0}         {0}   RUNNING  {1}\n\n"
      "Errors\n======\n\nWarnings\n========\n\n",
      launched.size(), is_ok ? "OK" : "MISMATCH");
  if (is_ok) return text;
  append(
      text,
      "#0-0 (0xab) MISMATCH\n  Communicator ranks have different AllReduce operation counts\n  {} "
      "ranks have launched up to operation {}\n",
      std::ranges::count(launched, most), most);
  for (std::size_t rank = 0; rank < launched.size(); ++rank) {
    if (launched[rank] == most) continue;
    append(text,
           "  Rank {} has launched up to operation {} -- GPU {} managed by process {} on node "
           "10.0.0.1\n",
           rank, launched[rank], rank, 1000 + rank);
  }
  return text;
}

void serve_http(FakeClient& client, const std::string& path, const std::string& body) {
  const std::string request = client.line();
  while (!client.has_gone() && !client.line().empty()) {
  }
  const bool is_known = request.find(" " + path + " ") != std::string::npos;
  client.say(fmt::format("HTTP/1.1 {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
                         is_known ? "200 OK" : "404 Not Found", is_known ? body.size() : 0,
                         is_known ? body : ""));
}

std::string dump_json(int completed, bool waits, const char* backend,
                      std::chrono::nanoseconds pause) {
  std::string entries;
  for (int i = 0; i < completed + (waits ? 1 : 0); ++i) {
    append(
        entries,
        R"({}{{"record_id":{},"pg_id":0,"process_group":["0","default_pg"],"collective_seq_id":{},"p2p_seq_id":0,"op_id":{},"profiling_name":"{}:all_reduce","time_created_ns":{},"input_sizes":[[4]],"input_dtypes":["Float"],"output_sizes":[[4]],"output_dtypes":["Float"],"state":"{}","time_discovered_started_ns":{},"time_discovered_completed_ns":{},"retired":{},"timeout_ms":600000,"is_p2p":false}})",
        i == 0 ? "" : ",", i, i + 1, i, backend, 1'700'000'000'000'000'000 + i * pause.count(),
        i < completed ? "completed" : "started", i + 1, i < completed ? i + 2 : 0,
        i < completed ? "true" : "false");
  }
  return fmt::format(
      R"({{"version":"2.10","nccl_version":"2.28.7","pg_config":{{"0":{{"name":"0","desc":"default_pg","ranks":"[0, 1]"}}}},"pg_status":{{"0":{{"last_enqueued_collective":"{}","last_started_collective":"{}","last_completed_collective":"{}"}}}},"entries":[{}]}})",
      completed + (waits ? 1 : 0), completed + (waits ? 1 : 0), completed, entries);
}

}  // namespace ringside::attach
