#!/bin/sh
# Prints the first installed clang++ that has libFuzzer, for `make fuzz`.
for clang in "${CLANGXX:-}" clang++ clang++-22 clang++-21 clang++-20 clang++-19 clang++-18 clang++-17 clang++-16; do
  [ -n "$clang" ] && command -v "$clang" >/dev/null 2>&1 || continue
  # The library is next to the compiler's own headers, in a folder whose name depends on the system.
  for library in "$("$clang" -print-resource-dir)"/lib/*/libclang_rt.fuzzer*; do
    [ -e "$library" ] && { command -v "$clang"; exit 0; }
  done
done
echo '[fuzz] there is no Clang with libFuzzer: expected clang++ and libclang_rt.fuzzer (in Debian: clang-19 and
  libclang-rt-19-dev); CLANGXX names another one.' >&2
exit 1
