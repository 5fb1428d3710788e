// Model files: the description of a model, its parameters, and the Lua definitions that it needs.
#pragma once
#include "base/atomic_file.h"
#include "base/origin.h"
#include "model/kinds.h"
#include "model/sequence_model.h"
#include "train/records/safetensors.h"

namespace pushdown {

// Loads the model from a safetensors file that training wrote, from an exported folder, or from a
// run folder (weights of the best epoch or of the last update). `device` replaces the recorded one
// unless empty. Throws std::runtime_error if a script must define parts of the model first.
SequenceModelPtr load_model(const Path& file_or_folder, const std::string& which = "best",
                            const std::string& device = "",
                            const Kinds& kinds = registered_kinds());
// Converts a model to {kind, alphabet, reading: of its texts, if it is known, options, definitions:
// where scripts defined parts of it} and back.
Json describe_model(const SequenceModel& model);
SequenceModelPtr model_from_description(const Json& description, const std::string& device = "",
                                        const Kinds& kinds = registered_kinds());
// Returns the path at which a run folder keeps the script of a definition.
Path definition_file(const Path& folder, const Origin& origin);
// Returns {registry, kind, file, line} for each.
Json describe_origins(const std::vector<OriginPtr>& origins);
// Returns the metadata of a file with the model's parameters: format, model (its description) and
// not_trained (the names of the parameters that do not require a gradient).
std::map<std::string, std::string> model_metadata(const SequenceModel& model,
                                                  const std::string& format);
// Copies the file's tensors with the names of parameters and buffers into the model. Each parameter
// must be present with the right shape. Floating-point numbers are converted to the model's type.
// Parameters require a gradient as the metadata say; files without the entry leave it as it is.
void set_parameters(SequenceModel& model, const TensorFile& file, const std::string& file_name);

// Throws std::invalid_argument, which starts with `place` and names the parameter, if a number is
// not finite: load_model() refuses such parameters.
void check_finite(const char* place, const std::string& name, const Tensor& values);
// Returns the model with its description and its buffers in the form that load_model() reads.
// `place`: of the messages about parameters that are not finite.
TensorFile model_file(const SequenceModel& model, const char* place);
// Writes a folder that other programs can read: model.safetensors, and model.json with the
// description. An existing folder must be empty or contain an exported model, which is replaced.
void export_model(const SequenceModel& model, const Path& folder);

// The model's parameters that were found among the tensors, those that were not, and the tensors
// that belong to no parameter.
struct ParameterReport {
  std::vector<std::string> matched, missing, left_over;
};
// Copies tensors to the parameters of the same names, converted to the model's number type;
// messages name their file `source`. `strict`: every parameter must be matched and every tensor
// used. Shapes must be equal and all numbers finite. On any error, the model is unchanged.
ParameterReport load_parameters(const SequenceModel& model, const ParameterList& tensors,
                                const std::string& source, bool strict);

// Returns the definitions in a description of a model or of a run.
Json definitions_of(const Json& description);
// Throws std::runtime_error if a description needs parts that scripts must define first. `known`:
// the names in each registry; `place`: the run folder with copies of the scripts, if there is one.
void check_defined(const std::string& file, const Json& definitions, const Path& place,
                   const std::vector<std::pair<std::string, std::vector<std::string>>>& known);

// The checkpoints of a run folder.
Path last_file(const Path& folder);
Path best_file(const Path& folder);
Path initial_file(const Path& folder);

}  // namespace pushdown
