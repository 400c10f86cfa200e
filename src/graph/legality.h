// Whether replacing a match can change what the rest of the graph computes.
#pragma once

#include <optional>
#include <vector>

#include "graph/effects.h"
#include "graph/graph.h"
#include "graph/matcher.h"

namespace graft::graph {

// A replacement is one call right behind the last matched node. Refused are matches
//  * with an inner value that something outside uses (or a parameter that stands for an inner value),
//  * whose values leave the match and come back into it,
//  * which read something that is written, by a node outside, between that reading and the last matched node,
//  * which write to something that lives on outside and is read later,
//  * which return a view of something that is written later,
//  * which draw random numbers, or lie on both sides of a border of autocast or of the grad mode,
//  * for which nodes with effects would have to change their order.
// `effects` may be older than the graph: nodes made since count as fresh values without effects. nullptr:
// only the first two.
std::optional<Refusal> check_match(const Matcher& matcher, const Graph& graph, const EffectMap* effects,
                                   const Match& match);

}  // namespace graft::graph
