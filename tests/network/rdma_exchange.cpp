// Measures what 8 B cost two processes over plain verbs, the lower bound of all that uses them: half a round trip, as
// ib_write_lat measures it, and an exchange in which both write at once and continue when the other's word has
// arrived, as in an all-reduce.
//
//     rdma_exchange DEVICE GID_INDEX [ROUNDS]
//
// prints microseconds. Built manually: g++ -O2 -std=c++20 rdma_exchange.cpp -libverbs

#include <infiniband/verbs.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr std::size_t kBytes = 4096;

void need(bool is_so, const char* what) {
  if (is_so) return;
  std::perror(what);
  std::exit(1);
}

/// What one process sends the other, in memory that is mapped in both.
struct Message {
  std::uint32_t queue;
  std::uint32_t key;
  std::uint64_t memory;
  ibv_gid gid;
  std::atomic<int> stage;
};

class Process {
 public:
  Process(const char* device, int gid_index, Message& mine, Message& theirs)
      : mine_(mine), theirs_(theirs) {
    ibv_device** const list = ibv_get_device_list(nullptr);
    ibv_context* context = nullptr;
    for (ibv_device** one = list; list != nullptr && *one != nullptr; ++one) {
      if (std::strcmp(ibv_get_device_name(*one), device) == 0) context = ibv_open_device(*one);
    }
    need(context != nullptr, "ibv_open_device");
    ibv_pd* const domain = ibv_alloc_pd(context);
    words_ = static_cast<std::uint64_t*>(std::aligned_alloc(kBytes, kBytes));
    std::memset(words_, 0, kBytes);
    ibv_mr* const region =
        ibv_reg_mr(domain, words_, kBytes, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    need(region != nullptr, "ibv_reg_mr");
    key_ = region->lkey;
    completions_ = ibv_create_cq(context, 256, nullptr, nullptr, 0);
    ibv_qp_init_attr attributes{};
    attributes.send_cq = attributes.recv_cq = completions_;
    attributes.cap = {128, 1, 1, 1, 8};
    attributes.qp_type = IBV_QPT_RC;
    pair_ = ibv_create_qp(domain, &attributes);
    need(pair_ != nullptr, "ibv_create_qp");
    mine_.queue = pair_->qp_num;
    mine_.key = region->rkey;
    mine_.memory = reinterpret_cast<std::uint64_t>(words_);
    need(ibv_query_gid(context, 1, gid_index, &mine_.gid) == 0, "ibv_query_gid");
    meet();
    join(gid_index);
    meet();
  }

  void meet() {
    mine_.stage = ++stage_;
    while (theirs_.stage < stage_) sched_yield();
  }

  /// One write of 64 is reported, which frees the room of those before it.
  void write(std::uint64_t word) {
    words_[1] = word;
    ibv_sge piece{reinterpret_cast<std::uint64_t>(words_ + 1), 8, key_};
    ibv_send_wr request{};
    request.sg_list = &piece;
    request.num_sge = 1;
    request.opcode = IBV_WR_RDMA_WRITE;
    request.send_flags = IBV_SEND_INLINE;
    if (++written_ % 64 == 0) request.send_flags |= IBV_SEND_SIGNALED;
    request.wr.rdma.remote_addr = theirs_.memory;
    request.wr.rdma.rkey = theirs_.key;
    ibv_send_wr* bad = nullptr;
    need(ibv_post_send(pair_, &request, &bad) == 0, "ibv_post_send");
    ibv_wc done{};
    if (ibv_poll_cq(completions_, 1, &done) > 0) need(done.status == IBV_WC_SUCCESS, "a write");
  }

  void wait_for(std::uint64_t word) const {
    while (*static_cast<volatile std::uint64_t*>(words_) < word) {
    }
  }

 private:
  void join(int gid_index) {
    ibv_qp_attr to{};
    to.qp_state = IBV_QPS_INIT;
    to.port_num = 1;
    to.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
    need(ibv_modify_qp(pair_, &to,
                       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0,
         "INIT");
    to = {};
    to.qp_state = IBV_QPS_RTR;
    to.path_mtu = IBV_MTU_1024;
    to.dest_qp_num = theirs_.queue;
    to.max_dest_rd_atomic = 1;
    to.min_rnr_timer = 12;
    to.ah_attr.is_global = 1;
    to.ah_attr.grh.dgid = theirs_.gid;
    to.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(gid_index);
    to.ah_attr.grh.hop_limit = 64;
    to.ah_attr.port_num = 1;
    need(ibv_modify_qp(pair_, &to,
                       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                           IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0,
         "RTR");
    to = {};
    to.qp_state = IBV_QPS_RTS;
    to.timeout = 20;
    to.retry_cnt = 7;
    to.rnr_retry = 7;
    to.max_rd_atomic = 1;
    need(ibv_modify_qp(pair_, &to,
                       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                           IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC) == 0,
         "RTS");
  }

  Message& mine_;
  Message& theirs_;
  std::uint64_t* words_ = nullptr;  ///< the received word, the sent word
  std::uint32_t key_ = 0;
  ibv_cq* completions_ = nullptr;
  ibv_qp* pair_ = nullptr;
  int stage_ = 0;
  std::uint64_t written_ = 0;
};

}  // namespace

int main(int count, char** words) {
  if (count < 3) return std::fputs("rdma_exchange DEVICE GID_INDEX [ROUNDS]\n", stderr), 2;
  constexpr int kTimes = 2000;
  const int rounds = count > 3 ? std::atoi(words[3]) : 5;
  void* const shared =
      ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  need(shared != MAP_FAILED, "mmap");
  auto* const messages = static_cast<Message*>(shared);
  const bool leads = ::fork() != 0;
  Process process(words[1], std::atoi(words[2]), messages[leads ? 0 : 1], messages[leads ? 1 : 0]);
  std::uint64_t word = 0;
  const auto time = [&](auto one) {
    process.meet();
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kTimes; ++i) one(++word);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    return took.count() / kTimes;
  };
  for (int round = 0; round < rounds; ++round) {
    const double round_trip = time([&](std::uint64_t next) {
      if (!leads) process.wait_for(next);
      process.write(next);
      if (leads) process.wait_for(next);
    });
    const double exchange = time([&](std::uint64_t next) {
      process.write(next);
      process.wait_for(next);
    });
    if (leads)
      std::printf("half a round trip %.2f us, exchange %.2f us\n", round_trip / 2, exchange);
  }
  if (leads) ::wait(nullptr);
}
