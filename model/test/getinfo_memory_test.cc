// The promises on memory, threads and the process, case by case.
#include <csignal>

#include "model/test/getinfo_make.h"

namespace selvage::model {
namespace {

using namespace clause;
using namespace getinfo_test;
using enum Outcome;
using Act = SideEffects::Act;

SideEffects act(Act a) {
    SideEffects c;
    c.act = a;
    return c;
}
Info fresh() {
    Info i;
    i.present = kAllParts;
    return i;
}

TEST(GetinfoMemory, AllocGivesAllPartsZeroed) {
    Info i = fresh();
    SideEffects c = act(Act::AllocInfo);
    c.copy = &i;
    EXPECT_EQ(getinfo_memory_alloc_complete(c).outcome(), Holds);
    EXPECT_EQ(getinfo_memory_alloc_zeroed(c).outcome(), Holds);
    EXPECT_EQ(getinfo_memory_alloc_fresh(c).outcome(), Holds);
    EXPECT_EQ(getinfo_memory_dup_null(c).outcome(), Holds);
    i.drop(Part::Rx);
    EXPECT_EQ(getinfo_memory_alloc_complete(c).outcome(), Broken);
    i = fresh();
    i.rx.size = 1;
    EXPECT_EQ(getinfo_memory_alloc_zeroed(c).outcome(), Broken);
    i = fresh();
    i.domain.name = "";
    EXPECT_EQ(getinfo_memory_alloc_zeroed(c).outcome(), Broken);
    i = fresh();
    i.add(Part::Nic);
    EXPECT_EQ(getinfo_memory_alloc_zeroed(c).outcome(), Broken);
    c.copy_shares = true;
    EXPECT_EQ(getinfo_memory_alloc_fresh(c).outcome(), Broken);
    c.copy = nullptr;
    EXPECT_EQ(getinfo_memory_alloc_complete(c).outcome(), Broken);
    EXPECT_EQ(getinfo_memory_alloc_zeroed(c).outcome(), NotApplicable);
    EXPECT_EQ(getinfo_memory_alloc_complete(act(Act::DupInfo)).outcome(), NotApplicable);
    EXPECT_EQ(getinfo_memory_alloc_fresh(act(Act::DupInfo)).outcome(), NotApplicable);
}

TEST(GetinfoMemory, AllocFailsWithNull) {
    SideEffects c = act(Act::AllocInfo);
    EXPECT_EQ(getinfo_memory_alloc_fails_null(c).outcome(), NotApplicable);
    c.failed_allocation = 2;
    EXPECT_EQ(getinfo_memory_alloc_fails_null(c).outcome(), Holds);
    EXPECT_EQ(getinfo_memory_alloc_complete(c).outcome(), NotApplicable);
    c.leaked_blocks = 1;
    EXPECT_EQ(getinfo_memory_alloc_fails_null(c).outcome(), Broken);
    c.leaked_blocks = 0;
    c.crashed_signal = SIGSEGV;
    EXPECT_EQ(getinfo_memory_alloc_fails_null(c).outcome(), Broken);
}

TEST(GetinfoMemory, DuplicateIsEqual) {
    Info original = rdm();
    Info copy = original;
    SideEffects c = act(Act::DupInfo);
    c.original = &original;
    c.copy = &copy;
    EXPECT_EQ(getinfo_memory_dup_equal(c).outcome(), Holds);
    copy.tx.size = 7;
    EXPECT_EQ(getinfo_memory_dup_equal(c).evidence().field, Field::tx_size);
    copy = original;
    copy.fabric.name = "other";
    EXPECT_EQ(getinfo_memory_dup_equal(c).evidence().field, Field::fabric_name);
    copy = original;
    copy.drop(Part::Ep);
    EXPECT_EQ(getinfo_memory_dup_equal(c).outcome(), Broken);
    copy = original;
    copy.handle = 1;
    EXPECT_EQ(getinfo_memory_dup_equal(c).outcome(), Holds) << "the handle has its own clause";
    EXPECT_EQ(getinfo_memory_dup_equal(act(Act::FreeInfo)).outcome(), NotApplicable);
}

TEST(GetinfoMemory, AddressOfNoLengthNeedNotBeDuplicated) {
    Info original = rdm();
    original.src_addr = std::string(16, 'a');
    original.src_addrlen = 0;
    Info copy = original;
    SideEffects c = act(Act::DupInfo);
    c.original = &original;
    c.copy = &copy;
    EXPECT_EQ(getinfo_memory_dup_equal(c).outcome(), Holds);
    copy.src_addr.reset();
    EXPECT_EQ(getinfo_memory_dup_equal(c).outcome(), Holds);
    original.src_addrlen = copy.src_addrlen = 16;
    EXPECT_EQ(getinfo_memory_dup_equal(c).evidence().field, Field::src_addr);
}

TEST(GetinfoMemory, AddressIsComparedAsFarAsItIsLong) {
    Info original = rdm();
    original.src_addr = "fi_shm://";
    original.src_addrlen = 5;
    Info copy = original;
    copy.src_addr = "fi_sh";
    SideEffects c = act(Act::DupInfo);
    c.original = &original;
    c.copy = &copy;
    EXPECT_EQ(getinfo_memory_dup_equal(c).outcome(), Holds);
    copy.src_addr = "fi_xx";
    EXPECT_EQ(getinfo_memory_dup_equal(c).evidence().field, Field::src_addr);
    copy.src_addr = "fi_s";
    EXPECT_EQ(getinfo_memory_dup_equal(c).evidence().field, Field::src_addr);
}

TEST(GetinfoMemory, DuplicateIsItsOwn) {
    Info original = rdm();
    Info copy = original;
    SideEffects c = act(Act::DupInfo);
    c.original = &original;
    c.copy = &copy;
    EXPECT_EQ(getinfo_memory_dup_deep(c).outcome(), Holds);
    EXPECT_EQ(getinfo_memory_dup_single(c).outcome(), Holds);
    c.copy_shares = c.copy_has_next = true;
    EXPECT_EQ(getinfo_memory_dup_deep(c).outcome(), Broken);
    EXPECT_EQ(getinfo_memory_dup_single(c).outcome(), Broken);
    c.copy = nullptr;
    EXPECT_EQ(getinfo_memory_dup_deep(c).outcome(), NotApplicable);
    EXPECT_EQ(getinfo_memory_dup_single(c).outcome(), NotApplicable);
}

TEST(GetinfoMemory, DuplicateInventsNoParts) {
    Info original = rdm();
    Info copy = original;
    SideEffects c = act(Act::DupInfo);
    c.original = &original;
    c.copy = &copy;
    EXPECT_EQ(getinfo_memory_dup_substructures(c).outcome(), NotApplicable) << "nothing is absent";
    original.drop(Part::Tx);
    original.tx = {};
    EXPECT_EQ(getinfo_memory_dup_substructures(c).outcome(), Broken);
    copy.tx = {};
    EXPECT_EQ(getinfo_memory_dup_substructures(c).outcome(), Holds) << "present and zero";
    c.copy = nullptr;
    c.crashed_signal = SIGSEGV;
    EXPECT_EQ(getinfo_memory_dup_substructures(c).outcome(), Broken);
}

TEST(GetinfoMemory, NicOfTheApplicationIsDuplicated) {
    Info original;
    original.add(Part::Nic);
    Info copy = original;
    SideEffects c = act(Act::DupOwnNic);
    c.original = &original;
    c.copy = &copy;
    EXPECT_EQ(getinfo_memory_dup_own_nic(c).outcome(), Holds);
    EXPECT_EQ(getinfo_memory_dup_nic(c).outcome(), Holds);
    copy.drop(Part::Nic);
    EXPECT_EQ(getinfo_memory_dup_nic(c).outcome(), Broken);
    c.crashed_signal = SIGSEGV;
    EXPECT_EQ(getinfo_memory_dup_own_nic(c).outcome(), Broken);
    EXPECT_EQ(getinfo_memory_dup_nic(c).outcome(), NotApplicable) << "a crash has a clause of its own";
    EXPECT_EQ(getinfo_memory_dup_own_nic(act(Act::DupInfo)).outcome(), NotApplicable);
}

TEST(GetinfoMemory, DuplicateOfNicAndHandle) {
    Info original = rdm();
    Info copy = original;
    SideEffects c = act(Act::DupInfo);
    c.original = &original;
    c.copy = &copy;
    EXPECT_EQ(getinfo_memory_dup_nic(c).outcome(), NotApplicable);
    EXPECT_EQ(getinfo_memory_dup_handle(c).outcome(), NotApplicable);
    original.add(Part::Nic);
    original.handle = 1;
    EXPECT_EQ(getinfo_memory_dup_nic(c).outcome(), Broken);
    EXPECT_EQ(getinfo_memory_dup_handle(c).outcome(), Holds) << "NULL will do";
    copy.add(Part::Nic);
    copy.handle = 1;
    EXPECT_EQ(getinfo_memory_dup_nic(c).outcome(), Holds);
    EXPECT_EQ(getinfo_memory_dup_handle(c).outcome(), Holds);
    copy.handle = 2;
    EXPECT_EQ(getinfo_memory_dup_handle(c).outcome(), Broken);
}

TEST(GetinfoMemory, DuplicateOfNullAndWithoutMemory) {
    SideEffects null = act(Act::DupInfo);
    EXPECT_EQ(getinfo_memory_dup_null(null).outcome(), Holds);
    null.crashed_signal = SIGSEGV;
    EXPECT_EQ(getinfo_memory_dup_null(null).outcome(), Broken);
    const Info original = rdm();
    SideEffects c = act(Act::DupInfoNoMemory);
    c.original = &original;
    EXPECT_EQ(getinfo_memory_dup_null(c).outcome(), NotApplicable);
    EXPECT_EQ(getinfo_memory_dup_fails_null(c).outcome(), Holds);
    c.leaked_blocks = 3;
    EXPECT_EQ(getinfo_memory_dup_fails_null(c).outcome(), Broken);
    EXPECT_EQ(getinfo_memory_dup_fails_null(null).outcome(), NotApplicable);
}

TEST(GetinfoMemory, FreeReleasesAndSparesTheHandle) {
    const Answer a = granted(rdm());
    SideEffects list = act(Act::FreeInfo);
    list.answer = &a;
    EXPECT_EQ(getinfo_memory_free_releases_list(list).outcome(), Holds);
    EXPECT_EQ(getinfo_memory_answers_independent(list).outcome(), Holds);
    EXPECT_EQ(getinfo_memory_free_handle(list).outcome(), NotApplicable);
    EXPECT_EQ(getinfo_memory_free_caller_changed(list).outcome(), NotApplicable);
    list.leaked_blocks = 1;
    list.copy_shares = true;
    EXPECT_EQ(getinfo_memory_free_releases_list(list).outcome(), Broken);
    EXPECT_EQ(getinfo_memory_answers_independent(list).outcome(), Broken);

    Info own = rdm();
    SideEffects mine = act(Act::FreeInfo);
    mine.original = &own;
    EXPECT_EQ(getinfo_memory_free_releases_list(mine).outcome(), NotApplicable);
    EXPECT_EQ(getinfo_memory_answers_independent(mine).outcome(), NotApplicable);
    EXPECT_EQ(getinfo_memory_free_caller_changed(mine).outcome(), Holds);
    mine.leaked_blocks = 1;
    EXPECT_EQ(getinfo_memory_free_caller_changed(mine).outcome(), Broken);
    own.handle = 1;
    EXPECT_EQ(getinfo_memory_free_handle(mine).outcome(), Holds);
    mine.ret = -FI_EINVAL;
    EXPECT_EQ(getinfo_memory_free_handle(mine).outcome(), Broken);
}

TEST(GetinfoMemory, RunningOutOfMemoryIsAnErrorAndNoMore) {
    SideEffects c = act(Act::GetInfoNoMemory);
    for (const int ret : {0, -FI_ENOMEM, -FI_ENODATA}) {
        c.ret = ret;
        EXPECT_EQ(getinfo_memory_enomem(c).outcome(), Holds) << ret;
    }
    c.ret = -FI_EIO;
    EXPECT_EQ(getinfo_memory_enomem(c).outcome(), Broken);
    c.ret = -FI_ENOMEM;
    c.leaked_blocks = 1;
    EXPECT_EQ(getinfo_memory_enomem(c).outcome(), Broken);
    c.leaked_blocks = 0;
    EXPECT_EQ(getinfo_memory_shortage_survived(c).outcome(), Holds);
    c.crashed_signal = SIGSEGV;
    EXPECT_EQ(getinfo_memory_enomem(c).outcome(), NotApplicable) << "a crash has a clause of its own";
    EXPECT_EQ(getinfo_memory_shortage_survived(c).outcome(), Broken);
    EXPECT_TRUE(is_crash(getinfo_memory_shortage_survived(c).evidence()));
    EXPECT_EQ(getinfo_memory_enomem(act(Act::GetInfo)).outcome(), NotApplicable);
    EXPECT_EQ(getinfo_memory_shortage_survived(act(Act::GetInfo)).outcome(), NotApplicable);
}

TEST(GetinfoMemory, CallsLeaveNothingBehind) {
    SideEffects c = act(Act::GetInfo);
    EXPECT_EQ(getinfo_memory_no_leak(c).outcome(), Holds);
    EXPECT_EQ(getinfo_memory_failed_call_frees(c).outcome(), NotApplicable);
    c.leaked_blocks = 2;
    EXPECT_EQ(getinfo_memory_no_leak(c).outcome(), Broken);
    c.ret = -FI_ENODATA;
    EXPECT_EQ(getinfo_memory_no_leak(c).outcome(), NotApplicable);
    EXPECT_EQ(getinfo_memory_failed_call_frees(c).outcome(), Broken);
    c.leaked_blocks = 0;
    EXPECT_EQ(getinfo_memory_failed_call_frees(c).outcome(), Holds);
}

TEST(GetinfoMemory, CallsReturn) {
    SideEffects c = act(Act::GetInfo);
    EXPECT_EQ(getinfo_memory_returns(c).outcome(), Holds);
    c.hung = true;
    EXPECT_EQ(getinfo_memory_returns(c).outcome(), Broken);
    c = act(Act::Load);
    c.exited = true;
    EXPECT_EQ(getinfo_memory_returns(c).outcome(), Broken);
    EXPECT_EQ(getinfo_memory_returns(act(Act::FreeInfo)).outcome(), NotApplicable);
}

TEST(GetinfoMemory, ThreadsGetWhatOneAloneGets) {
    const Answer alone = granted(rdm());
    SideEffects c = act(Act::GetInfoThreads);
    c.answer = &alone;
    EXPECT_EQ(getinfo_memory_threads(c).outcome(), Holds);
    c.ret = -FI_ENODATA;
    EXPECT_EQ(getinfo_memory_threads(c).outcome(), Broken);
    c.ret = 0;
    c.crashed_signal = SIGABRT;
    EXPECT_EQ(getinfo_memory_threads(c).outcome(), Broken);
    EXPECT_EQ(getinfo_memory_threads(act(Act::GetInfo)).outcome(), NotApplicable);
}

}  // namespace
}  // namespace selvage::model
