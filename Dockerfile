# Both programs in one image, as a Debian package on bare Debian: docker build -t pushload .
# Without arguments it is the mock: docker run --rm -p 2197:2197 -p 2199:2199 -v "$PWD/credentials:/credentials" pushload
FROM swift:6.3-bookworm AS build
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends make python3 dpkg-dev pkg-config libnghttp2-dev libssl-dev \
       libjemalloc-dev libroaring-dev libsqlite3-dev libcurl4-openssl-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /pushload
COPY . .
RUN make deb

FROM debian:bookworm-slim
COPY --from=build /pushload/.build/deb/*.deb /tmp/
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends /tmp/*.deb \
    && rm -rf /var/lib/apt/lists/* /tmp/*.deb \
    && groupadd --gid 10001 pushload \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /work --shell /usr/sbin/nologin pushload \
    && install -d -o 10001 -g 10001 /credentials /work
USER 10001:10001
WORKDIR /work
EXPOSE 2197 2199
# Of a mock with other ports: --health-cmd "mock-apns health --admin-port PORT".
HEALTHCHECK --interval=5s --timeout=5s --start-period=30s --retries=3 CMD ["mock-apns", "health"]
ENTRYPOINT ["mock-apns"]
CMD ["serve", "--host", "0.0.0.0", "--san", "mock-apns", "--credentials", "/credentials", "--admin-host", "0.0.0.0", "--admin-port", "2199"]
