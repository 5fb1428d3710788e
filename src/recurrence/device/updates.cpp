#include "recurrence/device/updates.h"

#include <numeric>

#include "base/check.h"
#include "recurrence/device/run.h"

namespace pushdown {
namespace {

// The summands of the gradients of P numbers, by number.
class Summands {
 public:
  explicit Summands(std::int64_t count) : count_(count) {}

  // Number i of a source belongs to the gradient of number `place`.
  void add(std::int64_t place, std::int32_t source, std::int64_t i) {
    found_.push_back({place, {source, static_cast<std::int32_t>(i)}});
  }
  // Parameters with a summand are trained as a whole.
  void complete(const std::vector<std::pair<std::int64_t, std::int64_t>>& parameters) {
    std::vector<char> has(count_);
    for (const auto& [place, summand] : found_) has[place] = 1;
    for (const auto& [first, size] : parameters) {
      const auto begin = has.begin() + first, end = begin + size;
      if (std::find(begin, end, 1) == end) continue;
      for (auto place = begin; place != end; ++place)
        if (*place == 0) add(place - has.begin(), DeviceSummand::kNone, 0);
    }
  }
  // Those of each number in the order in which they were added.
  void sort(std::vector<std::int32_t>& starts, std::vector<DeviceSummand>& sorted) const {
    starts.assign(count_ + 1, 0);
    for (const auto& [place, summand] : found_) ++starts[place + 1];
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    std::vector<std::int32_t> next = starts;
    sorted.resize(found_.size());
    for (const auto& [place, summand] : found_) sorted[next[place]++] = summand;
  }

 private:
  std::int64_t count_;
  std::vector<std::pair<std::int64_t, DeviceSummand>> found_;
};

// Where a part of a parameter is among the P numbers.
std::int64_t first_of(const StepPlan::Part& part) {
  return part.parameter.storage_offset() + part.offset;
}

template <class F>
class UpdatesOfModels final : public DeviceUpdates {
 public:
  UpdatesOfModels(UpdateForm form, DevicePtr device)
      : form_(std::move(form)),
        plan_(*form_.plans.front()),
        program_(*plan_.program()),
        device_(std::move(device)),
        options_(form_.rows.options()) {
    check_form();
    update_.models = form_.rows.size(0);
    update_.count = form_.rows.size(1);
    update_.batch = form_.batch;
    update_.steps = form_.steps;
    update_.outcomes = form_.weight.size(0);
    update_.hidden = form_.weight.size(1);
    update_.weight = form_.weight.storage_offset();
    update_.bias = form_.bias.storage_offset();
    update_.parameters = form_.rows.template data_ptr<F>();
    reserve_batch();
    make_run();
    copy_numbers();
    sum_gradients();
  }

  std::vector<DeviceUpdateSums> differentiate(const UpdateBatch& batch) override {
    const at::DeviceGuard guard(options_.device());
    void* const stream = device_->stream();
    send(batch);
    device_update(update_, DeviceUpdatePart::begin, stream);
    run_->forward();
    device_update(update_, DeviceUpdatePart::outputs, stream);
    run_->backward(update_.slopes);
    device_update(update_, DeviceUpdatePart::gradients, stream);
    // This is the only synchronisation with the device.
    sums_here_.copy_(sums_);
    const auto* sums = sums_of(sums_here_);
    return {sums, sums + update_.models};
  }

  void step(const OptimizerMethod& method, const std::vector<Tensor>& slots,
            const std::vector<DeviceStepMember>& members) override {
    const auto slot = [&](std::size_t j) {
      return j < slots.size() ? slots[j].template data_ptr<F>() : nullptr;
    };
    std::memcpy(members_here_.data_ptr(), members.data(), members.size() * sizeof(members[0]));
    members_.copy_(members_here_, true);
    DeviceOptimizerStep<F> step;
    step.method = method;
    step.count = update_.count;
    step.starts = update_.starts;
    step.parameters = form_.rows.template data_ptr<F>();
    step.gradients = update_.gradients;
    step.first = slot(0);
    step.second = slot(1);
    step.members = reinterpret_cast<const DeviceStepMember*>(members_.data_ptr());
    step.member_count = std::ssize(members);
    const at::DeviceGuard guard(options_.device());
    device_optimizer_step(step, device_->stream());
  }

  Tensor log_probabilities() const override {
    return run_->view(update_.likelihoods, {update_.models, update_.batch, update_.steps + 1})
        .sum(2);
  }
  Tensor gradients() const override {
    return run_->view(update_.gradients, {update_.models, update_.count});
  }

 private:
  std::int64_t sequences() const { return update_.models * update_.batch; }
  // The places of a batch's numbers in one tensor of 64-bit words.
  std::int64_t lengths_place() const { return sequences() * update_.steps; }
  std::int64_t last_place() const { return lengths_place() + sequences(); }
  std::int64_t shares_place() const { return last_place() + sequences(); }
  static DeviceUpdateSums* sums_of(const Tensor& sums) {
    return reinterpret_cast<DeviceUpdateSums*>(sums.data_ptr());
  }

  void check_form() const {
    constexpr auto kWhere = "device";
    for (const StepPlanPtr& plan : form_.plans)
      check(same_program(plan_, *plan), kWhere, "the networks must be of one form");
    check(std::ssize(form_.plans) == form_.rows.size(0) && form_.rows.is_contiguous() &&
              form_.rows.storage_offset() == 0,
          kWhere, "there must be {} rows of parameters, got {}", form_.plans.size(),
          shape_text(form_.rows));
    const auto check_place = [&](const Tensor& tensor) {
      check(tensor.storage().is_alias_of(form_.rows.storage()) && tensor.is_contiguous() &&
                tensor.storage_offset() + tensor.numel() <= form_.rows.size(1),
            kWhere, "a parameter of the first model is not in the first row");
    };
    for (const auto& [name, parameter] : plan_.parameters()) check_place(parameter);
    check_place(form_.weight);
    check_place(form_.bias);
  }

  void reserve_batch() {
    constexpr std::int64_t kWordsOfMember = sizeof(DeviceStepMember) / sizeof(std::int64_t);
    const auto words = options_.dtype(at::kLong), here = words.device(at::kCPU);
    batch_here_ = at::zeros({shares_place() + update_.models}, here);
    batch_ = at::empty_like(batch_here_, words);
    members_here_ = at::zeros({update_.models, kWordsOfMember}, here);
    members_ = at::empty_like(members_here_, words);
    sums_here_ = at::zeros({update_.models, 2}, here.dtype(at::kDouble));
    sums_ = at::empty_like(sums_here_, words.dtype(at::kDouble));
    squares_ = at::empty({update_.models, device_update_blocks(update_.count)}, sums_.options());
    const auto* all = batch_.template data_ptr<std::int64_t>();
    update_.symbols = all;
    update_.lengths = all + lengths_place();
    update_.last = all + last_place();
    update_.shares = reinterpret_cast<const double*>(all + shares_place());
    update_.sums = sums_of(sums_);
    update_.squares = squares_.template data_ptr<double>();
  }

  // Copies a batch to the device.
  void send(const UpdateBatch& batch) {
    const auto models = update_.models, most = update_.batch, steps = update_.steps;
    check(std::ssize(batch.words) == models && std::ssize(batch.shares) == models, "device",
          "expected strings of {} models, got {}", models, batch.words.size());
    auto* symbols = batch_here_.template data_ptr<std::int64_t>();
    auto *lengths = symbols + lengths_place(), *last = symbols + last_place();
    std::memcpy(symbols + shares_place(), batch.shares.data(), sizeof(double) * models);
    for (std::int64_t m = 0; m < models; ++m) {
      const Tensor own = batch.words[m].cpu().contiguous();
      const auto size = own.size(1),
                 length = batch.end ? size : std::max<std::int64_t>(size - 1, 0);
      check(own.size(0) <= most && length <= steps, "device",
            "{} strings of {} steps do not fit into {} of {}", own.size(0), length, most, steps);
      const auto* from = own.template data_ptr<std::int64_t>();
      for (std::int64_t b = 0; b < most; ++b, symbols += steps, ++lengths, ++last) {
        *lengths = 0;
        *last = -1;
        if (b >= own.size(0)) continue;
        std::copy_n(from + b * size, length, symbols);
        *lengths = length;
        if (batch.end)
          *last = *batch.end;
        else if (size > 0)
          *last = from[b * size + length];
      }
    }
    batch_.copy_(batch_here_, true);
  }

  // Decides where the step program finds its numbers.
  void make_run() {
    DevicePass run;
    run.program = plan_.program();
    run.models = update_.models;
    run.batch = update_.batch;
    run.steps = update_.steps;
    run.gradients = true;
    run.symbols = batch_.narrow(0, 0, lengths_place());
    run.lengths = batch_.narrow(0, lengths_place(), sequences());
    run.sequences.resize(program_.nodes.size());
    run.initial.resize(program_.nodes.size());
    run.numbers.all = form_.rows;
    std::int64_t computed = 0;
    const auto take = [&](std::int64_t count) { return std::exchange(computed, computed + count); };
    for (const StepPlan::Part& part : plan_.matrices()) {
      const bool by_rows = part.strides[1] == 1 || part.sizes[1] == 1;
      if (by_rows)
        run.numbers.matrices.push_back({first_of(part), part.strides[0], part.trained});
      else
        run.numbers.matrices.push_back(
            {take(part.sizes[0] * part.sizes[1]), part.sizes[1], part.trained, true});
    }
    run.numbers.given.resize(program_.nodes.size());
    for (std::size_t n = 0; n < program_.nodes.size(); ++n) {
      if (!program_.given[n].defined()) continue;
      const StepPlan::Part& part = plan_.given()[n];
      const bool in_place = part.parameter.defined() && !program_.nodes[n].logistic &&
                            (part.strides[0] == 1 || part.sizes[0] == 1);
      if (in_place)
        run.numbers.given[n] = {first_of(part), 0, part.trained};
      else
        run.numbers.given[n] = {take(program_.nodes[n].size), 0, part.trained, true};
    }
    run.numbers.computed = computed;
    numbers_ = run.numbers;
    const auto positions = sequences() * (update_.steps + 1), scores = positions * update_.outcomes,
               slopes = sequences() * update_.steps * update_.hidden;
    run.more = positions + scores + slopes + update_.models * update_.count;
    run_.emplace(std::move(run), device_);
    update_.likelihoods = run_->more();
    update_.scores = update_.likelihoods + positions;
    update_.slopes = update_.scores + scores;
    update_.gradients = update_.slopes + slopes;
    const auto& output = run_->place(program_.output);
    update_.hiddens = output.value + (1 + output.shift) * output.step;
    update_.hidden_model = output.model;
    update_.hidden_row = output.row;
    update_.hidden_step = output.step;
  }

  // Numbers that are computed from parameters, and what the steps begin with.
  void copy_numbers() {
    std::vector<DeviceCopy<F>> copies;
    F* rows = form_.rows.template data_ptr<F>();
    const auto of_parameter = [&](const StepPlan::Part& part) {
      DeviceCopy<F> copy;
      copy.from = rows + first_of(part);
      copy.from_model = update_.count;
      return copy;
    };
    const auto keep = [&](Tensor numbers) {
      return kept_.emplace_back(std::move(numbers)).template data_ptr<F>();
    };
    for (std::size_t k = 0; k < plan_.matrices().size(); ++k) {
      if (!numbers_.matrices[k].computed) continue;
      const StepPlan::Part& part = plan_.matrices()[k];
      DeviceCopy<F> copy = of_parameter(part);
      copy.rows = part.sizes[0];
      copy.columns = part.sizes[1];
      copy.from_row = part.strides[0];
      copy.from_column = part.strides[1];
      copy.to = run_->computed() + numbers_.matrices[k].first;
      copy.to_model = numbers_.computed;
      copies.push_back(copy);
    }
    for (std::size_t n = 0; n < program_.nodes.size(); ++n) {
      const auto size = program_.nodes[n].size;
      if (numbers_.given[n].computed) {
        const StepPlan::Part& part = plan_.given()[n];
        DeviceCopy<F> copy;
        if (part.parameter.defined()) {
          copy = of_parameter(part);
          copy.from_column = part.strides[0];
        } else {
          std::vector<Tensor> all;
          for (const StepPlanPtr& plan : form_.plans)
            all.push_back(plan->program()->given[n].detach());
          copy.from = keep(at::stack(all));
          copy.from_model = size;
          copy.from_column = 1;
        }
        copy.columns = size;
        copy.logistic = program_.nodes[n].logistic;
        copy.to = run_->computed() + numbers_.given[n].first;
        copy.to_model = numbers_.computed;
        copies.push_back(copy);
      }
      if (!program_.initial[n].defined()) continue;
      const StepPlan::Part& part = plan_.initial()[n];
      DeviceCopy<F> copy;
      if (part.parameter.defined()) {
        copy = of_parameter(part);
        copy.from_sequence = part.strides[0];
        copy.from_column = part.strides[1];
      } else {
        copy.from = keep(program_.initial[n].detach().contiguous());
        copy.from_sequence = size;
        copy.from_column = 1;
      }
      const auto& place = run_->place(static_cast<int>(n));
      copy.columns = size;
      copy.to = place.value;
      copy.to_model = place.model;
      copy.to_sequence = place.row;
      copies.push_back(copy);
    }
    DeviceTables tables;
    const auto place = tables.put(copies);
    kept_.push_back(tables.uploaded(options_.device()));
    update_.copies = DeviceTables::view<DeviceCopy<F>>(kept_.back(), place);
    update_.copy_count = std::ssize(copies);
  }

  // The summands of all gradients, in the order of the program.
  void sum_gradients() {
    Summands summands(update_.count);
    const DeviceSteps<F>& steps = run_->steps();
    std::vector<DeviceGradientSource<F>> sources{
        {steps.sequence_gradients, steps.batch * steps.parameters, steps.parameters, steps.batch}};
    const auto new_source = [&](const DeviceGradientSource<F>& source) {
      sources.push_back(source);
      return static_cast<std::int32_t>(sources.size() - 1);
    };
    for (std::size_t k = 0; k < plan_.matrices().size(); ++k) {
      const StepPlan::Part& part = plan_.matrices()[k];
      const auto gradient = run_->matrix(k).gradient;
      if (!part.trained || gradient < 0) continue;
      for (std::int64_t i = 0; i < part.sizes[0] * part.sizes[1]; ++i) {
        const auto row = i / part.sizes[1], column = i % part.sizes[1];
        summands.add(first_of(part) + row * part.strides[0] + column * part.strides[1], 0,
                     gradient + i);
      }
    }
    for (std::size_t n = 0; n < program_.nodes.size(); ++n) {
      const auto size = program_.nodes[n].size;
      const auto add = [&](const StepPlan::Part& part, std::size_t axis, std::int32_t source,
                           std::int64_t first) {
        for (std::int64_t i = 0; i < size; ++i)
          summands.add(first_of(part) + i * part.strides[axis], source, first + i);
      };
      const auto& place = run_->place(static_cast<int>(n));
      if (const StepPlan::Part& part = plan_.given()[n]; part.trained) {
        const auto gradient = run_->constant(n);
        if (!program_.nodes[n].logistic) {
          add(part, 0, 0, gradient);
        } else {
          DeviceGradientSource<F> source = sources[0];
          source.numbers += gradient;
          source.logistic = place.value;
          source.logistic_model = place.model;
          add(part, 0, new_source(source), 0);
        }
      }
      if (const StepPlan::Part& part = plan_.initial()[n]; part.trained)
        add(part, 1,
            new_source({place.gradient, place.gradient_model, place.gradient_row, update_.batch}),
            0);
    }
    const auto of_outputs = [&](const Tensor& tensor, std::int32_t source) {
      for (std::int64_t i = 0; tensor.requires_grad() && i < tensor.numel(); ++i)
        summands.add(tensor.storage_offset() + i, source, i);
    };
    of_outputs(form_.weight, DeviceSummand::kWeight);
    of_outputs(form_.bias, DeviceSummand::kBias);
    std::vector<std::pair<std::int64_t, std::int64_t>> parameters;
    for (const auto& [name, parameter] : plan_.parameters())
      parameters.emplace_back(parameter.storage_offset(), parameter.numel());
    summands.complete(parameters);

    std::vector<std::int32_t> starts;
    std::vector<DeviceSummand> sorted;
    summands.sort(starts, sorted);
    DeviceTables tables;
    const auto of_starts = tables.put(starts), of_sorted = tables.put(sorted),
               of_sources = tables.put(sources);
    const Tensor& all = kept_.emplace_back(tables.uploaded(options_.device()));
    update_.starts = DeviceTables::view<std::int32_t>(all, of_starts);
    update_.summands = DeviceTables::view<DeviceSummand>(all, of_sorted);
    update_.sources = DeviceTables::view<DeviceGradientSource<F>>(all, of_sources);
  }

  UpdateForm form_;
  const StepPlan& plan_;  // of the first model
  const TracedProgram& program_;
  DevicePtr device_;
  at::TensorOptions options_;
  DeviceNumbers numbers_;
  DeviceUpdate<F> update_;
  std::optional<DeviceRun<F>> run_;
  Tensor batch_, members_, sums_, squares_, batch_here_, members_here_, sums_here_;
  std::vector<Tensor> kept_;  // tables and constants that the device reads
};

}  // namespace

std::unique_ptr<DeviceUpdates> device_updates(UpdateForm form, DevicePtr device) {
  check(!form.plans.empty() && form.batch >= 1 && form.steps >= 1, "device",
        "there must be a model, a string and a step");
  if (form.rows.scalar_type() == at::kFloat)
    return std::make_unique<UpdatesOfModels<float>>(std::move(form), std::move(device));
  return std::make_unique<UpdatesOfModels<double>>(std::move(form), std::move(device));
}

}  // namespace pushdown
