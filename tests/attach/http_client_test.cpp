#include "harness/attach/http_client.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "tests/attach/fake_service.h"

namespace ringside::attach {
namespace {

constexpr auto kPlenty = std::chrono::seconds(20);
constexpr std::size_t kMost = 1000;

Result<HttpAnswer> get(const std::string& answer, std::size_t most = kMost) {
  FakeService service([&](FakeClient& client) {
    while (!client.has_gone() && !client.line().empty()) {
    }
    client.say(answer);
  });
  return http_get(service.place(), "/handler/ping", most, deadline_in(kPlenty));
}

TEST(HttpGet, ABodyHasTheLengthThatTheHeaderSaysOrGoesToTheEnd) {
  const auto known = get("HTTP/1.1 200 OK\r\ncontent-LENGTH: 4\r\n\r\npongXX");
  ASSERT_TRUE(known) << known.error().message;
  EXPECT_EQ(known->status, 200);
  EXPECT_EQ(known->body, "pong");
  const auto open = get("HTTP/1.0 503 Busy\r\n\r\nlater");
  ASSERT_TRUE(open) << open.error().message;
  EXPECT_EQ(open->status, 503);
  EXPECT_EQ(open->body, "later");
}

TEST(HttpGet, WhatIsNoAnswerIsCorrupt) {
  for (const std::string& answer :
       {std::string("pong\n"), std::string("HTTP/1.1 OK\r\n\r\n"),
        std::string("HTTP/1.1 200 OK\r\nContent-Length: -4\r\n\r\npong"),
        std::string("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\npong"),
        std::string("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npong"),
        std::string("HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n") + std::string(2000, 'x'),
        std::string("HTTP/1.1 200 OK\r\n\r\n") + std::string(1 << 20, 'x'),
        std::string("HTTP/1.1 200 OK\r\n") + std::string(1 << 20, 'x')}) {
    const auto got = get(answer);
    ASSERT_FALSE(got) << answer.substr(0, 60);
    EXPECT_EQ(got.error().code, ErrorCode::Corrupt) << answer.substr(0, 60);
  }
}

// A control plane that routes its handlers by POST alone.
TEST(HttpGet, AHandlerThatGetDoesNotFindIsAskedByPost) {
  FakeService service([](FakeClient& client) {
    const std::string first = client.line();
    while (!client.has_gone() && !client.line().empty()) {
    }
    client.say(first.starts_with("POST /handler/ping ")
                   ? "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npong"
                   : "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
  });
  const auto got = http_get(service.place(), "/handler/ping", kMost, deadline_in(kPlenty));
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->status, 200);
  EXPECT_EQ(got->body, "pong");
  const auto other = http_get(service.place(), "/handler/pong", kMost, deadline_in(kPlenty));
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_EQ(other->status, 404);
}

TEST(HttpGet, AServerThatSaysNothingIsLeftInTime) {
  FakeService service([](FakeClient& client) { client.stay_silent(); });
  const auto got =
      http_get(service.place(), "/", kMost, deadline_in(std::chrono::milliseconds(200)));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, ErrorCode::Timeout);
}

TEST(HttpGet, AUnixSocketIsAPlaceToo) {
  const std::string path = "/tmp/ringside_http_" + std::to_string(::getpid());
  ::unlink(path.c_str());
  const UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listener.get(), 1), 0);
  std::jthread server([&] {
    const UniqueFd client(::accept(listener.get(), nullptr, nullptr));
    char request[512];
    ASSERT_GT(::read(client.get(), request, sizeof request), 0);
    constexpr std::string_view kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npong";
    ASSERT_EQ(::write(client.get(), kAnswer.data(), kAnswer.size()), std::ssize(kAnswer));
  });
  const auto got = http_get(*parse_place(path), "/handler/ping", kMost, deadline_in(kPlenty));
  ::unlink(path.c_str());
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->body, "pong");
}

}  // namespace
}  // namespace ringside::attach
