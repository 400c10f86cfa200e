#include "bench/log_reader.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bench/log_writer.h"
#include "golden.h"

namespace graft::bench {
namespace {

constexpr const char* kData = GRAFT_SOURCE_DIR "/tests/bench/data";

TEST(LogReader, FieldsOfALog) {
  auto log = parse_log(
      "early [Speedup][e2e]: 9\n"
      "P [Processing] some words /a/b\r\n"
      "P [Config] device: a GPU: 80 GB\n"
      "P [Config] two words: ignored\n"
      "P [Performance][eager]: {\"e2e\": {}}\n"
      "P [Datatype][eager]: float32  int64\n"
      "P [Datatype][compiled]: float32 int64\n"
      "P [DataType] eager:['float32'] compiled:['float32'] match:True\n"
      "P [Correctness][equal]: 1 0\n"
      "P [Correctness][max_diff]: nan 1e-05\n"
      "P [Correctness][all_close_atol_1.00E-10_rtol_1.69E-12]: 1 0\n"
      "P [Speedup][e2e]: 2.50000\n"
      "P [Speedup][e2e]: 3.50000\n",
      "dir/curve.v1.log");
  ASSERT_TRUE(log.ok()) << log.error().to_string();
  EXPECT_EQ(log->name, "curve.v1");
  ASSERT_EQ(log->samples.size(), 1U);
  const LogSample& sample = log->samples[0];
  EXPECT_EQ(sample.model_path, "/a/b");
  EXPECT_EQ(sample.place.line, 2);
  EXPECT_EQ(sample.status, GraphStatus::kCorrect);
  EXPECT_EQ(sample.config.at("device"), "a GPU: 80 GB");
  EXPECT_EQ(sample.config.size(), 1U);
  EXPECT_EQ(sample.performance.at("eager"), "{\"e2e\": {}}");
  EXPECT_EQ(sample.datatypes.at("eager"), (std::vector<std::string>{"float32", "int64"}));
  EXPECT_EQ(sample.correctness.at("[equal]"), (std::vector<double>{1, 0}));
  EXPECT_EQ(sample.correctness.at("[max_diff]")[1], 1e-05);
  EXPECT_EQ(sample.speedup.at("e2e"), 3.5);
}

TEST(LogReader, BadTextHasAPlace) {
  auto log = parse_log("[Processing] a\n[Speedup][e2e]: fast\n", "x.log");
  ASSERT_FALSE(log.ok());
  EXPECT_EQ(log.error().place.to_string(), "x.log:2");
  EXPECT_FALSE(parse_log("\xff", "x.log").ok());
  auto few = parse_log(
      "[Processing] a\n[Datatype][eager]: float32\n[Datatype][compiled]: float32\n[Correctness][equal]: 1 1\n"
      "all_close\n[DataType] match:True\n",
      "x.log");
  ASSERT_TRUE(few.ok());
  auto graphs = scored_graphs(*few);
  ASSERT_FALSE(graphs.ok());
  EXPECT_EQ(graphs.error().place.to_string(), "x.log:1");
}

TEST(LogReader, MixedLog) {
  auto logs = read_logs(std::string(kData) + "/mixed.log");
  ASSERT_TRUE(logs.ok()) << logs.error().to_string();
  auto graphs = scored_graphs(logs->front());
  ASSERT_TRUE(graphs.ok());
  ASSERT_EQ(graphs->size(), 4U);
  EXPECT_EQ((*graphs)[0].status, GraphStatus::kCorrect);
  EXPECT_TRUE((*graphs)[0].correct_at(-5));
  EXPECT_FALSE((*graphs)[0].correct_at(-6));
  EXPECT_EQ((*graphs)[1].status, GraphStatus::kCompileFail);
  EXPECT_EQ((*graphs)[2].status, GraphStatus::kRuntimeFail);
  EXPECT_EQ((*graphs)[3].status, GraphStatus::kEagerFail);
  auto scores = score(*graphs);
  ASSERT_TRUE(scores.ok());
  // Two of four at 2.0 and 0.1; then 2 * 1 * 1 * 0.1.
  EXPECT_NEAR(scores->at(-5).es, std::pow(2.0 * 0.001, 0.25), 1e-12);
  EXPECT_NEAR(scores->at(3).es, std::pow(0.2, 0.25), 1e-12);
}

TEST(LogReader, FoldersGiveACurveAFile) {
  auto logs = read_logs(kData);
  ASSERT_TRUE(logs.ok()) << logs.error().to_string();
  std::vector<std::string> names;
  for (const Log& log : *logs) names.push_back(log.name);
  EXPECT_EQ(names, (std::vector<std::string>{"mixed", "one"}));  // noise.txt has no sample
  EXPECT_FALSE(read_logs(std::string(kData) + "/absent.log").ok());
}

// ---- What the writer writes, the reader reads

LogGraph written(GraphStatus status) {
  LogGraph graph;
  graph.path = "graphs/a b";
  graph.model = "m [Speedup][e2e]: 99";
  graph.status = status;
  graph.failure = "RuntimeError: [Processing] all_close [Datatype][eager]: x\nsecond line";
  graph.eager_dtypes = {"float32", "int64"};
  return graph;
}

Statistics times(double median) {
  return summarize(std::vector<double>{median});
}

TEST(LogWriter, EveryStatusReadsBack) {
  std::string text;
  const GraphStatus statuses[] = {GraphStatus::kTypeMismatch, GraphStatus::kShapeMismatch,
                                  GraphStatus::kRuntimeFail,  GraphStatus::kCompileFail,
                                  GraphStatus::kEagerFail,    GraphStatus::kPassMiss};
  for (GraphStatus status : statuses) text += log_text(written(status));
  auto log = parse_log(text, "x.log");
  ASSERT_TRUE(log.ok()) << log.error().to_string();
  ASSERT_EQ(log->samples.size(), std::size(statuses));
  for (size_t i = 0; i < std::size(statuses); ++i) {
    EXPECT_EQ(status_name(log->samples[i].status), status_name(statuses[i]));
    EXPECT_TRUE(log->samples[i].speedup.empty());
    EXPECT_EQ(log->samples[i].model_path, "graphs/a_b");
  }
}

TEST(LogWriter, CorrectGraphReadsBackToTheSameScore) {
  const float eager[] = {1.0f, 2.0f, -3.0f};
  const float near[] = {1.0f, 2.00001f, -3.0f};
  const int64_t numbers[] = {1, 2};
  LogGraph graph = written(GraphStatus::kCorrect);
  graph.outputs = {compare_tensors(DType::kFloat32, eager, near, 3),
                   compare_tensors(DType::kInt64, numbers, numbers, 2)};
  graph.eager = LogTimes{times(3.0), times(2.0)};
  graph.compiled = LogTimes{times(7.0), times(1.0)};
  auto log = parse_log(log_text(graph), "x.log");
  ASSERT_TRUE(log.ok()) << log.error().to_string();
  auto graphs = scored_graphs(*log);
  ASSERT_TRUE(graphs.ok());
  ASSERT_EQ(graphs->size(), 1U);
  EXPECT_EQ((*graphs)[0].speedup, 0.42857);
  EXPECT_EQ((*graphs)[0].speedup, logged_speedup(graph));
  EXPECT_EQ(log->samples[0].speedup.at("gpu"), 2.0);
  int from = *graph.outputs[0].correct_from();
  for (int t = kStrictestLevel; t <= kLoosestLevel; ++t)
    EXPECT_EQ((*graphs)[0].correct_at(t), t >= from) << t;
  EXPECT_EQ(log->samples[0].correctness.size(), 64U - 3 + 3);  // at t = 0 all four columns share one key
  auto performance = Json::parse(log->samples[0].performance.at("compiled"));
  ASSERT_TRUE(performance.ok());
  EXPECT_EQ((*performance)["e2e"]["median"].as_double(), 7.0);
}

TEST(LogWriter, LinesHaveTheReferencesForm) {
  LogGraph graph = written(GraphStatus::kCorrect);
  graph.model = "m";
  graph.outputs = {Comparison()};
  graph.outputs[0].close_from.fill(kStrictestLevel);
  graph.eager_dtypes = {"float32"};
  std::string text = log_text(graph, "L");
  EXPECT_TRUE(text.starts_with("L [Processing] graphs/a_b\nL [Config] model: m\nL [Config] device: cpu\n"))
      << text;
  EXPECT_NE(text.find("L [Datatype][eager]: float32\nL [Datatype][compiled]: float32\n"
                      "L [DataType] eager:['float32'] compiled:['float32'] match:True\n"
                      "L [Correctness][equal]: 1\n"
                      "L [Correctness][all_close_atol_1.00E-10_rtol_1.00E-06]: 1\n"
                      "L [Correctness][all_close_atol_1.00E-10_rtol_2.56E-04]: 1\n"),
            std::string::npos)
      << text;
  EXPECT_NE(
      text.find(
          "L [Correctness][max_diff]: 0.0\nL [Correctness][mean_diff]: 0.0\nL [Result] status: success\n"),
      std::string::npos);
}

}  // namespace
}  // namespace graft::bench
