// Parameters: definition, strict reading of every type, listing, ownership, threads, failing allocations.
#include "impl/config/param.h"

#include "impl/config/log.h"

#include <rdma/providers/fi_prov.h>

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <set>
#include <string>
#include <thread>
#include <vector>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SELVAGE_OWN_MALLOC 0
#else
#define SELVAGE_OWN_MALLOC 1
#endif

namespace {

thread_local long fail_allocation_at = 0;  // 0: never; n: the n-th from now

[[maybe_unused]] bool fails_now() noexcept { return fail_allocation_at > 0 && --fail_allocation_at == 0; }

}  // namespace

// Weak, so that a program with an allocator of its own keeps that one; the tests then skip themselves.
#if SELVAGE_OWN_MALLOC
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
__attribute__((weak, visibility("default"))) void* malloc(std::size_t size) {
    return fails_now() ? nullptr : __libc_malloc(size);
}
__attribute__((weak, visibility("default"))) void* calloc(std::size_t count, std::size_t size) {
    return fails_now() ? nullptr : __libc_calloc(count, size);
}
__attribute__((weak, visibility("default"))) void* realloc(void* old, std::size_t size) {
    return fails_now() ? nullptr : __libc_realloc(old, size);
}
}
#endif

namespace {

using selvage::impl::Param;

const Param<int> row_int{"rowtest", "an_int", 12, "An int"};
const Param<bool> row_bool{"rowtest", "a_bool", true, "A bool"};
const Param<std::size_t> row_size{nullptr, "rowtest_a_size", 77, "A size"};
const Param<const char*> row_string{"rowtest", "a_string", "standard", "A string"};
const Param<const char*> row_bare{"rowtest", "bare", nullptr, "No default"};

fi_provider provider_named(const char* name) {
    fi_provider provider{};
    provider.name = name;
    return provider;
}

// Keeps the warnings about values that do not parse out of the test's output.
class Quiet {
public:
    Quiet() {
        setenv("FI_LOG_SUBSYS", "none", 1);
        selvage::impl::reload_log_settings();
    }
    ~Quiet() {
        unsetenv("FI_LOG_SUBSYS");
        selvage::impl::reload_log_settings();
    }
    Quiet(const Quiet&) = delete;
    Quiet& operator=(const Quiet&) = delete;
};

std::map<std::string, fi_param> listed(fi_param*& owned) {
    int count = -1;
    owned = nullptr;
    EXPECT_EQ(fi_getparams(&owned, &count), 0);
    std::map<std::string, fi_param> all;
    for (int i = 0; i < count; ++i) EXPECT_TRUE(all.emplace(owned[i].name, owned[i]).second) << owned[i].name;
    EXPECT_EQ(owned[count].name, nullptr);
    EXPECT_EQ(owned[count].help_string, nullptr);
    return all;
}

TEST(Param, RefusesWhatCannotBeDefined) {
    const fi_provider provider = provider_named("refuse");
    EXPECT_EQ(fi_param_define(&provider, nullptr, FI_PARAM_INT, "help"), -FI_EINVAL);
    EXPECT_EQ(fi_param_define(&provider, "", FI_PARAM_INT, "help"), -FI_EINVAL);
    EXPECT_EQ(fi_param_define(&provider, "x", FI_PARAM_INT, nullptr), -FI_EINVAL);
    EXPECT_EQ(fi_param_define(&provider, "x", FI_PARAM_INT, "%s", ""), -FI_EINVAL);
    EXPECT_EQ(fi_param_define(&provider, "x", std::bit_cast<fi_param_type>(4), "help"), -FI_EINVAL);
    EXPECT_EQ(fi_param_define(&provider, "x", std::bit_cast<fi_param_type>(-1), "help"), -FI_EINVAL);
    const std::string endless(1000, 'x');
    EXPECT_EQ(fi_param_define(&provider, endless.c_str(), FI_PARAM_INT, "help"), -FI_EINVAL);
    int value = 5;
    EXPECT_EQ(fi_param_get(const_cast<fi_provider*>(&provider), "x", &value), -FI_ENOENT);
    EXPECT_EQ(value, 5);
}

TEST(Param, ThreeStatesOfAParameter) {
    fi_provider provider = provider_named("states");
    int value = 5;
    EXPECT_EQ(fi_param_get(&provider, "x", &value), -FI_ENOENT);
    EXPECT_EQ(fi_param_define(&provider, "x", FI_PARAM_INT, "help"), 0);
    EXPECT_EQ(fi_param_get(&provider, "x", &value), -FI_ENODATA);
    EXPECT_EQ(value, 5);
    setenv("FI_STATES_X", "6", 1);
    EXPECT_EQ(fi_param_get(&provider, "x", &value), 0);
    EXPECT_EQ(value, 6);
    EXPECT_EQ(fi_param_get(&provider, nullptr, &value), -FI_EINVAL);
    EXPECT_EQ(fi_param_get(&provider, "x", nullptr), -FI_EINVAL);
    unsetenv("FI_STATES_X");
}

template <typename T>
std::map<std::string, int> results(const char* variable, fi_provider* provider, const char* name,
                                   const std::map<std::string, T>& good, const std::vector<std::string>& bad) {
    std::map<std::string, int> wrong;
    for (const auto& [text, expected] : good) {
        setenv(variable, text.c_str(), 1);
        T value{};
        const int result = fi_param_get(provider, name, &value);
        if (result != 0 || value != expected) wrong[text] = result;
    }
    for (const std::string& text : bad) {
        setenv(variable, text.c_str(), 1);
        T value = 99;
        const int result = fi_param_get(provider, name, &value);
        if (result != -FI_EINVAL || value != 99) wrong[text] = result;
    }
    unsetenv(variable);
    return wrong;
}

TEST(Param, ReadsStrictly) {
    const Quiet quiet;
    fi_provider provider = provider_named("strict");
    ASSERT_EQ(fi_param_define(&provider, "i", FI_PARAM_INT, "help"), 0);
    ASSERT_EQ(fi_param_define(&provider, "z", FI_PARAM_SIZE_T, "help"), 0);
    ASSERT_EQ(fi_param_define(&provider, "b", FI_PARAM_BOOL, "help"), 0);
    const std::map<std::string, int> none;
    EXPECT_EQ(results<int>("FI_STRICT_I", &provider, "i",
                           {{"0", 0},
                            {"12", 12},
                            {"0x10", 16},
                            {"-1", -1},
                            {"+7", 7},
                            {"010", 8},
                            {"2147483647", INT_MAX},
                            {"-2147483648", INT_MIN}},
                           {"", " 5", "5 ", "1k", "abc", "-", "+", "0x", "1.5", "2147483648", "-2147483649",
                            "99999999999999999999", "--1", "5\n"}),
              none);
    EXPECT_EQ(
        results<std::size_t>("FI_STRICT_Z", &provider, "z",
                             {{"0", 0}, {"4294967296", 4294967296u}, {"0xff", 255}, {"18446744073709551615", SIZE_MAX}},
                             {"", "-1", "+1", " 1", "1 ", "1k", "abc", "18446744073709551616"}),
        none);
    EXPECT_EQ(
        results<int>("FI_STRICT_B", &provider, "b",
                     {{"0", 0}, {"1", 1}, {"on", 1}, {"oFF", 0}, {"True", 1}, {"false", 0}, {"YES", 1}, {"no", 0}},
                     {"", "2", "y", "T", "01", " 1", "yes ", "enable"}),
        none);
}

TEST(Param, ABadValueIsReported) {
    fi_provider provider = provider_named("report");
    ASSERT_EQ(fi_param_define(&provider, "i", FI_PARAM_INT, "help"), 0);
    setenv("FI_REPORT_I", "many", 1);
    testing::internal::CaptureStderr();
    int value = 5;
    EXPECT_EQ(fi_param_get(&provider, "i", &value), -FI_EINVAL);
    const std::string text = testing::internal::GetCapturedStderr();
    unsetenv("FI_REPORT_I");
    EXPECT_NE(text.find(":report:core:"), std::string::npos) << text;
    EXPECT_NE(text.find("<warn> FI_REPORT_I=\"many\" is not used"), std::string::npos) << text;
}

TEST(Param, StringsStayWhatTheyWere) {
    fi_provider provider = provider_named("strings");
    ASSERT_EQ(fi_param_define(&provider, "s", FI_PARAM_STRING, "help"), 0);
    char* first = nullptr;
    char* second = nullptr;
    char* again = nullptr;
    setenv("FI_STRINGS_S", "one", 1);
    ASSERT_EQ(fi_param_get(&provider, "s", &first), 0);
    setenv("FI_STRINGS_S", "", 1);
    ASSERT_EQ(fi_param_get(&provider, "s", &second), 0);
    setenv("FI_STRINGS_S", "one", 1);
    ASSERT_EQ(fi_param_get(&provider, "s", &again), 0);
    unsetenv("FI_STRINGS_S");
    EXPECT_STREQ(first, "one");
    EXPECT_STREQ(second, "");
    EXPECT_EQ(first, again);
}

TEST(Param, ASecondDefinitionChangesNothing) {
    const Quiet quiet;
    fi_provider provider = provider_named("twice");
    EXPECT_EQ(fi_param_define(&provider, "x", FI_PARAM_INT, "first"), 0);
    EXPECT_EQ(fi_param_define(&provider, "x", FI_PARAM_INT, "second"), 0);
    EXPECT_EQ(fi_param_define(&provider, "x", FI_PARAM_SIZE_T, "third"), -FI_EINVAL);
    fi_param* owned = nullptr;
    const auto all = listed(owned);
    ASSERT_EQ(all.count("FI_TWICE_X"), 1u);
    EXPECT_STREQ(all.at("FI_TWICE_X").help_string, "twice: first");
    fi_freeparams(owned);
}

TEST(Param, TheArgumentsMayGoAfterTheCall) {
    char name[] = "gone", provider_text[] = "goner", help[] = "help";
    fi_provider provider = provider_named(provider_text);
    ASSERT_EQ(fi_param_define(&provider, name, FI_PARAM_INT, "%s %d", help, 4), 0);
    std::memset(name, 'z', 4);
    std::memset(provider_text, 'z', 5);
    std::memset(help, 'z', 4);
    fi_param* owned = nullptr;
    const auto all = listed(owned);
    ASSERT_EQ(all.count("FI_GONER_GONE"), 1u);
    EXPECT_STREQ(all.at("FI_GONER_GONE").help_string, "goner: help 4");
    fi_freeparams(owned);
}

TEST(Param, CoreParametersHaveNoProviderInTheirName) {
    fi_provider core = provider_named("core");
    ASSERT_EQ(fi_param_define(nullptr, "coretest_x", FI_PARAM_INT, "help"), 0);
    setenv("FI_CORETEST_X", "3", 1);
    int value = 0;
    EXPECT_EQ(fi_param_get(nullptr, "coretest_x", &value), 0);
    EXPECT_EQ(value, 3);
    EXPECT_EQ(fi_param_get(&core, "coretest_x", &value), 0);
    unsetenv("FI_CORETEST_X");
}

TEST(Param, ListsCopiesThatTheCallerOwns) {
    setenv("FI_LOG_LEVEL", "warn", 1);
    fi_param* owned = nullptr;
    const auto all = listed(owned);
    setenv("FI_LOG_LEVEL", "trace", 1);
    ASSERT_EQ(all.count("FI_LOG_LEVEL"), 1u);
    EXPECT_STREQ(all.at("FI_LOG_LEVEL").value, "warn");
    EXPECT_EQ(all.at("FI_LOG_LEVEL").type, FI_PARAM_STRING);
    for (const char* name : {"FI_LOG_PROV", "FI_LOG_SUBSYS", "FI_LOG_INTERVAL"}) EXPECT_EQ(all.count(name), 1u) << name;
    EXPECT_STREQ(all.at("FI_LOG_INTERVAL").help_string,
                 "Milliseconds between messages that are limited in their rate (default: 2000)");
    EXPECT_EQ(all.at("FI_LOG_INTERVAL").value, nullptr);
    std::memset(const_cast<char*>(all.at("FI_LOG_LEVEL").help_string), 'z', 3);
    fi_freeparams(owned);
    unsetenv("FI_LOG_LEVEL");
    fi_freeparams(nullptr);
    int count = 0;
    EXPECT_EQ(fi_getparams(nullptr, &count), -FI_EINVAL);
    EXPECT_EQ(fi_getparams(&owned, nullptr), -FI_EINVAL);
}

TEST(Param, CoreIsListedFirstThenByName) {
    int count = 0;
    fi_param* owned = nullptr;
    ASSERT_EQ(fi_getparams(&owned, &count), 0);
    bool provider_seen = false;
    for (int i = 0; i < count; ++i) {
        const bool of_provider = std::string(owned[i].help_string).starts_with("rowtest: ");
        if (of_provider) provider_seen = true;
        EXPECT_FALSE(provider_seen && std::strcmp(owned[i].name, "FI_LOG_LEVEL") == 0);
    }
    EXPECT_TRUE(provider_seen);
    fi_freeparams(owned);
}

TEST(Param, RowsGiveTheirDefaultOrTheUsersValue) {
    const Quiet quiet;
    EXPECT_EQ(row_int.get(), 12);
    EXPECT_TRUE(row_bool.get());
    EXPECT_EQ(row_size.get(), 77u);
    EXPECT_STREQ(row_string.get(), "standard");
    EXPECT_EQ(row_bare.get(), nullptr);
    setenv("FI_ROWTEST_AN_INT", "-4", 1);
    setenv("FI_ROWTEST_A_BOOL", "off", 1);
    setenv("FI_ROWTEST_A_SIZE", "0x20", 1);
    setenv("FI_ROWTEST_A_STRING", "mine", 1);
    EXPECT_EQ(row_int.get(), -4);
    EXPECT_FALSE(row_bool.get());
    EXPECT_EQ(row_size.get(), 32u);
    EXPECT_STREQ(row_string.get(), "mine");
    setenv("FI_ROWTEST_AN_INT", "four", 1);
    EXPECT_EQ(row_int.get(), 12);
    for (const char* name : {"FI_ROWTEST_AN_INT", "FI_ROWTEST_A_BOOL", "FI_ROWTEST_A_SIZE", "FI_ROWTEST_A_STRING"}) {
        unsetenv(name);
    }
    fi_param* owned = nullptr;
    const auto all = listed(owned);
    EXPECT_STREQ(all.at("FI_ROWTEST_AN_INT").help_string, "rowtest: An int (default: 12)");
    EXPECT_STREQ(all.at("FI_ROWTEST_A_BOOL").help_string, "rowtest: A bool (default: yes)");
    EXPECT_STREQ(all.at("FI_ROWTEST_A_SIZE").help_string, "A size (default: 77)");
    EXPECT_STREQ(all.at("FI_ROWTEST_BARE").help_string, "rowtest: No default");
    fi_freeparams(owned);
}

TEST(Param, RowsAreVisibleToFiParamGet) {
    fi_provider provider = provider_named("rowtest");
    int value = 1;
    EXPECT_EQ(fi_param_get(&provider, "an_int", &value), -FI_ENODATA);
}

TEST(Param, ThreadsDefineGetAndListAtOnce) {
    std::atomic<int> failures{0};
    setenv("FI_THREADS_P3", "3", 1);
    std::vector<std::thread> threads;
    for (int number = 0; number < 4; ++number) {
        threads.emplace_back([&] {
            fi_provider provider = provider_named("threads");
            for (int round = 0; round < 50; ++round) {
                const std::string name = "p" + std::to_string(round % 10);
                if (fi_param_define(&provider, name.c_str(), FI_PARAM_INT, "help") != 0) ++failures;
                int value = 0;
                const int result = fi_param_get(&provider, name.c_str(), &value);
                if (result != (name == "p3" ? 0 : -FI_ENODATA)) ++failures;
                fi_param* params = nullptr;
                int count = 0;
                if (fi_getparams(&params, &count) != 0) ++failures;
                fi_freeparams(params);
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    unsetenv("FI_THREADS_P3");
    EXPECT_EQ(failures, 0);
    fi_param* owned = nullptr;
    EXPECT_EQ(listed(owned).count("FI_THREADS_P3"), 1u);
    fi_freeparams(owned);
}

// Whether malloc above is the one that everybody uses, the C++ library included; under a memory checker it is not.
bool can_fail_allocations() {
    fail_allocation_at = 1;
    void* volatile from_c = std::malloc(16);
    const bool c_failed = fail_allocation_at == 0 && from_c == nullptr;
    fail_allocation_at = 1;
    char* volatile from_cxx = new (std::nothrow) char[16];
    const bool cxx_failed = fail_allocation_at == 0 && from_cxx == nullptr;
    fail_allocation_at = 0;
    std::free(from_c);
    delete[] from_cxx;
    return c_failed && cxx_failed;
}

// Runs call with its n-th allocation failing, for every n, until one run needs no more; counts the runs that ended with
// -FI_ENOMEM. A run may survive: the C library itself shrugs off a block that cannot be trimmed.
template <typename Call>
int fail_every_allocation(Call call) {
    int refused = 0;
    for (int n = 1; n < 100000; ++n) {
        fail_allocation_at = n;
        const int result = call(n);
        const bool untouched = fail_allocation_at > 0;
        fail_allocation_at = 0;
        if (untouched) {
            EXPECT_EQ(result, 0);
            return refused;
        }
        EXPECT_TRUE(result == 0 || result == -FI_ENOMEM) << "allocation " << n << ": " << result;
        if (result != 0) ++refused;
    }
    return -1;
}

TEST(Param, AnyAllocationMayFail) {
    if (!can_fail_allocations()) GTEST_SKIP() << "another allocator is in place";
    fi_provider provider = provider_named("outofmemory");
    const auto define = [&](int n) {
        const std::string name(static_cast<std::size_t>(n), 's');
        return fi_param_define(&provider, name.c_str(), FI_PARAM_STRING, "a help text of %d words", n);
    };
    EXPECT_GE(fail_every_allocation(define), 4);
    setenv("FI_OUTOFMEMORY_S", "a value nobody asked for yet", 1);
    char* value = nullptr;
    ASSERT_EQ(fi_param_define(&provider, "s", FI_PARAM_STRING, "help"), 0);
    EXPECT_EQ(fail_every_allocation([&](int) { return fi_param_get(&provider, "s", &value); }), 1);
    EXPECT_STREQ(value, "a value nobody asked for yet");
    unsetenv("FI_OUTOFMEMORY_S");
    fi_param* params = nullptr;
    int count = 0;
    EXPECT_GT(fail_every_allocation([&](int) { return fi_getparams(&params, &count); }), 5);
    fi_freeparams(params);
}

TEST(Param, TextNeedsNoMemory) {
    if (!can_fail_allocations()) GTEST_SKIP() << "another allocator is in place";
    std::string text;
    std::thread([&] {
        const uint64_t caps = FI_MSG | FI_RMA;
        fail_allocation_at = 1;
        const char* shown = fi_tostr(&caps, FI_TYPE_CAPS);
        fail_allocation_at = 0;
        text = shown;
    }).join();
    EXPECT_EQ(text, "FI_MSG, FI_RMA");
}

}  // namespace
