#include "sim/wire.h"

#include <algorithm>
#include <numeric>

#include "sim/wire_generated.h"

// A field that is added to one of the structs below must also be sent: until then the structured bindings do not
// compile.

namespace ringside {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
template <typename T>
using Vector = flatbuffers::Vector<T>;
using RankLists = std::vector<std::vector<Rank>>;
using TreePlaces = std::vector<std::vector<Channels::TreePlace>>;

int number(Rank rank) { return to_int(rank); }
int number(int value) { return value; }
template <typename Word>
requires std::is_enum_v<Word> std::uint8_t word(Word value) {
  return static_cast<std::uint8_t>(value);
}

// ---- into bytes

template <typename T>
auto put_numbers(FlatBufferBuilder& to, const std::vector<T>& values) {
  std::vector<int> numbers;
  numbers.reserve(values.size());
  for (const T value : values) numbers.push_back(number(value));
  return to.CreateVector(numbers);
}

/// list_of(element) returns the list of each element.
template <typename Elements, typename ListOf>
Offset<simwire::Lists> put_lists(FlatBufferBuilder& to, const Elements& elements, ListOf list_of) {
  std::vector<std::uint32_t> sizes;
  std::vector<int> values;
  for (const auto& element : elements) {
    const auto& list = list_of(element);
    sizes.push_back(static_cast<std::uint32_t>(list.size()));
    for (const auto value : list) values.push_back(number(value));
  }
  const auto put_sizes = to.CreateVector(sizes);
  return simwire::CreateLists(to, put_sizes, to.CreateVector(values));
}

Offset<simwire::Lists> put_lists(FlatBufferBuilder& to, const RankLists& lists) {
  return put_lists(
      to, lists, [](const auto& list) -> const auto& { return list; });
}

Offset<Vector<Offset<simwire::Tree>>> put_trees(FlatBufferBuilder& to, const TreePlaces& trees) {
  std::vector<Offset<simwire::Tree>> all;
  for (const auto& tree : trees) {
    std::vector<Rank> parents;
    for (const auto& [parent, children] : tree) parents.push_back(parent);
    const auto put_parents = put_numbers(to, parents);
    const auto children = put_lists(
        to, tree, [](const Channels::TreePlace& place) -> const auto& { return place.children; });
    all.push_back(simwire::CreateTree(to, put_parents, children));
  }
  return to.CreateVector(all);
}

Offset<simwire::Channels> put(FlatBufferBuilder& to, const Channels& channels) {
  const auto& [rings, trees, tree_depth, nvls, collnet, nodes] = channels;
  const auto& [nvls_heads, nvls_trees] = nvls;
  const auto& [collnet_heads, direct_heads, rails, chain] = collnet;
  std::vector<Rank> flat_chain;
  for (const auto& links : chain) flat_chain.insert(flat_chain.end(), links.begin(), links.end());
  const auto put_rings = put_lists(to, rings);
  const auto put_all_trees = put_trees(to, trees);
  const auto put_nvls_heads = put_lists(to, nvls_heads);
  const auto put_nvls_trees = put_trees(to, nvls_trees);
  const auto put_collnet_heads = put_numbers(to, collnet_heads);
  const auto put_direct_heads = put_numbers(to, direct_heads);
  const auto put_rails = put_lists(to, rails);
  const auto put_chain = put_numbers(to, flat_chain);
  const auto put_nodes = put_lists(to, nodes);
  return simwire::CreateChannels(to, put_rings, put_all_trees, tree_depth, put_nvls_heads,
                                 put_nvls_trees, put_collnet_heads, put_direct_heads, put_rails,
                                 put_chain, put_nodes);
}

Offset<simwire::Choice> put(FlatBufferBuilder& to, const Choice& choice) {
  const auto& [collective, algorithm, protocol, nchannels, slot, slots_per_chunk, chunk, per_peer,
               by_switch] = choice;
  return simwire::CreateChoice(to, word(collective), word(algorithm), word(protocol), nchannels,
                               slot.value, slots_per_chunk, chunk.value, per_peer, by_switch);
}

auto put_transfers(FlatBufferBuilder& to, const std::vector<Transfer>& transfers) {
  std::vector<simwire::Transfer> all;
  for (const auto& [peer, offset, count] : transfers) all.emplace_back(to_int(peer), offset, count);
  return to.CreateVectorOfStructs(all);
}

Offset<simwire::Call> put(FlatBufferBuilder& to, const CallShape& call) {
  const auto& [count, type, root, counts, sends, recvs] = call;
  const auto put_counts = to.CreateVector(counts);
  const auto put_sends = put_transfers(to, sends);
  const auto put_recvs = put_transfers(to, recvs);
  return simwire::CreateCall(to, count, word(type), to_int(root), put_counts, put_sends, put_recvs);
}

Offset<simwire::Costs> put(FlatBufferBuilder& to, const SimCosts& costs) {
  const auto& [launch, step, share, nvswitch, network_reduction, nvswitch_efficiency] = costs;
  std::vector<double> steps;
  for (const Seconds time : step) steps.push_back(time.count());
  const auto put_steps = to.CreateVector(steps);
  const auto put_shares = to.CreateVector(share.data(), share.size());
  return simwire::CreateCosts(to, launch.count(), put_steps, put_shares, nvswitch.count(),
                              network_reduction.count(), nvswitch_efficiency);
}

void put_job(FlatBufferBuilder& to, const WireCaller& caller, const SimRequest& request) {
  const auto& [nranks, version, reports_progress, is_traced, command_line, pid] = caller;
  const auto& [network, channels, choice, call, costs, overheads, predicted, trace, label, slices,
               wants_loads, progress] = request;
  const auto put_version = to.CreateString(version);
  const auto put_channels = put(to, channels);
  const auto put_choice = put(to, choice);
  const auto put_call = put(to, call);
  const auto put_costs = put(to, costs);
  const auto put_label = to.CreateString(label);
  const auto put_command = to.CreateString(command_line);
  const auto made = simwire::CreateJob(to, put_version, nranks, put_channels, put_choice, put_call,
                                       put_costs, reports_progress, is_traced, put_label,
                                       put_command, pid, wants_loads, slices);
  simwire::FinishSizePrefixedMessageBuffer(to, simwire::CreateMessage(to, made));
}

void put_into(FlatBufferBuilder& to, const WireJob& job) { put_job(to, job.caller, job.request); }

void put_into(FlatBufferBuilder& to, const WireQuestion& question) {
  std::vector<simwire::Pair> pairs;
  for (const auto& [from, a, channel] : question.pairs) {
    pairs.emplace_back(to_int(from), to_int(a), channel);
  }
  std::vector<int> channels;
  std::vector<std::uint8_t> media;
  std::vector<int> ids;
  for (const auto& [members, channel] : question.groups) {
    const auto& [medium, id, senders, receivers] = members;
    channels.push_back(channel);
    media.push_back(word(medium));
    ids.push_back(id);
  }
  using Group = WireQuestion::Group;
  const auto put_pairs = to.CreateVectorOfStructs(pairs);
  const auto put_channels = to.CreateVector(channels);
  const auto put_media = to.CreateVector(media);
  const auto put_ids = to.CreateVector(ids);
  const auto senders = put_lists(
      to, question.groups, [](const Group& group) -> const auto& { return group.members.senders; });
  const auto receivers = put_lists(
      to, question.groups,
      [](const Group& group) -> const auto& { return group.members.receivers; });
  const auto made =
      simwire::CreateQuestion(to, put_pairs, put_channels, put_media, put_ids, senders, receivers);
  simwire::FinishSizePrefixedMessageBuffer(to, simwire::CreateMessage(to, 0, made));
}

void put_into(FlatBufferBuilder& to, const WireRoutes& routes) {
  std::vector<std::uint8_t> slowest;
  std::vector<double> beyond;
  for (const SimRoute& route : routes.pairs) {
    slowest.push_back(word(route.slowest));
    beyond.push_back(route.beyond.count());
  }
  std::vector<int> ids;
  std::vector<double> rates;
  for (const auto& [id, rate] : routes.rates) {
    ids.push_back(id);
    rates.push_back(rate.value);
  }
  const auto pairs = put_lists(
      to, routes.pairs, [](const SimRoute& route) -> const auto& { return route.links; });
  const auto put_slowest = to.CreateVector(slowest);
  const auto groups = put_lists(
      to, routes.groups, [](const auto& links) -> const auto& { return links; });
  const auto put_ids = to.CreateVector(ids);
  const auto put_rates = to.CreateVector(rates);
  const auto put_beyond = to.CreateVector(beyond);
  const auto made = simwire::CreateRoutes(to, pairs, put_slowest, groups, put_ids, put_rates,
                                          put_beyond, routes.first_fabric_link);
  simwire::FinishSizePrefixedMessageBuffer(to, simwire::CreateMessage(to, 0, 0, made));
}

void put_into(FlatBufferBuilder& to, const WireProgress& progress) {
  const auto made = simwire::CreateProgress(to, progress.done, progress.all);
  simwire::FinishSizePrefixedMessageBuffer(to, simwire::CreateMessage(to, 0, 0, 0, made));
}

void put_block(FlatBufferBuilder& to, std::span<const std::byte> block) {
  const auto made = to.CreateVector(
      static_cast<const std::uint8_t*>(static_cast<const void*>(block.data())), block.size());
  simwire::FinishSizePrefixedMessageBuffer(to, simwire::CreateMessage(to, 0, 0, 0, 0, made));
}

void put_into(FlatBufferBuilder& to, const WireTrace& trace) { put_block(to, trace.block); }

Offset<simwire::LinkLoads> put(FlatBufferBuilder& to, const LinkLoads& loads) {
  std::vector<int> ids;
  std::vector<double> bytes;
  std::vector<double> over_time;
  for (const LinkLoad& one : loads.links) {
    ids.push_back(one.link);
    bytes.push_back(one.bytes);
    over_time.insert(over_time.end(), one.over_time.begin(), one.over_time.end());
  }
  const auto put_ids = to.CreateVector(ids);
  const auto put_bytes = to.CreateVector(bytes);
  const auto put_times = to.CreateVector(over_time);
  return simwire::CreateLinkLoads(to, loads.span.count(), put_ids, put_bytes, put_times);
}

void put_into(FlatBufferBuilder& to, const SimResult& result) {
  const auto& [time, transfers, steps, busiest_link, busiest, busiest_fabric_link,
               busiest_fabric_part, loads, wall] = result;
  const auto put_loads = put(to, loads);
  const auto made =
      simwire::CreateSimResult(to, time.count(), transfers, steps, busiest_link, busiest.count(),
                               wall.count(), busiest_fabric_link, busiest_fabric_part, put_loads);
  simwire::FinishSizePrefixedMessageBuffer(to, simwire::CreateMessage(to, 0, 0, 0, 0, 0, made));
}

void put_into(FlatBufferBuilder& to, const WireFailure& failure) {
  const Error& error = failure.error;
  const auto message = to.CreateString(error.message);
  const auto help = to.CreateString(error.help);
  const auto made = simwire::CreateFailure(to, word(error.code), message, help);
  simwire::FinishSizePrefixedMessageBuffer(to, simwire::CreateMessage(to, 0, 0, 0, 0, 0, 0, made));
}

void put_into(FlatBufferBuilder& to, const WireDeath& death) {
  const auto made = simwire::CreateDeath(to, death.signal);
  simwire::FinishSizePrefixedMessageBuffer(to,
                                           simwire::CreateMessage(to, 0, 0, 0, 0, 0, 0, 0, made));
}

void put_into(FlatBufferBuilder& to, const WireHello& hello) {
  const auto version = to.CreateString(hello.version);
  const auto made = simwire::CreateHello(to, version);
  simwire::FinishSizePrefixedMessageBuffer(
      to, simwire::CreateMessage(to, 0, 0, 0, 0, 0, 0, 0, 0, made));
}

std::vector<std::byte> bytes_of(const FlatBufferBuilder& from) {
  const auto* const start =
      static_cast<const std::byte*>(static_cast<const void*>(from.GetBufferPointer()));
  return {start, start + from.GetSize()};
}

// ---- and back

Error corrupt(const char* what) {
  return {ErrorCode::Corrupt, std::string("a message of the simulation is damaged: ") + what};
}

template <typename Word>
Result<Word> get_word(std::uint8_t value, Word last) {
  if (value > static_cast<std::uint8_t>(last)) return corrupt("an unknown word");
  return static_cast<Word>(value);
}

std::string get_text(const flatbuffers::String* text) {
  return text == nullptr ? std::string() : text->str();
}

template <typename To, typename From>
std::vector<To> get_numbers(const Vector<From>* values) {
  std::vector<To> all;
  if (values == nullptr) return all;
  all.reserve(values->size());
  for (const From value : *values) all.push_back(static_cast<To>(value));
  return all;
}

template <typename To>
Result<std::vector<std::vector<To>>> get_lists(const simwire::Lists* lists) {
  std::vector<std::vector<To>> all;
  if (lists == nullptr) return all;
  const auto sizes = get_numbers<std::size_t>(lists->sizes());
  const auto values = get_numbers<To>(lists->values());
  all.reserve(sizes.size());
  auto next = values.begin();
  for (const std::size_t size : sizes) {
    if (size > static_cast<std::size_t>(values.end() - next)) return corrupt("a list is too short");
    const auto end = next + static_cast<std::ptrdiff_t>(size);
    all.emplace_back(next, end);
    next = end;
  }
  return all;
}

Result<TreePlaces> get_trees(const Vector<Offset<simwire::Tree>>* trees) {
  TreePlaces all;
  if (trees == nullptr) return all;
  for (const simwire::Tree* tree : *trees) {
    const auto parents = get_numbers<Rank>(tree->parents());
    RINGSIDE_TRY(auto children, get_lists<Rank>(tree->children()));
    if (parents.size() != children.size()) return corrupt("a tree");
    auto& places = all.emplace_back();
    places.reserve(parents.size());
    for (std::size_t i = 0; i < parents.size(); ++i) {
      places.push_back({.parent = parents[i], .children = std::move(children[i])});
    }
  }
  return all;
}

Result<Channels> get(const simwire::Channels* from) {
  if (from == nullptr) return corrupt("no channels");
  Channels channels;
  RINGSIDE_TRY(channels.rings, get_lists<Rank>(from->rings()));
  RINGSIDE_TRY(channels.trees, get_trees(from->trees()));
  channels.tree_depth = from->tree_depth();
  RINGSIDE_TRY(channels.nvls.heads, get_lists<Rank>(from->nvls_heads()));
  RINGSIDE_TRY(channels.nvls.trees, get_trees(from->nvls_trees()));
  channels.collnet.heads = get_numbers<Rank>(from->collnet_heads());
  channels.collnet.direct_heads = get_numbers<Rank>(from->direct_heads());
  RINGSIDE_TRY(channels.collnet.rails, get_lists<Rank>(from->rails()));
  const auto chain = get_numbers<Rank>(from->chain());
  if (chain.size() % 2 != 0) return corrupt("a chain");
  for (std::size_t i = 0; i < chain.size(); i += 2) {
    channels.collnet.chain.push_back({chain[i], chain[i + 1]});
  }
  RINGSIDE_TRY(channels.nodes, get_lists<Rank>(from->nodes()));
  return channels;
}

Result<Choice> get(const simwire::Choice* from) {
  if (from == nullptr) return corrupt("no choice");
  Choice choice;
  RINGSIDE_TRY(choice.collective, get_word(from->collective(), Collective::AllGatherV));
  RINGSIDE_TRY(choice.algorithm,
               get_word(from->algorithm(), static_cast<Algorithm>(kAlgorithmCount - 1)));
  RINGSIDE_TRY(choice.protocol, get_word(from->protocol(), Protocol::Simple));
  choice.nchannels = from->nchannels();
  choice.slot = Bytes{from->slot()};
  choice.slots_per_chunk = from->slots_per_chunk();
  choice.chunk = Bytes{from->chunk()};
  choice.channels_per_peer = from->channels_per_peer();
  choice.by_switch = from->by_switch();
  return choice;
}

std::vector<Transfer> get_transfers(const Vector<const simwire::Transfer*>* from) {
  std::vector<Transfer> all;
  if (from == nullptr) return all;
  for (const simwire::Transfer* one : *from) {
    all.push_back({.peer = Rank{one->peer()}, .offset = one->offset(), .count = one->count()});
  }
  return all;
}

Result<CallShape> get(const simwire::Call* from) {
  if (from == nullptr) return corrupt("no call");
  CallShape call{.count = from->count()};
  RINGSIDE_TRY(call.type, get_word(from->type(), DataType::Float8E5m2));
  call.root = Rank{from->root()};
  call.counts = get_numbers<std::int64_t>(from->counts());
  call.sends = get_transfers(from->sends());
  call.recvs = get_transfers(from->recvs());
  return call;
}

Result<SimCosts> get(const simwire::Costs* from) {
  SimCosts costs;
  if (from == nullptr || from->step() == nullptr || from->step()->size() != costs.step.size() ||
      from->share() == nullptr || from->share()->size() != costs.share.size()) {
    return corrupt("no costs");
  }
  costs.launch = Seconds{from->launch()};
  std::ranges::transform(*from->step(), costs.step.begin(), [](double s) { return Seconds{s}; });
  std::ranges::copy(*from->share(), costs.share.begin());
  costs.nvswitch = Seconds{from->nvswitch()};
  costs.network_reduction = Seconds{from->network_reduction()};
  costs.nvswitch_efficiency = from->nvswitch_efficiency();
  return costs;
}

Result<WireMessage> get(const simwire::Job& from) {
  WireJob job{.caller = {.nranks = from.nranks(),
                         .version = get_text(from.version()),
                         .reports_progress = from.reports_progress(),
                         .is_traced = from.is_traced(),
                         .command_line = get_text(from.command_line()),
                         .pid = from.pid()},
              .request = {}};
  if (from.nranks() < 0) return corrupt("a negative number of ranks");
  RINGSIDE_TRY(job.request.channels, get(from.channels()));
  RINGSIDE_TRY(job.request.choice, get(from.choice()));
  RINGSIDE_TRY(job.request.call, get(from.call()));
  RINGSIDE_TRY(job.request.costs, get(from.costs()));
  job.request.trace_label = get_text(from.trace_label());
  job.request.wants_loads = from.wants_loads();
  job.request.traces_slices = from.traces_slices();
  return WireMessage{std::move(job)};
}

Result<LinkLoads> get(const simwire::LinkLoads* from) {
  LinkLoads loads;
  if (from == nullptr) return loads;
  loads.span = Seconds{from->span()};
  const auto ids = get_numbers<int>(from->ids());
  const auto bytes = get_numbers<double>(from->bytes());
  const auto over_time = get_numbers<double>(from->over_time());
  if (bytes.size() != ids.size() ||
      (ids.empty() ? !over_time.empty() : over_time.size() % ids.size() != 0)) {
    return corrupt("loads of links");
  }
  const std::size_t each = ids.empty() ? 0 : over_time.size() / ids.size();
  auto next = over_time.begin();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto end = next + static_cast<std::ptrdiff_t>(each);
    loads.links.push_back({.link = ids[i], .bytes = bytes[i], .over_time = {next, end}});
    next = end;
  }
  return loads;
}

Result<WireMessage> get(const simwire::Question& from) {
  WireQuestion question;
  if (from.pairs() != nullptr) {
    for (const simwire::Pair* pair : *from.pairs()) {
      question.pairs.push_back({Rank{pair->from()}, Rank{pair->to()}, pair->channel()});
    }
  }
  const auto channels = get_numbers<int>(from.group_channels());
  const auto media = get_numbers<std::uint8_t>(from.group_media());
  const auto ids = get_numbers<int>(from.group_ids());
  RINGSIDE_TRY(auto senders, get_lists<Rank>(from.group_senders()));
  RINGSIDE_TRY(auto receivers, get_lists<Rank>(from.group_receivers()));
  if (media.size() != channels.size() || ids.size() != channels.size() ||
      senders.size() != channels.size() || receivers.size() != channels.size()) {
    return corrupt("groups");
  }
  for (std::size_t i = 0; i < channels.size(); ++i) {
    RINGSIDE_TRY(const auto medium, get_word(media[i], SwitchGroup::Medium::Network));
    question.groups.push_back({.members = {.medium = medium,
                                           .id = ids[i],
                                           .senders = std::move(senders[i]),
                                           .receivers = std::move(receivers[i])},
                               .channel = channels[i]});
  }
  return WireMessage{std::move(question)};
}

Result<WireMessage> get(const simwire::Routes& from) {
  WireRoutes routes;
  RINGSIDE_TRY(auto pairs, get_lists<int>(from.pair_links()));
  const auto slowest = get_numbers<std::uint8_t>(from.pair_slowest());
  const auto ids = get_numbers<int>(from.link_ids());
  const auto rates = get_numbers<double>(from.link_rates());
  const auto beyond = get_numbers<double>(from.pair_beyond());
  if (slowest.size() != pairs.size() || beyond.size() != pairs.size() ||
      rates.size() != ids.size()) {
    return corrupt("routes");
  }
  routes.first_fabric_link = from.first_fabric_link();
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    RINGSIDE_TRY(const StepLink link, get_word(slowest[i], StepLink::Net));
    routes.pairs.push_back(
        {.links = std::move(pairs[i]), .slowest = link, .beyond = Seconds{beyond[i]}});
  }
  RINGSIDE_TRY(routes.groups, get_lists<int>(from.group_links()));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    routes.rates.emplace_back(ids[i], BytesPerSecond{rates[i]});
  }
  return WireMessage{std::move(routes)};
}

Result<WireMessage> get(const simwire::Message& from) {
  if (from.job() != nullptr) return get(*from.job());
  if (from.question() != nullptr) return get(*from.question());
  if (from.routes() != nullptr) return get(*from.routes());
  if (from.progress() != nullptr) {
    return WireMessage{WireProgress{from.progress()->done(), from.progress()->all()}};
  }
  if (from.trace() != nullptr) {
    const auto block = std::as_bytes(std::span(from.trace()->data(), from.trace()->size()));
    return WireMessage{WireTrace{{block.begin(), block.end()}}};
  }
  if (const auto* result = from.result(); result != nullptr) {
    RINGSIDE_TRY(LinkLoads loads, get(result->loads()));
    return WireMessage{SimResult{.time = Seconds{result->time()},
                                 .transfers = result->transfers(),
                                 .steps = result->steps(),
                                 .busiest_link = result->busiest_link(),
                                 .busiest = Seconds{result->busiest()},
                                 .busiest_fabric_link = result->busiest_fabric_link(),
                                 .busiest_fabric_part = result->busiest_fabric_part(),
                                 .loads = std::move(loads),
                                 .wall = Seconds{result->wall()}}};
  }
  if (const auto* failure = from.failure(); failure != nullptr) {
    RINGSIDE_TRY(const auto code, get_word(failure->code(), ErrorCode::Unreachable));
    return WireMessage{
        WireFailure{Error{code, get_text(failure->message()), get_text(failure->help())}}};
  }
  if (from.death() != nullptr) return WireMessage{WireDeath{from.death()->signal()}};
  if (from.hello() != nullptr) return WireMessage{WireHello{get_text(from.hello()->version())}};
  return corrupt("it is empty");
}

}  // namespace

std::vector<std::byte> encode(const WireMessage& message) {
  FlatBufferBuilder to;
  std::visit([&](const auto& one) { put_into(to, one); }, message);
  return bytes_of(to);
}

std::vector<std::byte> encode_job(const WireCaller& caller, const SimRequest& request) {
  FlatBufferBuilder to;
  put_job(to, caller, request);
  return bytes_of(to);
}

std::vector<std::byte> encode_trace(std::span<const std::byte> block) {
  FlatBufferBuilder to;
  put_block(to, block);
  return bytes_of(to);
}

Result<WireMessage> decode(std::span<const std::byte> bytes) {
  const auto* const start =
      static_cast<const std::uint8_t*>(static_cast<const void*>(bytes.data()));
  if (bytes.size() < sizeof(flatbuffers::uoffset_t)) return corrupt("it is too short");
  flatbuffers::Verifier verifier(start, bytes.size());
  if (!simwire::VerifySizePrefixedMessageBuffer(verifier)) return corrupt("its structure");
  return get(*simwire::GetSizePrefixedMessage(start));
}

}  // namespace ringside
