namespace pushdown {}
