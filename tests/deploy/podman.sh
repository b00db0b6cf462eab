#!/bin/bash
# Makes podman with runc ready to build images here without a registry, and prints "FOLDER IMAGE": the folder with its
# settings, and the name of a base image made of Debian's packages and of the Python that runs this. Debian, root only.
# What the stand-in for the base proves is the Dockerfile, not the real base. Never push what is built on it: it trusts
# the certificates that this machine trusts.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
python=${1:-python3}
folder=${IMAGE_CI_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/image-ci}
mkdir -p "$folder/base/ca"
limit=$(ulimit -Hn)

for command in podman runc mmdebstrap; do
    command -v $command >/dev/null && continue
    apt-get update -qq -o Acquire::Retries=5 >&2
    apt-get install -y -qq -o Acquire::Retries=5 --no-install-recommends podman runc mmdebstrap >&2
    break
done

cat > "$folder/storage.conf" <<END
[storage]
driver = "overlay"
graphroot = "$folder/store"
runroot = "$folder/run"
END
# runc, because crun refuses hybrid cgroups; limits of its own, because root may lack CAP_SYS_RESOURCE.
cat > "$folder/containers.conf" <<END
[containers]
default_ulimits = ["nofile=$limit:$limit", "nproc=4096:4096"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
END
export CONTAINERS_STORAGE_CONF=$folder/storage.conf CONTAINERS_CONF=$folder/containers.conf

version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
debian=docker.io/library/debian:bookworm-slim
image=docker.io/library/python:$version-slim-bookworm

if ! podman image exists "$debian"; then
    mmdebstrap --quiet --variant=minbase --include=netbase,tzdata --aptopt='Acquire::Retries "5"' \
        --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
        --dpkgopt='path-exclude=/usr/share/locale/*' bookworm "$folder/base.tar" >&2
    podman import -q -c 'CMD ["bash"]' "$folder/base.tar" "$debian" >&2
    rm "$folder/base.tar"
fi

if ! podman image exists "$image"; then
    "$python" - "$folder/base/ca" <<'END' # the certificates that this machine trusts beyond Debian's
import glob, re, ssl, sys

PEM = re.compile("-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.S)


def read(path):
    return PEM.findall(open(path, errors="replace").read())


known = {"".join(c.split()) for path in glob.glob("/usr/share/ca-certificates/**/*.crt", recursive=True) for c in read(path)}
trusted = read(ssl.get_default_verify_paths().cafile)
for number, certificate in enumerate(c for c in trusted if "".join(c.split()) not in known):
    open(f"{sys.argv[1]}/host-{number}.crt", "w").write(certificate + "\n")
END
    cd "$("$python" -c 'import sys; print(sys.base_prefix)')"
    libraries=$(find lib -maxdepth 1 -name 'libpython3*.so*')
    # shellcheck disable=SC2086 # there may be no shared library
    tar --exclude=__pycache__ --exclude=test --exclude='*.a' --exclude=site-packages --exclude=tkinter --exclude=idlelib \
        -cf "$folder/base/python.tar" bin/python3 "bin/python$version" "lib/python$version" include $libraries
    cat > "$folder/base/Dockerfile" <<'END'
FROM debian:bookworm-slim
COPY ca/ /usr/local/share/ca-certificates/
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates libssl3 libffi8 libsqlite3-0 \
    libbz2-1.0 liblzma5 libreadline8 libncursesw6 libuuid1 libexpat1 zlib1g \
 && rm -rf /var/lib/apt/lists/* && printf '[global]\ncert = /etc/ssl/certs/ca-certificates.crt\n' > /etc/pip.conf
ADD python.tar /usr/local/
RUN ldconfig && cd /usr/local/bin && ./python3 -m ensurepip && ln -sf python3 python && ln -sf pip3 pip
ENV LANG=C.UTF-8
END
    podman build -q --network host --pull=never --squash --format docker -t "$image" "$folder/base" >&2
    rm "$folder/base/python.tar"
fi
echo "$folder $image"
