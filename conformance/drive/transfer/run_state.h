// The run of one transfer sequence: what it knows while it lasts.  For run*.cc alone.
//
// Everything is in order: each operation is called (run.cc), what the queues say is noted as it comes, and what became
// of contexts and memory at the end (run_notes.cc); then what would be charged, and may only be late, is waited for
// (run_late.cc).
#pragma once

#include <array>
#include <chrono>
#include <vector>

#include "conformance/drive/transfer/barrier.h"
#include "conformance/drive/transfer/buffers.h"
#include "conformance/drive/transfer/forecast.h"
#include "conformance/drive/transfer/run.h"
#include "model/judge/judge.h"

namespace selvage::conformance {

class SequenceRun {
public:
    SequenceRun(Pair& pair, const TransferSequence& sequence, Patience& patience, model::Traffic& out);
    /// Runs all of it.  @return true if the pair is as it was before.
    bool all();

private:
    using Clock = std::chrono::steady_clock;
    using Charges = std::vector<model::Because>;
    using Counts = std::array<CounterValues, 2>;
    using Operation = model::Operation;
    using Side = model::Side;

    static constexpr std::array kSides = {Side::A, Side::B};
    static constexpr unsigned kLookRounds = 8;        // of reading all queues, between two looks at the clock
    static constexpr unsigned kBytesMicros = 20'000;  // without news while a message is missing that no entry reports
    static constexpr std::size_t kMostEntries = 4096;
    static constexpr std::size_t kSlots = 64;           // contexts of one exchange, on each side
    static constexpr std::size_t kWork = COUNTERS - 1;  // the counter of deferred work

    static std::uint64_t moved(std::uint64_t now, std::uint64_t before) { return now - before; }
    Operation& at(int index) { return out_.operations[static_cast<std::size_t>(index)]; }

    // run.cc: the calls, and reading the queues.
    void step(int index);
    void try_alone(Operation& o, const PostedCall& call);
    void rest(int index);
    [[nodiscard]] bool injected(const Operation& o) const;
    void query_valid(Operation& o);
    void beat();
    bool poll();
    bool read(Side side);
    bool waits_for_bytes();
    bool work_is_missing();
    void drain(unsigned micros);
    bool drain();
    bool tidy();

    // run_notes.cc: what is seen of it.
    void look_again();
    std::uint64_t context_for(int index, const Operation& o);
    [[nodiscard]] MemoryRange slot_at(int index) const;
    [[nodiscard]] model::ContextMemory context_memory(int index);
    static bool injected_call(const Operation& o);
    int slot_of(int index);
    int operation_of(std::uint64_t context);
    void note(Side side, bool transmit, const QueueEntry& e);
    bool transmit_is_over(const model::Completion& c);
    void look(model::Completion& c);
    static Counts difference(const Counts& a, const Counts& b);
    void count(Counts& into);
    void note_counts();
    void look_at_memory();

    // run_late.cc: what has not come, and may still be on its way.
    Charges charges();
    static bool are_absences(const Charges& charged);
    [[nodiscard]] bool uses_memory_in_silence() const;
    [[nodiscard]] bool may_come_behind_barriers();
    void wait_for_the_late(const Charges& charged);
    void wait_at_length(const Charges& charged);
    [[nodiscard]] bool is_any_new(const Charges& charged) const;
    void send_barrier(unsigned limit);
    bool await_bytes(unsigned limit);
    bool pass_barrier(unsigned limit);
    void count_behind_barriers(unsigned limit);

    Pair& pair_;
    const TransferSequence& sequence_;
    Patience& patience_;
    Charge no_charge_;  // where nobody asks for one
    Charge& charge_;
    model::Traffic& out_;
    Memory memory_;
    Forecast forecast_;
    Barrier barrier_;
    bool barrier_lost_ = false;
    bool rested_hastily_ = false;  // once it is known that nothing comes without a call
    bool through_ = false;         // a barrier has proved that all came that will
    std::vector<int> owner_;       // by slot of a context: the operation that was posted with it last
    std::uint64_t contexts_ = 0;   // offset of the first one in each side's memory
    const unsigned looks_;         // of one side, before it is the other's turn
    Arrivals read_;
    std::uint64_t reached_ = 0;  // how many operations are behind us, whatever they are
    const bool counted_;         // counters are looked at
    Counts before_{}, after_{};
    bool stray_ = false;
    bool failed_ = false;
    bool broke_ = false;  // failed without being cancelled, so that a message may never come
    Clock::time_point began_;
};

}  // namespace selvage::conformance
