// The common part of all models as Lua objects.
#pragma once
#include <variant>

#include "base/check.h"
#include "bindings/binder/bind.h"
#include "bindings/binder/options.h"
#include "bindings/binder/path.h"
#include "bindings/grammar/alphabet.h"
#include "bindings/model/classes.h"
#include "bindings/tensor/classes.h"
#include "recurrence/device/program.h"
#include "recurrence/program/step_plan.h"
#include "recurrence/program/step_text.h"
#include "stack/stack.h"

namespace pushdown {

enum class ProgramFormat { text, dot, cuda };

// The options of functions that write a recorded program.
struct ProgramOptions {
  std::int64_t steps = 10;
  ProgramFormat format = ProgramFormat::text;
  static OptionRows rows();
};

std::string written_program(const char* where, const TracedProgram& program, std::int64_t steps,
                            ProgramFormat format);
// Writes the program of the plan that make(batch, steps) returns. `where` is the prefix of
// messages.
template <class Make>
std::string program_text(const char* where, const ProgramOptions& options, const Make& make) {
  const StepPlanPtr plan = make(options.steps);
  check(plan != nullptr, where, "there is no recorded program: it runs by tensor operations");
  return written_program(where, *plan->program(), options.steps, options.format);
}

// Greatest length of a string that a model writes.
constexpr double kLongestString = 1e7;

// The ids of a string : 1 x n
Tensor word_tensor(const Word& word);
Tensor word_tensor(const SequenceModel& model, const Tokens& tokens);

// The options of a network, which depend on its architecture.
std::vector<OptionGroup> option_groups(std::vector<OptionSpec> (*specs)(const std::string&));

// The options of a new model. `specs` are those that depend on its architecture.
template <auto Specs>
struct NewModel {
  GivenAlphabet alphabet;
  Json rest;
  static OptionRows rows() {
    return declare<NewModel>(
               {{"alphabet", &NewModel::alphabet, "symbols of the strings", required}})
        .open(&NewModel::rest, "architecture", [](lua_State*) { return option_groups(Specs); });
  }
};
// Returns the options, completed with the session's device and a seed if these are absent.
Json with_session(lua_State* L, Json options);

struct ParameterOptions {
  LuaOption rename;
  bool strict = true;
  std::optional<std::string> source;
  static OptionRows rows();
};
// Copies values (tensors, or nested lists of numbers) by name into parameters, all of them or none.
void set_parameters_of(const SequenceModel& model, Any values);
// Copies the tensors of a file, or of a table by name, into parameters; see load_parameters().
std::map<std::string, std::vector<std::string>> load_parameters_of(lua_State* L,
                                                                   const SequenceModel& model,
                                                                   Any source,
                                                                   ParameterOptions options);
void save_model(const SequenceModel& model, const std::string& path);
void export_model_to(lua_State* L, const SequenceModel& model, const std::string& folder);
// Pushes the strengths of the string that the network reads, words : 1 x n, with its symbols. These
// are the given ones, or are looked up by number; '<end>' stands for numbers outside the alphabet.
Results push_strengths(lua_State* L, const SequenceModel& model, const Tensor& words,
                       std::vector<std::string> symbols = {});
// The recorded step of the model's network.
std::string model_program(const SequenceModel& model, const ProgramOptions& options);
// "Recognizer: lstm controller, ..., float32"
std::string line_of_model(const SequenceModel& model, const char* name);
// The lines of help about the options of a model.
std::string describe_model_options(std::string text, const std::vector<OptionSpec>& specs);
std::string option_lines(const std::vector<OptionSpec>& specs);

template <class Model>
void bind_sequence_model(Class<Model>& type) {
  type.template def<&Model::parameters>(
          "model:parameters() -> table  Returns the trainable tensors by name. They are the "
          "model's own tensors, not copies.")
      .template def<[](const Model& model, Any values) { set_parameters_of(model, values); }>(
          "model:set_parameters{name = tensor, ...}  Copies tensors or lists of numbers into the "
          "named parameters and converts them to their dtype. The other parameters do not change.")
      .template def<[](lua_State* L, const Model& model, Any source,
                       const ParameterOptions& options) {
        return load_parameters_of(L, model, source, options);
      }>("model:load_parameters(tensors, {options}) -> table  Copies the tensors of a .safetensors "
         "or .npz file, or of a table by name, into the parameters of the same names. Returns "
         "lists of the names matched, missing and left_over. Changes nothing if there is an error.")
      .template def<[](const Model& model, const PathText& path) { save_model(model, path); }>(
          "model:save(path)  Writes a .safetensors file with the parameters and the description of "
          "the model, which pd.model.load reads.")
      .template def<[](lua_State* L, const Model& model, const PathText& folder) {
        export_model_to(L, model, folder);
      }>("model:export(folder)  Writes a folder for other programs: model.safetensors with the "
         "parameters, model.json with all options and the alphabet, and run_model.py, which runs "
         "recurrent language models with NumPy. pd.model.load reads the folder.")
      .template def<&Model::parameter_count>(
          "model:parameter_count() -> integer  Returns the number of trainable parameters.")
      .template def<[](const Model& model, const ProgramOptions& options) {
        return model_program(model, options);
      }>("model:program{options} -> string  Returns the recorded program of one step: its "
         "operations, with their sizes and their multiply-adds in a sequence.")
      .template def<&Model::alphabet>(
          "model:alphabet() -> Alphabet  Returns the symbols of the model.")
      .template def<&Model::options>(
          "model:options() -> table  Returns all options, with the defaults filled in.")
      .template def<[](const Model& model) { return line_of_model(model, kClassName<Model>); }>(
          "tostring(model) -> string  Returns one line about the model.");
}

}  // namespace pushdown
