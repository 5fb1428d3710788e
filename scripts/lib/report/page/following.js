// A live page asks its server every second whether the runs have changed, and replaces what it shows without loading
// again. The reader's choices, the place in the page, open details and the order of tables stay.
(function () {
  'use strict';
  var version = document.documentElement.getAttribute('data-version'), added = new CSSStyleSheet(), failed = false;
  document.adoptedStyleSheets = [added];

  function all(selector) { return Array.prototype.slice.call(document.querySelectorAll(selector)); }
  function say(text) { document.getElementById('live').textContent = text; }

  // The heads by which the tables are sorted, and the open details, by their place in the page.
  function layout() {
    return { tables: all('table[data-sortable]').map(function (table) {
      var head = table.querySelector('th[aria-sort]');
      return head && { column: head.cellIndex, down: head.getAttribute('aria-sort') === 'descending' };
    }), details: all('details').map(function (one) { return one.open; }) };
  }
  function arrange(old) {
    all('table[data-sortable]').forEach(function (table, i) {
      var sorted = old.tables[i], button = sorted && table.querySelectorAll('thead th span')[sorted.column];
      for (var clicks = sorted && sorted.down ? 2 : 1; button && clicks > 0; clicks--) button.click();
    });
    all('details').forEach(function (one, i) { if (i in old.details) one.open = old.details[i]; });
  }

  function replace(text) {
    var next, choices, old = layout(), top = window.scrollY;
    // The policy of the page forbids a style element of another text, but no rules that a script adds.
    text = text.replace(/<style>([^]*?)<\/style>/, function (element, rules) {
      added.replaceSync(rules);
      return '';
    });
    next = new DOMParser().parseFromString(text, 'text/html');
    if (window.report) choices = report.end();
    document.title = next.title;
    version = next.documentElement.getAttribute('data-version');
    ['header', 'nav', 'main', '#data'].forEach(function (selector) {
      var was = document.querySelector(selector), is = next.querySelector(selector);
      if (was && is) was.replaceWith(document.adoptNode(is));
    });
    sortTables();
    arrange(old);
    if (window.report) report.end = report.begin(choices);
    window.scrollTo(0, top);
  }

  function ask() {
    fetch('changes?after=' + version, { cache: 'no-store' }).then(function (answer) {
      return answer.text().then(function (text) {
        if (!answer.ok) throw new Error(text);
        if (answer.status === 200) replace(text);
        if (answer.status === 200 || failed) say('Updated at ' + new Date().toLocaleTimeString() + '.');
        failed = false;
      });
    }).catch(function (problem) {
      failed = true;
      say(problem instanceof TypeError ? 'pushdown report --live has ended; this page does not change any more.'
        : 'Not updated: ' + problem.message);
    }).then(function () { window.setTimeout(ask, 1000); });
  }
  say('This page follows the runs.');
  ask();
})();
