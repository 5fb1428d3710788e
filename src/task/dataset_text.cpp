#include "task/dataset_text.h"

#include <fmt/ranges.h>

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

Attachments parse_attachments(const std::string& place, std::string_view text) {
  Attachments attachments;
  const char* next = text.data();
  const char* const end = next + text.size();
  while (next < end) {
    int value = 0;
    const auto [after, error] = std::from_chars(next, end, value);
    check(error == std::errc() && (after == end || (*after == ',' && after + 1 < end)),
          kDatasetFormat.where, "{}: expected attachments such as 0,0,2 after @, got '{}'", place,
          text);
    attachments.push_back(value);
    next = after == end ? end : after + 1;
  }
  return attachments;
}

}  // namespace

std::string to_text(const Dataset& dataset) {
  auto text = rows_head(kDatasetFormat, dataset.alphabet());
  for (std::size_t i = 0; i < dataset.words().size(); ++i) {
    text += dataset.has_log_probabilities() ? fmt::format("{}", dataset.log_probabilities()[i])
                                            : std::string("-");
    if (dataset.computed(false)) text += fmt::format(" {}", dataset.log_probabilities(false)[i]);
    if (dataset.has_attachments())
      text += fmt::format("@{}", fmt::join(dataset.attachments()[i], ","));
    text.append(1, '\t').append(dataset.alphabet().text(dataset.words()[i])).append(1, '\n');
  }
  return text;
}

Dataset parse_dataset(std::string_view text, std::string_view file) {
  std::vector<double> log_probabilities, without_end;
  std::vector<Attachments> attachments;
  std::size_t rows = 0;
  auto [alphabet, words] =
      parse_rows(kDatasetFormat, text, file, [&](const std::string& place, std::string_view field) {
        ++rows;
        const auto at = field.find('@');
        if (at != field.npos) attachments.push_back(parse_attachments(place, field.substr(at + 1)));
        check(attachments.empty() || attachments.size() == rows, kDatasetFormat.where,
              "{}: some strings have a tree and others do not", place);
        field = field.substr(0, at);
        const auto blank = field.find(' ');
        if (field != "-") log_probabilities.push_back(parse_number(place, field.substr(0, blank)));
        if (blank != field.npos)
          without_end.push_back(parse_number(place, field.substr(blank + 1)));
        for (const auto* values : {&log_probabilities, &without_end})
          check(values->empty() || values->size() == rows, kDatasetFormat.where,
                "{}: some strings have a log-probability and others do not", place);
      });
  const Dataset strings = log_probabilities.empty()
                              ? Dataset(std::move(alphabet), std::move(words))
                              : Dataset(std::move(alphabet), std::move(words),
                                        std::move(log_probabilities), std::move(without_end));
  if (attachments.empty()) return strings;
  try {
    return strings.with_attachments(std::move(attachments));
  } catch (const std::invalid_argument& error) {
    fail(kDatasetFormat.where, "{}: {}", file, error.what());
  }
}

}  // namespace pushdown
