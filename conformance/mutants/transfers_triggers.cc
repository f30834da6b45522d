// What waits for counters: operations with FI_TRIGGER, and deferred work.
#include <rdma/fi_trigger.h>

#include "conformance/mutants/transfers.h"

namespace selvage::mutants {
namespace {

using BaseControl = int (*)(fid*, int, void*);

// A row whose domains queue, cancel and flush work in another way.
void works(const Row& row, const char* name, const char* breaks, std::vector<std::string> clauses,
           const std::function<int(int command, fi_deferred_work* work, const std::function<int()>& go_on)>& instead) {
    row.add(name, breaks, std::move(clauses), {}).life.control = [instead](fid* domain, int command, void* argument,
                                                                           BaseControl base) {
        auto* const work = static_cast<fi_deferred_work*>(argument);
        return instead(command, work, [=] { return base(domain, command, argument); });
    };
}

// Work is changed before it is queued.
void queues(const Row& row, const char* name, const char* breaks, std::vector<std::string> clauses,
            const std::function<void(fi_deferred_work&)>& change) {
    works(row, name, breaks, std::move(clauses),
          [change](int command, fi_deferred_work* work, const std::function<int()>& go_on) {
              if (command == FI_QUEUE_WORK) change(*work);
              return go_on();
          });
}

bool is_message(const fi_deferred_work& w) { return w.op_type <= FI_OP_TSEND; }
bool is_tagged(const fi_deferred_work& w) { return w.op_type == FI_OP_TRECV || w.op_type == FI_OP_TSEND; }
std::uint64_t& flags_of(fi_deferred_work& w) { return is_tagged(w) ? w.op.tagged->flags : w.op.msg->flags; }

void add_work_rows(const Row& row) {
    queues(row, "work-eager", "begins deferred work at once", {"trigger.work.threshold"},
           [](fi_deferred_work& w) { w.threshold = 0; });
    works(row, "work-lost", "forgets deferred work", {"trigger.work.reached"},
          [](int command, fi_deferred_work*, const std::function<int()>& go_on) {
              return command == FI_QUEUE_WORK ? 0 : go_on();
          });
    queues(row, "work-counter-idle", "lets deferred counter operations change nothing", {"trigger.work.counter"},
           [](fi_deferred_work& w) {
               if (w.op_type == FI_OP_CNTR_ADD || w.op_type == FI_OP_CNTR_SET) w.op.cntr->value = 0;
           });
    TrafficHooks h;
    h.count = [](fid_cntr* cntr, std::uint64_t value) { return bound_for(cntr) == 0 ? 0 : value; };
    row.add("work-uncounted", "does not count deferred work that is complete", {"trigger.work.counted"}, h);
    h = {};
    h.add_error = [](fid_cntr*, std::uint64_t) { return 0; };
    row.add("work-error-blind", "begins deferred work by successes alone", {"trigger.work.errors"}, h);
    queues(row, "work-told", "tells of deferred work unasked", {"trigger.work.silent"}, [](fi_deferred_work& w) {
        if (is_message(w)) flags_of(w) |= FI_COMPLETION;
    });
    queues(row, "work-untold", "tells of no deferred work", {"trigger.work.reported"}, [](fi_deferred_work& w) {
        if (is_message(w)) flags_of(w) &= ~FI_COMPLETION;
    });
    queues(row, "work-unordered", "begins deferred work in the order in which it was queued", {"trigger.work.order"},
           [](fi_deferred_work& w) {
               const std::uint64_t value = fi_cntr_read(w.triggering_cntr);
               if (is_message(w) && w.threshold > value) w.threshold = value + 1;
           });
    works(row, "work-uncancelled", "cancels no deferred work, and says that it did", {"trigger.work.cancelled"},
          [](int command, fi_deferred_work*, const std::function<int()>& go_on) {
              return command == FI_CANCEL_WORK ? 0 : go_on();
          });
    works(row, "work-unflushed", "flushes no deferred work, and says that it did", {"trigger.work.flushed"},
          [](int command, fi_deferred_work*, const std::function<int()>& go_on) {
              return command == FI_FLUSH_WORK ? 0 : go_on();
          });
    works(row, "work-misrefused", "refuses to defer tagged messages with -FI_EINVAL", {"trigger.work.unsupported"},
          [](int command, fi_deferred_work* work, const std::function<int()>& go_on) {
              return command == FI_QUEUE_WORK && is_tagged(*work) ? -FI_EINVAL : go_on();
          });
}

}  // namespace

void add_trigger_rows(const Row& row) {
    row.posts("trigger-eager", "lets operations with FI_TRIGGER begin at once",
              {"trigger.wait.threshold", "getinfo.caps.trigger-usage"}, [](Post& p) { p.flags &= ~FI_TRIGGER; });
    row.does("trigger-lost", "forgets operations with FI_TRIGGER", {"trigger.start.reached"},
             [](Post& p) -> ssize_t { return (p.flags & FI_TRIGGER) != 0 ? 0 : go(p); });
    row.posts("trigger-unordered", "begins what waits for a counter in the order of the calls",
              {"trigger.order.threshold"}, [](Post& p) {
                  if ((p.flags & FI_TRIGGER) == 0 || !is_send(p)) return;
                  fi_trigger_threshold& condition = static_cast<fi_triggered_context2*>(p.context)->trigger.threshold;
                  if (condition.threshold > fi_cntr_read(condition.cntr))
                      condition.threshold = fi_cntr_read(condition.cntr) + 1;
              });
    row.posts("trigger-overtakes", "begins the second of two operations of one threshold first",
              {"trigger.order.posting"}, [](Post& p) {
                  static unsigned n;
                  if ((p.flags & FI_TRIGGER) == 0 || !is_send(p)) return;
                  fi_trigger_threshold& condition = static_cast<fi_triggered_context2*>(p.context)->trigger.threshold;
                  if (condition.threshold > fi_cntr_read(condition.cntr) + 1 && nth(n, 2)) --condition.threshold;
              });
    add_work_rows(row);
}

}  // namespace selvage::mutants
