// Tables of a page that a click on a column's head sorts by it.
function sortTables() {
  'use strict';
  function sortable(table) {
    var heads = table.querySelectorAll('thead th');
    Array.prototype.forEach.call(heads, function (head, column) {
      // No button element: with one the head is not repeated on the pages of a printed table.
      var button = document.createElement('span');
      button.tabIndex = 0;
      button.setAttribute('role', 'button');
      button.addEventListener('keydown', function (event) {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        button.click();
      });
      button.textContent = head.textContent;
      head.textContent = '';
      head.appendChild(button);
      button.addEventListener('click', function () {
        var up = head.getAttribute('aria-sort') !== 'ascending';
        var body = table.tBodies[0];
        var rows = Array.prototype.slice.call(body.rows);
        function key(row) {
          var cell = row.cells[column];
          var value = cell.getAttribute('data-v');
          if (value !== null) return Number(value);
          return cell.textContent.trim() !== '' && isFinite(cell.textContent) ? Number(cell.textContent)
            : cell.textContent === '–' || cell.textContent === '' ? null : cell.textContent;
        }
        var keyed = rows.map(function (row) { return { row: row, key: key(row) }; });
        keyed.sort(function (a, b) {
          if (a.key === null || b.key === null) return (a.key === null) - (b.key === null);  // what has none: last
          var order = typeof a.key === 'number' && typeof b.key === 'number' ? a.key - b.key
            : String(a.key).localeCompare(String(b.key), undefined, { numeric: true });
          return up ? order : -order;
        });
        keyed.forEach(function (one) { body.appendChild(one.row); });
        Array.prototype.forEach.call(heads, function (other) { other.removeAttribute('aria-sort'); });
        head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
      });
    });
  }
  Array.prototype.forEach.call(document.querySelectorAll('table[data-sortable]'), sortable);
}
sortTables();
