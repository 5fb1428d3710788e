// Models in files: their description, their parameters, and the definitions in Lua that they need.
#pragma once
#include "base/atomic_file.h"
#include "base/origin.h"
#include "model/kinds.h"
#include "model/sequence_model.h"
#include "train/safetensors.h"

namespace pushdown {

// The model in a safetensors file that training wrote, in an exported folder, or in a run folder
// (the best epoch's or the last update's weights). `device` replaces the recorded one unless empty.
// std::runtime_error where a script must define parts of the model first.
SequenceModelPtr load_model(const Path& file_or_folder, const std::string& which = "best",
                            const std::string& device = "",
                            const Kinds& kinds = registered_kinds());
// {kind, alphabet, options, definitions: where scripts defined parts of it} and back.
Json describe_model(const SequenceModel& model);
SequenceModelPtr model_from_description(const Json& description, const std::string& device = "",
                                        const Kinds& kinds = registered_kinds());
// Where a run folder keeps the script of a definition.
Path definition_file(const Path& folder, const Origin& origin);
// {registry, kind, file, line} of each.
Json describe_origins(const std::vector<OriginPtr>& origins);
// Copies the file's tensors of the parameters' and buffers' names into the model; each parameter
// must be there and have the right shape. Floating-point numbers are converted to the model's type.
void set_parameters(SequenceModel& model, const TensorFile& file, const std::string& file_name);

// The model with its description and its buffers, as load_model() reads it.
TensorFile model_file(const SequenceModel& model);
// Writes a folder that other programs can read: model.safetensors, and model.json with the
// description. A folder that is there must be empty or hold an exported model, which is replaced.
void export_model(const SequenceModel& model, const Path& folder);

// Which of the model's parameters were among the tensors, which were not, and which tensors belong
// to no parameter.
struct ParameterReport {
  std::vector<std::string> matched, missing, left_over;
};
// Copies tensors into the parameters of the same names, converted to the model's number type;
// `source` names their file in messages. `strict`: every parameter must be matched and every tensor
// used. Shapes must be equal and all numbers finite. The model stays as it is if anything is wrong.
ParameterReport load_parameters(const SequenceModel& model, const ParameterList& tensors,
                                const std::string& source, bool strict);

// The definitions in a description of a model or of a run.
Json definitions_of(const Json& description);
// Refuses a description whose parts scripts have to define first: std::runtime_error. `known`: the
// names in each registry; `place`: the run folder where copies of the scripts are, if there is one.
void check_defined(const std::string& file, const Json& definitions, const Path& place,
                   const std::vector<std::pair<std::string, std::vector<std::string>>>& known);

// The checkpoints of a run folder.
Path last_file(const Path& folder);
Path best_file(const Path& folder);
Path initial_file(const Path& folder);

}  // namespace pushdown
