// Texts of numbers, ticks of axes, mouse and touch for the charts of a page.
var plotting = (function () {
  'use strict';

  function text(value) {
    if (value === null || value === undefined) return '–';
    var size = Math.abs(value);
    if (value === Math.round(value) && size < 1e9) return String(value);
    return size >= 1e6 || size < 1e-4 ? value.toExponential(3) : String(Number(value.toPrecision(5)));
  }

  function tickText(value) {
    var size = Math.abs(value);
    if (size >= 1e9 || size > 0 && size < 1e-3) return Number(value.toPrecision(5)).toExponential().replace('+', '');
    if (size >= 1e6) return Number((value / 1e6).toPrecision(6)) + 'M';
    return size >= 1e5 ? Number((value / 1e3).toPrecision(6)) + 'k' : String(Number(value.toPrecision(6)));
  }

  // Epochs, updates and lengths are whole numbers.
  function wholeTicks() {
    var ticks = Dygraph.numericTicks.apply(null, arguments);
    var whole = ticks.filter(function (tick) { return tick.v % 1 === 0; });
    return whole.length > 1 ? whole : ticks;
  }

  // Returns powers of ten, with multiples of them where there is room; linear ticks for a short range. Labels keep a
  // distance of 18 pixels.
  function logTicks(low, high, pixels, options, g) {
    var from = Math.log10(low), to = Math.log10(high), room = pixels / (to - from), ticks = [];
    var digits = room > 60 ? [1, 2, 5] : room > 38 ? [1, 3] : [1];
    for (var power = Math.floor(from); power <= to; power += Math.ceil(18 / room)) {
      digits.forEach(function (digit) {
        var value = digit * Math.pow(10, power);
        if (value >= low && value <= high) ticks.push({ v: value, label: tickText(value) });
      });
    }
    if (ticks.length > 2) return ticks;
    var last = -Infinity;
    return Dygraph.numericTicks(low, high, pixels, function (name) {
      return name !== 'logscale' && options(name);
    }, g).filter(function (tick) {
      var place = tick.v > 0 ? room * Math.log10(tick.v) : NaN;
      if (!(place - last >= 18)) return false;
      last = place;
      return true;
    });
  }

  // Zooms horizontally wherever the pointer goes; the vertical range follows. 1 is the horizontal direction of dygraphs.
  function horizontally(event, g, context) {
    Object.defineProperty(context, 'dragDirection', { get: function () { return 1; }, set: function () {},
      configurable: true });
    Dygraph.defaultInteractionModel.mousedown(event, g, context);
  }

  // One finger points, two fingers zoom. The browser scrolls the page.
  function gestures(box, tell) {
    var start = null;
    function distance(touches) { return Math.max(10, Math.abs(touches[0].clientX - touches[1].clientX)); }
    function inside(x) { return x - box.getBoundingClientRect().left; }
    function middle(touches) { return inside((touches[0].clientX + touches[1].clientX) / 2); }
    function point(event, g) {
      var row = g.findClosestRow(inside(event.touches[0].clientX));
      g.setSelection(row);
      if (row >= 0) tell(g, g.getValue(row, 0));
    }
    return Object.assign({}, Dygraph.defaultInteractionModel, {
      mousedown: horizontally,
      touchstart: function (event, g) {
        if (event.touches.length === 1) return point(event, g);
        event.preventDefault();
        var range = g.xAxisRange();
        start = { distance: distance(event.touches), at: g.toDataXCoord(middle(event.touches)),
          span: range[1] - range[0] };
      },
      touchmove: function (event, g) {
        if (event.touches.length === 1) return point(event, g);
        if (!start) return;
        event.preventDefault();
        var ends = g.xAxisExtremes(), area = g.getArea();
        var span = Math.min(ends[1] - ends[0], start.span * start.distance / distance(event.touches));
        var left = start.at - (middle(event.touches) - area.x) / area.w * span;
        left = Math.max(ends[0], Math.min(left, ends[1] - span));
        g.updateOptions({ dateWindow: [left, left + span] });
      },
      touchend: function (event, g, context) {
        start = null;
        Dygraph.defaultInteractionModel.touchend(event, g, context);  // a double tap shows the whole range
      }
    });
  }

  // The outline of a marker around a place, as the data of an SVG path: the shapes of pushdown.plot.style.
  var corners = { square: [-3, -3, 3, -3, 3, 3, -3, 3], triangle: [0, -4, 3.6, 2.6, -3.6, 2.6],
    diamond: [0, -4.2, 3.7, 0, 0, 4.2, -3.7, 0] };
  function open(shape) { return shape.indexOf('open_') === 0; }
  function outline(shape, x, y) {
    var name = shape.replace('open_', ''), points = corners[name];
    if (name === 'circle') return 'M' + (x - 3) + ' ' + y + 'a3 3 0 1 0 6 0a3 3 0 1 0 -6 0z';
    if (name === 'cross') return 'M' + (x - 3) + ' ' + (y - 3) + 'l6 6m0 -6l-6 6';
    var text = '';
    for (var i = 0; i < points.length; i += 2) text += (i === 0 ? 'M' : 'L') + (x + points[i]) + ' ' + (y + points[i + 1]);
    return text + 'z';
  }

  return { outline: outline, open: open, text: text, tickText: tickText, wholeTicks: wholeTicks, logTicks: logTicks,
    gestures: gestures };
})();
