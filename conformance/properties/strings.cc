// Strings: every datatype, every word, unknown values, whole offers, and buffers of every interesting length.
#include "conformance/properties/strings.h"

#include <rdma/fabric.h>

#include <array>

#include "conformance/drive/probe.h"
#include "conformance/generate/queries.h"
#include "conformance/generate/values.h"

namespace selvage::conformance {
namespace {

using namespace model;

constexpr std::array kStructures = {FI_TYPE_INFO,    FI_TYPE_TX_ATTR,     FI_TYPE_RX_ATTR,
                                    FI_TYPE_EP_ATTR, FI_TYPE_DOMAIN_ATTR, FI_TYPE_FABRIC_ATTR};
constexpr std::array<std::uint64_t, 14> kLengths = {65536, 0, 1, 2, 3, 7, 8, 16, 31, 64, 100, 255, 1000, 4096};
constexpr std::uint64_t kRandomInfos = 60;

class Strings final : public Property {
public:
    [[nodiscard]] std::string_view name() const override { return "strings"; }
    [[nodiscard]] std::string_view about() const override {
        return "fi_tostr and fi_tostr_r: every type, value and buffer length";
    }
    [[nodiscard]] std::uint64_t count(const Plan&) const override { return 3600; }

    void prepare(TestContext& context) override {
        probes_.clear();
        add_numbers();
        add_structures(context);
        add_odd();
    }

    bool make(TestContext&, std::uint64_t index, Case& out) override {
        if (index >= probes_.size()) return false;
        out = {};
        out.kind = Case::Kind::Text;
        out.string = probes_[index];
        return true;
    }

private:
    void add(StringProbe p) { probes_.push_back(std::move(p)); }

    // Whole, and by fi_tostr; then cut at lengths that depend on the value, so that all are met.
    void add_with_lengths(StringProbe p, std::size_t lengths) {
        p.length = kLengths.front();
        p.reentrant = false;
        add(p);
        p.reentrant = true;
        for (std::size_t i = 0; i < lengths; ++i) {
            p.length = kLengths[i == 0 ? 0 : 1 + (turn_ + i) % (kLengths.size() - 1)];
            add(p);
        }
        ++turn_;
    }

    void add_numbers() {
        for (std::uint64_t type = 0; type <= FI_TYPE_LOG_SUBSYS; ++type) {
            const Family family = printed_family(type);
            if (family == Family::none) continue;
            add_with_lengths({.datatype = type, .value = 0, .info = {}}, 3);
            std::uint64_t largest = 0;
            for (const auto& w : words(family)) {
                add_with_lengths({.datatype = type, .value = w.value, .info = {}}, 2);
                largest = std::max(largest, w.value);
            }
            if (is_bits(family)) {
                for (const auto v : {all_bits(family), ~all_bits(family), ~std::uint64_t{0}}) {
                    add_with_lengths({.datatype = type, .value = v, .info = {}}, kLengths.size());
                }
            } else {
                for (const auto v :
                     {largest + 1, std::uint64_t{0x7FFFFFFF}, std::uint64_t{0xFFFFFFFF}, std::uint64_t{0x80000001}}) {
                    add_with_lengths({.datatype = type, .value = v, .info = {}}, 4);
                }
            }
        }
    }

    void add_structures(TestContext& context) {
        const Profile& profile = context.profile(context.version());
        std::vector<Info> infos;
        for (const auto& e : profile.entries) infos.push_back(e.offer);
        if (infos.size() > 6) infos.resize(6);
        const auto all = choices(profile);
        for (std::uint64_t i = 0; i < kRandomInfos; ++i) {
            Rng rng(context.plan().seed, "strings", i);
            const Query q = random_query(profile, all, rng);
            if (q.hints) infos.push_back(*q.hints);
        }
        Info empty;
        empty.present = kAllParts;
        infos.push_back(empty);
        infos.push_back({});
        Info opened = empty;
        for (const auto& row : number_fields())
            if (row.form == Form::Object) set(opened, row.field, kForeign);
        infos.push_back(opened);
        for (std::size_t i = 0; i < infos.size(); ++i) {
            for (const auto type : kStructures) {
                // The first few in every length, the others whole and in two more.
                add_with_lengths({.datatype = static_cast<std::uint64_t>(type), .value = 0, .info = infos[i]},
                                 i < 3 ? kLengths.size() : 3);
                if (i < 3)
                    add_around({.datatype = static_cast<std::uint64_t>(type), .value = 0, .info = infos[i]}, context);
            }
        }
        for (const std::uint64_t type : {FI_TYPE_CAPS, FI_TYPE_MODE, FI_TYPE_OP_FLAGS, FI_TYPE_EP_TYPE})
            add_around({.datatype = type, .value = 2, .info = {}}, context);
    }

    // Buffers that the text just fits, and one byte less and more.
    void add_around(StringProbe p, TestContext& context) {
        const std::size_t length = text_length(context, p);
        if (length == 0) return;
        for (const std::size_t room : {length, length + 1, length + 2}) {
            p.length = room;
            add(p);
        }
    }

    void add_odd() {
        add({.datatype = FI_TYPE_VERSION, .value = 0, .info = {}, .length = 64, .reentrant = true, .data_null = true});
        add({.datatype = FI_TYPE_VERSION, .value = 0, .info = {}, .length = 64, .reentrant = false, .data_null = true});
        add_with_lengths({.datatype = FI_TYPE_VERSION, .value = 0, .info = {}}, kLengths.size());
        for (const std::uint64_t unknown :
             {FI_TYPE_LOG_SUBSYS + kLaterDatatypes, std::uint64_t{1000}, std::uint64_t{0x7FFFFFFF}}) {
            add_with_lengths({.datatype = unknown, .value = 0, .info = {}}, 4);
        }
        add_with_lengths({.datatype = FI_TYPE_FID, .value = 0, .info = {}}, 3);
        for (const std::uint64_t type :
             {std::uint64_t{FI_TYPE_CAPS}, std::uint64_t{FI_TYPE_MODE}, std::uint64_t{FI_TYPE_MSG_ORDER}}) {
            add({.datatype = type,
                 .value = ~std::uint64_t{0},
                 .info = {},
                 .length = 4096,
                 .reentrant = true,
                 .concurrent = true});
        }
    }

    std::vector<StringProbe> probes_;
    std::size_t turn_ = 0;
};

}  // namespace

std::unique_ptr<Property> make_strings() { return std::make_unique<Strings>(); }

}  // namespace selvage::conformance
