// What the three recurrent cells share: options, layers, and parameters with the names and the
// initialisation that LibTorch users know.
#pragma once
#include "controller/controller.h"

namespace pushdown {

// hidden, layers.
std::vector<OptionSpec> cell_options();

// The four parameters of one layer, each U(-0.1, 0.1) (Dusell and Chiang 2020, section 5.5: all but
// the fully connected layers). `gates` rows of size hidden each:
//   weight_ih_l{k} : gates*H x I     weight_hh_l{k} : gates*H x H
//   bias_ih_l{k}, bias_hh_l{k} : gates*H
struct CellLayer {
  Tensor weight_ih, weight_hh, bias_ih, bias_hh;
};

std::vector<CellLayer> make_cell_layers(std::int64_t gates, const Json& options,
                                        const ModuleContext& context, ParameterList& parameters);

}  // namespace pushdown
