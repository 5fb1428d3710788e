# Pushdown in Debian 13: docker build -t pushdown . && docker run -it --rm -v "$PWD":/work pushdown
# docs/install.md has more, also for Apptainer.
FROM debian:13-slim AS build
RUN apt-get update \
 && apt-get install -y --no-install-recommends git make \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /src
# The packages come first, so that a change of the sources does not install them again.
COPY scripts/tools/install_packages.sh scripts/tools/
RUN scripts/tools/install_packages.sh build
COPY . .
RUN cmake --preset release -D PUSHDOWN_TESTS=OFF -D PUSHDOWN_PROCESSORS=all \
 && cmake --build --preset release \
 && cmake --install build/release --prefix /opt/pushdown

FROM debian:13-slim
# The libraries of the program, and the BLAS that LibTorch computes with.
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
      libtorch2.6 libopenblas0-pthread libluajit-5.1-2 libspdlog1.15 libfmt10 libsqlite3-0 libutf8proc3 zlib1g \
 && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/pushdown /opt/pushdown
ENV PATH=/opt/pushdown/bin:$PATH
WORKDIR /work
ENTRYPOINT ["pushdown"]
