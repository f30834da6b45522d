#include "conformance/suite/lives.h"
namespace selvage::conformance {
namespace {
class None final : public Property {
    std::string_view name() const override { return "none"; }
    std::string_view about() const override { return ""; }
    std::uint64_t count(const Plan&) const override { return 0; }
    void prepare(Lab&) override {}
    bool make(Lab&, std::uint64_t, Case&) override { return false; }
};
}
std::unique_ptr<Property> make_openings() { return std::make_unique<None>(); }
std::unique_ptr<Property> make_lives() { return std::make_unique<None>(); }
}
