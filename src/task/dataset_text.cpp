#include "task/dataset_text.h"

#include <charconv>

#include "base/check.h"
#include "task/rows.h"

namespace pushdown {
namespace {

constexpr RowFormat kDatasetFormat{"dataset.load", "# pushdown data set 1", "a dataset",
                                   "a logarithm"};

double parse_number(const std::string& place, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  check(error == std::errc() && end == text.data() + text.size(), kDatasetFormat.where,
        "{}: expected a logarithm or -, got '{}'", place, text);
  return value;
}

}  // namespace

std::string to_text(const Dataset& dataset) {
  auto text = rows_head(kDatasetFormat, dataset.alphabet());
  for (std::size_t i = 0; i < dataset.words().size(); ++i) {
    text += dataset.has_log_probabilities() ? fmt::format("{}", dataset.log_probabilities()[i])
                                            : std::string("-");
    if (dataset.computed(false)) text += fmt::format(" {}", dataset.log_probabilities(false)[i]);
    text.append(1, '\t').append(dataset.alphabet().text(dataset.words()[i])).append(1, '\n');
  }
  return text;
}

Dataset parse_dataset(std::string_view text, std::string_view file) {
  std::vector<double> log_probabilities, without_end;
  std::size_t rows = 0;
  auto [alphabet, words] =
      parse_rows(kDatasetFormat, text, file, [&](const std::string& place, std::string_view field) {
        ++rows;
        const auto blank = field.find(' ');
        if (field != "-") log_probabilities.push_back(parse_number(place, field.substr(0, blank)));
        if (blank != field.npos)
          without_end.push_back(parse_number(place, field.substr(blank + 1)));
        for (const auto* values : {&log_probabilities, &without_end})
          check(values->empty() || values->size() == rows, kDatasetFormat.where,
                "{}: some strings have a log-probability and others do not", place);
      });
  if (log_probabilities.empty()) return Dataset(std::move(alphabet), std::move(words));
  return Dataset(std::move(alphabet), std::move(words), std::move(log_probabilities),
                 std::move(without_end));
}

}  // namespace pushdown
