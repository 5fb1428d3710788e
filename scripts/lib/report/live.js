// The live part of a page: uPlot draws the charts in place of the still pictures, which stay for paper. Everything it
// needs is in the page.
(function () {
  'use strict';
  var data = JSON.parse(document.getElementById('data').textContent);
  var page = document.documentElement;

  var figures = document.querySelectorAll('figure[data-chart]');

  // ---- How series look ----

  // The colours of the still pictures, and lighter ones of the same hues for a dark page.
  var light = data.colours;
  var dark = ['#8fb8e8', '#ff8a96', '#f2c14e', '#5fd3ab', '#63c3f5', '#c79bf2', '#c5e063', '#b9b5ae'];
  var dashes = [null, [7, 3], [2, 2.5], [9, 3, 2, 3], [12, 4], [5, 2, 1.5, 2, 1.5, 2], [1, 3], [14, 3, 4, 3]];
  var scheme = window.matchMedia('(prefers-color-scheme: dark)');
  function look(entry) {
    var k = entry % 8, round = Math.floor(entry / 8);
    return { colour: (scheme.matches ? dark : light)[k], dash: round === 0 ? null : dashes[(k + round) % 8] };
  }
  function faded(colour, share) {
    var n = parseInt(colour.slice(1), 16);
    return 'rgba(' + (n >> 16) + ',' + (n >> 8 & 255) + ',' + (n & 255) + ',' + share + ')';
  }
  function swatch(entry) {
    var one = look(entry);
    return '<svg viewBox="0 0 26 10" aria-hidden="true"><path d="M1 5H25" fill="none" stroke-width="3" stroke="' +
      one.colour + '"' + (one.dash ? ' stroke-dasharray="' + one.dash.join(' ') + '"' : '') + '/></svg>';
  }
  function style(name) { return getComputedStyle(page).getPropertyValue(name).trim(); }

  // ---- State ----

  var shown = data.legend.map(function (entry, i) { return i < data.most; });
  var axis = data.axes[0];
  var band = 'deviation';
  var each = false;
  var several = data.several;  // some series are means of several restarts

  function text(value) {
    if (value === null || value === undefined) return '–';
    var size = Math.abs(value);
    if (value === Math.round(value) && size < 1e9) return String(value);
    return size >= 1e6 || size < 1e-4 ? value.toExponential(3) : String(Number(value.toPrecision(5)));
  }

  // ---- One chart ----

  function Chart(figure) {
    var chart = this;
    this.figure = figure;
    this.data = data.charts[Number(figure.getAttribute('data-chart'))];
    this.box = figure.querySelector('.live');
    this.log = false;
    this.plot = null;
    this.seen = false;
    var tools = figure.querySelector('.tools');
    this.logButton = this.tool(tools, 'log', 'Logarithmic vertical axis', function () {
      chart.log = !chart.log;
      chart.logButton.setAttribute('aria-pressed', String(chart.log));
      chart.draw();
    });
    this.logButton.setAttribute('aria-pressed', 'false');
    this.tool(tools, 'whole range', 'Undo zooming', function () { chart.whole(); });
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

  Chart.prototype.series = function () {
    var fixed = this.data.fixed;
    return (this.data.axes[this.axisName()] || []).filter(function (one) { return fixed || shown[one.g]; });
  };

  Chart.prototype.axisName = function () {
    return this.data.axes.length ? 'length' : axis;
  };

  // The columns of uPlot for the series: x, then mean, dotted mean, edges and restarts of each.
  Chart.prototype.columns = function (series) {
    var log = this.log, specs = [{}], bands = [], tables = [], at = 1;
    function drawable(values) {
      return log ? values.map(function (value) { return value > 0 ? value : null; }) : values;
    }
    series.forEach(function (one) {
      var paint = look(one.g), table = [one.x];
      function add(values, spec) {
        table.push(drawable(values));
        specs.push(Object.assign({ points: { show: one.x.length === 1, size: 7, fill: paint.colour },
          stroke: paint.colour, width: 2 }, spec));
        return at++;
      }
      var count = one.n, many = one.runs > 1;
      function of(i) { return typeof count === 'number' ? count : count[i]; }
      if (many) {
        var edge = { stroke: faded(paint.colour, 0.35), width: 0.6, points: { show: false } };
        if (band === 'range' || band === 'both') {
          bands.push({ series: [add(one.h, edge), add(one.l, edge)], fill: faded(paint.colour, 0.1) });
        }
        if (band === 'deviation' || band === 'both') {
          var high = one.m.map(function (m, i) { return one.d[i] === null ? null : m + one.d[i]; });
          var low = one.m.map(function (m, i) { return one.d[i] === null ? null : m - one.d[i]; });
          bands.push({ series: [add(high, edge), add(low, edge)], fill: faded(paint.colour, 0.18) });
        }
        if (each) {
          (one.r || []).forEach(function (values) {
            add(values, { stroke: faded(paint.colour, 0.55), width: 0.8, points: { show: false } });
          });
        }
        if (typeof count !== 'number') {
          // Dotted where restarts are missing, with the place before so that the line goes on.
          add(one.m.map(function (m, i) {
            return of(i) < one.runs || i + 1 < one.m.length && of(i + 1) < one.runs || i > 0 && of(i - 1) < one.runs
              ? m : null;
          }), { dash: [2, 4], points: { show: false } });
        }
      }
      add(many && typeof count !== 'number'
        ? one.m.map(function (m, i) { return of(i) === one.runs ? m : null; }) : one.m, { dash: paint.dash });
      tables.push(table);
    });
    var columns = tables.length === 0 ? [[]] : tables.length === 1 ? tables[0] : uPlot.join(tables);
    return { columns: columns, specs: specs, bands: bands };
  };

  Chart.prototype.draw = function () {
    this.seen = true;
    if (this.plot) this.plot.destroy();
    this.plot = null;
    this.figure.classList.add('drawn');
    this.box.textContent = '';
    var series = this.series(), chart = this, made = this.columns(series);
    var width = this.box.clientWidth;
    if (width === 0) return;
    if (series.length === 0) {
      this.box.textContent = 'Nothing of this chart is chosen.';
      return;
    }
    var ink = style('--soft'), grid = { stroke: style('--line'), width: 1 };
    var font = '12px system-ui, sans-serif';
    var ticks = function (u, values) {
      return values.map(function (value) {
        return value === null ? '' : Math.abs(value) >= 1e5 && value % 1 === 0 && value >= 1e5
          ? String(value / 1000) + 'k' : text(Number(value.toPrecision(6)));
      });
    };
    // Epochs, updates and lengths are whole numbers.
    var whole = [1, 2, 5].concat([1, 2, 3, 4, 5, 6, 7, 8].reduce(function (list, power) {
      return list.concat([1, 2, 5].map(function (digit) { return digit * Math.pow(10, power); }));
    }, []));
    var options = {
      width: width, height: Math.round(Math.max(220, Math.min(360, width * 0.55))),
      scales: { x: { time: false }, y: { distr: this.log ? 3 : 1 } },
      legend: { show: false },
      cursor: { drag: { x: true, y: false }, points: { size: 7 }, y: false },
      series: made.specs, bands: made.bands,
      axes: [
        { stroke: ink, grid: grid, ticks: grid, font: font, values: ticks, label: data.labels[this.axisName()],
          labelFont: font, labelSize: 18, size: 34, incrs: this.axisName() === 'seconds' ? undefined : whole },
        { stroke: ink, grid: grid, ticks: grid, font: font, values: ticks,
          size: function (u, values) {
            var longest = (values || []).reduce(function (most, value) { return Math.max(most, value.length); }, 0);
            return 16 + 7 * longest;
          } }
      ],
      hooks: {
        draw: [function (u) { chart.drawReference(u); }],
        setCursor: [function (u) { chart.tell(u, series); }],
        ready: [function (u) { chart.touch(u); }]
      }
    };
    this.plot = new uPlot(options, made.columns, this.box);
    this.tip = document.createElement('div');
    this.tip.className = 'tip';
    this.box.appendChild(this.tip);
  };

  Chart.prototype.whole = function () {
    if (!this.plot) return;
    var x = this.plot.data[0];
    this.plot.setScale('x', { min: x[0], max: x[x.length - 1] });
  };

  Chart.prototype.drawReference = function (u) {
    var reference = this.data.reference;
    if (!reference || reference.value < u.scales.y.min || reference.value > u.scales.y.max) return;
    if (this.log && reference.value <= 0) return;
    var y = Math.round(u.valToPos(reference.value, 'y', true)), c = u.ctx;
    c.save();
    c.strokeStyle = c.fillStyle = style('--soft');
    c.lineWidth = window.devicePixelRatio || 1;
    c.setLineDash([5 * c.lineWidth, 4 * c.lineWidth]);
    c.beginPath();
    c.moveTo(u.bbox.left, y);
    c.lineTo(u.bbox.left + u.bbox.width, y);
    c.stroke();
    c.font = 11 * c.lineWidth + 'px system-ui, sans-serif';
    c.textAlign = 'right';
    var above = y - u.bbox.top > 20 * c.lineWidth;
    c.fillText(reference.name, u.bbox.left + u.bbox.width - 4, y + (above ? -4 : 13) * c.lineWidth);
    c.restore();
  };

  // The last place of a series that is not behind x, or -1.
  function placeOf(list, x) {
    var low = 0, high = list.length - 1;
    if (high < 0 || list[0] > x) return -1;
    while (low < high) {
      var middle = (low + high + 1) >> 1;
      if (list[middle] <= x) low = middle; else high = middle - 1;
    }
    return low;
  }

  // The numbers at the pointer.
  Chart.prototype.tell = function (u, series) {
    var tip = this.tip, index = u.cursor.idx;
    if (!tip) return;
    if (index === null || index === undefined || u.cursor.left < 0) {
      tip.style.display = 'none';
      return;
    }
    var x = u.data[0][index], table = document.createElement('table'), lines = 0, fixed = this.data.fixed;
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
    head.textContent = data.labels[this.axisName()] + ' ' + text(x);
    tip.appendChild(head);
    tip.appendChild(table);
    tip.style.display = 'block';
    var left = u.over.offsetLeft + u.cursor.left, room = this.box.clientWidth;
    var place = left + 14 + tip.offsetWidth < room ? left + 14 : left - 14 - tip.offsetWidth;
    tip.style.left = Math.max(0, Math.min(place, room - tip.offsetWidth)) + 'px';
    tip.style.top = u.over.offsetTop + 6 + 'px';
  };

  // One finger points, two zoom; scrolling the page stays with the browser.
  Chart.prototype.touch = function (u) {
    var over = u.over, start = null;
    over.style.touchAction = 'pan-y';
    function distance(touches) { return Math.max(10, Math.abs(touches[0].clientX - touches[1].clientX)); }
    function middle(touches) {
      return (touches[0].clientX + touches[1].clientX) / 2 - over.getBoundingClientRect().left;
    }
    function point(event) {
      var box = over.getBoundingClientRect();
      u.setCursor({ left: event.touches[0].clientX - box.left, top: event.touches[0].clientY - box.top });
    }
    over.addEventListener('touchstart', function (event) {
      if (event.touches.length === 1) return point(event);
      event.preventDefault();
      start = { distance: distance(event.touches), at: u.posToVal(middle(event.touches), 'x'),
        min: u.scales.x.min, max: u.scales.x.max };
    }, { passive: false });
    over.addEventListener('touchmove', function (event) {
      if (event.touches.length === 1) return point(event);
      if (!start) return;
      event.preventDefault();
      var x = u.data[0], share = start.distance / distance(event.touches);
      var span = Math.min(x[x.length - 1] - x[0], (start.max - start.min) * share);
      var left = middle(event.touches) / over.clientWidth;
      var min = Math.max(x[0], Math.min(start.at - left * span, x[x.length - 1] - span));
      u.setScale('x', { min: min, max: min + span });
    }, { passive: false });
    over.addEventListener('touchend', function () { start = null; });
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
  window.addEventListener('scroll', drawNear, { passive: true });

  var width = 0;
  window.addEventListener('resize', function () {
    if (page.clientWidth === width) return;
    width = page.clientWidth;
    redraw();
    drawNear();
  });
  scheme.addEventListener('change', function () {
    legend();
    redraw();
  });

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
    var set = choices('each', 'restarts', [['no', 'as a band'], ['yes', 'one by one']], 'no',
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
})();
