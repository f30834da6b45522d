// Caller against a library that misbehaves on demand: each way is told, and the next query is asked as if nothing
// had happened.
#include <gtest/gtest.h>

#include <csignal>

#include "conformance/base/signals.h"
#include "conformance/harness/threads.h"
#include "conformance/test/subject_util.h"

namespace selvage::conformance {
namespace {

using Kind = Ending::Kind;
using model::Field;
using model::Part;

std::string only_record(const Seen& seen) {
    if (seen.records.size() != 1) return "records: " + std::to_string(seen.records.size());
    return seen.records[0];
}

std::string written(const Issued& issued) {
    if (!issued.hints_written) return "clean";
    return std::string(model::row(issued.written_field).path);
}

std::string broken(const Issued& issued) { return issued.broken != nullptr ? issued.broken : "whole"; }

TEST(Caller, TellsHowTheProcessEnds) {
    struct Row {
        const char* mood;
        Kind kind;
        int signal;
        int status;
    };
    for (const Row& row :
         {Row{"crash", Kind::Crashed, SIGSEGV, 0}, Row{"wild jump", Kind::Crashed, SIGSEGV, 0},
          Row{"abort", Kind::Crashed, SIGABRT, 0}, Row{"hang", Kind::Hung, 0, 0}, Row{"spin", Kind::Hung, 0, 0},
          Row{"exit", Kind::Exited, 0, 3}, Row{"_exit", Kind::Exited, 0, 0}, Row{"offspring", Kind::Done, 0, 0}}) {
        const Seen seen = query_misbehaving(mood(row.mood), written, false, std::chrono::milliseconds(1500));
        EXPECT_EQ(seen.ending.kind, row.kind) << row.mood;
        EXPECT_EQ(seen.ending.signal, row.signal) << row.mood;
        EXPECT_EQ(seen.ending.status, row.status) << row.mood;
        EXPECT_EQ(seen.ending.doing, 7U) << row.mood;
    }
}

TEST(Caller, NamesTheFieldWrittenTo) {
    struct Row {
        const char* mood;
        const char* path;
    };
    for (const Row& row :
         {Row{"", "clean"}, Row{"scribble caps", "caps"}, Row{"scribble same", "mode"}, Row{"scribble next", "hints"},
          Row{"scribble mr_mode", "domain_attr.mr_mode"}, Row{"scribble name", "fabric_attr.prov_name"},
          Row{"scribble part", "ep_attr"}, Row{"scribble key", "ep_attr.auth_key"}, Row{"scribble node", "node"}}) {
        for (const bool tight : {false, true}) {
            model::Query q = mood(row.mood);
            q.hints->ep.auth_key = "key";
            EXPECT_EQ(only_record(query_misbehaving(q, written, tight)), row.path) << row.mood << " tight " << tight;
        }
    }
}

TEST(Caller, PutsScribbledHintsBack) {
    const Seen seen = in_child([](Channel& c) {
        std::string error;
        const auto library = Library::open(broken_library("misbehaving"), error);
        Caller caller(*library);
        std::vector<model::Query> queries(Caller::capacity(), mood("scribble caps"));
        queries[1] = mood("");
        for (auto& q : queries) q.hints->caps = 1U << 20;
        caller.prepare(queries);
        Issued issued;
        for (int round = 0; round < 2; ++round)
            for (const std::size_t i : {std::size_t{0}, std::size_t{1}, Caller::capacity() - 1}) {
                caller.issue(i, issued);
                const bool as_prepared = issued.answer.offers.at(0).caps == 1U << 20;
                c.send(written(issued) + (as_prepared ? ", caps as asked" : ", caps as scribbled"));
            }
    });
    // The library sees its own store within the call; the next call finds the hints as they were prepared.
    const std::string scribbled = "caps, caps as scribbled";
    const std::string clean = "clean, caps as asked";
    EXPECT_EQ(seen.records, (std::vector<std::string>{scribbled, clean, scribbled, scribbled, clean, scribbled}));
}

TEST(Caller, ComparingSeesScribbledHintsAndPutsThemBack) {
    const Seen seen = in_child([&](Channel& channel) {
        std::string error;
        const auto library = Library::open(broken_library("misbehaving"), error);
        if (!library) return channel.send(error);
        Caller caller(*library);
        caller.set_comparing(true);
        for (const bool scribbles : {true, false, true}) {
            const Issued issued = caller.issue(mood(scribbles ? "scribble caps" : ""));
            channel.send(issued.hints_written == scribbles ? "as it was" : "mistaken");
        }
    });
    EXPECT_EQ(seen.records, (std::vector<std::string>{"as it was", "as it was", "as it was"}));
}

TEST(Caller, SurvivesBrokenLists) {
    struct Row {
        const char* mood;
        const char* reason;
    };
    for (const Row& row :
         {Row{"", "whole"}, Row{"no enumerator", "whole"}, Row{"cycle", "a list without an end"},
          Row{"wild next", "a pointer that cannot be followed"}, Row{"wild name", "a pointer that cannot be followed"},
          Row{"endless name", "a string without an end"},
          Row{"long address", "an address or key of more than 64 KiB"}}) {
        const Seen seen = query_misbehaving(mood(row.mood), broken);
        EXPECT_EQ(only_record(seen), row.reason) << row.mood;
        EXPECT_EQ(seen.ending.kind, Kind::Done) << row.mood;
    }
}

TEST(Caller, TellsReturnAndList) {
    const auto summary = [](const Issued& a) {
        return std::to_string(a.answer.ret) + (a.answer.list_null ? " null " : " list ") +
               std::to_string(a.answer.offers.size());
    };
    EXPECT_EQ(only_record(query_misbehaving(mood("no data"), summary)), "-61 list 0");  // *info was left as it was
    EXPECT_EQ(only_record(query_misbehaving(mood("null list"), summary)), "0 null 0");
    EXPECT_EQ(only_record(query_misbehaving(mood("error and list"), summary)), "-22 list 0");
    EXPECT_EQ(only_record(query_misbehaving(mood(""), summary)), "0 list 2");
}

TEST(Caller, DecodesWhatIsThere) {
    const Seen seen = query_misbehaving(mood(""), [](const Issued& a) -> std::string {
        const model::Info& i = a.answer.offers.at(1);
        if (i.has(Part::Rx) || i.has(Part::Ep) || i.has(Part::Nic)) return "parts that are not there";
        if (!i.has(Part::Tx) || !i.has(Part::Domain) || !i.has(Part::Fabric)) return "parts missing";
        if (i.src_addr != std::string("misbehaving://here", 19)) return "source address";
        if (i.dest_addr || i.fabric.name) return "texts that are not there";
        if (i.domain.name != "second" || i.fabric.prov_name != "misbehaving") return "names";
        if (i.tx.tclass != 0xffffffffU || i.tx.inject_size != 64) return "numbers";
        return "good";
    });
    EXPECT_EQ(only_record(seen), "good");
}

TEST(Caller, KnowsItsObjectsFromForeignOnes) {
    const Seen seen = in_child([](Channel& c) {
        std::string error;
        const auto library = Library::open(broken_library("misbehaving"), error);
        Caller caller(*library);
        int one = 0;
        int two = 0;
        void* const objects[] = {&one, &two};
        caller.set_objects(objects);
        for (const model::Handle h : {model::Handle{0}, model::Handle{2}, model::Handle{3}, model::kForeign}) {
            model::Query q = mood("");
            q.hints->domain.domain = h;
            const model::Handle back = caller.issue(q).answer.offers.at(0).domain.domain;
            c.send(back == model::kForeign ? "foreign" : std::to_string(back));
        }
        c.send(caller.issue(mood("foreign domain")).answer.offers.at(0).domain.domain == model::kForeign ? "foreign"
                                                                                                         : "?");
    });
    EXPECT_EQ(seen.records, (std::vector<std::string>{"0", "2", "foreign", "foreign", "foreign"}));
}

TEST(Caller, TightAddressesCatchReadingPast) {
    model::Query q = mood("read past");
    q.hints->src_addr = std::string(16, 'a');
    q.hints->src_addrlen = 16;
    EXPECT_EQ(query_misbehaving(q, written, true).ending.kind, Kind::Done);
    q.hints->src_addrlen = 17;
    EXPECT_EQ(query_misbehaving(q, written, false).ending.kind, Kind::Done);
    const Seen seen = query_misbehaving(q, written, true);
    EXPECT_EQ(seen.ending.kind, Kind::Crashed);
    EXPECT_EQ(seen.ending.signal, SIGSEGV);
}

TEST(Caller, SeesTheHandlersThatALibraryInstalls) {
    const Seen seen = in_child([](Channel& c) {
        std::string error;
        const auto library = Library::open(broken_library("misbehaving"), error);
        Caller caller(*library);
        const Dispositions before = Dispositions::now();
        caller.issue(mood("handler"));
        for (const int s : Dispositions::now().differs_from(before)) c.send(std::to_string(s));
        // Its handler for SIGSEGV does not keep stores into hints from being seen.
        c.send(written(caller.issue(mood("scribble caps"))));
    });
    EXPECT_EQ(seen.records, (std::vector<std::string>{std::to_string(SIGUSR1), std::to_string(SIGSEGV), "caps"}));
}

TEST(Caller, GrowsForLargeQuestions) {
    model::Query q = mood("");
    q.hints->src_addr = std::string(600'000, 'a');
    q.hints->domain.name = std::string(300'000, 'b');
    const auto size = [](const Issued& a) { return std::to_string(a.answer.offers.size()); };
    EXPECT_EQ(only_record(query_misbehaving(q, size)), "2");
    EXPECT_EQ(only_record(query_misbehaving(q, size, true)), "2");
}

TEST(Threads, AnswersAreCollectedPerThread) {
    const Seen seen = in_child([](Channel& c) {
        std::string error;
        const auto library = Library::open(broken_library("misbehaving"), error);
        Caller caller(*library);
        std::vector<model::Query> queries(10, mood(""));
        for (std::size_t i = 0; i < queries.size(); ++i) queries[i].hints->caps = i;
        caller.prepare(queries);
        IssuedAtOnce all = issue_in_threads(caller, 4, 50);
        bool same = all.answers.size() == 4 && all.unsteady == -1 && !all.hints_written;
        for (const auto& answers : all.answers)
            for (std::size_t i = 0; i < queries.size(); ++i) same = same && answers.at(i).offers.at(1).caps == i;
        c.send(same ? "same" : "different");

        queries[5].node = "scribble mr_mode";
        caller.prepare(queries);
        all = issue_in_threads(caller, 4, 3);
        c.send(all.hints_written ? std::string(model::row(all.written_field).path) : "clean");
    });
    EXPECT_EQ(seen.records, (std::vector<std::string>{"same", "domain_attr.mr_mode"}));
}

}  // namespace
}  // namespace selvage::conformance
