// Runs one case against the library in this process (a child) and lets the model judge what was seen.
#pragma once

#include <vector>

#include "conformance/base/child.h"
#include "conformance/case/case.h"
#include "conformance/drive/test_context.h"
#include "model/judge/judge.h"

namespace selvage::conformance {

struct LeftPair;  // transfer/worker.h

/// Notes in `side-effects` how the child that did the act ended.
void note_ending(model::SideEffects& side_effects, const Ending& ending);

/// Runs a case of any kind.  Links with `supporting` set explain the broken link before them.
void probe(TestContext& context, const Case& c, model::Tally& tally, std::vector<model::Because>& broken);

// One per kind; probe() chooses.
void probe_call(TestContext& context, const Case& c, model::Tally& tally, std::vector<model::Because>& broken);
void probe_pair(TestContext& context, const Case& c, model::Tally& tally, std::vector<model::Because>& broken);
void probe_side_effects(TestContext& context, const Case& c, model::Tally& tally, std::vector<model::Because>& broken);
void probe_life(TestContext& context, const Case& c, model::Tally& tally, std::vector<model::Because>& broken);
void probe_text(TestContext& context, const Case& c, model::Tally& tally, std::vector<model::Because>& broken);
void probe_traffic(TestContext& context, const Case& c, model::Tally& tally, std::vector<model::Because>& broken);
void probe_group(TestContext& context, const Case& c, model::Tally& tally, std::vector<model::Because>& broken);

/// How many bytes, its NUL not among them, fi_tostr_r writes for a probe where there is room; 0 if it cannot tell.
std::size_t text_length(TestContext& context, const StringProbe& p);

/// Judges the crash of a process that closed a pair of endpoints between two exchanges.
void judge_left(TestContext& context, const LeftPair& left, model::Tally& tally, std::vector<model::Because>& broken);

/// Judges one asked query: its answer, and its side_effects.
void judge_issued(TestContext& context, const model::Query& query, const Issued& issued, model::Tally& tally,
                  std::vector<model::Because>& broken);

}  // namespace selvage::conformance
