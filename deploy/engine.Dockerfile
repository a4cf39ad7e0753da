# Puts the service and its Python client into the image of an engine's workers. After `node scripts/archive.js`:
#   docker build -f deploy/engine.Dockerfile --build-arg BASE=rayproject/ray:2.60.0-py311 -t ray-acuity .build/engine
# ScoreCommand(command=("/opt/acuity/bin/acuity",)) then starts it.
ARG BASE
FROM ${BASE}
ADD acuity-linux-x64.tar.gz /opt/acuity/
ENV PYTHONPATH=/opt/acuity/python
