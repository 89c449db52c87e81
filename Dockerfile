# An image with the command `millrace` and nothing else that runs: no shell, no package manager, not root. docs/containers.md says how to use it,
# and how an app gets an image of its own.
#
#   docker build -t millrace .                            compiles it from this folder
#   docker build -t millrace --build-arg BINARY=packages  takes it from target/packages, which scripts/release makes
ARG BINARY=source

FROM rust:1.95-slim-bookworm AS source
RUN apt-get update && apt-get install -y --no-install-recommends musl-tools
RUN rustup target add "$(uname -m)-unknown-linux-musl"
WORKDIR /source
COPY . .
RUN cargo build -p millrace --profile dist --no-default-features --locked --target "$(uname -m)-unknown-linux-musl"
RUN install -D "target/$(uname -m)-unknown-linux-musl/dist/millrace" /out/millrace

FROM scratch AS packages-amd64
COPY target/packages/bin/linux-x64/millrace /out/millrace

FROM scratch AS packages-arm64
COPY target/packages/bin/linux-arm64/millrace /out/millrace

FROM packages-$TARGETARCH AS packages

FROM $BINARY AS binary

# Whom outgoing TLS trusts, and folders that can be written.
FROM --platform=$BUILDPLATFORM debian:bookworm-slim AS files
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates
RUN mkdir -p /image/tmp /image/data && chmod 1777 /image/tmp

FROM scratch
COPY --from=files /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=files /image/tmp /tmp
COPY --from=files --chown=65532:65532 /image/data /data
COPY --from=binary /out/millrace /millrace
ENV PORT=8080 MILLRACE_DATA=/data HOME=/data SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
WORKDIR /data
USER 65532:65532
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s CMD ["/millrace", "health"]
ENTRYPOINT ["/millrace"]
CMD ["--help"]
