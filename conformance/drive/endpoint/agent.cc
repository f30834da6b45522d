// See agent.h.
#include "conformance/drive/endpoint/agent.h"

#include <rdma/fi_errno.h>

#include "conformance/case/case_text.h"
#include "conformance/drive/endpoint/commands.h"
#include "conformance/drive/endpoint/local_endpoint.h"
#include "conformance/drive/endpoint/record.h"

namespace selvage::conformance {
namespace {

// Libraries take a text, or a pointer to one, and tell the two apart by how the text of an address begins.
bool is_text_address(const std::string& address) {
    return address.starts_with("fi_") && address.find('\0') >= sizeof(char*) && address.back() == '\0';
}

class Agent {
public:
    Agent(const Library& library, int socket, unsigned char* memory, std::string own_address)
        : library_(library), socket_(socket), memory_(memory), own_address_(std::move(own_address)) {}

    void serve() {
        std::string record;
        RecordReader records(socket_);
        while (records.receive(record, -1)) {
            Writer reply;
            reply.put(kReply);
            Reader in(record);
            const auto command = static_cast<Command>(in.take<std::uint8_t>());
            if (!execute(command, in, reply)) return;
            if (command != Command::Push && !send_record(socket_, reply.bytes())) return;
        }
    }

private:
    // @return false: no driver says that.
    bool execute(Command command, Reader& in, Writer& reply) {
        switch (command) {
            case Command::Open:
                return open(in, reply);
            case Command::Connect:
                return connect(in, reply);
            case Command::PollConnection:
                return poll_connection(in, reply);
            case Command::Push:
                return push(in);
            case Command::Pull:
                return pull(in, reply);
            case Command::Close:
                if (endpoint_) endpoint_->close();
                ready_ = false;
                return in.done();
            case Command::Discard:
                discard();
                return in.done();
            default:
                return ready_ && use(command, in, reply);
        }
    }

    bool open(Reader& in, Writer& reply) {
        const bool listens = in.take<std::uint8_t>() != 0;
        CaseFile file;
        CaseError error;
        if (in.failed() || !parse_case(in.take_rest(), file, error) || file.shown.kind != Case::Kind::Traffic)
            return false;
        model::Query& query = file.shown.first;
        if (!own_address_.empty() && query.node && (query.flags & FI_SOURCE) != 0) query.node = own_address_;
        discard();
        Outcome outcome;
        domain_ = OpenedDomain::open(library_.entries(), file.shown, outcome);
        if (domain_) {
            endpoint_ = std::make_unique<LocalEndpoint>(domain_, memory_);
            outcome = endpoint_->open(listens);
            opened_ = outcome.ok();
        }
        put_outcome(reply, outcome);
        reply.put_text(endpoint_ ? endpoint_->address() : "").put(reinterpret_cast<std::uint64_t>(memory_));
        return true;
    }

    bool connect(Reader& in, Writer& reply) {
        std::string peer(in.take_rest());
        if (!opened_ || peer.size() > kAddressLength) return false;
        peer.resize(kAddressLength);
        if (domain_->info()->addr_format == FI_ADDR_STR && !is_text_address(peer)) return false;
        const Outcome outcome = endpoint_->connect(peer);
        ready_ = outcome.ok() && !domain_->connected();
        put_outcome(reply, outcome);
        return true;
    }

    bool poll_connection(Reader& in, Writer& reply) {
        if (!opened_ || !domain_->connected() || !in.done()) return false;
        const Outcome outcome = endpoint_->poll_connection();
        ready_ = outcome.ok();
        put_outcome(reply, outcome);
        return true;
    }

    // REQUIRES: ready_
    bool use(Command command, Reader& in, Writer& reply) {
        switch (command) {
            case Command::Cover: {
                const auto used = in.take<std::uint64_t>();
                if (used > kArenaLength) return false;
                put_outcome(reply, endpoint_->cover(used));
                break;
            }
            case Command::Region:
                put_region(reply, endpoint_->region(in.take<std::uint64_t>()));
                break;
            case Command::Post: {
                const auto call = take_call(in);
                if (!call) return false;
                reply.put(endpoint_->post(*call));
                break;
            }
            case Command::ValidCount: {
                const auto o = take_operation(in.take_rest());
                if (!o || !is_atomic(*o)) return false;
                reply.put(endpoint_->valid_count(*o));
                break;
            }
            case Command::Read: {
                const auto looks = in.take<std::uint8_t>();
                if (looks > kMostLooks) return false;
                read(looks, reply);
                break;
            }
            case Command::Counters:
                for (const std::uint64_t value : endpoint_->counters()) reply.put(value);
                break;
            default:
                return false;
        }
        return in.done();
    }

    void read(unsigned looks, Writer& reply) {
        endpoint_->read(looks, arrivals_);
        reply.put_text(arrivals_.trouble);
        for (const auto* const queue : {&arrivals_.received, &arrivals_.transmitted}) {
            reply.put(std::uint64_t{queue->size()});
            for (const QueueEntry& e : *queue) put_entry(reply, e);
        }
    }

    bool push(Reader& in) {
        const auto offset = in.take<std::uint64_t>();
        const std::string_view bytes = in.take_rest();
        if (in.failed() || !lies_within({offset, bytes.size()}, 0, kMemoryLength)) return false;
        std::memcpy(memory_ + offset, bytes.data(), bytes.size());
        return true;
    }

    bool pull(Reader& in, Writer& reply) {
        const auto offset = in.take<std::uint64_t>();
        const auto length = in.take<std::uint64_t>();
        if (!in.done() || !lies_within({offset, length}, 0, kMemoryLength)) return false;
        reply.put_text({reinterpret_cast<const char*>(memory_ + offset), length});
        return true;
    }

    void discard() {
        opened_ = ready_ = false;
        endpoint_.reset();
        domain_.reset();
    }

    const Library& library_;
    int socket_;
    unsigned char* memory_;
    const std::string own_address_;
    std::shared_ptr<OpenedDomain> domain_;
    std::unique_ptr<LocalEndpoint> endpoint_;
    Arrivals arrivals_;
    bool opened_ = false;  // its address is known
    bool ready_ = false;   // and it may be used
};

}  // namespace

void serve_endpoint(const Library& library, int socket, unsigned char* memory, const std::string& own_address) {
    Agent(library, socket, memory, own_address).serve();
}

}  // namespace selvage::conformance
