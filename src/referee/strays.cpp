#include "referee/strays.h"

#include <dirent.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace graft::referee {
namespace {

// A process that forks faster than it is killed ends here.
constexpr int kRounds = 1000;

std::mutex kept_mutex;
std::set<int>& kept_children() {
  static std::set<int> kept;
  return kept;
}

bool adopts_orphans() {
  int adopts = 0;
  return prctl(PR_GET_CHILD_SUBREAPER, &adopts) == 0 && adopts != 0;
}

// The parent in /proc/PID/stat: the second field behind the name, which stands in brackets and may hold any
// character.
int parent_of(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string text;
  if (!std::getline(file, text, '\0')) return -1;
  size_t bracket = text.rfind(')');
  if (bracket == std::string::npos || bracket + 4 >= text.size()) return -1;
  return std::atoi(text.c_str() + bracket + 4);
}

std::vector<int> children() {
  std::vector<int> found;
  DIR* folder = opendir("/proc");
  if (folder == nullptr) return found;
  int self = getpid();
  while (const dirent* entry = readdir(folder)) {
    std::string name = entry->d_name;
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (parent_of(name) == self) found.push_back(std::atoi(name.c_str()));
  }
  closedir(folder);
  return found;
}

}  // namespace

void adopt_orphans() {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

void keep_child(int pid) {
  std::lock_guard guard(kept_mutex);
  kept_children().insert(pid);
}

void forget_child(int pid) {
  std::lock_guard guard(kept_mutex);
  kept_children().erase(pid);
}

int kill_strays() {
  if (!adopts_orphans()) return 0;
  int killed = 0;
  for (int round = 0; round < kRounds; ++round) {
    bool any = false;
    for (int pid : children()) {
      {
        std::lock_guard guard(kept_mutex);
        if (kept_children().count(pid) != 0) continue;
      }
      any = true;
      kill(pid, SIGKILL);
      // Its own children come to this process now: the next round finds them.
      int status = 0;
      pid_t done;
      do done = waitpid(pid, &status, 0);
      while (done < 0 && errno == EINTR);
      killed += done == pid ? 1 : 0;
    }
    if (!any) break;
  }
  return killed;
}

}  // namespace graft::referee
