// What can be done in a state: each action on objects that the playground offers, as a line of a case file and as C.
#pragma once

#include <string>
#include <vector>

#include "model/lifecycle/step.h"

namespace selvage::model::playground {

struct Move {
    Step step;         ///< without a result
    int on = 0;        ///< the object under which it is listed; 0: none
    std::string line;  ///< "cq3 = open cq domain2"
    std::string call;  ///< "fi_cq_open(domain2)"
};

/// How case files call an object: "domain2".
std::string object_name(const Object& object);
/// The word of case files for a class of objects: "domain".
std::string_view class_word(ObjectClass kind);

/// Every move, in the order of the objects.  @param offer with which all objects are opened.
/// The moves refer to both arguments.
std::vector<Move> moves(const Lifetime& life, const Info& offer);

}  // namespace selvage::model::playground
