// What a child prints, kept within bounds.
//
// A thread of its own reads the pipe, so that a child never blocks on a full one, and drops what is over the
// bound, so that a child that prints without end costs neither memory nor disk.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace graft::referee {

class OutputCapture {
 public:
  // Keeps the first `max_bytes`.
  static Result<OutputCapture> start(size_t max_bytes);

  OutputCapture();
  OutputCapture(OutputCapture&&) noexcept;
  OutputCapture& operator=(OutputCapture&&) noexcept;
  ~OutputCapture();

  // The end for the child's stdout and stderr.
  int write_fd() const;
  // To be called once the child has its own copy of write_fd(), so that the pipe ends with the child.
  void close_write_end();
  // Ends the thread and returns what was read. What processes outside the child's group still hold back is
  // not waited for.
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace graft::referee
