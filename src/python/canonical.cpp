#include "python/canonical.h"

#include <charconv>
#include <type_traits>
#include <vector>

#include "base/hash.h"
#include "python/repr.h"

namespace graft::python {
namespace {

constexpr size_t kFlushBytes = size_t{1} << 16;

// Walks the tree on a stack of its own. A frame remembers the field, and the element of a list field, to go
// on with; children that are leaves (most nodes) are written without a frame.
class Writer {
 public:
  Writer(int minor, TextSink* sink) : minor_(minor), sink_(sink) {}

  Status write(const Node& root) {
    child(root, Mode::kNode);
    while (!stack_.empty() && error_.ok()) {
      if (sink_ != nullptr && out_.size() >= kFlushBytes) flush();
      step();
    }
    flush();
    return std::move(error_);
  }

  std::string take() { return std::move(out_); }

 private:
  enum class Mode : uint8_t {
    kNode,
    kFormatSpec,  // a JoinedStr that is the format_spec of a field
    kClose,       // the end of a wrapper of 3.8: one parenthesis
    kDimensions,  // a Tuple that 3.8 has as an ExtSlice
  };
  struct Frame {
    const Node* node;
    uint32_t element;
    uint16_t field;
    Mode mode;
    bool any;  // a field has been written
  };

  void flush() {
    if (sink_ == nullptr) return;
    sink_->write(out_);
    out_.clear();
  }

  void step() {
    Frame& frame = stack_.back();
    if (frame.mode == Mode::kClose) {
      out_ += ')';
      stack_.pop_back();
      return;
    }
    if (frame.mode == Mode::kDimensions) {
      dimensions(frame);
      return;
    }
    uint16_t index = 0;
    bool suspended = false;
    dispatch(*frame.node, [&](const auto& node) {
      node.fields([&](const char* name, const auto& value) {
        if (suspended || index++ < frame.field) return;
        suspended = field(frame, static_cast<uint16_t>(index - 1), name, value);
      });
    });
    if (suspended) return;
    out_ += ')';
    stack_.pop_back();
  }

  void name_of_field(Frame& frame, const char* name) {
    if (frame.any) out_ += ',';
    frame.any = true;
    out_ += name;
    out_ += '=';
  }

  // Writes one field. True when a child was pushed that has to be written before going on; `frame` is invalid
  // then.
  template <class T>
  bool field(Frame& frame, uint16_t index, const char* name, const T& value) {
    if constexpr (std::is_pointer_v<T>) {
      if (value == nullptr) return false;
      name_of_field(frame, name);
      frame.field = static_cast<uint16_t>(index + 1);
      if (minor_ == 8 && frame.node->kind == NodeKind::kSubscript && index == 1)
        return subscript_of_3_8(*value);
      return child(*value, frame.node->kind == NodeKind::kFormattedValue && index == 2 ? Mode::kFormatSpec
                                                                                       : Mode::kNode);
    } else if constexpr (std::is_same_v<T, Identifier>) {
      if (!present(value)) return false;
      name_of_field(frame, name);
      append_str_repr(out_, value, minor_);
    } else if constexpr (std::is_same_v<T, int>) {
      name_of_field(frame, name);
      out_ += std::to_string(value);
    } else if constexpr (std::is_same_v<T, ConstantValue>) {
      if (value.is(ConstantType::kNone)) return false;
      name_of_field(frame, name);
      constant(value);
    } else if constexpr (std::is_enum_v<T>) {
      name_of_field(frame, name);
      out_ += class_name(value);
      out_ += "()";
    } else {
      return list(frame, index, name, value);
    }
    return false;
  }

  template <class T>
  bool list(Frame& frame, uint16_t index, const char* name, const T& values) {
    if (values.empty()) return false;
    if (frame.element == 0) {
      name_of_field(frame, name);
      out_ += '[';
    }
    for (uint32_t i = frame.element; i < values.size(); ++i) {
      if (i != 0) out_ += ',';
      using Element = std::decay_t<decltype(values[i])>;
      if constexpr (std::is_same_v<Element, Identifier>) {
        append_str_repr(out_, values[i], minor_);
      } else if constexpr (std::is_enum_v<Element>) {
        out_ += class_name(values[i]);
        out_ += "()";
      } else if (values[i] == nullptr) {
        out_ += "None";
      } else {
        frame.field = index;
        frame.element = i + 1;
        if (child(*values[i], Mode::kNode)) return true;
      }
    }
    if constexpr (std::is_same_v<T, Nodes<Expr>>) {
      if (minor_ == 12 && frame.mode == Mode::kFormatSpec && values.back()->kind == NodeKind::kFormattedValue)
        out_ += ",Constant(value='')";
    }
    out_ += ']';
    frame.element = 0;
    return false;
  }

  // True when the node was pushed, false when it is written.
  bool child(const Node& node, Mode mode) {
    out_ += class_name(node.kind);
    out_ += '(';
    switch (node.kind) {
      case NodeKind::kName: {
        const Name& name = as<Name>(node);
        out_ += "id=";
        append_str_repr(out_, name.id, minor_);
        out_ += ",ctx=";
        out_ += class_name(name.ctx);
        out_ += "())";
        return false;
      }
      case NodeKind::kConstant: {
        const Constant& leaf = as<Constant>(node);
        if (!leaf.value.is(ConstantType::kNone)) {
          out_ += "value=";
          constant(leaf.value);
          if (leaf.u_prefix) out_ += ",kind='u'";
        }
        out_ += ')';
        return false;
      }
      default:
        stack_.push_back({&node, 0, 0, mode, false});
        return true;
    }
  }

  // In 3.8 every subscript is an Index, a Slice or, for a tuple with a slice in it, an ExtSlice.
  bool subscript_of_3_8(const Node& slice) {
    if (slice.kind == NodeKind::kSlice) return child(slice, Mode::kNode);
    if (const auto* tuple = node_cast<Tuple>(&slice)) {
      for (const Expr* element : tuple->elts) {
        if (element->kind != NodeKind::kSlice) continue;
        out_ += "ExtSlice(dims=[";
        stack_.push_back({&slice, 0, 0, Mode::kDimensions, false});
        return true;
      }
    }
    return index_of_3_8(slice);
  }

  bool index_of_3_8(const Node& value) {
    out_ += "Index(value=";
    stack_.push_back({nullptr, 0, 0, Mode::kClose, false});
    child(value, Mode::kNode);
    return true;
  }

  void dimensions(Frame& frame) {
    const Tuple& tuple = as<Tuple>(*frame.node);
    if (frame.element == tuple.elts.size()) {
      out_ += "])";
      stack_.pop_back();
      return;
    }
    if (frame.element != 0) out_ += ',';
    const Expr& element = *tuple.elts[frame.element++];
    if (element.kind == NodeKind::kSlice)
      child(element, Mode::kNode);
    else
      index_of_3_8(element);
  }

  void constant(const ConstantValue& value) {
    switch (value.type()) {
      case ConstantType::kNone:
        out_ += "None";
        break;
      case ConstantType::kTrue:
        out_ += "True";
        break;
      case ConstantType::kFalse:
        out_ += "False";
        break;
      case ConstantType::kEllipsis:
        out_ += "Ellipsis";
        break;
      case ConstantType::kInt: {
        char digits[24];
        auto [end, status] = std::to_chars(digits, digits + sizeof digits, value.integer());
        out_.append(digits, end);
        break;
      }
      case ConstantType::kBigInt:
        if (!append_int_repr(out_, value.text()))
          error_ = input_error("an int of more than 4300 decimal digits has no text in Python");
        break;
      case ConstantType::kFloat:
        append_float_repr(out_, value.number());
        break;
      case ConstantType::kComplex:
        append_imaginary_repr(out_, value.number());
        break;
      case ConstantType::kStr:
        append_str_repr(out_, value.text(), minor_);
        break;
      case ConstantType::kBytes:
        append_bytes_repr(out_, value.text());
        break;
    }
  }

  int minor_;
  TextSink* sink_;
  std::string out_;
  std::vector<Frame> stack_;
  Status error_;
};

class HashSink : public TextSink {
 public:
  void write(std::string_view piece) override { hash.update(piece); }
  Sha256 hash;
};

}  // namespace

int minor_version(Profile profile) {
  return profile == Profile::kDefault ? 11 : static_cast<int>(profile);
}

Status write_canonical(const Node& node, Profile profile, TextSink& sink) {
  return Writer(minor_version(profile), &sink).write(node);
}

Result<std::string> canonical_text(const Node& node, Profile profile) {
  Writer writer(minor_version(profile), nullptr);
  GRAFT_RETURN_IF_ERROR(writer.write(node));
  return writer.take();
}

Result<std::string> ast_hash(const Node& node, Profile profile) {
  HashSink sink;
  GRAFT_RETURN_IF_ERROR(write_canonical(node, profile, sink));
  return "ast-v1:" + sink.hash.hex();
}

}  // namespace graft::python
