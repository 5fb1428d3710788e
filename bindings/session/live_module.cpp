// pd._live: the live view for the searches and grids of the library.
#include "bindings/binder/bind.h"
#include "bindings/binder/options.h"
#include "bindings/binder/script_call.h"
#include "bindings/session/live.h"
#include "bindings/session/log.h"

namespace pushdown {
namespace {

Results live_during(lua_State* L, const std::string& title, Any action) {
  bool done = false;
  {
    const LiveScope scope(true, true, title);
    lua_pushvalue(L, action.index);
    done = try_lua(L, 0, 0);
    if (done) LiveView::of_process().finish();
  }
  if (!done) lua_error(L);
  return {0};
}

LiveRow::State live_state(const std::string& name) {
  if (name == "left out") return LiveRow::State::left_out;
  if (name == "failed") return LiveRow::State::failed;
  if (name == "finished") return LiveRow::State::finished;
  return LiveRow::State::running;
}

void live_show(const Json& given) {
  LiveState state;
  state.title = given.value("title", std::string());
  if (given.contains("fraction")) state.fraction = given["fraction"].get<double>();
  if (given.contains("seconds_left")) state.seconds_left = given["seconds_left"].get<double>();
  for (const Json& row : given.value("rows", Json::array())) {
    LiveRow& one = state.rows.emplace_back();
    one.name = row.value("name", std::string());
    one.epoch = row.value("epoch", std::int64_t{0});
    one.epochs = row.value("epochs", std::int64_t{0});
    one.best = row.value("best", std::string());
    one.value = row.value("value", one.value);
    one.note = row.value("note", std::string());
    one.state = live_state(row.value("state", std::string()));
  }
  auto& view = LiveView::of_process();
  view.show(std::move(state));
  if (given.value("ended", false)) view.draw();
}

void live_leave(const std::string& name, const std::string& note) {
  LiveView::of_process().change(name, [&](LiveRow& row) {
    row.state = LiveRow::State::left_out;
    row.note = note;
  });
}

void live_tell(const std::string& text) {
  auto& view = LiveView::of_process();
  log_to_files("info", text);
  if (view.style() == LiveView::Style::plain) view.say(text);
}

}  // namespace

void bind_live(lua_State* L) {
  Module(L, "_live", "The live view of trainings on stderr.")
      .def<&live_during>(
          "during(title, action)  Calls action() with one live view for all trainings in it. The "
          "title is left out of the names of its rows.")
      .def<&live_show>(
          "show(state)  Shows title, fraction (of the work), seconds_left and rows, each with "
          "name, epoch, epochs, best, value, note and state; at once if ended is true.")
      .def<[](double epochs) { LiveView::of_process().plan(epochs); }>(
          "plan(epochs)  Sets the work: the number of epochs of all models together.")
      .def<&live_leave>("leave(name, note)  Marks the row of a model that no longer trains.")
      .def<&live_tell>(
          "tell(text)  Logs the text to the files, and prints it if no block is shown.")
      .def<[] { LiveView::of_process().hide(); }>(
          "hide()  Removes the block until it is drawn again, before other output.")
      .def<[] {
        return std::string(LiveView::of_process().style() == LiveView::Style::terminal ? "block"
                           : LiveView::of_process().style() == LiveView::Style::listener
                               ? "listener"
                           : LiveView::of_process().style() == LiveView::Style::plain ? "lines"
                                                                                      : "none");
      }>("style() -> string  Returns 'block', 'lines', 'listener' or 'none'.");
}

}  // namespace pushdown
