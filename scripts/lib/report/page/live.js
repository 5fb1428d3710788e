// The charts of a page: dygraphs draws them in place of the still pictures, which stay for paper. The page contains
// everything that it needs. begin(before) draws the page as it is now, with the reader's choices in `before`, and returns
// a function that ends it and returns the choices.
var report = {};
report.begin = function (before) {
  'use strict';
  var text = plotting.text;
  var data = JSON.parse(document.getElementById('data').textContent);
  var page = document.documentElement;
  var figures = document.querySelectorAll('figure[data-chart]');

  // ---- How series look ----

  // Colours, dashes and markers of the still pictures (pushdown.plot.style), and light colours for a dark page.
  var light = data.colours;
  var dark = ['#6fb1ff', '#ff7a59', '#ffd75e', '#4fd6a0', '#b6e3ff', '#c79bf2', '#c5e063', '#b9b5ae'];
  var dashes = [null, [7, 3], [2, 2.5], [9, 3, 2, 3], [12, 4], [5, 2, 1.5, 2, 1.5, 2], [1, 3], [14, 3, 4, 3]];
  var shapes = ['circle', 'square', 'triangle', 'diamond', 'open_circle', 'open_square', 'open_triangle', 'cross'];
  var scheme = window.matchMedia('(prefers-color-scheme: dark)');
  function look(entry) {
    var k = entry % 8, round = Math.floor(entry / 8);
    return { colour: (scheme.matches ? dark : light)[k], dash: dashes[(k + 3 * round) % 8],
      shape: shapes[(k + round) % 8] };
  }
  function faded(colour, share) {
    var n = parseInt(colour.slice(1), 16);
    return 'rgba(' + (n >> 16) + ',' + (n >> 8 & 255) + ',' + (n & 255) + ',' + share + ')';
  }
  function swatch(entry) {
    var one = look(entry);
    return '<svg viewBox="0 0 36 12" aria-hidden="true"><path d="M1 6H35" fill="none" stroke-width="2" stroke="' +
      one.colour + '"' + (one.dash ? ' stroke-dasharray="' + one.dash.join(' ') + '"' : '') + '/>' +
      '<path d="' + plotting.outline(one.shape, 18, 6) + '" stroke="' + one.colour + '" stroke-width="1.5" fill="' +
      (plotting.open(one.shape) ? style('--page') : one.colour) + '"/></svg>';
  }
  function style(name) { return getComputedStyle(page).getPropertyValue(name).trim(); }

  // ---- State ----

  var shown = data.legend.map(function (entry, i) {
    return before && entry.name in before.shown ? before.shown[entry.name] : i < data.most;
  });
  var axis = before && data.axes.indexOf(before.axis) >= 0 ? before.axis : data.axes[0];
  var band = before ? before.band : 'deviation';
  var each = Boolean(before && before.each && data.each);
  var listening = new AbortController();
  var several = data.several;  // some series are means of several restarts

  // ---- One chart ----

  function Chart(figure) {
    var chart = this;
    this.figure = figure;
    this.data = data.charts[Number(figure.getAttribute('data-chart'))];
    this.box = figure.querySelector('.live');
    this.title = figure.querySelector('figcaption').textContent;
    var kept = before && before.charts[this.title] || {};
    this.log = Boolean(kept.log);
    this.zoom = kept.zoom || null;
    this.over = kept.over;
    this.plot = null;
    this.seen = false;
    var tools = figure.querySelector('.tools');
    this.logButton = this.tool(tools, 'log', 'Logarithmic vertical axis', function () {
      chart.log = !chart.log;
      chart.logButton.setAttribute('aria-pressed', String(chart.log));
      chart.draw();
    });
    this.logButton.setAttribute('aria-pressed', String(this.log));
    this.tool(tools, 'whole range', 'Undo zooming', function () { if (chart.plot) chart.plot.resetZoom(); });
  }

  Chart.prototype.tool = function (place, label, title, action) {
    var button = document.createElement('button');
    button.type = 'button';
    button.textContent = label;
    button.title = title;
    button.addEventListener('click', action);
    place.appendChild(button);
    return button;
  };

  Chart.prototype.axisName = function () {
    return this.data.axes.length ? 'length' : axis;
  };

  // Returns the chosen series, each with its colour and marks.
  Chart.prototype.series = function () {
    var fixed = this.data.fixed;
    return (this.data.axes[this.axisName()] || []).filter(function (one) {
      return fixed || shown[one.g];
    }).map(function (one) {
      var paint = look(one.g);
      return Object.assign({ colour: paint.colour, shape: paint.shape, marks: marks(one, paint.dash) }, one);
    });
  };

  // Returns the marks of a series: areas between the values y and to, and lines through y.
  function marks(one, dash) {
    var list = [], counts = one.n;
    function line(y, width, alpha, dashes) { list.push({ y: y, width: width, alpha: alpha, dash: dashes || [] }); }
    function main(y, width, dashes) {
      line(y, width, 1, dashes);
      list[list.length - 1].main = true;
    }
    function area(low, high, alpha) {
      list.push({ y: high, to: low, alpha: alpha });
      line(low, 0.6, 0.35);
      line(high, 0.6, 0.35);
    }
    function edge(sign) {
      return one.m.map(function (m, i) { return one.d[i] === null ? null : m + sign * one.d[i]; });
    }
    function whole(i) { return counts[i] === undefined || counts[i] === one.runs; }
    if (one.runs > 1) {
      if (band === 'range' || band === 'both') area(one.l, one.h, 0.1);
      if (band === 'deviation' || band === 'both') area(edge(-1), edge(1), 0.18);
      if (each) (one.r || []).forEach(function (values) { line(values, 0.8, 0.55); });
    }
    if (one.runs > 1 && typeof counts !== 'number') {
      // Thin where restarts are missing and to the places beside, so that the line has no gap.
      main(one.m.map(function (m, i) { return whole(i - 1) && whole(i) && whole(i + 1) ? null : m; }), 0.8, dash);
      main(one.m.map(function (m, i) { return whole(i) ? m : null; }), 2, dash);
    } else {
      main(one.m, 2, dash);
    }
    return list;
  }

  Chart.prototype.drawable = function (value) {
    return value !== null && value !== undefined && (!this.log || value > 0);
  };

  // Returns the rows for dygraphs: x, then for each series [least drawn value, mean, greatest] or null.
  Chart.prototype.rows = function (series) {
    var chart = this, byX = new Map();
    series.forEach(function (one, k) {
      one.x.forEach(function (x, i) {
        var values = one.marks.map(function (mark) { return mark.y[i]; }).filter(chart.drawable, chart);
        if (!chart.drawable(one.m[i])) return;
        if (!byX.has(x)) byX.set(x, [x].concat(series.map(function () { return null; })));
        byX.get(x)[k + 1] = [Math.min.apply(null, values), one.m[i], Math.max.apply(null, values)];
      });
    });
    this.include(this.data.reference, byX);
    return Array.from(byX.values()).sort(function (a, b) { return a[0] - b[0]; });
  };

  // Extends the range to a reference that is a little below it.
  Chart.prototype.include = function (reference, rows) {
    var lowest = null, greatest = -Infinity;
    rows.forEach(function (row) {
      row.slice(1).filter(Boolean).forEach(function (values) {
        if (!lowest || values[0] < lowest[0]) lowest = values;
        greatest = Math.max(greatest, values[2]);
      });
    });
    if (!reference || !lowest || this.log || reference.value > lowest[0]) return;
    if (lowest[0] - reference.value < 0.25 * (greatest - lowest[0])) lowest[0] = reference.value;
  };

  // Draws about ten markers on a line, shifted from series to series, so that lines differ in grey, too.
  function markers(one, x, y, index, c) {
    var every = Math.max(1, Math.ceil(x.length / 10));
    c.setLineDash([]);
    c.lineWidth = 1.5;
    c.strokeStyle = one.colour;
    c.fillStyle = plotting.open(one.shape) ? style('--page') : one.colour;
    x.forEach(function (left, i) {
      if ((i + index) % every !== 0 || one.m[i] === null) return;
      var shape = new Path2D(plotting.outline(one.shape, left, y(one.m[i])));
      c.fill(shape);
      c.stroke(shape);
    });
  }

  // Returns the function that draws the areas, or the lines, of one series. dygraphs draws all areas first.
  Chart.prototype.plotter = function (series, areas) {
    var chart = this;
    return function (e) {
      var one = series[e.seriesIndex], c = e.drawingContext, bottom = e.plotArea.y + e.plotArea.h + 2;
      var x = one.x.map(function (value) { return e.dygraph.toDomXCoord(value); });
      function y(value) { return chart.drawable(value) ? e.dygraph.toDomYCoord(value) : bottom; }
      function stretch(mark, places) {
        var alone = places.length === 1 && mark.main;
        c.beginPath();
        places.forEach(function (i) {
          if (alone) c.arc(x[i], y(mark.y[i]), 3.5, 0, 2 * Math.PI); else c.lineTo(x[i], y(mark.y[i]));
        });
        if (areas) places.reverse().forEach(function (i) { c.lineTo(x[i], y(mark.to[i])); });
        if (areas || alone) c.fill(); else c.stroke();
      }
      one.marks.forEach(function (mark) {
        if (areas !== Boolean(mark.to)) return;
        var places = [];
        c.fillStyle = c.strokeStyle = faded(one.colour, mark.alpha);
        if (!areas) {
          c.lineWidth = mark.width;
          c.setLineDash(mark.dash);
        }
        for (var i = 0; i <= x.length; i++) {
          if (chart.drawable(mark.y[i]) && !(areas && mark.to[i] === null)) {
            places.push(i);
          } else if (places.length > 0) {
            stretch(mark, places);
            places = [];
          }
        }
      });
      if (!areas) markers(one, x, y, e.seriesIndex, c);
      if (!areas && e.seriesIndex === series.length - 1) chart.drawReference(c, e.plotArea, e.dygraph);
    };
  };

  // The range that the reader has chosen of the axis, or null.
  Chart.prototype.range = function () {
    if (!this.plot) return this.zoom;
    return this.plot.isZoomed('x') ? this.plot.xAxisRange() : null;
  };

  Chart.prototype.draw = function () {
    var zoomed = this.over === this.axisName() ? this.range() : null;
    this.zoom = null;
    this.seen = true;
    if (this.plot) this.plot.destroy();
    this.plot = null;
    this.over = this.axisName();
    this.figure.classList.add('drawn');
    this.box.textContent = '';
    var series = this.series(), rows = this.rows(series), chart = this;
    this.width = this.box.clientWidth;
    this.height = Math.round(Math.max(220, Math.min(360, this.width * 0.55)));
    if (this.width === 0) return;
    if (rows.length === 0) {
      this.box.textContent = series.length === 0 ? 'Nothing of this chart is chosen.' : 'No value is above 0.';
      return;
    }
    if (rows.length === 1) {
      // Room on both sides of a single place.
      var blank = rows[0].slice(1).map(function () { return null; });
      rows = [[rows[0][0] - 1].concat(blank), rows[0], [rows[0][0] + 1].concat(blank)];
    }
    function tell(g, x) { chart.tell(g, series, x); }
    this.tip = this.part('tip');
    this.hair = this.part('hair');
    this.plot = new Dygraph(this.box.appendChild(document.createElement('div')), rows, {
      width: this.width, height: this.height, labels: ['x'].concat(series.map(function (one, k) { return String(k); })),
      colors: series.map(function (one) { return one.colour; }),
      customBars: true, logscale: this.log, dateWindow: zoomed, xRangePad: 6, yRangePad: 14,
      panEdgeFraction: 0.01, rightGap: 16,
      plotter: [this.plotter(series, true), this.plotter(series, false)], highlightCircleSize: 3.5,
      legend: 'never', xlabel: data.labels[this.over], xLabelHeight: 18,
      gridLineColor: style('--line'), gridLineWidth: 1, axisLineColor: style('--line'), axisLineWidth: 1,
      axes: {
        x: { axisLabelFormatter: plotting.tickText, axisLabelFontSize: 12, pixelsPerLabel: 50,
          ticker: this.over === 'seconds' ? Dygraph.numericTicks : plotting.wholeTicks },
        y: { axisLabelFormatter: plotting.tickText, axisLabelFontSize: 12, axisLabelWidth: 24,
          ticker: this.log ? plotting.logTicks : Dygraph.numericTicks }
      },
      drawCallback: function (g) { chart.drawn(g); },
      highlightCallback: function (event, x) { tell(this, x); },
      unhighlightCallback: function () { chart.hush(); },
      interactionModel: plotting.gestures(this.box, tell)
    });
  };

  Chart.prototype.part = function (name) {
    var made = document.createElement('div');
    made.className = name;
    return this.box.appendChild(made);
  };

  // Follows every drawing: hides the numbers at the pointer and gives the labels of the vertical axis their room.
  Chart.prototype.drawn = function (g) {
    this.hush();
    var room = 4 + Math.ceil(Math.max.apply(null, Array.from(
      this.box.querySelectorAll('.dygraph-axis-label-y'), function (label) { return label.offsetWidth; }).concat(20)));
    if (room === g.getOptionForAxis('axisLabelWidth', 'y')) return;
    g.updateOptions({ axes: { y: { axisLabelWidth: room } } }, true);
    // dygraphs clips to the old area too until its size changes.
    g.resize(this.width, this.height + 1);
    g.resize(this.width, this.height);
  };

  Chart.prototype.drawReference = function (c, area, g) {
    var reference = this.data.reference, range = g.yAxisRange();
    if (!reference || reference.value < range[0] || reference.value > range[1]) return;
    var y = Math.round(g.toDomYCoord(reference.value)), above = y - area.y > 20;
    c.strokeStyle = c.fillStyle = style('--soft');
    c.lineWidth = 1;
    c.setLineDash([5, 4]);
    c.beginPath();
    c.moveTo(area.x, y);
    c.lineTo(area.x + area.w, y);
    c.stroke();
    // Curves approach it to the right, so its name is on the left, with a rim in the colour of the page.
    c.font = '11px system-ui, sans-serif';
    c.setLineDash([]);
    c.lineWidth = 3;
    c.lineJoin = 'round';
    c.strokeStyle = style('--page');
    c.strokeText(reference.name, area.x + 6, y + (above ? -4 : 13));
    c.fillText(reference.name, area.x + 6, y + (above ? -4 : 13));
  };

  // Returns the last place in a sorted list that is at most x, or -1.
  function placeOf(list, x) {
    var low = 0, high = list.length - 1;
    if (high < 0 || list[0] > x) return -1;
    while (low < high) {
      var middle = (low + high + 1) >> 1;
      if (list[middle] <= x) low = middle; else high = middle - 1;
    }
    return low;
  }

  // Shows the numbers at x and hides those of other charts.
  Chart.prototype.tell = function (g, series, x) {
    charts.forEach(function (other) {
      if (other.plot && other.plot !== g) other.hush();
    });
    var tip = this.tip, table = document.createElement('table'), lines = 0, fixed = this.data.fixed;
    series.forEach(function (one) {
      var i = placeOf(one.x, x);
      if (i < 0 || x > one.x[one.x.length - 1] || lines >= 12) return;
      var row = table.insertRow();
      row.insertCell().innerHTML = swatch(one.g);
      row.insertCell().textContent = fixed ? '' : data.legend[one.g].name;
      var numbers = text(one.m[i]);
      if (one.runs > 1) {
        var count = typeof one.n === 'number' ? one.n : one.n[i];
        if (one.d[i] !== null) numbers += ' ± ' + text(Number(one.d[i].toPrecision(2)));
        numbers += count > 1 ? ' (' + text(one.l[i]) + ' to ' + text(one.h[i]) + ', ' + count + ' runs)' : ' (1 run)';
      }
      row.insertCell().textContent = numbers;
      lines += 1;
    });
    tip.textContent = '';
    var head = document.createElement('div');
    head.textContent = data.labels[this.over] + ' ' + text(x);
    tip.appendChild(head);
    tip.appendChild(table);
    tip.style.display = this.hair.style.display = 'block';
    // Below the chart, or above it where the window ends.
    var left = g.toDomXCoord(x), area = g.getArea(), box = this.box.getBoundingClientRect();
    tip.style.left = Math.max(0, Math.min(left - tip.offsetWidth / 2, box.width - tip.offsetWidth)) + 'px';
    tip.style.top = (box.bottom + tip.offsetHeight < window.innerHeight ? box.height : -tip.offsetHeight) + 'px';
    this.hair.style.left = Math.round(left) + 'px';
    this.hair.style.top = area.y + 'px';
    this.hair.style.height = area.h + 'px';
  };

  Chart.prototype.hush = function () {
    if (this.plot) this.plot.clearSelection();
    this.tip.style.display = this.hair.style.display = 'none';
  };

  // ---- The page ----

  var charts = Array.prototype.map.call(figures, function (figure) { return new Chart(figure); });
  page.classList.add('scripted');

  function redraw() {
    charts.forEach(function (chart) { if (chart.seen) chart.draw(); });
  }

  // Charts are drawn as they come near.
  function near(chart) {
    var box = chart.figure.getBoundingClientRect();
    return box.height > 0 && box.top < window.innerHeight + 600 && box.bottom > -600;
  }
  function drawNear() {
    charts.forEach(function (chart) { if (!chart.seen && near(chart)) chart.draw(); });
  }
  window.addEventListener('scroll', drawNear, { passive: true, signal: listening.signal });

  var width = 0;
  window.addEventListener('resize', function () {
    if (page.clientWidth === width) return;
    width = page.clientWidth;
    redraw();
    drawNear();
  }, { signal: listening.signal });
  scheme.addEventListener('change', function () {
    legend();
    redraw();
  }, { signal: listening.signal });

  function choices(name, label, list, now, action) {
    var box = document.querySelector('.controls');
    var set = document.createElement('fieldset');
    var title = document.createElement('legend');
    title.textContent = label;
    set.appendChild(title);
    list.forEach(function (one) {
      var item = document.createElement('label'), input = document.createElement('input');
      input.type = 'radio';
      input.name = name;
      input.value = one[0];
      input.checked = one[0] === now;
      input.addEventListener('change', function () { action(one[0]); redraw(); });
      item.appendChild(input);
      item.appendChild(document.createTextNode(' ' + one[1]));
      set.appendChild(item);
    });
    if (box) box.appendChild(set);
    return set;
  }
  if (data.axes.length > 1) {
    choices('axis', 'over', data.axes.map(function (name) { return [name, data.names[name]]; }), axis,
      function (value) { axis = value; });
  }
  if (several) {
    choices('band', 'band', [['deviation', 'mean ± deviation'], ['range', 'least to greatest'], ['both', 'both'],
      ['none', 'none']], band, function (value) { band = value; });
  }
  if (data.each) {
    var set = choices('each', 'restarts', [['no', 'as a band'], ['yes', 'one by one']], each ? 'yes' : 'no',
      function (value) { each = value === 'yes'; });
    set.setAttribute('data-each', '');
  }

  function legend() {
    var place = document.querySelector('.legend');
    if (!place) return;
    place.textContent = '';
    function button(label, action, html) {
      var made = document.createElement('button');
      made.type = 'button';
      made.innerHTML = html || '';
      made.appendChild(document.createTextNode(label));
      made.addEventListener('click', action);
      place.appendChild(made);
      return made;
    }
    if (data.legend.length > 2) {
      [['all', true], ['none', false]].forEach(function (one) {
        button(one[0], function () {
          shown = shown.map(function () { return one[1]; });
          legend();
          redraw();
        }).className = 'all';
      });
    }
    data.legend.forEach(function (entry, i) {
      var runs = entry.runs > 1 ? ' (' + entry.runs + ')' : '';
      button(entry.name + runs, function () {
        shown[i] = !shown[i];
        this.setAttribute('aria-pressed', String(shown[i]));
        redraw();
      }, swatch(i)).setAttribute('aria-pressed', String(shown[i]));
    });
  }
  legend();
  width = page.clientWidth;
  drawNear();

  return function () {
    var kept = { shown: before ? before.shown : {}, axis: axis, band: band, each: each, charts: {} };
    data.legend.forEach(function (entry, i) { kept.shown[entry.name] = shown[i]; });
    charts.forEach(function (chart) {
      kept.charts[chart.title] = { log: chart.log, zoom: chart.range(), over: chart.over };
      if (chart.plot) chart.plot.destroy();
    });
    listening.abort();
    return kept;
  };
};
report.end = report.begin(null);
