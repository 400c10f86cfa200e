// Processes that a pass started and that left its process group: found and killed, so that nothing of a pass
// outlives its evaluation or runs while another one is timed.
#pragma once

namespace graft::referee {

// Makes this process the parent of every orphan below it. For programs whose only children are workers: from
// then on kill_strays() takes any other child for a stray.
void adopt_orphans();

// Marks a child as one of ours, or as ended.
void keep_child(int pid);
void forget_child(int pid);

// Kills every child that is not kept, and the children they leave behind. Returns how many; 0 at once where
// adopt_orphans() was not called.
int kill_strays();

}  // namespace graft::referee
