// The only translation unit that includes CLI11.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <new>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>

#include "base/log.h"
#include "base/utf8.h"
#include "base/version.h"
#include "cli/command.h"

namespace graft::cli {
namespace {

// Edits (insert, delete, replace, swap of neighbours) that turn a into b.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] =
          std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1] ? 1 : 0)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

std::string suggestion(const std::string& word, const std::vector<std::string>& known) {
  std::string best;
  size_t best_distance = word.size() / 3 + 2;
  for (const std::string& candidate : known) {
    size_t distance = edit_distance(word, candidate);
    if (distance < best_distance || (distance > 0 && candidate.starts_with(word) && word.size() >= 3)) {
      best = candidate;
      best_distance = std::min(distance, best_distance);
    }
  }
  return best.empty() ? "" : fmt::format("; did you mean '{}'?", best);
}

int usage_error(const std::string& message, const std::string& help) {
  fmt::print(stderr, "graft: {}\n{}\n", without_controls(message), help);
  return 2;
}

void add_option(CLI::App& app, const Option& option) {
  if (option.flag != nullptr) {
    app.add_flag(option.name, *option.flag, option.help);
    return;
  }
  CLI::Option* added = nullptr;
  if (option.text != nullptr) {
    added = app.add_option(option.name, *option.text, option.help);
  } else if (option.number != nullptr) {
    added = app.add_option(option.name, *option.number, option.help);
  } else if (option.real != nullptr) {
    added = app.add_option(option.name, *option.real, option.help);
  } else {
    added = app.add_option(option.name, *option.list, option.help);
    if (option.name.starts_with('-'))
      added->expected(1)->allow_extra_args(false)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
  if (option.required) added->required();
  if (!option.choices.empty()) {
    added->check([choices = option.choices](const std::string& text) {
      if (std::find(choices.begin(), choices.end(), text) != choices.end()) return std::string();
      return fmt::format("'{}' is not one of {}{}", text, fmt::join(choices, ", "),
                         suggestion(text, choices));
    });
  }
  if (option.number != nullptr || option.real != nullptr) {
    bool bounded_above = option.maximum < 1e17;
    std::string expected = option.minimum <= -1e17 ? std::string("a number")
                           : bounded_above
                               ? fmt::format("a number from {} to {}", option.minimum, option.maximum)
                               : fmt::format("a number of at least {}", option.minimum);
    added->check([low = option.minimum, high = option.maximum, expected](const std::string& text) {
      double value = std::strtod(text.c_str(), nullptr);  // whether it is a number is checked by the library
      return value >= low && value <= high ? std::string() : fmt::format("{} is not {}", text, expected);
    });
  }
  added->capture_default_str();
}

std::vector<std::string> words_of(const std::string& name) {
  size_t space = name.find(' ');
  if (space == std::string::npos) return {name};
  return {name.substr(0, space), name.substr(space + 1)};
}

struct Program {
  explicit Program(std::vector<Command>& table) : commands(table) {
    app.name("graft");
    app.require_subcommand(0);
    app.set_help_flag("-h,--help", "print this help");
    for (Command& command : commands) {
      CLI::App* sub = &app;
      std::string path;
      auto words = words_of(command.name);
      for (const std::string& word : words) {
        path += path.empty() ? word : " " + word;
        CLI::App*& known = apps[path];
        if (known == nullptr) {
          known = sub->add_subcommand(word);
          known->set_help_flag("-h,--help", "print this help");
          // So that --json, -q and -v also count behind the command.
          known->fallthrough();
        }
        sub = known;
      }
      sub->description(command.summary + (command.details.empty() ? "" : "\n" + command.details));
      for (const Option& option : command.options) add_option(*sub, option);
    }
    app.add_flag("--json", json, "print exactly one JSON document on stdout");
    app.add_flag("-q,--quiet", quiet, "no words on stderr but errors");
    app.add_flag("-v,--verbose", verbose, "more words on stderr");
    app.add_flag("--version", version, "print the version");
  }

  const Command* command(const std::string& name) const {
    for (const Command& candidate : commands)
      if (candidate.name == name) return &candidate;
    return nullptr;
  }

  std::vector<Command>& commands;
  CLI::App app{"Graft finds, proves and delivers faster code for PyTorch models."};
  std::map<std::string, CLI::App*> apps;  // by "bench run" and also by "bench"
  bool json = false, quiet = false, verbose = false, version = false;
};

// The options of a command, each with what it takes. Written here because the argument library's own form
// shows ranges such as "FLOAT in [0 - 1e+18]".
std::string command_help(const Command& command) {
  std::string usage = "usage: graft " + command.name + " [OPTIONS]";
  std::string positionals, options;
  auto line = [](const std::string& name, const std::string& help) {
    return name.size() <= 26 ? fmt::format("  {:<26}  {}\n", name, help)
                             : fmt::format("  {}\n  {:<26}  {}\n", name, "", help);
  };
  for (const Option& option : command.options) {
    std::string help = option.help, name = option.name, standard;
    if (!name.starts_with('-')) {
      std::string word = option.list != nullptr ? name + "..." : name;
      usage += " " + (option.required ? word : "[" + word + "]");
      positionals += line(word, help);
      continue;
    }
    if (!option.choices.empty()) {
      name += fmt::format(" {}", fmt::join(option.choices, "|"));
    } else if (option.flag == nullptr) {
      name += option.number != nullptr ? " N" : option.real != nullptr ? " X" : " TEXT";
    }
    if (option.text != nullptr) standard = *option.text;
    if (option.number != nullptr) standard = fmt::format("{}", *option.number);
    if (option.real != nullptr) standard = fmt::format("{:g}", *option.real);
    if (option.required) help += " (required)";
    if (!standard.empty()) help += fmt::format(" [{}]", standard);
    options += line(name, help);
  }
  for (const auto& [name, help] : std::initializer_list<std::pair<const char*, const char*>>{
           {"--json", "print exactly one JSON document on stdout"},
           {"-q,--quiet", "no words on stderr but errors"},
           {"-v,--verbose", "more words on stderr"},
           {"-h,--help", "print this help"}})
    options += line(name, help);
  std::string text = usage + "\n\n" + command.summary + "\n";
  if (!command.details.empty()) text += "\n" + command.details + "\n";
  if (!positionals.empty()) text += "\n" + positionals;
  return text + "\noptions:\n" + options;
}

std::string overview(const std::vector<Command>& commands) {
  std::string text =
      "Graft finds, proves and delivers faster code for PyTorch models.\n\n"
      "usage: graft [--json] [-q|-v] COMMAND [OPTIONS]\n\ncommands:\n";
  for (const Command& command : commands) text += fmt::format("  {:<16} {}\n", command.name, command.summary);
  text += "  help COMMAND     the options of a command\n\n`graft --version` prints the version.";
  return text;
}

// The option names a command knows, for suggestions.
std::vector<std::string> option_names(const Command* command) {
  std::vector<std::string> names = {"--json", "--quiet", "--verbose", "--help", "--version"};
  if (command == nullptr) return names;
  for (const Option& option : command->options) {
    size_t at = option.name.find("--");
    if (at != std::string::npos) names.push_back(option.name.substr(at));
  }
  return names;
}

// Libraries below may still throw where memory ends or stdout cannot be written.
Result<int> run_guarded(const Command& command, const Context& context) {
  try {
    return command.run(context);
  } catch (const std::bad_alloc&) {
    return missing_error("the memory is not enough", "free memory or take smaller inputs");
  } catch (const std::length_error&) {
    return missing_error("the memory is not enough", "free memory or take smaller inputs");
  } catch (const std::system_error& error) {
    return input_error(error.what());
  } catch (const std::exception& error) {
    return fault(error.what());
  }
}

}  // namespace

void print_json(const Json& document) {
  std::string text = document.dump(2) + "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
}

int run_program(int argc, char** argv, std::vector<Command> commands) {
  Program program(commands);
  std::vector<std::string> words(argv + 1, argv + argc);

  // The command is the first one or two words that are not options: needed before parsing, for help and
  // suggestions.
  std::vector<std::string> plain;
  for (const std::string& word : words) {
    if (word == "--") break;
    if (!word.starts_with('-')) plain.push_back(word);
  }
  bool help = !plain.empty() && plain[0] == "help";
  if (help) plain.erase(plain.begin());
  std::string one = plain.empty() ? "" : plain[0];
  std::string two = plain.size() < 2 ? one : one + " " + plain[1];
  const Command* command = program.command(two) != nullptr ? program.command(two) : program.command(one);
  bool group = command == nullptr && program.apps.count(one) != 0;

  if (!one.empty() && command == nullptr) {
    std::vector<std::string> known;
    std::string typed = group ? two : one;
    for (const Command& candidate : commands) {
      if (group && !candidate.name.starts_with(one + " ")) continue;
      known.push_back(candidate.name);
      if (!group) known.push_back(words_of(candidate.name)[0]);
    }
    if (group && plain.size() < 2) {
      std::string text = fmt::format("commands of '{}':\n", one);
      for (const std::string& name : known)
        text += fmt::format("  {:<16} {}\n", name, program.command(name)->summary);
      if (help || std::find(words.begin(), words.end(), "--help") != words.end()) {
        fmt::print("{}", text);
        return 0;
      }
      return usage_error(fmt::format("'{}' needs a second word", one), text);
    }
    // Only the second word counts where the first is right: "bench nope" is not nearly "bench score".
    std::string near;
    if (group) {
      std::vector<std::string> seconds;
      for (const std::string& name : known) seconds.push_back(name.substr(one.size() + 1));
      near = suggestion(plain[1], seconds);
      size_t quote = near.find('\'');
      if (quote != std::string::npos) near.insert(quote + 1, one + " ");
    } else {
      near = suggestion(typed, known);
    }
    return usage_error(
        fmt::format("no command '{}'{}", typed, near),
        group ? fmt::format("`graft help {}` lists its commands", one) : "`graft help` lists the commands");
  }
  if (help) {
    fmt::print("{}\n", command == nullptr ? overview(commands) : command_help(*command));
    return 0;
  }

  std::string next_step = command == nullptr
                              ? "`graft help` lists the commands"
                              : fmt::format("`graft help {}` lists the options", command->name);
  try {
    std::vector<std::string> reversed(words.rbegin(), words.rend());
    program.app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}\n", command == nullptr ? overview(commands) : command_help(*command));
    return 0;
  } catch (const CLI::ParseError& error) {
    for (const std::string& word : words) {
      std::string name = word.substr(0, word.find('='));
      auto known = option_names(command);
      if (name.starts_with("--") && name.size() > 2 &&
          std::find(known.begin(), known.end(), name) == known.end())
        return usage_error(fmt::format("no option '{}'{}", name, suggestion(name, known)), next_step);
    }
    return usage_error(error.what(), next_step);
  }
  if (program.version) {
    fmt::print("graft {}\n", kVersion);
    return 0;
  }
  if (command == nullptr) return usage_error("no command given", overview(commands));
  set_verbosity(program.quiet     ? Verbosity::kQuiet
                : program.verbose ? Verbosity::kVerbose
                                  : Verbosity::kNormal);

  Result<int> result = run_guarded(*command, Context{program.json});
  end_progress();
  // A full disk or a closed pipe must not pass for an answer.
  if (result.ok() && (std::fflush(stdout) != 0 || std::ferror(stdout) != 0))
    result = os_error("write", "stdout", errno);
  if (result.ok()) return *result;
  fmt::print(stderr, "graft: {}\n", without_controls(result.error().to_string()));
  return exit_code(result.error().kind);
}

}  // namespace graft::cli
