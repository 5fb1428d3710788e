"""Weights of torch.nn.LSTM in both directions; skipped where torch or safetensors is missing."""
import pushdown_shell as pushdown
import pytest

torch = pytest.importorskip("torch")
safetensors_torch = pytest.importorskip("safetensors.torch")


@pytest.mark.parametrize("kind, module", [("lstm", torch.nn.LSTM), ("gru", torch.nn.GRU), ("elman", torch.nn.RNN)])
@pytest.mark.parametrize("layers", [1, 2])
def test_weights_of_recurrent_modules(tmp_path, kind, module, layers):
    symbols = ["a", "b", "c"]
    model = pushdown.language_model(alphabet=symbols, controller={"kind": kind, "hidden": 5, "layers": layers}, seed=1)
    path = tmp_path / "weights.safetensors"

    def states(string, recurrent):
        """The logits by torch, with the output layer of the model."""
        model.save_parameters(tmp_path / "output.safetensors", part="output")
        output = safetensors_torch.load_file(tmp_path / "output.safetensors")
        inputs = torch.eye(3)[[symbols.index(symbol) for symbol in string.split()]]
        hidden = torch.cat([torch.zeros(1, 5), recurrent(inputs)[0]])
        return (hidden @ output["weight"].T + output["bias"]).detach().numpy()

    recurrent = module(3, 5, layers)
    model.save_parameters(path, part="controller")
    recurrent.load_state_dict(safetensors_torch.load_file(path))
    assert model.logits("a b c") == pytest.approx(states("a b c", recurrent), abs=1e-5)

    torch.manual_seed(1)
    recurrent = module(3, 5, layers)
    safetensors_torch.save_file(recurrent.state_dict(), path)
    trained = model.with_parameters(path, part="controller")
    assert trained.logits("c a b") == pytest.approx(states("c a b", recurrent), abs=1e-5)
    assert trained.logits("c a b") != pytest.approx(model.logits("c a b"), abs=1e-3)
