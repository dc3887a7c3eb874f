#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <vector>

namespace ringside {

/// Many flows of control on one thread, which change places where they say so, in an order drawn from a seed: what
/// comes of it is the same each time, and no time passes.
class Fibres {
 public:
  /// Whether all that fibres wait for is other fibres', or what other processes do as well: then time passes, and
  /// those who wait give the core away.
  enum class Company { None, Processes };

  explicit Fibres(std::uint64_t seed, Company company = Company::None);
  ~Fibres();
  Fibres(const Fibres&) = delete;
  Fibres& operator=(const Fibres&) = delete;

  /// Before run().
  void add(std::function<void()> body);

  /// Until all have ended.
  /// most_turns  after so many of them in all, it gives up: some wait for what does not come
  /// returns     whether all have ended
  bool run(std::uint64_t most_turns);

  /// By a fibre: lets others have a turn.
  void yield();

  /// True once in `one_in` times, drawn from the seed.
  bool draws(unsigned one_in) { return random_() % one_in == 0; }

  [[nodiscard]] std::uint64_t turns() const { return turns_; }

  /// Alone, a turn is a microsecond.
  [[nodiscard]] std::int64_t now_ns() const;

  /// By a fibre that waits.
  void pause();

 private:
  struct Fibre;
  static void enter(unsigned high, unsigned low);
  void switch_to(Fibre& fibre);

  const Company company_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<Fibre>> fibres_;
  std::vector<Fibre*> alive_;
  std::unique_ptr<Fibre> main_;
  Fibre* current_ = nullptr;
  std::uint64_t turns_ = 0;
};

}  // namespace ringside
