#include "referee/result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"

namespace graft::referee {
namespace {

using testing::HasSubstr;

GraphResult graph(Verdict verdict, double speedup, std::optional<int> from = -6) {
  GraphResult result;
  result.name = "graphs/g";
  result.path = "/samples/s/graphs/g";
  result.matched = verdict != Verdict::kNoMatch;
  result.verdict = verdict;
  result.status = is_right(verdict)            ? bench::GraphStatus::kCorrect
                  : verdict == Verdict::kWrong ? bench::GraphStatus::kAccuracy
                                               : bench::GraphStatus::kPassMiss;
  if (speedup > 0) {
    Measurement times;
    times.eager_ms = {speedup, speedup};
    times.pass_ms = {1, 1};
    times.eager = bench::summarize(times.eager_ms);
    times.pass = bench::summarize(times.pass_ms);
    times.speedup = speedup;
    times.interval = {speedup * 0.9, speedup * 1.1};
    result.times = times;
    result.correct_from = from;
    OutputResult output;
    output.eager = {"float32", true, {1}, {}, {}, {}};
    output.pass = output.eager;
    const float eager = 1, pass = 1;
    output.compared = bench::compare_tensors(bench::DType::kFloat32, &eager, &pass, 1);
    result.outputs.push_back(output);
  }
  return result;
}

SampleResult sample(std::vector<GraphResult> graphs) {
  SampleResult result;
  result.name = "s";
  result.path = "/samples/s";
  result.graphs = std::move(graphs);
  Status status = result.settle();
  EXPECT_TRUE(status.ok()) << status.error().to_string();
  return result;
}

TEST(ResultTest, TheWorstGraphNamesTheSample) {
  EXPECT_EQ(sample({graph(Verdict::kFaster, 2), graph(Verdict::kWrong, 2, std::nullopt)}).verdict,
            Verdict::kWrong);
  EXPECT_EQ(sample({graph(Verdict::kNoMatch, 0), graph(Verdict::kCrashed, 0)}).verdict, Verdict::kCrashed);
  EXPECT_EQ(sample({graph(Verdict::kFaster, 2), graph(Verdict::kNoMatch, 0)}).verdict, Verdict::kNoMatch);
  EXPECT_FALSE(sample({graph(Verdict::kFaster, 2), graph(Verdict::kNoMatch, 0)}).matched);
}

TEST(ResultTest, SpeedOfSeveralGraphsIsTheirGeometricMean) {
  SampleResult faster = sample({graph(Verdict::kFaster, 4), graph(Verdict::kSlower, 0.5)});
  EXPECT_EQ(faster.verdict, Verdict::kFaster);
  EXPECT_NEAR(*faster.speedup, std::sqrt(2.0), 1e-12);
  EXPECT_EQ(sample({graph(Verdict::kFaster, 1.5), graph(Verdict::kSlower, 0.5)}).verdict, Verdict::kSlower);
}

TEST(ResultTest, NoisyOnlyWhereTheIntervalIncludesOne) {
  GraphResult noisy = graph(Verdict::kNoisy, 1.05);
  noisy.times->noisy = true;
  EXPECT_EQ(sample({noisy}).verdict, Verdict::kNoisy);
  GraphResult clear = graph(Verdict::kFaster, 2);
  clear.times->noisy = true;
  EXPECT_EQ(sample({clear}).verdict, Verdict::kFaster);
}

TEST(ResultTest, JsonHasTheKeysOthersRelyOn) {
  SampleResult done = sample({graph(Verdict::kFaster, 2)});
  done.folder = "/out/s";
  Json json = to_json(RunInfo{}, {done}, false);
  EXPECT_EQ(json.members()[0].first, "schema");
  const Json& entry = json["samples"].items()[0];
  for (const char* key : {"name", "verdict", "matched", "graphs", "es", "score", "files"})
    EXPECT_NE(entry.find(key), nullptr) << key;
  const Json& first = entry["graphs"].items()[0];
  for (const char* key : {"name", "status", "correct_from", "speedup", "eager_ms", "pass_ms", "noisy"})
    EXPECT_NE(first.find(key), nullptr) << key;
  EXPECT_EQ(first["speedup"]["e2e"].as_double(), 2);
  EXPECT_TRUE(first["speedup"]["gpu"].is_null());
  EXPECT_EQ(entry["es"].members().front().first, "-10");
}

TEST(ResultTest, FilesAreWrittenBesideOneAnother) {
  auto folder = TemporaryDirectory::create("result");
  ASSERT_TRUE(folder.ok());
  SampleResult done = sample({graph(Verdict::kFaster, 2), graph(Verdict::kNoMatch, 0)});
  done.folder = join_path(folder->path(), "s");
  done.graphs[0].rewritten = "class GraphModule: ...\n";
  ASSERT_TRUE(write_sample_files(done, RunInfo{}, 3).ok());
  auto score = read_file(done.folder + "/aggregated_score.json");
  ASSERT_TRUE(score.ok());
  auto parsed = Json::parse(*score);
  EXPECT_EQ((*parsed)["id"].as_int(), 3);
  EXPECT_NEAR((*parsed)["score"].as_double(), *done.scores->aggregated, 1e-15);
  EXPECT_TRUE(is_regular_file(done.folder + "/result.json"));
  EXPECT_TRUE(is_regular_file(done.folder + "/validation.log"));
  EXPECT_TRUE(is_regular_file(done.folder + "/graph_0/model.py"));
  EXPECT_FALSE(is_regular_file(done.folder + "/graph_1/model.py"));
}

TEST(ResultTest, TheTableNamesEverySampleAndGraph) {
  SampleResult one = sample({graph(Verdict::kFaster, 2)});
  SampleResult two = sample({graph(Verdict::kFaster, 2), graph(Verdict::kWrong, 2, std::nullopt)});
  std::string text = table({one, two});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5);  // head, one, two with its two graphs
  EXPECT_THAT(text, HasSubstr("2.00x [1.80, 2.20]"));
  EXPECT_EQ(conclusion({one, two}, "/out"), "1 of 2 samples right (1 faster, 1 wrong); files in /out");
}

TEST(ResultTest, AnOutputLeftUntouchedIsNeverCorrect) {
  GraphResult result = graph(Verdict::kFaster, 2);
  OutputResult output = result.outputs[0];
  ASSERT_EQ(output.correct_from(), bench::kStrictestLevel);
  output.written = false;
  EXPECT_EQ(output.correct_from(), std::nullopt);
}

TEST(VerdictTest, NamesAndOrder) {
  EXPECT_EQ(verdict_name(Verdict::kTimedOut), "timed_out");
  EXPECT_TRUE(is_right(Verdict::kNoisy));
  EXPECT_FALSE(is_right(Verdict::kNoMatch));
  EXPECT_EQ(speed_verdict(1.2, 1.1, 1.3, true), Verdict::kFaster);
  EXPECT_EQ(speed_verdict(1.2, 0.9, 1.3, true), Verdict::kNoisy);
  EXPECT_EQ(speed_verdict(1.2, 0.9, 1.3, false), Verdict::kFaster);
  EXPECT_EQ(speed_verdict(0.9, 0.8, 0.95, false), Verdict::kSlower);
}

}  // namespace
}  // namespace graft::referee
